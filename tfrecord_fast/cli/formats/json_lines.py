"""JSON lines: an object per record. Bytes that are not UTF-8 are {"base64": "…"}; what is no number in JSON is
{"float": "NaN"}, "Infinity" or "-Infinity". Both are unlike any text, so they come back as what they were."""

from __future__ import annotations

import base64
import contextlib
import gzip
import itertools
import json
import math
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from ... import _core
from ...examples.features import FixedLenFeature
from ...typing import Column, Columns
from .base import BEYOND_FLOAT32, ROWS, Malformed, RowSink, Source

__all__ = ["JsonSink", "JsonSource"]

_NAMES = {int: "integers", float: "floats", bytes: "text"}
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_MOST_INT64 = 2**63 - 1


class JsonSource(Source):
    """Files are read twice: what kind a feature is of is known at the end."""

    passes = 2
    _kinds: dict[str, type] | None = None

    def batches(self) -> Iterator[_core.RecordBatch]:
        """All records, in order."""
        if self._kinds is None:
            kinds = _Kinds()
            for path in self.paths():
                for number, row in self._rows(path):
                    kinds.look(f"{path}: line {number}", row)
            self._kinds = kinds.settled()
        return super().batches()

    def batches_of(self, path: str) -> Iterator[_core.RecordBatch]:
        """The records of one file."""
        rows: list[dict[str, Any]] = []
        for _, row in self._rows(path):
            rows.append(row)
            if len(rows) == ROWS:
                yield self._encode_rows(rows)
                rows = []
        if rows:
            yield self._encode_rows(rows)

    def _encode_rows(self, rows: list[dict[str, Any]]) -> _core.RecordBatch:
        assert self._kinds is not None
        columns: dict[str, Any] = {}
        for key, kind in self._kinds.items():
            convert = _bytes_of if kind is bytes else _float_of if kind is float else int
            column = (_as_list(row.get(key)) for row in rows)
            columns[key] = [[convert(value) for value in values] or None for values in column]
        return self.encode(columns, len(rows))

    def _rows(self, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
        with open(path, "rb") as raw, _maybe_gunzip(raw) as file:
            before = 0
            for number, line in enumerate(file, 1):
                if raw.tell() != before:
                    self.advance(raw.tell() - before)
                    before = raw.tell()
                if not line.strip():
                    continue
                try:
                    row = json.loads(line, object_pairs_hook=_object, parse_constant=_special)
                except ValueError as error:
                    raise Malformed(f"{path}: line {number}: {error}") from None
                if not isinstance(row, dict):
                    raise Malformed(f"{path}: line {number}: expected an object, got {type(row).__name__}")
                yield number, row


class _Kinds:
    """Which kind each feature is of: integers become floats if there are floats, too."""

    def __init__(self) -> None:
        self._kinds: dict[str, type] = {}
        self._misfits: dict[tuple[str, type], str] = {}  # the first value that does not fit a kind

    def look(self, place: str, row: dict[str, Any]) -> None:
        for key, value in row.items():
            here = f"{place}: feature {key!r}"
            _check_bytes(key, here)
            for item in _as_list(value):
                kind = _kind_of(item)
                if kind is None:
                    raise Malformed(f"{here}: can't be written to an Example: {item!r:.60}")
                self._check_value(key, kind, item, here)
                known = self._kinds.setdefault(key, kind)
                if known is not kind:
                    if bytes in (known, kind):
                        found = f"{_NAMES[kind]} here, {_NAMES[known]} before"
                        raise Malformed(f"{here}: conflicting kinds: {found}")
                    self._kinds[key] = float

    def settled(self) -> dict[str, type]:
        """The kinds, when all rows were looked at."""
        for key, kind in self._kinds.items():
            if (key, kind) in self._misfits:
                raise Malformed(self._misfits[key, kind])
        return self._kinds

    def _check_value(self, key: str, kind: type, item: Any, here: str) -> None:
        if kind is bytes:
            _check_bytes(item, here)
        elif kind is float and isinstance(item, float) and abs(item) >= BEYOND_FLOAT32:
            raise Malformed(f"{here}: a number beyond the range of float32")
        elif kind is int:
            if not -_MOST_INT64 - 1 <= item <= _MOST_INT64:
                self._misfits.setdefault((key, int), f"{here}: {item} is not an int64")
            if not _is_float32(item):
                why = f"{item} would be rounded: there are floats under this feature, too"
                self._misfits.setdefault((key, float), f"{here}: {why}")


def _is_float32(number: int) -> bool:
    odd = abs(number)
    odd //= (odd & -odd) or 1
    return odd < 2**24 and abs(number) < 2**128


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} is there twice")
    return made


def _special(name: str) -> dict[str, str]:
    """What Python's own json writes, which is no JSON."""
    return {"float": name}


def _maybe_gunzip(file: BinaryIO) -> Any:
    magic = file.read(2)
    file.seek(0)
    return gzip.GzipFile(fileobj=file) if magic == b"\x1f\x8b" else contextlib.nullcontext(file)


def _as_list(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _kind_of(value: Any) -> type | None:
    if isinstance(value, dict):
        if value.keys() == {"float"} and value["float"] in list(_SPECIAL):
            return float
        return bytes if value.keys() == {"base64"} and isinstance(value["base64"], str) else None
    return {bool: int, int: int, float: float, str: bytes}.get(type(value))


def _bytes_of(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else base64.b64decode(value["base64"], validate=True)


def _float_of(value: Any) -> float:
    return _SPECIAL[value["float"]] if isinstance(value, dict) else float(value)


def _check_bytes(value: Any, place: str) -> None:
    try:
        _bytes_of(value)
    except ValueError as error:
        what = "text that is not UTF-8" if isinstance(value, str) else "bad base64"
        raise Malformed(f"{place}: {what}: {error}") from None


class JsonSink(RowSink):
    """A line per record. A feature with at most one value in any record is that value, not a list."""

    needs_columns = False

    @contextlib.contextmanager
    def writing(self, name: str) -> Iterator[None]:
        """Writes a file of this name until the end."""
        with self.opened_file(name) as self._file:
            yield

    def write_rows(self, records: _core.RecordBatch, columns: Columns) -> None:
        """Writes records, given what they were parsed to."""
        made = {key: self._values(key, column) for key, column in sorted(columns.items())}
        for row in range(len(records)):
            line = {key: values[row] for key, values in made.items() if values[row] is not None}
            self._file.write((json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode())

    def _values(self, key: str, column: Column) -> list[Any]:
        """What each row's line holds; None for nothing."""
        if isinstance(self.features[key], FixedLenFeature):
            return _json_values(column)
        values, splits = _json_values(column.values), column.row_splits.tolist()
        rows = [values[start:end] or None for start, end in itertools.pairwise(splits)]
        return [row and row[0] for row in rows] if key in self.single else rows


def _json_values(column: Column) -> list[Any]:
    """Numbers as in JSON, float32 with as few digits as identify it; bytes as they are."""
    if not (isinstance(column, np.ndarray) and column.dtype == np.float32):
        return [_json_nested(value) for value in column.tolist()]
    values: list[Any] = column.astype("U").astype(np.float64).tolist()
    return values if np.isfinite(column).all() else [_json_nested(value) for value in values]


def _json_nested(value: Any) -> Any:
    if isinstance(value, list):
        return [_json_nested(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return _special("NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity")
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}
