"""What tells records apart: hashes of their bytes, or the values of some of their features."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...dtypes import as_dtype
from ...errors import InvalidArgumentError
from ...examples.features import VarLenFeature
from ...examples.infer import features_of
from ...examples.messages.wire import Value, example_of
from ...examples.parsing.parse import parse_example

__all__ = ["KeyOf", "features_key", "hashes", "numbers", "whole_records"]

# What gives each record of a batch its key; records with the same key are taken for the same.
KeyOf = Callable[[_core.RecordBatch], Iterable[bytes]]

_NO_VALUES = b""


def whole_records(records: _core.RecordBatch) -> Iterable[bytes]:
    """The records themselves."""
    return records


def features_key(names: Sequence[str], needs_all: bool) -> KeyOf:
    """The values of features of Examples, and of the context of SequenceExamples: their kind and all of them.

    A feature that is absent is like one without values. NaN equals NaN, and -0.0 equals 0.0.

    Args:
      names: of the features.
      needs_all: whether a record needs values under all the names; otherwise, under one of them.

    The function raises errors.InvalidArgumentError for a record that is no Example, or has no values where it needs
    them; it names the record.
    """

    def keys(records: _core.RecordBatch) -> list[bytes]:
        columns = [_encoded_column(column) for column in _columns(records, names)]
        enough = all if needs_all else any
        for row, values in enumerate(zip(*columns, strict=True)):
            if not enough(values):
                lacking = " or ".join(repr(name) for name, value in zip(names, values, strict=True) if not value)
                _core.fail_at(records, row, f"the record has no values under {lacking}")
        if len(columns) == 1:
            return columns[0]
        return [b"".join(len(one).to_bytes(8, "little") + one for one in row) for row in zip(*columns, strict=True)]

    return keys


def _columns(records: _core.RecordBatch, names: Sequence[str]) -> list[list[Value]]:
    """For each name the values of all records."""
    scanner = _core.FeatureScanner()
    try:
        scanner.add(records)
    except InvalidArgumentError:  # of one that is no Example, or since two of them have a name for different kinds
        rows = [_features_of(records, row) for row in range(len(records))]
        return [[row.get(name, Value("none", [])) for row in rows] for name in names]
    known = {name: VarLenFeature(one.dtype) for name, one in features_of(scanner).items() if name in names}
    parsed: Any = parse_example(records, known) if known else {}
    made = []
    for name in names:
        if name not in parsed:
            made.append([Value("none", [])] * len(records))
            continue
        kind = {"string": "bytes", "float32": "float"}.get(as_dtype(known[name].dtype).name, "int64")
        values, splits = parsed[name].values.tolist(), parsed[name].row_splits.tolist()
        made.append([Value(kind, values[splits[row] : splits[row + 1]]) for row in range(len(records))])
    return made


def _features_of(records: _core.RecordBatch, row: int) -> dict[str, Value]:
    _core.FeatureScanner().add(records[row : row + 1])  # which says what is wrong
    return example_of(records[row])


def _encoded_column(column: list[Value]) -> list[bytes]:
    return [_encoded(value) for value in column]


def _encoded(value: Value) -> bytes:
    if not value.values:
        return _NO_VALUES
    if value.kind == "bytes":
        return b"s" + b"".join(len(one).to_bytes(8, "little") + one for one in value.values)  # type: ignore[arg-type,operator]
    if value.kind == "int64":
        return b"i" + np.array(value.values, "<i8").tobytes()
    floats = np.array(value.values, "<f4") + np.float32(0)  # which makes 0.0 of -0.0
    floats[np.isnan(floats)] = np.nan
    packed: bytes = floats.tobytes()
    return b"f" + packed


def hashes(keys: Iterable[bytes], size: int, secret: bytes) -> bytes:
    """BLAKE2b of each key, of `size` bytes, one after the other."""
    blake2b = hashlib.blake2b
    return b"".join([blake2b(key, digest_size=size, key=secret).digest() for key in keys])


def numbers(keys: Iterable[bytes], seed: int) -> NDArray[np.uint64]:
    """uint64 [n]: of each key a number that is as good as random, the same on every machine for one seed."""
    return np.frombuffer(hashes(keys, 8, seed.to_bytes(8, "little")), "<u8").astype(np.uint64, copy=False)
