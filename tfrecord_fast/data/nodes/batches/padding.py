"""Batches of arrays whose shapes differ: padded, or ragged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ....errors import DataLossError, InvalidArgumentError
from ....values.blocks.block import Block, joined_blocks
from ....values.blocks.columns import Column, Dense, Uneven
from ....values.columns.conversion import fill_value
from ....values.columns.ragged import RaggedTensor, ragged_of
from ....values.columns.sparse import SparseTensor
from ....values.elements.attrs_classes import is_attrs
from ....values.elements.composites import stack_ragged
from ....values.elements.nests import leaves, map_leaves, pack, parallel, places, same_kinds, stack
from ....values.elements.specs import RaggedTensorSpec, SparseTensorSpec, TensorSpec, batch_spec


def padder(shapes: Any, values: Any) -> Callable[[list[Any]], Any]:
    """Return a function that stacks elements, padded to `shapes` with `values`, for `Dataset.padded_batch`."""

    def join(elements: list[Any]) -> Any:
        columns = leaves(map_leaves(lambda *column: list(column), *elements))
        count = len(columns)
        shape_of = [None] * count if shapes is None else _shapes(shapes, elements[0])
        value_of = [None] * count if values is None else _values(values, elements[0])
        return pack(elements[0], map(_pad, columns, shape_of, value_of, places(elements[0])))

    known: list[Any] = [(None, [])]  # the structure of the latest block, and its components' shapes, values and names

    def join_blocks(blocks: list[Block]) -> Any:
        def elements() -> Any:
            return join([element for block in blocks for element in block])

        if any(block.elements is not None for block in blocks):
            return elements()
        block = joined_blocks(blocks)
        if block.elements is not None:
            return elements()
        columns = leaves(block.columns)
        structure = block.structure()
        of_structure, options = known[0]
        if of_structure != structure:
            count = len(columns)
            shape_of = [None] * count if shapes is None else _shapes(shapes, block.columns)
            value_of = [None] * count if values is None else _values(values, block.columns)
            options = list(zip(shape_of, value_of, places(block.columns), strict=True))
            known[0] = structure, options
        padded = [_pad_column(column, *option) for column, option in zip(columns, options, strict=True)]
        return tuple(padded) if structure == (_flat(len(padded)),) else pack(block.columns, padded)

    join.of_blocks = join_blocks  # type: ignore[attr-defined]
    return join


def _pad_column(column: Column, shape: list[Any] | None, value: Any, component: str) -> Any:
    if isinstance(column, Dense) and column.dtype != object:
        if shape is None or _fits(shape, column.shape):
            _padding(value, column.dtype, "padding_values")
            return column.stacked()
    if isinstance(column, Uneven) and column.dtype != object and len(column):
        longest = column.shapes.max(axis=0).tolist()
        if shape is None or _fits(shape, longest):
            return column.padded(longest, _padding(value, column.dtype, "padding_values"))
    return _pad(list(column), shape, value, component)


def _flat(count: int) -> tuple[Any, ...]:
    """Return the structure of a tuple of columns."""
    return (tuple, *[None] * count)


def _fits(shape: list[Any], lengths: Sequence[int]) -> bool:
    """Return True if values of these lengths need no padding."""
    return len(shape) == len(lengths) and all(
        size in (None, -1, length) for size, length in zip(shape, lengths, strict=True)
    )


def padded_specs(shapes: Any) -> Callable[[Any, int | None], Any]:
    """Return a function of the specs of batches padded to `shapes`, from the specs of elements and a length."""

    def batch_specs(specs: Any, length: int | None) -> Any:
        flat = leaves(specs)
        padded = [spec.shape for spec in flat] if shapes is None else _shapes(shapes, specs)
        return pack(
            specs,
            (
                TensorSpec((length, *(None if size == -1 else size for size in shape)), spec.dtype)
                for spec, shape in zip(flat, padded, strict=False)
            ),
        )

    return batch_specs


def ragged_specs(splits_dtype: Any) -> Callable[[Any, int | None], Any]:
    """Return a function of the specs of ragged batches, from the specs of elements and a length."""

    def ragged_spec(spec: TensorSpec, length: int | None) -> TensorSpec:
        if isinstance(spec, SparseTensorSpec) or not len(spec.shape):
            return batch_spec(spec, length)
        ragged = spec.ragged_rank if isinstance(spec, RaggedTensorSpec) else 0
        return RaggedTensorSpec((length, None, *spec.shape[1:]), spec.dtype, ragged + 1, splits_dtype)

    return lambda specs, length: map_leaves(lambda spec: ragged_spec(spec, length), specs)


def _shapes(shapes: Any, like: Any) -> list[Any]:
    """Return one shape per component: a list, a tuple of lengths, or anything with `as_list`."""
    return [*map(_lengths, parallel(like, shapes, "padded_shapes"), places(like))]


def _lengths(shape: Any, component: str) -> list[Any]:
    sizes = shape.as_list() if hasattr(shape, "as_list") else shape
    lengths = list(sizes) if hasattr(sizes, "__iter__") and not isinstance(sizes, Mapping) else None
    if lengths is None or not all(length is None or isinstance(length, int | np.integer) for length in lengths):
        raise InvalidArgumentError(f"padded_shapes: expected a shape for {component}, got {shape!r:.200}")
    return lengths


def _values(values: Any, like: Any) -> list[Any]:
    """Return one value per component, from a scalar or a structure."""
    if not isinstance(values, Mapping | tuple | list) and not is_attrs(values):
        return [values] * len(leaves(like))
    return parallel(like, values, "padding_values", none_spreads=True)


def _pad(column: list[Any], shape: list[Any] | None, value: Any, component: str) -> Any:
    within = "" if component == "an element" else f", in {component}"
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
        raise InvalidArgumentError(f"padded_shapes: {shape} does not fit {component}, which has {rank} dimensions")
    longest = np.max([array.shape for array in arrays], axis=0).tolist() if rank else []
    padded = [
        have if length is None or length == -1 else int(length)
        for have, length in zip(longest, shape if shape is not None else [None] * rank, strict=True)
    ]
    if any(have > length for have, length in zip(longest, padded, strict=True)):
        reason = f"Attempted to pad to a smaller size than the input element: {longest} to {padded}{within}"
        raise DataLossError(reason=reason)
    padding = _padding(value, dtype, f"padding_values for {component}:" if within else "padding_values")
    batch = np.full((len(arrays), *padded), padding, dtype=dtype)
    for row, array in enumerate(arrays):
        if not rank:
            batch[row] = column[row]  # a string, not an array without dimensions
            continue
        area: Any = (row, *(slice(length) for length in array.shape))
        batch[area] = array
    return batch


def _padding(value: Any, dtype: np.dtype[Any], argument: str) -> Any:
    if dtype.kind in "iu" and np.asarray(value).dtype.kind == "f":  # not even whole floats
        raise TypeError(f"{argument} {value!r} cannot be converted to {dtype.name}")
    return fill_value(value, dtype, argument)


def stack_ragged_arrays(elements: list[Any], splits: np.dtype[Any]) -> Any:
    """Stack elements; arrays of one dimension or more become rows of a RaggedTensor."""

    def join(*column: Any) -> Any:
        is_scalar = isinstance(column[0], bytes | np.generic) or not hasattr(column[0], "__len__")
        if is_scalar or isinstance(column[0], SparseTensor):
            return stack(list(column))
        return _with_splits(stack_ragged(list(column)), splits)

    return map_leaves(join, *elements)


def _with_splits(rows: Any, splits: np.dtype[Any]) -> Any:
    if not isinstance(rows, RaggedTensor):
        return rows
    return ragged_of(_with_splits(rows.values, splits), rows.row_splits.astype(splits, copy=False))
