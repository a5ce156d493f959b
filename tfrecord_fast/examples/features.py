"""What to parse: the feature classes of tf.io, as named tuples. TensorFlow's own are accepted too."""

from __future__ import annotations

import copy
import operator
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..dtypes import DType, as_dtype, int32, int64
from ..errors import InvalidArgumentError
from ..typing import DTypeLike, Key, Shape

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "InferredShape",
    "KeyedPartition",
    "OwnFeature",
    "Partition",
    "RaggedFeature",
    "SparseFeature",
    "VarLenFeature",
    "copied",
    "held",
    "is_array",
    "names_of",
    "normalize",
    "own",
    "select_features",
]


class FixedLenFeature(NamedTuple):
    """A feature with the same number of values in each record.

    Args:
      shape: of one record's values; `[]` for a scalar.
      dtype: int64, float32 or string; any integer type or bool from an int64 list (a value out of range is an
        error); float16, bfloat16 or float64 from a float list. Where the record holds one bytes value instead, a
        numeric array of that shape is read from its bytes, which are little-endian.
      default_value: for records without the feature, of that shape; None: they are an error.

    Parsed to an ndarray `[n, *shape]`; strings to a BytesArray of that shape.
    """

    shape: Shape
    dtype: DTypeLike
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """A feature with any number of values; parsed to a SparseTensor `[n, longest]`."""

    dtype: DTypeLike


class SparseFeature(NamedTuple):
    """A sparse tensor kept as two or more features: the values, and their index in each dimension.

    Args:
      index_key: key of the int64 feature with the indices, or a list of keys, one per dimension.
      value_key: key of the feature with the values.
      dtype: of the values.
      size: of the dimension, or a list of sizes, one per dimension; an index must lie in [0, size).
      already_sorted: do not sort by index.

    Parsed to a SparseTensor `[n, *size]`.
    """

    index_key: Key | Sequence[Key]
    value_key: Key
    dtype: DTypeLike
    size: int | Sequence[int]
    already_sorted: bool = False


class FixedLenSequenceFeature(NamedTuple):
    """A feature with any number of steps of a fixed shape.

    Args:
      shape: of a step; must not hold a 0.
      dtype: of the values.
      allow_missing: must be True in `parse_example`; in a feature list, whether the list may be absent.
      default_value: one value to pad shorter records with; 0 or b"" when None. Not in a feature list.

    Parsed to an ndarray or BytesArray `[n, longest, *shape]`.
    """

    shape: Shape
    dtype: DTypeLike
    allow_missing: bool = False
    default_value: Any = None


class _RaggedFields(NamedTuple):
    dtype: DType
    value_key: str | None
    partitions: tuple[Partition, ...]
    row_splits_dtype: DType
    validate: bool


class RaggedFeature(_RaggedFields):
    """A feature with any number of values, which other features may cut into inner rows.

    Args:
      dtype: of the values.
      value_key: key of the values; None: the key that this feature has in the dict.
      partitions: how the values are cut, from the outermost to the innermost: RaggedFeature.RowSplits(key),
        RowLengths(key), RowStarts(key), RowLimits(key), ValueRowIds(key), or UniformRowLength(length).
      row_splits_dtype: int32 or int64.
      validate: as in TensorFlow. A partition that does not fit the values of its record is an error in any case.

    Parsed to a RaggedTensor `[n, …]`.
    """

    __slots__ = ()

    class RowSplits(NamedTuple):
        key: str

    class RowLengths(NamedTuple):
        key: str

    class RowStarts(NamedTuple):
        key: str

    class RowLimits(NamedTuple):
        key: str

    class ValueRowIds(NamedTuple):
        key: str

    class UniformRowLength(NamedTuple):
        length: int

    def __new__(
        cls,
        dtype: DTypeLike,
        value_key: str | None = None,
        partitions: Sequence[Partition] = (),
        row_splits_dtype: DTypeLike = int32,
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
        own = tuple(_own_partition(partition) for partition in partitions)
        return super().__new__(cls, dtype, value_key, own, row_splits_dtype, validate)


KeyedPartition: TypeAlias = (
    RaggedFeature.RowSplits
    | RaggedFeature.RowLengths
    | RaggedFeature.RowStarts
    | RaggedFeature.RowLimits
    | RaggedFeature.ValueRowIds
)
Partition: TypeAlias = KeyedPartition | RaggedFeature.UniformRowLength
OwnFeature: TypeAlias = FixedLenFeature | VarLenFeature | SparseFeature | FixedLenSequenceFeature | RaggedFeature

_PARTITIONS: dict[str, Any] = {
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

_FEATURES: dict[str, Any] = {
    kind.__name__: kind
    for kind in (FixedLenFeature, VarLenFeature, SparseFeature, FixedLenSequenceFeature, RaggedFeature)
}


def _own_partition(partition: object) -> Partition:
    kind = _PARTITIONS.get(type(partition).__name__)
    if kind is None or not hasattr(partition, kind._fields[0]):
        raise TypeError(f"Argument `partitions` must be a list of partition objects; got {partition!r}")
    own: Partition = partition if isinstance(partition, kind) else kind(*partition)  # type: ignore[misc]
    return own


def normalize(feature: Any) -> OwnFeature:
    """`feature` as one of the classes above; TensorFlow's are recognised by name and fields, without importing it.

    Raises:
      ValueError: it is none of them.
    """
    kind = type(feature)
    if isinstance(feature, OwnFeature) and kind in _FEATURES.values():
        return feature
    own = _FEATURES.get(kind.__name__)
    if own is None or getattr(feature, "_fields", None) != own._fields:
        raise ValueError(f"Unsupported {kind.__name__} {feature}")
    made: OwnFeature = own(*feature)
    return made


def copied(features: Any) -> Any:
    """Features as they are now: who gave them may change the dict, or the dicts of a pair, and what these hold."""
    if isinstance(features, Mapping):
        return {key: held(feature) for key, feature in features.items()}
    if isinstance(features, tuple | list):
        return tuple(map(copied, features))
    return features


def held(feature: Any) -> Any:
    """A feature with lists and arrays of its own: those that it was given may be changed in place."""
    if not isinstance(feature, tuple) or not hasattr(feature, "_make"):
        return feature
    parts = [own(part) if isinstance(part, list | tuple) or is_array(part) else part for part in feature]
    return feature if all(map(operator.is_, parts, feature)) else type(feature)._make(parts)


def own(part: Any) -> Any:
    """A copy with copies of what is in it; the same where that can't be copied."""
    try:
        return copy.deepcopy(part)
    except Exception:
        return part


def is_array(part: object) -> bool:
    """Whether it is an array that can be written to, of NumPy or of others."""
    return isinstance(part, np.ndarray) or (hasattr(part, "__array__") and hasattr(part, "__setitem__"))


def names_of(columns: Any) -> Any:
    """Names of columns, in a list of their own; what is none is left for `select_features` to refuse."""
    return list(columns) if isinstance(columns, list | tuple) else columns


def select_features(
    features: Mapping[Any, Any], columns: Sequence[Key], lists: Mapping[Any, Any] | None = None
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """Those of the features, and of the feature lists, whose keys are in `columns`.

    Raises:
      TypeError: `columns` is one name, not a list of names.
      errors.InvalidArgumentError: a column is none of the features, or comes twice, or there is none.
    """
    if isinstance(columns, str | bytes):
        raise TypeError(f"columns is a list of names, got {columns!r}")
    wanted = list(columns)
    known = [*features, *(lists or {})]
    unknown = [key for key in wanted if key not in known]
    if unknown:
        raise InvalidArgumentError(f"columns {unknown} are none of the features {sorted(known, key=str)}")
    if not wanted or len(set(wanted)) < len(wanted):
        raise InvalidArgumentError(f"columns must be names, each once, got {wanted}")
    return (
        {key: feature for key, feature in features.items() if key in wanted},
        {key: feature for key, feature in (lists or {}).items() if key in wanted},
    )


class InferredShape:
    """Makes shapes that know they were inferred, for the errors of records that break them."""

    def __init__(self, records: int) -> None:
        self.records = records

    def __call__(self, shape: list[int]) -> list[int]:
        inferred = _Inferred(shape)
        inferred.note = f"the shape was inferred from {self.records} records"
        return inferred


class _Inferred(list[int]):
    note = ""
