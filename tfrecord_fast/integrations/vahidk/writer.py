"""`tfrecord.writer`: a writer of dicts as Examples and SequenceExamples."""

from __future__ import annotations

import itertools
import math
import operator
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ... import _core
from ...examples.encoding.encode import encode_examples, encode_plain
from ...files.writing.writer import TFRecordWriter as RecordWriter
from ...typing import PathLike

__all__ = ["TFRecordWriter"]

Datum = Mapping[str, tuple[Any, str]]

_MASK = 0xA282EAD8
_MOST_FLOAT32 = float(np.finfo(np.float32).max)


class TFRecordWriter:
    """Writer of dicts as Examples and SequenceExamples.

    Args:
      data_path: the path of the file, which is replaced if it exists.

    `file` is the underlying writer of serialized records. A context manager.

    Raises:
      OSError: the file can't be written.
    """

    def __init__(self, data_path: PathLike) -> None:
        self.file = RecordWriter(data_path)

    def close(self) -> None:
        """Write buffered records, and close the file; later calls do nothing."""
        self.file.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *error: Any) -> None:
        self.file.__exit__(*error)

    def write(self, datum: Datum, sequence_datum: Mapping[str, tuple[Sequence[Any], str]] | None = None) -> None:
        """Append an Example or, with `sequence_datum`, a SequenceExample.

        Args:
          datum: by key, (value, type): a value, or a list, tuple or array `[n]` of them; the type is "byte", "float" or
            "int". The features of the Example, or the context.
          sequence_datum: by key, (steps, type): each step is such a value or list.

        Raises:
          KeyError: an unknown type.
          TypeError: a value does not have its type; the error names the key.
          ValueError: an integer does not fit in int64, or a number is infinite in float32; the error names the key.
        """
        if sequence_datum is None:
            self.file.write(self.serialize_tf_example(datum))
        else:
            self.file.write(self.serialize_tf_sequence_example(datum, sequence_datum))

    @staticmethod
    def masked_crc(data: bytes) -> bytes:
        """Return the masked CRC32C of `data`, as 4 little-endian bytes."""
        crc = _core.crc32c(data)
        return struct.pack("<I", (((crc >> 15) | (crc << 17)) + _MASK) & 0xFFFFFFFF)

    @staticmethod
    def serialize_tf_example(datum: Datum) -> bytes:
        """Return the serialized Example; `datum` as in `write`."""
        values = {key: _list(key, *pair) for key, pair in _pairs(datum)}
        plain = encode_plain(values) if all(map(len, values.values())) else None
        if plain is not None:
            return plain if values else b"\n\0"
        return encode_examples({key: _one_row(column) for key, column in values.items()}, num_threads=1)[0]

    @staticmethod
    def serialize_tf_sequence_example(
        context_datum: Datum, features_datum: Mapping[str, tuple[Sequence[Any], str]]
    ) -> bytes:
        """Return the serialized SequenceExample; arguments as in `write`."""
        # An Example's features and a SequenceExample's context have the same bytes.
        context = TFRecordWriter.serialize_tf_example(context_datum)
        lists = [_feature_list(key, *pair) for key, pair in _pairs(features_datum)]
        return context + (_core.encode_sequence_examples([], lists, 1, 1)[0] if lists else b"\x12\0")


def _pairs(datum: Datum) -> list[tuple[str, tuple[Any, str]]]:
    for key, pair in datum.items():
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"feature {key!r}: expected (value, type), got {type(pair).__name__}")
    return list(datum.items())


def _list(key: str, value: Any, name: str) -> Any:
    """Return the values as an array, or strings as a list."""
    if name not in _MAKERS:
        raise KeyError(f"unknown type {name!r} for {key!r}: expected one of {', '.join(map(repr, _MAKERS))}")
    if isinstance(value, np.ndarray):
        if value.ndim != 1:
            raise TypeError(f"feature {key!r}: expected an array of one dimension, got shape {value.shape}")
    elif not isinstance(value, list | tuple):
        value = [value]
    try:
        return _MAKERS[name](value)
    except (TypeError, ValueError) as error:
        raise type(error)(f"feature {key!r}: {error}") from None


def _integers(values: Any) -> Any:
    if isinstance(values, np.ndarray):
        if values.dtype.kind == "i" and values.dtype.isnative:
            return values
        values = values.tolist() if values.dtype.kind in "iu" else list(values)
    if not all(type(value) is int for value in values):
        for value in values:
            if isinstance(value, bool | np.bool_):
                raise TypeError("expected integers, got a bool")
        values = [operator.index(value) for value in values]
    for value in values:
        if not -(1 << 63) <= value < 1 << 63:
            raise ValueError(f"{value} is an integer that int64 does not hold")
    return list(values) if len(values) else np.empty(0, np.int64)


def _floats(values: Any) -> Any:
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiub":
        values = values.astype(np.float64, copy=False)
        if values.size and not np.abs(values).max() <= _MOST_FLOAT32:
            _check_finite(values.tolist())
        return values
    for value in values:
        if not isinstance(value, float | int | np.number | np.bool_) or isinstance(value, complex | np.complexfloating):
            raise TypeError(f"expected numbers, got {type(value).__name__}")
    values = [float(value) for value in values]
    _check_finite(values)
    return values if values else np.empty(0, np.float32)


def _check_finite(values: list[float]) -> None:
    for value in values:
        if not -_MOST_FLOAT32 <= value <= _MOST_FLOAT32 and math.isfinite(value):
            with np.errstate(over="ignore"):
                if np.isinf(np.float32(value)):  # and not only rounded
                    raise ValueError(f"{value} is a number that float32 makes infinite")


def _strings(values: Any) -> list[bytes]:
    for value in values:
        if not isinstance(value, bytes):
            raise TypeError(f"expected bytes, got {type(value).__name__}")
    return list(values)


_TYPES = {"byte": "string", "float": "float64", "int": "int64"}
_MAKERS = {"byte": _strings, "float": _floats, "int": _integers}


def _one_row(values: Any) -> Any:
    """Return a column of one row. An empty list becomes an array, so that its kind is written."""
    if isinstance(values, list):
        return [values] if values else np.empty((1, 0), dtype="S1")
    return values[None]


def _feature_list(key: str, steps: Any, name: str) -> _core.EncodeColumn:
    if isinstance(steps, str | bytes | Mapping):
        raise TypeError(f"feature list {key!r}: expected a list of steps, got {type(steps).__name__}")
    try:
        each = [_list(key, step, name) for step in steps]
    except TypeError as error:
        raise TypeError(f"feature list {key!r}: {error}") from None
    values: Any
    if name == "byte":
        values = _core.views_of_objects(list(itertools.chain.from_iterable(each)))[0]
    else:
        dtype = np.float64 if name == "float" else np.int64
        values = np.concatenate([*each, np.empty(0, dtype)], dtype=dtype)
    return _core.EncodeColumn(
        key=key,
        type=_TYPES[name],
        values=values,
        count=1,
        splits=np.cumsum([0, *map(len, each)]),
        valid=None,
        steps=np.array([0, len(each)]),
        row_valid=None,
    )
