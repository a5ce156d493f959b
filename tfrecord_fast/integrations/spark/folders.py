"""Columns whose values are in the names of folders, as Spark writes them: `year=2024/month=1/…`."""

from __future__ import annotations

import datetime
import os
import re
import urllib.parse
from collections.abc import Iterable
from typing import Any

import numpy as np
from pyspark.sql import types

from ...errors import InvalidArgumentError
from ...files.naming.file_part import FilePart
from ...files.naming.location import location_of

Pairs = tuple[tuple[str, str], ...]  # (column, value) of each folder of a file

NULL = "__HIVE_DEFAULT_PARTITION__"
_WILDCARD = re.compile(r"[*?\[]")
_INTEGER = re.compile(r"-?\d+")
_NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
_BITS: dict[type[types.DataType], int] = {types.ByteType: 8, types.ShortType: 16, types.IntegerType: 32}
_TRUTH = {"true": True, "false": False}
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


class FolderValues:
    """Reader of columns and values from the names of folders below the user's paths."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._roots = {_folder_of(path) for path in paths}

    def of(self, file: FilePart) -> Pairs:
        segments = file.file[len(self._root(file.file)) :].split("/")[:-1]
        pairs = [segment.partition("=") for segment in segments if "=" in segment]
        return tuple((urllib.parse.unquote(key), urllib.parse.unquote(value)) for key, _, value in pairs if key)

    def _root(self, file: str) -> str:
        """Return the deepest of the roots above the file, with "/". If the file itself is a root: its folder."""
        if file in self._roots:
            return file[: file.rindex("/") + 1]
        end = file.rfind("/")
        while end >= 0:
            if file[:end] in self._roots:
                return file[: end + 1]
            end = file.rfind("/", 0, end)
        return ""


def folder_columns(files: Iterable[Pairs]) -> types.StructType:
    """Return the columns, with the narrowest type of all values: int, bigint, double, date, or string."""
    values: dict[str, list[str]] = {}
    columns: tuple[str, ...] | None = None
    for pairs in files:
        file_columns = tuple(key for key, _ in pairs)
        if columns is not None and file_columns != columns:
            raise InvalidArgumentError(f"folders have different columns: {list(columns)} and {list(file_columns)}")
        columns = file_columns
        for key, value in pairs:
            values.setdefault(key, []).append(value)
    return types.StructType([types.StructField(key, _narrowest_type(texts)) for key, texts in values.items()])


def typed(value: str, data_type: types.DataType) -> Any:
    if value == NULL:
        return None
    try:
        if isinstance(data_type, types.FloatType):
            return float(np.float32(value))  # Spark compares with the rounded value
        if isinstance(data_type, types.DoubleType):
            return float(value)
        if isinstance(data_type, types.DateType):
            return datetime.date.fromisoformat(value)
        if isinstance(data_type, types.BooleanType):
            return _TRUTH[value.lower()]
        if isinstance(data_type, types.BinaryType):
            return value.encode()
        return value if isinstance(data_type, types.StringType) else _integer(value, data_type)
    except (KeyError, ValueError):
        raise InvalidArgumentError(f"folder value {value!r} does not have type {data_type.simpleString()}") from None


def _integer(value: str, data_type: types.DataType) -> int:
    """Convert text to an integer. Raises ValueError: the type can't hold it."""
    bits, number = _BITS.get(type(data_type), 64), int(value)
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise ValueError(f"{number} has more than {bits} bits")
    return number


def folder_name(column: str, value: Any) -> str:
    """Return `column=value`, with characters that file systems or Spark don't allow as %XX."""
    text = NULL if value is None or value == "" or value == b"" else _text(column, value)
    return f"{_escaped(column)}={_escaped(text)}"


def _text(column: str, value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise InvalidArgumentError(f"partitionBy: column {column!r}: {value!r} is not UTF-8") from None
    if isinstance(value, list | dict):
        raise InvalidArgumentError(f"partitionBy: column {column!r}: {value!r} cannot be the name of a folder")
    return str(value)


def _escaped(text: str) -> str:
    return re.sub(r"""[\x00-\x1f\x7f"#%'*/:=?\\{\[\]^]""", lambda match: f"%{ord(match[0]):02X}", text)


def _folder_of(path: str) -> str:
    """Return the folder above a pattern's first wildcard, or the path itself; absolute if it is local."""
    name, is_url = location_of(path)
    wildcard = _WILDCARD.search(name)
    if wildcard is not None and (is_url or not os.path.exists(name)):
        name = name[: wildcard.start()].rpartition("/")[0]
    return name.rstrip("/") if is_url else os.path.abspath(name).rstrip("/")


def _narrowest_type(texts: list[str]) -> types.DataType:
    values = [text for text in texts if text != NULL]
    if not values:
        return types.StringType()
    if all(_INTEGER.fullmatch(value) for value in values):
        largest = max(abs(int(value)) for value in values)
        return types.IntegerType() if largest < 2**31 else types.LongType() if largest < 2**63 else types.StringType()
    if all(_NUMBER.fullmatch(value) for value in values):
        return types.DoubleType()
    return types.DateType() if all(_is_date(value) for value in values) else types.StringType()


def _is_date(value: str) -> bool:
    try:
        return _DATE.fullmatch(value) is not None and bool(datetime.date.fromisoformat(value))
    except ValueError:
        return False
