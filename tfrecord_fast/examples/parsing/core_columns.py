"""A dict of features, compiled: the columns that the core parses, and the results composed from them.

The order is TensorFlow's: raw columns are the sparse, the dense and the ragged keys, each sorted. SparseFeatures and
RaggedFeatures are then composed from raw columns (results.py).
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...dtypes import DType, as_dtype, complex64, complex128, float32, int64, string, uint8
from ...errors import InvalidArgumentError
from ...typing import Features, Key, Shape
from ...values.columns.conversion import as_array
from ..features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    ImageFeature,
    OwnFeature,
    RaggedFeature,
    RawFeature,
    SparseFeature,
    VarLenFeature,
    normalized,
)

_Shaped = FixedLenFeature | FixedLenSequenceFeature

# The feature classes allowed in an Example, in a context, and in the feature lists of a SequenceExample.
EXAMPLE_KINDS = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, ImageFeature)
CONTEXT_KINDS = (VarLenFeature, FixedLenFeature, RaggedFeature)
LIST_KINDS = (VarLenFeature, FixedLenSequenceFeature, RaggedFeature)


class DenseColumn(NamedTuple):
    """A column of one array. Fields are those of the core's FeatureSpec."""

    dtype: DType
    layout: str  # "fixed", "padded", or for tables "list", whose rows hold any number of values of that shape
    shape: tuple[int, ...]
    default: bytes | list[bytes] | None
    may_be_absent: bool
    note: str
    image: ImageFeature | None = None  # the bytes are decoded
    takes_raw_bytes: bool = False


class RaggedColumn(NamedTuple):
    """A column of rows of any length, and the dtype of its row splits."""

    dtype: DType
    row_splits_dtype: DType


class RawColumns:
    """The raw columns of one dict of features.

    Attributes:
      sparse, dense, ragged: dicts of keys to the raw columns of each layout.
      keys: all their keys, in the order of the core's specs.
      groups: for each group, the positions of its features in `keys`.
      names: the names of the core's columns: the keys outside of groups, then the names of groups.
      features: the dict of features, each of this package's own classes.
      composites: the features, by key, that are composed from raw columns.
      hidden: the keys of raw columns that are not results themselves.
      checks_rows: True if composing may find that a record does not fit.
      images: the ImageFeatures by key.
    """

    def __init__(self, features: Features, kinds: tuple[type[OwnFeature], ...]) -> None:
        self.sparse: dict[Hashable, DType] = {}
        self.dense: dict[Hashable, DenseColumn] = {}
        self.ragged: dict[Hashable, RaggedColumn] = {}
        self.features: dict[Hashable, OwnFeature] = normalized(features)
        in_order = sorted(self.features, key=key_bytes)
        for key in in_order:
            feature = self.features[key]
            if not isinstance(feature, kinds):
                names = ", ".join(kind.__name__ for kind in kinds)
                raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key '{key}'; use one of {names}")
            if isinstance(feature, VarLenFeature):
                self._add_sparse(key, _dtype(key, feature))
            elif isinstance(feature, SparseFeature):
                self._add_sparse_feature(key, feature)
            elif isinstance(feature, FixedLenFeature):
                self._add_fixed(key, feature)
            elif isinstance(feature, FixedLenSequenceFeature):
                self._add_sequence(key, feature, of_example=SparseFeature in kinds)
            elif isinstance(feature, RaggedFeature):
                self._add_ragged_feature(key, feature)
            elif isinstance(feature, ImageFeature):
                missing = None if feature.on_error == "raise" else [b""]
                self.dense[key] = DenseColumn(string, "fixed", (), missing, False, "", feature)
        self._check_disjoint("Dense and sparse", self.dense, self.sparse)
        self._check_disjoint("Dense and ragged", self.dense, self.ragged)
        self._check_disjoint("Ragged and sparse", self.ragged, self.sparse)
        self.keys: list[Hashable] = [*self.sparse, *self.dense, *self.ragged]
        self.groups: list[list[int]] = []
        self.names = self.keys
        self.composites: dict[Hashable, SparseFeature | RaggedFeature] = {}
        for key in in_order:
            feature = self.features[key]
            if isinstance(feature, SparseFeature | RaggedFeature):
                self.composites[key] = feature
        self.checks_rows = any(
            isinstance(feature, SparseFeature) or bool(feature.partitions) for feature in self.composites.values()
        )
        self.images = {key: column.image for key, column in self.dense.items() if column.image is not None}
        if self.checks_rows:
            for key, image in self.images.items():
                if image.on_error == "skip":
                    raise ValueError(f'feature {key!r}: on_error="skip" needs features without indices and partitions')
        self.hidden = [key for key in self.keys if key not in self.features]

    def specs(self, presence: Collection[Hashable] = ()) -> list[_core.FeatureSpec]:
        """Return the core's specs in the order of `keys`. Columns in `presence` also report which rows have them."""
        return [
            *(_list_spec(key, dtype, key in presence) for key, dtype in self.sparse.items()),
            *(_dense_spec(key, column, key in presence) for key, column in self.dense.items()),
            *(_list_spec(key, column.dtype, key in presence) for key, column in self.ragged.items()),
        ]

    def _check_disjoint(self, names: str, a: Mapping[Hashable, object], b: Mapping[Hashable, object]) -> None:
        common = set(a) & set(b)
        if common:
            raise ValueError(f"{names} keys must not intersect; intersection: {common}")

    def _add_sparse(self, key: Hashable, dtype: DType) -> None:
        before = self.sparse.setdefault(key, dtype)
        if before != dtype:
            raise ValueError(f"Conflicting type {before} vs {dtype} for feature {key}.")

    def _add_sparse_feature(self, key: Hashable, feature: SparseFeature) -> None:
        if not feature.index_key:
            raise ValueError(f"Missing index_key for SparseFeature {feature}.")
        if not feature.value_key:
            raise ValueError(f"Missing value_key for SparseFeature {feature}.")
        dtype = _dtype(key, feature)
        index_keys = index_keys_of(feature)
        if not isinstance(feature.index_key, str | bytes):
            if not isinstance(feature.size, list | tuple | np.ndarray):
                raise TypeError(f"size of {feature} must be a list, as index_key is one")
            if len(feature.size) != len(index_keys):
                raise ValueError(f"size and index_key of {feature} must have equal lengths")
        elif not isinstance(feature.size, int | np.integer):
            raise TypeError(f"size of {feature} must be an int, as index_key is one key")
        for index_key in sorted(index_keys, key=key_bytes):
            self._add_sparse(index_key, int64)
        self._add_sparse(feature.value_key, dtype)

    def _add_fixed(self, key: Hashable, feature: FixedLenFeature) -> None:
        dtype = _dtype(key, feature)
        shape = _shape(key, feature)
        if shape and shape[0] is None:
            raise ValueError(
                f"First dimension of shape for feature {key} unknown. Consider using FixedLenSequenceFeature. "
                f"Received feature={feature}."
            )
        if None in shape:
            raise ValueError(
                f"All dimensions of shape for feature {key} need to be known but received {feature.shape}."
            )
        count = int(np.prod([length or 0 for length in shape], dtype=np.int64)) if shape else 1
        default = _default(key, feature.default_value, dtype, count, shape)
        note = _note(feature)
        # uint8 has no list of its own in records, but its values may be stored as int64.
        raw = isinstance(feature, RawFeature) or (dtype == uint8 and not note)
        self.dense[key] = DenseColumn(dtype, "fixed", _known(shape), default, False, note, takes_raw_bytes=raw)

    def _add_sequence(self, key: Hashable, feature: FixedLenSequenceFeature, of_example: bool) -> None:
        if of_example and not feature.allow_missing:
            raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
        dtype = _dtype(key, feature)
        shape = _shape(key, feature)
        if None in shape:
            raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {shape}.")
        if 0 in shape:
            raise InvalidArgumentError(f"the shape of FixedLenSequenceFeature {key} must not contain 0: {shape}")
        if not of_example and feature.default_value is not None:
            raise ValueError(f"Value feature_list.dense_defaults[{key}] must be None")
        default = _default(key, feature.default_value, dtype, 1, "one padding value")
        may_be_absent = bool(feature.allow_missing)
        self.dense[key] = DenseColumn(dtype, "padded", _known(shape), default, may_be_absent, _note(feature))

    def _add_ragged(self, key: Hashable, dtype: DType, splits: DType) -> None:
        before = self.ragged.setdefault(key, RaggedColumn(dtype, splits))
        if before.dtype != dtype:
            raise ValueError(f"Conflicting type {before.dtype} vs {dtype} for feature {key}.")
        if before.row_splits_dtype != splits:
            raise ValueError(f"Conflicting partition type {before.row_splits_dtype} vs {splits} for feature {key}.")

    def _add_ragged_feature(self, key: Hashable, feature: RaggedFeature) -> None:
        value_key = key if feature.value_key is None else feature.value_key
        self._add_ragged(value_key, _dtype(key, feature), as_dtype(feature.row_splits_dtype))
        for partition in feature.partitions:
            if not isinstance(partition, RaggedFeature.UniformRowLength):
                self._add_ragged(partition.key, int64, as_dtype(feature.row_splits_dtype))


def index_keys_of(feature: SparseFeature) -> list[Key]:
    keys = feature.index_key
    return [keys] if isinstance(keys, str | bytes) else list(keys)


def _list_spec(key: object, dtype: DType, presence: bool) -> _core.FeatureSpec:
    return _core.FeatureSpec(key=key_bytes(key), type=dtype.name, layout="list", presence=presence)


def _dense_spec(key: object, column: DenseColumn, presence: bool) -> _core.FeatureSpec:
    return _core.FeatureSpec(
        key=key_bytes(key),
        type=column.dtype.name,
        layout=column.layout,
        shape=column.shape,
        default=column.default,
        may_be_absent=column.may_be_absent,
        note=column.note,
        presence=presence,
        takes_raw_bytes=column.takes_raw_bytes,
        image=None if column.image is None else _image_spec(column.image),
    )


def _image_spec(feature: ImageFeature) -> _core.ImageSpec:
    return _core.ImageSpec(
        size=feature.size or (0, 0),
        channels=feature.channels,
        float_results=feature.dtype == float32,
        resize=feature.resize,
        crop=feature.crop or "none",
        shorter_side=feature.shorter_side or 0,
        scale=feature.scale,
        ratio=feature.ratio,
        flip=feature.flip,
        antialias=feature.antialias,
        exact=feature.exact,
        channels_first=feature.channels_first,
        on_error=feature.on_error,
        seed=feature.seed,
        max_pixels=feature.max_pixels,
    )


def key_bytes(key: object) -> bytes:
    if isinstance(key, bytes):
        return key
    if isinstance(key, str):
        return key.encode("utf-8", "surrogateescape")
    raise TypeError(f"feature keys are str or bytes; got {key!r}")


def _dtype(key: Hashable, feature: OwnFeature) -> DType:
    if not feature.dtype:
        swapped = "; shape comes before dtype" if isinstance(getattr(feature, "shape", None), DType) else ""
        raise ValueError(f"Missing type for feature {key}. Received feature={feature}.{swapped}")
    dtype = as_dtype(feature.dtype)
    if dtype in (complex64, complex128):
        raise TypeError(f"feature {key!r}: records cannot hold values of dtype {dtype.name}")
    return dtype


def _shape(key: Hashable, feature: _Shaped) -> list[int | None]:
    shape = feature.shape
    if shape is None:
        raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")
    lengths = [None if length is None else int(length) for length in _lengths(shape)]
    if any(length is not None and length < 0 for length in lengths):
        raise ValueError(f"Dimensions of shape for feature {key} must not be negative: {lengths}")
    return lengths


def _lengths(shape: Shape) -> Sequence[int | None]:
    if isinstance(shape, int | np.integer):
        return [int(shape)]
    return list(shape) if isinstance(shape, Iterable) else shape.as_list()


def _known(shape: list[int | None]) -> tuple[int, ...]:
    return tuple(length for length in shape if length is not None)


def _note(feature: _Shaped) -> str:
    return getattr(feature.shape, "note", "")


def _default_array(value: object, dtype: DType) -> list[bytes] | npt.NDArray[Any]:
    array = as_array(value, dtype.as_numpy_dtype)
    return array.ravel().tolist() if dtype == string else np.ascontiguousarray(array).ravel()


def _default(key: Hashable, value: object, dtype: DType, count: int, shape: object) -> bytes | list[bytes] | None:
    if value is None:
        return None
    flat = _default_array(value, dtype)
    if len(flat) != count:
        raise InvalidArgumentError(
            f"feature {key!r}: default_value has {len(flat)} values, but the shape is {shape} "
            f"({count} values); a scalar is not broadcast"
        )
    return flat if isinstance(flat, list) else flat.tobytes()
