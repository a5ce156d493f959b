"""The core's columns as results: SparseTensors, RaggedTensors, and features composed from several columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...dtypes import DType, int64
from ...errors import InvalidArgumentError
from ...typing import Column
from ...values.columns.ragged import RaggedTensor, ragged_of
from ...values.columns.sparse import SparseTensor, sparse_of
from ..features import SparseFeature
from .core_columns import RawColumns, index_keys_of
from .partitions import RowError, partition_batch, partition_single

Result = dict[Any, Column]  # by the keys of the features, which are str or bytes


def of_batch(raw: RawColumns, columns: list[Any]) -> Result:
    results = dict(zip(raw.names, columns, strict=True))
    for key in raw.sparse:
        column = results[key]
        shape = (len(column.splits) - 1, column.longest)
        results[key] = SparseTensor.from_row_splits(column.values, column.splits, shape)
    for key, ragged in raw.ragged.items():
        column = results[key]
        results[key] = ragged_of(column.values, _narrow(column.splits, ragged.row_splits_dtype, key))
    return _compose(raw, results, single=False)


def of_one(raw: RawColumns, values: list[Any]) -> Result:
    results = dict(zip(raw.names, values, strict=True))
    for key in raw.sparse:
        count = len(results[key])
        results[key] = SparseTensor.from_row_splits(results[key], np.array([0, count], dtype=np.int64), (count,))
    return _compose(raw, results, single=True) if raw.composites else results


def of_lists(raw: RawColumns, columns: list[Any], single: bool) -> tuple[Result, Result]:
    results = dict(zip(raw.keys, columns, strict=True))
    lengths = {}
    for key in raw.sparse:
        column = results[key]
        row_shape = (column.longest_row, column.longest)
        shape = row_shape if single else (len(column.row_steps) - 1, *row_shape)
        results[key] = SparseTensor.from_row_splits(column.values, column.splits, shape, column.row_steps)
    for key in raw.dense:
        column = results[key]
        results[key] = column.values[0] if single else column.values
        lengths[key] = column.lengths[0] if single else column.lengths
    for key, ragged in raw.ragged.items():
        column = results[key]
        steps = ragged_of(column.values, _narrow(column.splits, ragged.row_splits_dtype, key))
        results[key] = steps if single else ragged_of(steps, _narrow(column.row_steps, ragged.row_splits_dtype, key))
    return _compose(raw, results, single), lengths


def _compose(raw: RawColumns, results: Result, single: bool) -> Result:
    if not raw.composites:
        return results
    composed = {}
    for key, feature in raw.composites.items():
        if isinstance(feature, SparseFeature):
            composed[key] = _merge_sparse(key, feature, results)
            continue
        value_key = key if feature.value_key is None else feature.value_key
        values = results[value_key]
        if feature.partitions:
            if isinstance(values, RaggedTensor):
                values = partition_batch(key, feature, values, results, "step" if single else "record")
            else:
                values = partition_single(key, feature, values, results)
        composed[key] = values
    results.update(composed)
    for key in raw.hidden:
        del results[key]
    return results


def _narrow(splits: npt.NDArray[np.int64], dtype: DType, key: object) -> npt.NDArray[np.int32 | np.int64]:
    if dtype == int64:
        return splits
    if splits[-1] > np.iinfo(np.int32).max:
        raise InvalidArgumentError(
            f"feature {key!r}: {splits[-1]} values are too many for row splits of int32; "
            "use RaggedFeature(…, row_splits_dtype=int64)"
        )
    return splits.astype(np.int32)


def _merge_sparse(key: object, feature: SparseFeature, results: Result) -> SparseTensor:
    """Put the values of `value_key` at the indices in the features of `index_key`."""
    index_keys = index_keys_of(feature)
    sizes = [int(size) for size in np.atleast_1d(np.asarray(feature.size))]
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
    if not batched and len(sizes) > 1:  # row splits count records, not the rows of this tensor
        return SparseTensor(indices, merged, shape)
    return sparse_of(indices, merged, shape, values.row_splits)
