"""Keys that identify records: their bytes, or the values of some of their features."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...dtypes import as_dtype
from ...errors import InvalidArgumentError
from ...examples.features import VarLenFeature
from ...examples.infer import features_of
from ...examples.messages.wire import Value, example_of
from ...examples.parsing.parse import parse_example

# Returns the key of each record of a batch. Records with the same key count as equal.
KeyFunction = Callable[[_core.RecordBatch], Iterable[bytes]]


def whole_records(records: _core.RecordBatch) -> Iterable[bytes]:
    return records


def features_key(names: Sequence[str], needs_all: bool) -> KeyFunction:
    """Return a key function: types and values of features of Examples, or of the context of SequenceExamples.

    An absent feature equals a feature without values. NaN equals NaN, and -0.0 equals 0.0.

    The function raises errors.InvalidArgumentError, which names the record, for a record that is not an Example or
    lacks required values.
    """

    def keys(records: _core.RecordBatch) -> list[bytes]:
        columns = [[_encoded(value) for value in column] for column in _columns(records, names)]
        enough = all if needs_all else any
        for row, values in enumerate(zip(*columns, strict=True)):
            if not enough(values):
                lacking = " or ".join(repr(name) for name, value in zip(names, values, strict=True) if not value)
                _core.fail_at(records, row, f"the record has no values under {lacking}")
        if len(columns) == 1:
            return columns[0]
        return [_framed(row) for row in zip(*columns, strict=True)]

    return keys


def _columns(records: _core.RecordBatch, names: Sequence[str]) -> list[list[Value]]:
    scanner = _core.FeatureSurvey()
    try:
        scanner.add(records)
    except InvalidArgumentError:  # a record is not an Example, or records have different types under one name
        rows = [_features_of(records, row) for row in range(len(records))]
        return [[row.get(name, Value("none", [])) for row in rows] for name in names]
    features = {name: VarLenFeature(feature.dtype) for name, feature in features_of(scanner).items() if name in names}
    parsed: Any = parse_example(records, features) if features else {}
    columns = []
    for name in names:
        if name not in parsed:
            columns.append([Value("none", [])] * len(records))
            continue
        value_type = {"string": "bytes", "float32": "float"}.get(as_dtype(features[name].dtype).name, "int64")
        values, splits = parsed[name].values.tolist(), parsed[name].row_splits.tolist()
        columns.append([Value(value_type, values[splits[row] : splits[row + 1]]) for row in range(len(records))])
    return columns


def _features_of(records: _core.RecordBatch, row: int) -> dict[str, Value]:
    _core.FeatureSurvey().add(records[row : row + 1])  # raises a precise error for an invalid record
    return example_of(records[row])


def _framed(strings: Iterable[bytes]) -> bytes:
    return b"".join([len(string).to_bytes(8, "little") + string for string in strings])


def _encoded(value: Value) -> bytes:
    if not value.values:
        return b""
    if value.kind == "bytes":
        return b"s" + _framed(cast("Iterable[bytes]", value.values))
    if value.kind == "int64":
        return b"i" + np.array(value.values, "<i8").tobytes()
    floats = np.array(value.values, "<f4") + np.float32(0)  # turns -0.0 into 0.0
    floats[np.isnan(floats)] = np.nan
    packed: bytes = floats.tobytes()
    return b"f" + packed


def hashes(keys: Iterable[bytes], size: int, secret: bytes) -> bytes:
    """Return the concatenated BLAKE2b hashes, of `size` bytes each."""
    blake2b = hashlib.blake2b
    return b"".join([blake2b(key, digest_size=size, key=secret).digest() for key in keys])


def numbers(keys: Iterable[bytes], seed: int) -> NDArray[np.uint64]:
    """Return a pseudo-random number for each key; for one seed, the same on every machine."""
    return np.frombuffer(hashes(keys, 8, seed.to_bytes(8, "little")), "<u8").astype(np.uint64, copy=False)
