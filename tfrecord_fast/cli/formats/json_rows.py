"""JSON lines, or an array of objects, as input."""

from __future__ import annotations

import base64
import codecs
import contextlib
import gzip
import json
import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, BinaryIO, NamedTuple

import numpy as np

from ... import _core
from ...base.optional import optional_or_none
from ...examples.messages.wire import Value, to_example, to_sequence
from .base import BEYOND_FLOAT32, ROWS, Malformed, Source, is_float32

_NAMES = {int: "integers", float: "floats", bytes: "text"}
_KINDS = {int: "int64", float: "float", bytes: "bytes"}
_TYPES = {name: type for type, name in _KINDS.items()}
_EMPTY = (*_TYPES, "none")  # the kinds of features without values
_SIMPLE = {int: int, float: float, bytes: str}  # types of values that need no conversion, by kind
_USUAL, _EXACT = 1e38, 2**24  # smaller numbers are finite as float32, smaller integers exact
_SPECIAL = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_MOST_INT64 = 2**63 - 1
_PEEKED = 64  # bytes, to look for an array
_LARGE = 2.0**63  # larger floats may have been integers


class _Row(NamedTuple):
    """The features or context features of a line, and its feature lists, None for an Example."""

    features: dict[str, Any]
    lists: dict[str, list[Any]] | None


class JsonSource(Source):
    """Files are read twice: the kinds of features are known only at the end."""

    passes = 2
    _features: dict[str, type] | None = None
    _lists: Mapping[str, type] = {}

    def batches(self) -> Iterator[_core.RecordBatch]:
        if self._features is None:
            features, lists = _Kinds("feature"), _Kinds("feature list")
            for path in self.paths():
                for number, row in self._rows(path):
                    where = f"{path}: line {number}"
                    features.look(where, row.features)
                    for key, steps in (row.lists or {}).items():
                        for step in steps:
                            lists.look(where, {key: step})
            self._features, self._lists = features.settled(), lists.settled()
        return super().batches()

    def batches_of(self, path: str) -> Iterator[_core.RecordBatch]:
        rows: list[_Row] = []
        for _, row in self._rows(path):
            rows.append(row)
            if len(rows) == ROWS:
                yield self._encode_rows(rows)
                rows = []
        if rows:
            yield self._encode_rows(rows)

    def _encode_rows(self, rows: list[_Row]) -> _core.RecordBatch:
        """Encode one record per row; those that columns can't hold are encoded one by one."""
        single = {number: self._encode_one(row) for number, row in enumerate(rows) if _is_special(row)}
        plain = [row.features for number, row in enumerate(rows) if number not in single]
        encoded = self._encode_plain(plain)
        if not single:
            return encoded
        others = iter(encoded)
        return _core.record_batch([single[i] if i in single else next(others) for i in range(len(rows))])

    def _encode_plain(self, rows: list[dict[str, Any]]) -> _core.RecordBatch:
        assert self._features is not None
        columns: dict[str, Any] = {}
        for key, type_ in self._features.items():
            convert = _bytes_of if type_ is bytes else _float_of if type_ is float else int
            values: list[Any] = [row.get(key) for row in rows]
            if set(map(type, values)) != {_SIMPLE[type_]}:
                columns[key] = [_converted(_as_list(value), type_, convert) or None for value in values]
            elif type_ is bytes:
                columns[key] = [value.encode() for value in values]
            else:
                columns[key] = np.array(values, np.int64 if type_ is int else np.float64)
        return self.encode(columns, len(rows))

    def _encode_one(self, row: _Row) -> bytes:
        assert self._features is not None
        kinds = self._features
        features = {
            key: _value_of(value, kinds.get(key)) for key, value in row.features.items() if value not in (None, [])
        }
        if row.lists is None:
            return to_example(features)
        lists = {key: [_value_of(step, self._lists.get(key)) for step in steps] for key, steps in row.lists.items()}
        return to_sequence(features, lists)

    def _rows(self, path: str) -> Iterator[tuple[int, _Row]]:
        orjson = optional_or_none("orjson")
        with open(path, "rb") as raw, _maybe_gunzip(raw) as file:
            if _begins_with_bracket(file):
                yield from _items(b"".join(_lines(file, path)), path)
                self.advance(raw.tell())
                return
            before = 0
            for number, line in enumerate(_lines(file, path), 1):
                if raw.tell() != before:
                    self.advance(raw.tell() - before)
                    before = raw.tell()
                if not line.strip():
                    continue
                try:
                    row = _parsed(line, orjson)
                except ValueError as error:  # JSON's own error has another line number
                    raise Malformed(f"{path}: line {number}: {getattr(error, 'msg', error)}") from None
                if not isinstance(row, dict):
                    raise Malformed(f"{path}: line {number}: expected an object, got {type(row).__name__}")
                yield number, _row_of(row, f"{path}: line {number}")


def _begins_with_bracket(file: Any) -> bool:
    with contextlib.suppress(EOFError, zlib.error, gzip.BadGzipFile):  # damage is met again where lines are read
        return bool(file.peek(_PEEKED)[:_PEEKED].removeprefix(codecs.BOM_UTF8).lstrip()[:1] == b"[")
    return False


def _items(text: bytes, path: str) -> Iterator[tuple[int, _Row]]:
    """Yield the objects of an array, which is read whole, and their numbers from 1."""
    try:
        items = _parsed(text.removeprefix(codecs.BOM_UTF8), optional_or_none("orjson"))
    except ValueError as error:
        raise Malformed(f"{path}: {error}") from None
    for number, item in enumerate(items, 1):
        if not isinstance(item, dict):
            raise Malformed(f"{path}: item {number}: expected an object, got {type(item).__name__}")
        yield number, _row_of(item, f"{path}: item {number}")


def _lines(file: IO[bytes], path: str) -> Iterator[bytes]:
    try:
        yield from file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise Malformed(f"{path}: damaged or truncated GZIP: {error}") from None


def _row_of(row: dict[str, Any], where: str) -> _Row:
    """Recognise a SequenceExample by its object of lists under "feature_lists", which can't be a feature."""
    lists = row.get("feature_lists")
    if not isinstance(lists, dict) or not all(isinstance(steps, list) for steps in lists.values()):
        return _Row(row, None)
    context = row.get("context", {})
    if not isinstance(context, dict) or not row.keys() <= {"context", "feature_lists"}:
        raise Malformed(f"{where}: expected only 'feature_lists' and 'context', an object of features")
    return _Row(context, lists)


def _is_special(row: _Row) -> bool:
    return row.lists is not None or any(isinstance(value, dict) and "empty" in value for value in row.features.values())


def _converted(values: list[Any], type_: type, convert: Callable[[Any], Any]) -> list[Any]:
    if len(values) > 2 and type_ is not bytes and set(map(type, values)) == {type_}:
        return values
    return [convert(value) for value in values]


def _value_of(value: Any, type_: type | None) -> Value:
    if isinstance(value, dict) and "empty" in value:
        return Value(value["empty"], [])
    values = _as_list(value)
    if not values or type_ is None:
        return Value("none" if type_ is None else _KINDS[type_], [])
    if type_ is bytes:
        return Value("bytes", [_bytes_of(item) for item in values])
    if type_ is float:
        return Value("float", [_float_of(item) for item in values])
    return Value("int64", [int(item) for item in values])


class _Kinds:
    """The kind of each feature; integers become floats if the feature also has floats."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._kinds: dict[str, type] = {}
        self._misfits: dict[tuple[str, type], str] = {}  # the first value that does not fit a kind
        self._empties: dict[str, tuple[type, str]] = {}  # the first mark of a list without values

    def look(self, where: str, row: dict[str, Any]) -> None:
        for key, value in row.items():
            if self._is_usual(key, value):
                continue
            here = f"{where}: {self._what} {key!r}"
            _check_bytes(key, here)
            if isinstance(value, dict) and value.keys() == {"empty"} and value["empty"] in _EMPTY:
                if value["empty"] in _TYPES:
                    self._empties.setdefault(key, (_TYPES[value["empty"]], here))
                continue
            for item in _relevant(_as_list(value)):
                type_ = _kind_of(item)
                if type_ is None:
                    raise Malformed(f"{here}: an Example cannot hold {item!r:.60}")
                self._check_value(key, type_, item, here)
                known = self._kinds.setdefault(key, type_)
                if known is not type_:
                    if bytes in (known, type_):
                        conflict = f"{_NAMES[type_]} here, {_NAMES[known]} before"
                        raise Malformed(f"{here}: conflicting kinds: {conflict}")
                    self._kinds[key] = float

    def _is_usual(self, key: str, value: Any) -> bool:
        """Return True if a value has the known kind and needs no further checks."""
        known, type_ = self._kinds.get(key), type(value)
        if type_ is float:
            return known is float and -_USUAL < value < _USUAL
        if type_ is str:
            return known is bytes and value.isascii()
        if type_ is not int or known is not int:
            return False
        return -_EXACT < value < _EXACT or ((key, float) in self._misfits and -_MOST_INT64 <= value <= _MOST_INT64)

    def settled(self) -> dict[str, type]:
        for key, type_ in self._kinds.items():
            if (key, type_) in self._misfits:
                raise Malformed(self._misfits[key, type_])
            empty, here = self._empties.get(key, (type_, ""))
            if empty is not type_:
                raise Malformed(f"{here}: conflicting kinds: no {_NAMES[empty]} here, {_NAMES[type_]} elsewhere")
        return self._kinds

    def _check_value(self, key: str, type_: type, item: Any, here: str) -> None:
        if type_ is bytes:
            _check_bytes(item, here)
        elif type_ is float and isinstance(item, float) and abs(item) >= BEYOND_FLOAT32:
            raise Malformed(f"{here}: a number exceeds float32")
        elif type_ is int:
            if not -_MOST_INT64 - 1 <= item <= _MOST_INT64:
                self._misfits.setdefault((key, int), f"{here}: {item} is not an int64")
            if not is_float32(item):
                why = f"{item} would be rounded to a float32, because the feature also has floats"
                self._misfits.setdefault((key, float), f"{here}: {why}")


def _relevant(items: list[Any]) -> list[Any]:
    """Return the items to check: the smallest and the largest of numbers of one kind."""
    if len(items) > 2:
        types = set(map(type, items))
        if types == {float}:
            return [min(items), max(items)]
        if types == {int}:
            ends = [min(items), max(items)]
            return ends if all(abs(end) < 2**24 for end in ends) else items
    return items


def _parsed(line: bytes, orjson: Any) -> Any:
    """Parse a line, with orjson if that can't hide an error.

    orjson drops duplicate keys and converts integers beyond 64 bits to floats. Neither happened if it writes the same
    line again, or if each colon belongs to a key and no number is large.
    """
    if orjson is not None:
        try:
            row = orjson.loads(line)
        except ValueError:
            row = None  # Python's parser reports the error, or accepts NaN
        if type(row) is dict:
            if orjson.dumps(row) == line.strip():
                return row
            if len(row) == line.count(b":") and all(map(_is_plain, row.values())):
                return row
    try:
        return json.loads(line, object_pairs_hook=_object, parse_constant=lambda name: {"f": name})
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _is_plain(value: Any) -> bool:
    if type(value) is float:
        return -_LARGE < value < _LARGE
    if type(value) is not list or not value:
        return True
    kinds = set(map(type, value))
    if float in kinds:
        return kinds == {float} and -_LARGE < min(value) and max(value) < _LARGE
    return not kinds & {list, dict}


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    features = dict(pairs)
    if len(features) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key {next(key for key in keys if keys.count(key) > 1)!r} occurs twice")
    return features


def _maybe_gunzip(file: BinaryIO) -> Any:
    magic = file.read(2)
    file.seek(0)
    return gzip.GzipFile(fileobj=file) if magic == b"\x1f\x8b" else contextlib.nullcontext(file)


def _as_list(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _kind_of(value: Any) -> type | None:
    if isinstance(value, dict):
        for mark in ("f", "float"):
            if value.keys() == {mark} and value[mark] in list(_SPECIAL):
                return float
        return bytes if value.keys() == {"base64"} and isinstance(value["base64"], str) else None
    return {bool: int, int: int, float: float, str: bytes}.get(type(value))


def _bytes_of(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else base64.b64decode(value["base64"], validate=True)


def _float_of(value: Any) -> float:
    return _SPECIAL[next(iter(value.values()))] if isinstance(value, dict) else float(value)


def _check_bytes(value: Any, where: str) -> None:
    try:
        _bytes_of(value)
    except ValueError as error:
        what = "text that is not UTF-8" if isinstance(value, str) else "bad base64"
        raise Malformed(f"{where}: {what}: {error}") from None
