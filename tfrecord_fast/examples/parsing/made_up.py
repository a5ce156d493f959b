"""Records that fit features, for functions that are called to learn the shapes of what they give."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...dtypes import as_dtype
from ...typing import Features
from ..features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, normalize
from .raw_columns import index_keys_of

__all__ = ["example_like", "sequence_example_like"]


def example_like(features: Features | None, length: int) -> bytes:
    """A serialized Example with each of the features, whose values are zeros; lists have so many of them."""
    return _field(1, b"".join(_entry(key, value) for key, value in _each_key(features, length).items()))


def sequence_example_like(context: Features | None, sequences: Features | None, length: int) -> bytes:
    """The same for a SequenceExample, with so many steps in each feature list."""
    steps = _each_key(sequences, length, in_steps=True)
    lists = [_entry(name, _field(1, step) * length) for name, step in steps.items()]
    return example_like(context, length) + _field(2, b"".join(lists))


def _each_key(features: Any, length: int, in_steps: bool = False) -> dict[bytes, bytes]:
    """The values under each key. Where several features have one key, those of the feature that takes the fewest."""
    found: dict[bytes, bytes] = {}
    for key, one in sorted((features or {}).items(), key=lambda item: _strictness(item[1])):
        own = normalize(one)
        if in_steps and isinstance(own, FixedLenSequenceFeature):
            values: Iterable[tuple[Any, bytes]] = [(key, _feature(own.dtype, length, _size(own.shape)))]
        else:
            values = _values(key, own, length)
        found |= {name.encode() if isinstance(name, str) else bytes(name): value for name, value in values}
    return found


def _strictness(feature: Any) -> int:
    """How much a feature asks of the number of values: the greater, the more."""
    one = normalize(feature)
    if isinstance(one, RaggedFeature):
        return 1 if one.partitions else 0
    return 2 if isinstance(one, SparseFeature) else 0


def _values(key: Any, feature: Any, length: int) -> Iterable[tuple[Any, bytes]]:
    one = normalize(feature)
    if isinstance(one, FixedLenFeature):
        yield key, _feature(one.dtype, length, _size(one.shape))
    elif isinstance(one, FixedLenSequenceFeature):
        yield key, _feature(one.dtype, length, length * _size(one.shape))
    elif isinstance(one, SparseFeature):
        yield from ((index, _feature(np.int64, length, 1)) for index in index_keys_of(one))
        yield one.value_key, _feature(one.dtype, length, 1)
    elif isinstance(one, RaggedFeature):
        yield from _ragged(key, one, length)
    else:
        yield key, _feature(one.dtype, length, length)


def _ragged(key: Any, one: RaggedFeature, length: int) -> Iterable[tuple[Any, bytes]]:
    """Rows that have so many rows or values each, or as many as they have to."""
    rows = each = length
    for part in one.partitions:
        if isinstance(part, RaggedFeature.UniformRowLength):
            rows *= int(part.length)
            continue
        ends = range(0, rows * each + 1, each)
        cut: Sequence[int] = {
            "RowSplits": ends,
            "RowLengths": [each] * rows,
            "RowStarts": ends[:-1],
            "RowLimits": ends[1:],
            "ValueRowIds": [row for row in range(rows) for _ in range(each)],
        }[type(part).__name__]
        yield part.key, _field(3, _field(1, b"".join(map(_varint, cut))))
        rows *= each
    yield one.value_key or key, _feature(one.dtype, length, rows)


def _feature(dtype: Any, length: int, count: int) -> bytes:
    kind = np.dtype(as_dtype(dtype).as_numpy_dtype).kind
    if kind == "O":
        return _field(1, _field(1, bytes(16 * length)) * count)  # what fits `decode_raw` of any dtype
    return _field(2, _field(1, bytes(4 * count))) if kind in "fV" else _field(3, _field(1, bytes(count)))


def _size(shape: Any) -> int:
    return math.prod(shape)


def _entry(key: bytes, value: bytes) -> bytes:
    return _field(1, _field(1, key) + _field(2, value))


def _field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    return bytes([value & 127 | 128]) + _varint(value >> 7) if value > 127 else bytes([value])
