"""`tfrecord.writer`: a writer that makes Examples and SequenceExamples of dicts."""

from __future__ import annotations

import operator
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ... import _core
from ...examples.encode import encode_examples, encode_sequence_examples
from ...files.writer import TFRecordWriter as RecordWriter
from ...typing import PathLike
from ...values.bytes_array import BytesArray
from ...values.ragged import RaggedTensor

__all__ = ["TFRecordWriter"]

Datum = Mapping[str, tuple[Any, str]]

_MASK = 0xA282EAD8
_MOST_FLOAT32 = float(np.finfo(np.float32).max)


class TFRecordWriter:
    """Writes dicts as Examples and SequenceExamples.

    Args:
      data_path: of the file, which is replaced if it exists.

    `file` is the writer of serialized records below it. A context manager.

    Raises:
      OSError: the file can't be written.
    """

    def __init__(self, data_path: PathLike) -> None:
        self.file = RecordWriter(data_path)

    def close(self) -> None:
        """Writes what is left, and closes the file; later calls do nothing."""
        self.file.close()

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *error: Any) -> None:
        self.file.__exit__(*error)

    def write(self, datum: Datum, sequence_datum: Mapping[str, tuple[Sequence[Any], str]] | None = None) -> None:
        """Appends an Example or, with `sequence_datum`, a SequenceExample.

        Args:
          datum: by key, (value, type): a value, or a list, tuple or array `[n]` of them; the type is "byte", "float" or
            "int". The features of the Example, or the context.
          sequence_datum: by key, (steps, type): each step is such a value or list.

        Raises:
          KeyError: another type.
          TypeError: a value of another type than it says; names the key.
          ValueError: an integer that int64 does not hold, or a number that float32 makes infinite; names the key.
        """
        if sequence_datum is None:
            self.file.write(self.serialize_tf_example(datum))
        else:
            self.file.write(self.serialize_tf_sequence_example(datum, sequence_datum))

    @staticmethod
    def masked_crc(data: bytes) -> bytes:
        """The masked CRC32C of some bytes, as 4 bytes, little-endian."""
        crc = _core.crc32c(data)
        return struct.pack("<I", (((crc >> 15) | (crc << 17)) + _MASK) & 0xFFFFFFFF)

    @staticmethod
    def serialize_tf_example(datum: Datum) -> bytes:
        """The serialized Example; `datum` as in `write`."""
        columns = {key: _one_row(_list(key, *pair)) for key, pair in _pairs(datum)}
        return encode_examples(columns, num_threads=1)[0] if columns else b"\n\0"

    @staticmethod
    def serialize_tf_sequence_example(
        context_datum: Datum, features_datum: Mapping[str, tuple[Sequence[Any], str]]
    ) -> bytes:
        """The serialized SequenceExample; arguments as in `write`."""
        context = {key: _one_row(_list(key, *pair)) for key, pair in _pairs(context_datum)}
        lists = {key: _steps(key, *pair) for key, pair in _pairs(features_datum)}
        parts = b"" if context else b"\n\0"  # a map without entries is written, too
        if context or lists:
            parts += encode_sequence_examples(context, lists, num_threads=1)[0]
        return parts if lists else parts + b"\x12\0"


def _pairs(datum: Datum) -> list[tuple[str, tuple[Any, str]]]:
    for key, pair in datum.items():
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise TypeError(f"feature {key!r}: expected (value, type), got {type(pair).__name__}")
    return list(datum.items())


def _list(key: str, value: Any, name: str) -> Any:
    """The values as an array, or strings as a list."""
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


def _integers(values: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
    if isinstance(values, np.ndarray) and values.dtype.kind == "i":
        return values.astype(np.int64)
    for value in values:
        if isinstance(value, bool | np.bool_):
            raise TypeError("expected integers, got a bool")
    whole = [operator.index(value) for value in values]
    beyond = next((value for value in whole if not -(1 << 63) <= value < 1 << 63), None)
    if beyond is not None:
        raise ValueError(f"{beyond} is an integer that int64 does not hold")
    return np.array(whole, dtype=np.int64)


def _floats(values: Any) -> np.ndarray[Any, np.dtype[np.float32]]:
    if not (isinstance(values, np.ndarray) and values.dtype.kind in "fiub"):
        for value in values:
            if not isinstance(value, float | int | np.number | np.bool_) or isinstance(value, complex):
                raise TypeError(f"expected numbers, got {type(value).__name__}")
    wide = np.array(values, dtype=np.float64)
    beyond = np.abs(wide[np.isfinite(wide)]) > _MOST_FLOAT32
    with np.errstate(over="ignore"):
        narrow = wide.astype(np.float32)
    if beyond.any() and np.isinf(narrow[np.isfinite(wide)]).any():
        raise ValueError(f"{wide[np.isfinite(wide)][beyond][0]} is a number that float32 makes infinite")
    return narrow


def _strings(values: Any) -> list[bytes]:
    for value in values:
        if not isinstance(value, bytes):
            raise TypeError(f"expected bytes, got {type(value).__name__}")
    return list(values)


_MAKERS = {"byte": _strings, "float": _floats, "int": _integers}


def _one_row(values: Any) -> Any:
    """A column of one row. An array keeps the kind of an empty list, which is written, too."""
    if isinstance(values, list):
        return [values] if values else np.empty((1, 0), dtype="S1")
    return values[None]


def _steps(key: str, steps: Any, name: str) -> Any:
    """A column of one row of steps."""
    if isinstance(steps, str | bytes | Mapping):
        raise TypeError(f"feature list {key!r}: expected a list of steps, got {type(steps).__name__}")
    try:
        each = [_list(key, step, name) for step in steps]
    except TypeError as error:
        raise TypeError(f"feature list {key!r}: {error}") from None
    splits = np.cumsum([0, *map(len, each)])
    flat: Any
    if name == "byte":
        flat = BytesArray([value for one in each for value in one])
    else:
        flat = np.concatenate([*each, np.empty(0, np.float32 if name == "float" else np.int64)])
    inner = RaggedTensor.from_row_splits(flat, splits)
    return RaggedTensor.from_row_splits(inner, np.array([0, len(each)]))
