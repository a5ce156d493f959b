"""Columns whose values are in the names of folders, as Spark writes them: `year=2024/month=1/…`."""

from __future__ import annotations

import datetime
import re
import urllib.parse
from collections.abc import Iterable, Sequence
from typing import Any

from pyspark.sql.types import DataType, DateType, DoubleType, IntegerType, LongType, StringType, StructField, StructType

from ...errors import InvalidArgumentError
from ...files.parts import FilePart

__all__ = ["NULL", "folder_columns", "folder_name", "folder_values", "typed"]

NULL = "__HIVE_DEFAULT_PARTITION__"
_WILD = re.compile(r"[*?\[]")
_INTEGER = re.compile(r"-?\d+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def folder_values(file: FilePart, roots: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """((column, value), …) of a file's folders below the folder, or the pattern, that was named."""
    best = max((root for root in map(_fixed, roots) if file.file.startswith(root)), key=len, default="")
    segments = file.file[len(best) :].split("/")[:-1]
    pairs = [one.partition("=") for one in segments if "=" in one]
    return tuple((urllib.parse.unquote(key), urllib.parse.unquote(value)) for key, _, value in pairs if key)


def folder_columns(found: Iterable[tuple[tuple[str, str], ...]]) -> StructType:
    """The columns, with the narrowest type that all values have: int, bigint, double, date, or string.

    Raises:
      errors.InvalidArgumentError: some files have other columns than others.
    """
    values: dict[str, list[str]] = {}
    names: tuple[str, ...] | None = None
    for pairs in found:
        these = tuple(key for key, _ in pairs)
        if names is not None and these != names:
            raise InvalidArgumentError(f"folders of different columns: {list(names)} and {list(these)}")
        names = these
        for key, value in pairs:
            values.setdefault(key, []).append(value)
    return StructType([StructField(key, _type_of(those)) for key, those in values.items()])


def typed(value: str, kind: DataType) -> Any:
    """The value of a folder's name.

    Raises:
      errors.InvalidArgumentError: it is none of this type.
    """
    if value == NULL:
        return None
    try:
        if isinstance(kind, DoubleType):
            return float(value)
        if isinstance(kind, DateType):
            return datetime.date.fromisoformat(value)
        return value if isinstance(kind, StringType) else int(value)
    except ValueError:
        raise InvalidArgumentError(f"a folder's value {value!r} is no {kind.simpleString()}") from None


def folder_name(column: str, value: Any) -> str:
    """`column=value`, with what a file name can't hold, or Spark does not take, as %XX."""
    text = NULL if value is None or value == "" else str(value)
    return f"{_escaped(column)}={_escaped(text)}"


def _escaped(text: str) -> str:
    return re.sub(r"""[\x00-\x1f\x7f"#%'*/:=?\\{\[\]^]""", lambda found: f"%{ord(found[0]):02X}", text)


def _fixed(root: str) -> str:
    wild = _WILD.search(root)
    fixed = root if wild is None else root[: wild.start()].rpartition("/")[0]
    return fixed.rstrip("/") + "/"


def _type_of(values: list[str]) -> DataType:
    said = [value for value in values if value != NULL]
    if not said:
        return StringType()
    if all(_INTEGER.fullmatch(value) for value in said):
        most = max(abs(int(value)) for value in said)
        return IntegerType() if most < 2**31 else LongType() if most < 2**63 else StringType()
    if all(_NUMBER.fullmatch(value) for value in said):
        return DoubleType()
    return DateType() if all(_is_date(value) for value in said) else StringType()


def _is_date(value: str) -> bool:
    try:
        return _DATE.fullmatch(value) is not None and bool(datetime.date.fromisoformat(value))
    except ValueError:
        return False
