"""From a dict of features to what the core parses, and from the core's columns to the dict of results.

TensorFlow's order is kept: raw columns are the sparse, the dense and the ragged keys, each sorted; SparseFeature and
RaggedFeature are then put together from raw columns. A plan is compiled once for a dict of features and found again
as long as the dict holds the same objects.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .. import _core
from ..dtypes import DType, as_dtype, complex64, complex128, int64, string
from ..errors import InvalidArgumentError
from ..values.conversion import as_array
from ..values.ragged import RaggedTensor
from ..values.sparse import SparseTensor
from .features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature, normalize
from .partitions import RowError, partition_batch, partition_single

__all__ = ["ExamplePlan", "SequencePlan", "example_plan", "sequence_plan"]

Result = dict[Any, Any]

_EXAMPLE_KINDS = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature)
_CONTEXT_KINDS = (VarLenFeature, FixedLenFeature, RaggedFeature)
_LIST_KINDS = (VarLenFeature, FixedLenSequenceFeature, RaggedFeature)


def _key_bytes(key: Any) -> bytes:
    if isinstance(key, bytes):
        return key
    if isinstance(key, str):
        return key.encode("utf-8", "surrogateescape")
    raise TypeError(f"feature keys are str or bytes; got {key!r}")


def _dtype(key: Any, feature: Any) -> DType:
    if not feature.dtype:
        raise ValueError(f"Missing type for feature {key}. Received feature={feature}.")
    dtype = as_dtype(feature.dtype)
    if dtype in (complex64, complex128):
        raise TypeError(f"feature {key!r}: no values of dtype {dtype.name!r} in records")
    return dtype


def _shape(key: Any, feature: Any) -> list[int | None]:
    shape = feature.shape
    if shape is None:
        raise ValueError(f"Missing shape for feature {key}. Received feature={feature}.")
    if hasattr(shape, "as_list"):
        shape = shape.as_list()
    given = [shape] if isinstance(shape, int | np.integer) else list(shape)
    lengths = [None if length is None else int(length) for length in given]
    if any(length is not None and length < 0 for length in lengths):
        raise ValueError(f"Dimensions of shape for feature {key} must not be negative: {lengths}")
    return lengths


def _note(feature: Any) -> str:
    return getattr(feature.shape, "note", "")


def _default_array(value: Any, dtype: DType) -> Any:
    """`value` as a flat array (numeric) or list of bytes (strings); refuses what TensorFlow would not convert."""
    array = as_array(value, dtype.as_numpy_dtype)
    return array.ravel().tolist() if dtype == string else np.ascontiguousarray(array).ravel()


def _default(key: Any, value: Any, dtype: DType, count: int, shape: Any) -> bytes | list[bytes] | None:
    if value is None:
        return None
    flat = _default_array(value, dtype)
    if len(flat) != count:
        raise InvalidArgumentError(
            f"feature {key!r}: default_value has {len(flat)} values, but the shape is {shape} "
            f"({count} values); a scalar does not spread"
        )
    return flat if isinstance(flat, list) else flat.tobytes()


class _Columns:
    """The raw columns of one map of features, and how to make results of them."""

    def __init__(self, features: Mapping[Any, Any], kinds: tuple[type, ...], of_lists: bool, prefix_steps: bool):
        self.sparse: dict[Any, DType] = {}
        self.dense: dict[Any, tuple[Any, ...]] = {}
        self.ragged: dict[Any, tuple[DType, DType]] = {}
        self.of_lists = of_lists
        self.features: dict[Any, Any] = {key: normalize(feature) for key, feature in features.items()}
        for key in sorted(self.features, key=_key_bytes):
            feature: Any = self.features[key]
            if not isinstance(feature, kinds):
                raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key '{key}'")
            if isinstance(feature, VarLenFeature):
                self._add_sparse(key, _dtype(key, feature))
            elif isinstance(feature, SparseFeature):
                self._add_sparse_feature(key, feature)
            elif isinstance(feature, FixedLenFeature):
                self._add_fixed(key, feature)
            elif isinstance(feature, FixedLenSequenceFeature):
                self._add_sequence(key, feature, prefix_steps)
            elif isinstance(feature, RaggedFeature):
                self._add_ragged_feature(key, feature)
        self._check_disjoint("Dense and sparse", self.dense, self.sparse)
        self._check_disjoint("Dense and ragged", self.dense, self.ragged)
        self._check_disjoint("Ragged and sparse", self.ragged, self.sparse)
        self.keys = [*self.sparse, *self.dense, *self.ragged]
        self.composites = [
            key
            for key in sorted(self.features, key=_key_bytes)
            if isinstance(self.features[key], SparseFeature | RaggedFeature)
        ]
        # Whether records may turn out not to fit when results are made of columns.
        self.checks_rows = any(
            isinstance(self.features[key], SparseFeature) or self.features[key].partitions for key in self.composites
        )
        self.hidden = [key for key in self.keys if key not in self.features]

    def specs(self) -> list[tuple[Any, ...]]:
        """For the core, in the order of `keys`."""
        lists = [(key, dtype) for key, dtype in self.sparse.items()]
        ragged = [(key, dtype) for key, (dtype, _) in self.ragged.items()]
        return [
            *((_key_bytes(key), dtype.name, "list", (), None, False, "") for key, dtype in lists),
            *((_key_bytes(key), *spec) for key, spec in self.dense.items()),
            *((_key_bytes(key), dtype.name, "list", (), None, False, "") for key, dtype in ragged),
        ]

    # ---- Adding features, with TensorFlow's checks ----

    def _check_disjoint(self, names: str, a: Mapping[Any, Any], b: Mapping[Any, Any]) -> None:
        common = set(a) & set(b)
        if common:
            raise ValueError(f"{names} keys must not intersect; intersection: {common}")

    def _add_sparse(self, key: Any, dtype: DType) -> None:
        before = self.sparse.setdefault(key, dtype)
        if before != dtype:
            raise ValueError(f"Conflicting type {before} vs {dtype} for feature {key}.")

    def _add_sparse_feature(self, key: Any, feature: SparseFeature) -> None:
        if not feature.index_key:
            raise ValueError(f"Missing index_key for SparseFeature {feature}.")
        if not feature.value_key:
            raise ValueError(f"Missing value_key for SparseFeature {feature}.")
        dtype = _dtype(key, feature)
        many = not isinstance(feature.index_key, str | bytes)
        index_keys = list(feature.index_key) if many else [feature.index_key]
        if many:
            if not isinstance(feature.size, list | tuple | np.ndarray):
                raise TypeError(f"size of {feature} must be a list, as index_key is one")
            if len(feature.size) != len(index_keys):
                raise ValueError(f"size and index_key of {feature} must have equal lengths")
        elif not isinstance(feature.size, int | np.integer):
            raise TypeError(f"size of {feature} must be an int, as index_key is one key")
        for index_key in sorted(index_keys):
            self._add_sparse(index_key, int64)
        self._add_sparse(feature.value_key, dtype)

    def _add_fixed(self, key: Any, feature: FixedLenFeature) -> None:
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
        self.dense[key] = (dtype.name, "fixed", tuple(shape), default, False, _note(feature))

    def _add_sequence(self, key: Any, feature: FixedLenSequenceFeature, in_example: bool) -> None:
        if in_example and not feature.allow_missing:
            raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
        dtype = _dtype(key, feature)
        shape = _shape(key, feature)
        if None in shape:
            raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {shape}.")
        if 0 in shape:
            raise InvalidArgumentError(f"the shape of FixedLenSequenceFeature {key} must not hold a 0: {shape}")
        if not in_example and feature.default_value is not None:
            raise ValueError(f"Value feature_list.dense_defaults[{key}] must be None")
        default = _default(key, feature.default_value, dtype, 1, "one padding value")
        self.dense[key] = (dtype.name, "padded", tuple(shape), default, bool(feature.allow_missing), _note(feature))

    def _add_ragged(self, key: Any, dtype: DType, splits: DType) -> None:
        before = self.ragged.setdefault(key, (dtype, splits))
        if before[0] != dtype:
            raise ValueError(f"Conflicting type {before[0]} vs {dtype} for feature {key}.")
        if before[1] != splits:
            raise ValueError(f"Conflicting partition type {before[1]} vs {splits} for feature {key}.")

    def _add_ragged_feature(self, key: Any, feature: RaggedFeature) -> None:
        value_key = key if feature.value_key is None else feature.value_key
        self._add_ragged(value_key, _dtype(key, feature), as_dtype(feature.row_splits_dtype))
        for partition in feature.partitions:
            if not isinstance(partition, RaggedFeature.UniformRowLength):
                self._add_ragged(partition.key, int64, as_dtype(feature.row_splits_dtype))

    # ---- Results ----

    def batch(self, columns: list[Any]) -> Result:
        """Of the core's columns of Examples or contexts."""
        results = dict(zip(self.keys, columns, strict=True))
        for key in self.sparse:
            values, splits, longest = results[key]
            results[key] = SparseTensor.from_row_splits(values, splits, (len(splits) - 1, longest))
        for key, (_, splits_dtype) in self.ragged.items():
            values, splits, _ = results[key]
            results[key] = RaggedTensor._of(values, _narrow(splits, splits_dtype, key))
        return self._compose(results, single=False)

    def single(self, values: list[Any]) -> Result:
        """Of the core's values of one Example."""
        results = dict(zip(self.keys, values, strict=True))
        for key in self.sparse:
            count = len(results[key])
            results[key] = SparseTensor.from_row_splits(results[key], np.array([0, count], dtype=np.int64), (count,))
        return self._compose(results, single=True) if self.composites else results

    def lists(self, columns: list[Any], single: bool) -> tuple[Result, Result]:
        """Of the core's columns of feature lists: the results, and the lengths of the dense ones."""
        results = dict(zip(self.keys, columns, strict=True))
        lengths = {}
        for key in self.sparse:
            values, splits, row_steps, longest, longest_row = results[key]
            shape = (longest_row, longest) if single else (len(row_steps) - 1, longest_row, longest)
            results[key] = SparseTensor.from_row_splits(values, splits, shape, row_steps)
        for key in self.dense:
            values, counts = results[key]
            results[key] = values[0] if single else values
            lengths[key] = counts[0] if single else counts
        for key, (_, splits_dtype) in self.ragged.items():
            values, splits, row_steps, _, _ = results[key]
            steps = RaggedTensor._of(values, _narrow(splits, splits_dtype, key))
            results[key] = steps if single else RaggedTensor._of(steps, _narrow(row_steps, splits_dtype, key))
        return self._compose(results, single), lengths

    def first_of(self, results: Result) -> Result:
        """The results of a batch of one context, as of one alone."""
        return {key: _first(value) for key, value in results.items()}

    def _compose(self, results: Result, single: bool) -> Result:
        if not self.composites:
            return results
        made = {}
        for key in self.composites:
            feature = self.features[key]
            if isinstance(feature, SparseFeature):
                made[key] = _merge_sparse(key, feature, results)
                continue
            value_key = key if feature.value_key is None else feature.value_key
            values = results[value_key]
            if feature.partitions:
                if isinstance(values, RaggedTensor):
                    values = partition_batch(key, feature, values, results, "step" if single else "record")
                else:
                    values = partition_single(key, feature, values, results)
            made[key] = values
        results.update(made)
        for key in self.hidden:
            del results[key]
        return results


def _first(value: Any) -> Any:
    if isinstance(value, SparseTensor):
        return SparseTensor.from_row_splits(value.values, value.row_splits, value.dense_shape[1:])
    return value[0]


def _narrow(splits: Any, dtype: DType, key: Any) -> Any:
    if dtype == int64:
        return splits
    if splits[-1] > np.iinfo(np.int32).max:
        raise InvalidArgumentError(
            f"feature {key!r}: {splits[-1]} values are too many for row splits of int32; "
            "give RaggedFeature row_splits_dtype=int64"
        )
    return splits.astype(np.int32)


def _merge_sparse(key: Any, feature: SparseFeature, results: Result) -> SparseTensor:
    """The values of `value_key` at the indices that the features of `index_key` hold."""
    many = not isinstance(feature.index_key, str | bytes)
    index_keys = list(feature.index_key) if many else [feature.index_key]
    sizes = [int(size) for size in feature.size] if many else [int(feature.size)]
    values = results[feature.value_key]
    batched = len(values.dense_shape) == 2
    columns = [values.indices[:, 0]] if batched else []
    for index_key, size in zip(index_keys, sizes, strict=True):
        ids = results[index_key]
        if not np.array_equal(ids.row_splits, values.row_splits):
            row = int(np.nonzero(ids.row_splits != values.row_splits)[0][0]) - 1
            raise RowError(
                key,
                row,
                f"expected as many indices in {index_key!r} as values in {feature.value_key!r}, "
                f"{np.diff(values.row_splits)[row]}, got {np.diff(ids.row_splits)[row]}: Dimensions are not compatible",
            )
        outside = np.nonzero((ids.values < 0) | (ids.values >= size))[0]
        if len(outside):
            row = int(np.searchsorted(ids.row_splits, outside[0], side="right")) - 1
            index = ids.values[outside[0]]
            raise RowError(key, row, f"index out of range: expected [0, {size}) in {index_key!r}, got {index}")
        columns.append(ids.values)
    indices = np.stack(columns, axis=1)
    merged = values.values
    if not feature.already_sorted:
        order = np.lexsort(indices.T[::-1])
        if not np.array_equal(order, np.arange(len(order))):
            indices, merged = indices[order], merged[order]
    shape = ([int(values.dense_shape[0])] if batched else []) + sizes
    tensor = SparseTensor(indices, merged, shape)
    tensor._row_splits = values.row_splits
    return tensor


class ExamplePlan:
    """What parse_example does with one dict of features."""

    __slots__ = ("checks_rows", "columns", "core", "single")

    def __init__(self, features: Mapping[Any, Any]) -> None:
        self.columns = _Columns(features, _EXAMPLE_KINDS, of_lists=False, prefix_steps=True)
        self.checks_rows = self.columns.checks_rows
        self.core = _core.ExamplePlan(self.columns.specs())
        self.single: Callable[[Any], Result] = self._single

    def batch(self, records: Any, num_threads: int = 0) -> Result:
        return self.finish(self.core.parse(records, num_threads), records)

    def finish(self, columns: list[Any], records: Any = None) -> Result:
        """The results of a batch; `records` are needed where the plan `checks_rows`."""
        try:
            return self.columns.batch(columns)
        except RowError as error:
            raise error.located(records) from None

    def _single(self, record: Any) -> Result:
        try:
            return self.columns.single(self.core.parse_one(record))
        except RowError as error:
            raise error.located(None) from None


class SequencePlan:
    """What parse_sequence_example does with its two dicts of features."""

    __slots__ = ("checks_rows", "context", "core", "lists")

    def __init__(self, context: Mapping[Any, Any], lists: Mapping[Any, Any]) -> None:
        self.context = _Columns(context, _CONTEXT_KINDS, of_lists=False, prefix_steps=False)
        self.lists = _Columns(lists, _LIST_KINDS, of_lists=True, prefix_steps=False)
        self.checks_rows = self.context.checks_rows or self.lists.checks_rows
        self.core = _core.SequencePlan(self.context.specs(), self.lists.specs())

    def batch(self, records: Any, num_threads: int = 0) -> tuple[Result, Result, Result]:
        return self.finish(self.core.parse(records, num_threads), records)

    def single(self, record: Any) -> tuple[Result, Result, Result]:
        context_columns, list_columns = self.core.parse([record], 0)
        try:
            lists, lengths = self.lists.lists(list_columns, True)
            return self.context.single(_alone(self.context, context_columns)), lists, lengths
        except RowError as error:
            raise error.located([record]) from None

    def finish(self, parsed: tuple[list[Any], list[Any]], records: Any = None) -> tuple[Result, Result, Result]:
        """The results of a batch; `records` are needed where the plan `checks_rows`."""
        context_columns, list_columns = parsed
        try:
            lists, lengths = self.lists.lists(list_columns, False)
            return self.context.batch(context_columns), lists, lengths
        except RowError as error:
            raise error.located(records) from None


def _alone(columns: _Columns, batch: list[Any]) -> list[Any]:
    """The columns of a batch of one as the values of one Example."""
    return [column[0] for column in batch]


# By the identity of the dict; an entry counts only while the dict holds the very keys and values of the snapshot,
# which keeps them alive, so that no other object can have taken their place.
_CACHE_SIZE = 128
_examples: dict[int, tuple[tuple[Any, ...], ExamplePlan]] = {}
_sequences: dict[tuple[int, int], tuple[tuple[Any, ...], tuple[Any, ...], SequencePlan]] = {}


def _snapshot(features: Mapping[Any, Any]) -> tuple[Any, ...]:
    return tuple(part for item in features.items() for part in item)


def example_plan(features: Any) -> ExamplePlan:
    """The plan for a dict of features, compiled now or before."""
    found = _examples.get(id(features))
    if found is not None and _core._unchanged(features, found[0]):
        return found[1]
    plan = ExamplePlan(features)
    if type(features) is dict:
        while len(_examples) >= _CACHE_SIZE:
            _examples.pop(next(iter(_examples)), None)
        _examples[id(features)] = (_snapshot(features), plan)
    return plan


def sequence_plan(context: Any, lists: Any) -> SequencePlan:
    """The plan for two dicts of features, either of which may be None."""
    context, lists = context or {}, lists or {}
    key = (id(context) if context else 0, id(lists) if lists else 0)
    found = _sequences.get(key)
    if (
        found is not None
        and type(context) is type(lists) is dict
        and _core._unchanged(context, found[0])
        and _core._unchanged(lists, found[1])
    ):
        return found[2]
    plan = SequencePlan(context, lists)
    if type(context) is type(lists) is dict:
        while len(_sequences) >= _CACHE_SIZE:
            _sequences.pop(next(iter(_sequences)), None)
        _sequences[key] = (_snapshot(context), _snapshot(lists), plan)
    return plan
