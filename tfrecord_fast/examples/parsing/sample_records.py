"""Records of zeros that fit features, for functions that are called to learn the shapes of their results."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...dtypes import as_dtype
from ...typing import Features
from ..features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    ImageFeature,
    OwnFeature,
    RaggedFeature,
    SparseFeature,
    normalize,
)
from ..messages.wire import Value, to_example, to_sequence
from .core_columns import index_keys_of

# A black pixel, as a PNG.
_IMAGE = (
    b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\0\0\0\0:~\x9bU\0\0\0\nIDATx\x9cc`\0\0\0\2\0\1H\xaf\xa4q"
    b"\0\0\0\0IEND\xaeB`\x82"
)


def example_like(features: Features | None, length: int) -> bytes:
    """Return a serialized Example with each of the features; lists have `length` values."""
    return to_example(_values_by_key(features, length))


def sequence_example_like(context: Features | None, sequences: Features | None, length: int) -> bytes:
    """Return a serialized SequenceExample with each of the features; feature lists have `length` steps."""
    steps = _values_by_key(sequences, length, in_steps=True)
    return to_sequence(_values_by_key(context, length), {key: [step] * length for key, step in steps.items()})


def _values_by_key(features: Any, length: int, in_steps: bool = False) -> dict[str, Value]:
    """Return the values for each key. Features that share a key get those of the strictest, which come last."""
    values: dict[str, Value] = {}
    own_features = {key: normalize(feature) for key, feature in (features or {}).items()}
    for key, feature in sorted(own_features.items(), key=lambda item: _strictness(item[1])):
        if in_steps and isinstance(feature, FixedLenSequenceFeature):
            feature = FixedLenFeature(feature.shape, feature.dtype)  # of one step
        for name, value in _values(key, feature, length):
            values[name.decode("utf-8", "surrogateescape") if isinstance(name, bytes) else name] = value
    return values


def _strictness(feature: OwnFeature) -> int:
    """Return how much a feature demands of the number of values: the greater, the more."""
    if isinstance(feature, RaggedFeature):
        return 1 if feature.partitions else 0
    return 2 if isinstance(feature, SparseFeature) else 0


def _values(key: Any, feature: Any, length: int) -> Iterable[tuple[Any, Value]]:
    if isinstance(feature, FixedLenFeature):
        yield key, _zeros(feature.dtype, length, _size(feature.shape))
    elif isinstance(feature, FixedLenSequenceFeature):
        yield key, _zeros(feature.dtype, length, length * _size(feature.shape))
    elif isinstance(feature, SparseFeature):
        yield from ((index, _zeros(np.int64, length, 1)) for index in index_keys_of(feature))
        yield feature.value_key, _zeros(feature.dtype, length, 1)
    elif isinstance(feature, ImageFeature):
        yield key, Value("bytes", [_IMAGE])
    elif isinstance(feature, RaggedFeature):
        yield from _ragged(key, feature, length)
    else:
        yield key, _zeros(feature.dtype, length, length)


def _ragged(key: Any, feature: RaggedFeature, length: int) -> Iterable[tuple[Any, Value]]:
    """Rows have `length` rows or values each, unless their length is fixed."""
    rows = each = length
    for partition in feature.partitions:
        if isinstance(partition, RaggedFeature.UniformRowLength):
            rows *= int(partition.length)
            continue
        ends = range(0, rows * each + 1, each)
        cuts: Sequence[int] = {
            "RowSplits": ends,
            "RowLengths": [each] * rows,
            "RowStarts": ends[:-1],
            "RowLimits": ends[1:],
            "ValueRowIds": [row for row in range(rows) for _ in range(each)],
        }[type(partition).__name__]
        yield partition.key, Value("int64", list(cuts))
        rows *= each
    yield feature.value_key or key, _zeros(feature.dtype, length, rows)


def _zeros(dtype: Any, length: int, count: int) -> Value:
    code = np.dtype(as_dtype(dtype).as_numpy_dtype).kind
    if code == "O":
        return Value("bytes", [bytes(16 * length)] * count)  # fits `decode_raw` of any dtype
    return Value("float", [0.0] * count) if code in "fV" else Value("int64", [0] * count)


def _size(shape: Any) -> int:
    return math.prod(shape)
