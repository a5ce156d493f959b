"""Columns whose values are in the names of folders, as Spark writes them: `year=2024/month=1/…`."""

from __future__ import annotations

import datetime
import os
import re
import urllib.parse
from collections.abc import Iterable
from typing import Any

import numpy as np
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
)

from ...errors import InvalidArgumentError
from ...files.naming.byte_range import FilePart
from ...files.naming.location import location_of

__all__ = ["NULL", "FolderValues", "Pairs", "folder_columns", "folder_name", "typed"]

Pairs = tuple[tuple[str, str], ...]  # (column, value) of each folder

NULL = "__HIVE_DEFAULT_PARTITION__"
_WILD = re.compile(r"[*?\[]")
_INTEGER = re.compile(r"-?\d+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_BITS: dict[type[DataType], int] = {ByteType: 8, ShortType: 16, IntegerType: 32}
_TRUTH = {"true": True, "false": False}
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


class FolderValues:
    """Tells the columns and values of a file's folders below the folder, or the pattern, that was named.

    Args:
      paths: what was named: folders, files, patterns, URLs.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._named = {_fixed(path) for path in paths}

    def of(self, file: FilePart) -> Pairs:
        segments = file.file[len(self._root(file.file)) :].split("/")[:-1]
        pairs = [one.partition("=") for one in segments if "=" in one]
        return tuple((urllib.parse.unquote(key), urllib.parse.unquote(value)) for key, _, value in pairs if key)

    def _root(self, file: str) -> str:
        """The deepest folder above the file that was named, with "/"; of a file that was named, its own folder."""
        if file in self._named:
            return file[: file.rindex("/") + 1]
        end = file.rfind("/")
        while end >= 0:
            if file[:end] in self._named:
                return file[: end + 1]
            end = file.rfind("/", 0, end)
        return ""


def folder_columns(found: Iterable[Pairs]) -> StructType:
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
        if isinstance(kind, FloatType):
            return float(np.float32(value))  # as Spark has it, which compares with it
        if isinstance(kind, DoubleType):
            return float(value)
        if isinstance(kind, DateType):
            return datetime.date.fromisoformat(value)
        if isinstance(kind, BooleanType):
            return _TRUTH[value.lower()]
        if isinstance(kind, BinaryType):
            return value.encode()
        return value if isinstance(kind, StringType) else _integer(value, kind)
    except (KeyError, ValueError):
        raise InvalidArgumentError(f"a folder's value {value!r} is no {kind.simpleString()}") from None


def _integer(value: str, kind: DataType) -> int:
    """Raises ValueError: it is no integer, or one that the type does not hold."""
    bits, number = _BITS.get(type(kind), 64), int(value)
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise ValueError(f"{number} has more than {bits} bits")
    return number


def folder_name(column: str, value: Any) -> str:
    """`column=value`, with what a file name can't hold, or Spark does not take, as %XX.

    Raises:
      errors.InvalidArgumentError: the value has no text: binary that is no UTF-8, or a list.
    """
    text = NULL if value is None or value == "" or value == b"" else _text(column, value)
    return f"{_escaped(column)}={_escaped(text)}"


def _text(column: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise InvalidArgumentError(f"partitionBy: column {column!r}: {value!r} is no UTF-8") from None
    if isinstance(value, list | dict):
        raise InvalidArgumentError(f"partitionBy: column {column!r}: no folder can be called {value!r}")
    return str(value)


def _escaped(text: str) -> str:
    return re.sub(r"""[\x00-\x1f\x7f"#%'*/:=?\\{\[\]^]""", lambda found: f"%{ord(found[0]):02X}", text)


def _fixed(path: str) -> str:
    """The folder of a pattern that has no wildcard; of a local path, as it is listed."""
    name, is_url = location_of(path)
    wild = _WILD.search(name)
    if wild is not None and (is_url or not os.path.exists(name)):
        name = name[: wild.start()].rpartition("/")[0]
    return name.rstrip("/") if is_url else os.path.abspath(name).rstrip("/")


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
