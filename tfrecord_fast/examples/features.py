"""What to parse: the feature classes of tf.io, as plain tuples. TensorFlow's own are accepted in their place."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from ..dtypes import as_dtype, int32, int64

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "InferredShape",
    "RaggedFeature",
    "SparseFeature",
    "VarLenFeature",
    "normalize",
]


class FixedLenFeature(namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature with the same number of values in each record.

    Args:
      shape: of one record's values; `[]` for a scalar.
      dtype: int64, float32 or string; any integer type or bool from an int64 list (a value out of range is an
        error); float16, bfloat16 or float64 from a float list. Where the record holds one bytes value instead, a
        numeric array of that shape is read from its bytes, which are little-endian.
      default_value: for records without the feature, of that shape; None: they are an error.

    Parsed to an ndarray `[n, *shape]`; strings to a BytesArray of that shape.
    """

    __slots__ = ()

    def __new__(cls, shape: Any, dtype: Any, default_value: Any = None) -> FixedLenFeature:
        return super().__new__(cls, shape, dtype, default_value)


class VarLenFeature(namedtuple("VarLenFeature", ["dtype"])):
    """A feature with any number of values; parsed to a SparseTensor `[n, longest]`."""

    __slots__ = ()


class SparseFeature(namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"])):
    """A sparse tensor kept as two or more features: the values, and their index in each dimension.

    Args:
      index_key: key of the int64 feature with the indices, or a list of keys, one a dimension.
      value_key: key of the feature with the values.
      dtype: of the values.
      size: int, or list of ints, one a dimension; an index must lie in [0, size).
      already_sorted: do not sort by index.

    Parsed to a SparseTensor `[n, *size]`.
    """

    __slots__ = ()

    def __new__(
        cls, index_key: Any, value_key: str, dtype: Any, size: Any, already_sorted: bool = False
    ) -> SparseFeature:
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


class FixedLenSequenceFeature(
    namedtuple("FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"])
):
    """A feature with any number of steps of a fixed shape.

    Args:
      shape: of a step; must not hold a 0.
      dtype: of the values.
      allow_missing: needed, and True, in `parse_example`; in a feature list: whether the list may be absent.
      default_value: one value to pad shorter records with; 0 or b"" when None. Not in a feature list.

    Parsed to an ndarray or BytesArray `[n, longest, *shape]`.
    """

    __slots__ = ()

    def __new__(
        cls, shape: Any, dtype: Any, allow_missing: bool = False, default_value: Any = None
    ) -> FixedLenSequenceFeature:
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


class RaggedFeature(namedtuple("RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"])):
    """A feature with any number of values, which other features may cut into inner rows.

    Args:
      dtype: of the values.
      value_key: key of the values; None: the key under which this stands.
      partitions: how the values are cut, from the outermost to the innermost: RaggedFeature.RowSplits(key),
        RowLengths(key), RowStarts(key), RowLimits(key), ValueRowIds(key), or UniformRowLength(length).
      row_splits_dtype: int32 or int64.
      validate: check that the partitions fit the values.

    Parsed to a RaggedTensor `[n, …]`.
    """

    __slots__ = ()

    RowSplits = namedtuple("RowSplits", ["key"])
    RowLengths = namedtuple("RowLengths", ["key"])
    RowStarts = namedtuple("RowStarts", ["key"])
    RowLimits = namedtuple("RowLimits", ["key"])
    ValueRowIds = namedtuple("ValueRowIds", ["key"])
    UniformRowLength = namedtuple("UniformRowLength", ["length"])

    def __new__(
        cls,
        dtype: Any,
        value_key: str | None = None,
        partitions: Any = (),
        row_splits_dtype: Any = int32,
        validate: bool = False,
    ) -> RaggedFeature:
        if value_key is not None:
            if not isinstance(value_key, str):
                raise ValueError(f"Argument `value_key` must be a string; got {value_key}")
            if not value_key:
                raise ValueError("Argument `value_key` must not be empty")
        dtype = as_dtype(dtype)
        row_splits_dtype = as_dtype(row_splits_dtype)
        if row_splits_dtype not in (int32, int64):
            raise ValueError(f"Argument `row_splits_dtype` must be int32 or int64; got {row_splits_dtype!r}")
        if not isinstance(partitions, list | tuple):
            raise TypeError(f"Argument `partitions` must be a list or tuple; got {partitions!r}")
        if not isinstance(validate, bool):
            raise TypeError(f"Argument `validate` must be a bool; got {validate!r}")
        partitions = tuple(_own_partition(partition) for partition in partitions)
        return super().__new__(cls, dtype, value_key, partitions, row_splits_dtype, validate)


_PARTITIONS = {
    kind.__name__: kind
    for kind in (
        RaggedFeature.RowSplits,
        RaggedFeature.RowLengths,
        RaggedFeature.RowStarts,
        RaggedFeature.RowLimits,
        RaggedFeature.ValueRowIds,
        RaggedFeature.UniformRowLength,
    )
}
# So that features with partitions pickle.
for _kind in _PARTITIONS.values():
    _kind.__qualname__ = f"RaggedFeature.{_kind.__name__}"

_FEATURES = {
    kind.__name__: kind
    for kind in (FixedLenFeature, VarLenFeature, SparseFeature, FixedLenSequenceFeature, RaggedFeature)
}


def _own_partition(partition: Any) -> Any:
    kind = _PARTITIONS.get(type(partition).__name__)
    if kind is None or not hasattr(partition, kind._fields[0]):
        raise TypeError(f"Argument `partitions` must be a list of partition objects; got {partition!r}")
    return partition if isinstance(partition, kind) else kind(*partition)


def normalize(feature: Any) -> Any:
    """`feature` as one of the classes above; TensorFlow's are told by name and fields, without importing it.

    Raises:
      ValueError: it is none of them.
    """
    kind = type(feature)
    if kind in _FEATURES.values():
        return feature
    own = _FEATURES.get(kind.__name__)
    if own is None or getattr(feature, "_fields", None) != own._fields:
        raise ValueError(f"Unsupported {kind.__name__} {feature}")
    return own(*feature)


class InferredShape:
    """Makes shapes that know how they were come by, for the errors of records that break them."""

    def __init__(self, records: int) -> None:
        self.records = records

    def __call__(self, shape: list[int]) -> list[int]:
        inferred = _Inferred(shape)
        inferred.note = f"the shape was inferred from {self.records} records"
        return inferred


class _Inferred(list[int]):
    note = ""
