"""Batches of arrays whose shapes differ: padded, or ragged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ....errors import DataLossError, InvalidArgumentError
from ....values.columns.conversion import fill_value
from ....values.columns.ragged import RaggedTensor, ragged_of
from ....values.columns.sparse import SparseTensor
from ....values.elements.attrs_classes import is_attrs
from ....values.elements.composites import stack_ragged
from ....values.elements.nests import leaves, map_leaves, pack, parallel, places, same_kinds, stack
from ....values.elements.specs import RaggedTensorSpec, SparseTensorSpec, TensorSpec, batch_spec

__all__ = ["padded_specs", "padder", "ragged_specs", "stack_ragged_arrays"]


def padder(shapes: Any, values: Any) -> Callable[[list[Any]], Any]:
    """A function that stacks elements, padded to `shapes` with `values`, as of `Dataset.padded_batch`."""

    def join(elements: list[Any]) -> Any:
        columns = leaves(map_leaves(lambda *column: list(column), *elements))
        count = len(columns)
        shape_of = [None] * count if shapes is None else _shapes(shapes, elements[0])
        value_of = [None] * count if values is None else _values(values, elements[0])
        return pack(elements[0], map(_pad, columns, shape_of, value_of, places(elements[0])))

    return join


def padded_specs(shapes: Any) -> Callable[[Any, int | None], Any]:
    """What is known of batches of elements padded to `shapes`."""

    def of_batch(specs: Any, length: int | None) -> Any:
        flat = leaves(specs)
        wanted = [spec.shape for spec in flat] if shapes is None else _shapes(shapes, specs)
        made = (
            TensorSpec((length, *(None if one == -1 else one for one in shape)), spec.dtype)
            for spec, shape in zip(flat, wanted, strict=False)
        )
        return pack(specs, made)

    return of_batch


def ragged_specs(dtype: Any) -> Callable[[Any, int | None], Any]:
    """What is known of batches of ragged rows, whose row splits are of that dtype."""

    def one(spec: TensorSpec, length: int | None) -> TensorSpec:
        if isinstance(spec, SparseTensorSpec) or not len(spec.shape):
            return batch_spec(spec, length)
        ragged = spec.ragged_rank if isinstance(spec, RaggedTensorSpec) else 0
        return RaggedTensorSpec((length, None, *spec.shape[1:]), spec.dtype, ragged + 1, dtype)

    return lambda specs, length: map_leaves(lambda spec: one(spec, length), specs)


def _shapes(shapes: Any, like: Any) -> list[Any]:
    """One shape per component of what has this structure: a list, a tuple of lengths, or anything with `as_list`."""
    return [*map(_lengths, parallel(like, shapes, "padded_shapes"), places(like))]


def _lengths(shape: Any, place: str) -> list[Any]:
    given = shape.as_list() if hasattr(shape, "as_list") else shape
    lengths = list(given) if hasattr(given, "__iter__") and not isinstance(given, Mapping) else None
    if lengths is None or not all(one is None or isinstance(one, int | np.integer) for one in lengths):
        raise InvalidArgumentError(f"padded_shapes: expected a shape for {place}, got {shape!r:.200}")
    return lengths


def _values(values: Any, like: Any) -> list[Any]:
    """One value per component: one for all, or of the same structure."""
    if not isinstance(values, Mapping | tuple | list) and not is_attrs(values):
        return [values] * len(leaves(like))
    return parallel(like, values, "padding_values")


def _pad(column: list[Any], shape: list[Any] | None, value: Any, place: str) -> Any:
    within = "" if place == "an element" else f", in {place}"
    if any(value is None for value in column):
        raise TypeError(f"padded_batch can't pad None{within}")
    try:
        arrays = same_kinds(column)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(f"{error}{within}") from None
    dtype = np.result_type(*arrays)
    rank = arrays[0].ndim
    if any(array.ndim != rank for array in arrays):
        ranks = sorted({array.ndim for array in arrays})
        raise InvalidArgumentError(f"elements of one batch differ in rank: {ranks}{within}")
    if shape is not None and len(shape) != rank:
        raise InvalidArgumentError(f"padded_shapes: {shape} does not fit {place}, which has {rank} dimensions")
    longest = np.max([array.shape for array in arrays], axis=0).tolist() if rank else []
    wanted = [
        have if length is None or length == -1 else int(length)
        for have, length in zip(longest, shape if shape is not None else [None] * rank, strict=True)
    ]
    if any(have > length for have, length in zip(longest, wanted, strict=True)):
        reason = f"Attempted to pad to a smaller size than the input element: {longest} to {wanted}{within}"
        raise DataLossError(reason=reason)
    padding = _padding(value, dtype, f"padding_values for {place}:" if within else "padding_values")
    batch = np.full((len(arrays), *wanted), padding, dtype=dtype)
    for row, array in enumerate(arrays):
        if not rank:
            batch[row] = column[row]  # a string as it is, not as an array of no dimensions
            continue
        part: Any = (row, *(slice(length) for length in array.shape))
        batch[part] = array
    return batch


def _padding(value: Any, dtype: np.dtype[Any], what: str) -> Any:
    if dtype.kind in "iu" and np.asarray(value).dtype.kind == "f":  # whole floats neither
        raise TypeError(f"{what} {value!r} cannot be converted to {dtype.name}")
    return fill_value(value, dtype, what)


def stack_ragged_arrays(elements: list[Any], splits: np.dtype[Any]) -> Any:
    """Stacked; arrays of one dimension or more as the rows of a RaggedTensor."""

    def join(*column: Any) -> Any:
        is_scalar = isinstance(column[0], bytes | np.generic) or not hasattr(column[0], "__len__")
        if is_scalar or isinstance(column[0], SparseTensor):
            return stack(list(column))
        return _with_splits(stack_ragged(list(column)), splits)

    return map_leaves(join, *elements)


def _with_splits(rows: Any, splits: np.dtype[Any]) -> Any:
    """All row splits in one dtype."""
    if not isinstance(rows, RaggedTensor):
        return rows
    return ragged_of(_with_splits(rows.values, splits), rows.row_splits.astype(splits, copy=False))
