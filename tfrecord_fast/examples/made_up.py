"""Records that fit features, for functions that are called to learn the shapes of what they give."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..dtypes import as_dtype
from ..typing import Features
from .features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature

__all__ = ["example_like", "sequence_example_like"]


def example_like(features: Features | None, length: int) -> bytes:
    """A serialized Example with each of the features, whose values are zeros; lists have so many of them."""
    parts = [_entry(key, value) for key, one in (features or {}).items() for key, value in _values(key, one, length)]
    return _field(1, b"".join(parts))


def sequence_example_like(context: Features | None, sequences: Features | None, length: int) -> bytes:
    """The same for a SequenceExample, with so many steps in each feature list."""
    lists = []
    given: Any = sequences or {}
    for key, one in given.items():
        shape: Any = one.shape if isinstance(one, FixedLenSequenceFeature) else (length,)
        step = _feature(one.dtype, length, _size(shape))
        lists.append(_entry(key, _field(1, step) * length))
    return example_like(context, length) + _field(2, b"".join(lists))


def _values(key: Any, one: Any, length: int) -> Iterable[tuple[Any, bytes]]:
    if isinstance(one, FixedLenFeature):
        yield key, _feature(one.dtype, length, _size(one.shape))
    elif isinstance(one, FixedLenSequenceFeature):
        yield key, _feature(one.dtype, length, length * _size(one.shape))
    elif isinstance(one, SparseFeature):
        keys = [one.index_key] if isinstance(one.index_key, str | bytes) else one.index_key
        yield from ((index, _feature(np.int64, length, 1)) for index in keys)
        yield one.value_key, _feature(one.dtype, length, 1)
    else:
        yield getattr(one, "value_key", None) or key, _feature(one.dtype, length, length)
        partitions: Any = one.partitions if isinstance(one, RaggedFeature) else ()
        for part in partitions:
            if hasattr(part, "key"):
                yield part.key, _feature(np.int64, length, 1)


def _feature(dtype: Any, length: int, count: int) -> bytes:
    kind = np.dtype(as_dtype(dtype).as_numpy_dtype).kind
    if kind == "O":
        return _field(1, _field(1, bytes(16 * length)) * count)  # what fits `decode_raw` of any dtype
    return _field(2, _field(1, bytes(4 * count))) if kind in "fV" else _field(3, _field(1, bytes(count)))


def _size(shape: Any) -> int:
    return math.prod(shape)


def _entry(key: Any, value: bytes) -> bytes:
    return _field(1, _field(1, key.encode() if isinstance(key, str) else bytes(key)) + _field(2, value))


def _field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    return bytes([value & 127 | 128]) + _varint(value >> 7) if value > 127 else bytes([value])
