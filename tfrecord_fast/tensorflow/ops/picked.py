"""Functions that choose values by index or condition, sort them, or put them at indices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...errors import InvalidArgumentError
from ...values.columns.ragged import RaggedTensor as Plain
from ..tensors.ragged_rows import rows_at, without_uniform_lengths
from ..tensors.ragged_tensor import RaggedTensor
from ..tensors.tensor_dtypes import array_dtype, as_dtype
from ..tensors.wrapping import unwrap, wrap
from .arguments import as_array, as_arrays, as_axes, as_lengths, integer, is_list_of_integers, tensor, tensors
from .arrays import size_of_shape

_slice = slice


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """Return the slice from `begin`, of `size`; -1 means up to the end."""
    array = as_array(input_)
    slices: list[Any] = []
    for length, start, count in zip(array.shape, as_lengths(begin), as_lengths(size), strict=True):
        end = length if count == -1 else start + count
        if not 0 <= start <= end <= length:
            raise InvalidArgumentError(
                f"Expected size[{len(slices)}] in [0, {length - start}], but got {count} [Op:Slice]"
            )
        slices.append(_slice(start, end))
    return tensor(array[tuple(slices)])


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Any:
    """Return the slices at these indices along an axis."""
    if isinstance(indices, RaggedTensor):
        return _gather_ragged(params, indices, axis, batch_dims)
    if isinstance(params, RaggedTensor):
        return _gather_rows(params, as_array(indices), axis, batch_dims)
    array, numbers = as_array(params), as_array(indices)
    if numbers.dtype.kind not in "iu":
        raise InvalidArgumentError(f"indices must be integers, got {array_dtype(numbers).name} [Op:GatherV2]")
    axis_number, batches = _axis_and_batches(array, numbers, batch_dims if axis is None else integer(axis), batch_dims)
    lengths = (*array.shape[:axis_number], *numbers.shape[batches:], *array.shape[axis_number + 1 :])
    if 0 in lengths:  # TensorFlow checks no index then
        return tensor(np.zeros(lengths, array.dtype))
    if numbers.min() < 0 or numbers.max() >= array.shape[axis_number]:
        wrong = numbers.ravel()[np.argmax((numbers.ravel() < 0) | (numbers.ravel() >= array.shape[axis_number]))]
        raise InvalidArgumentError(f"indices = {int(wrong)} is not in [0, {array.shape[axis_number]}) [Op:GatherV2]")
    if not batches:
        return tensor(np.take(array, numbers, axis=axis_number))
    flat = array.reshape(size_of_shape(array.shape[:batches]), *array.shape[batches:])
    rows = numbers.reshape(len(flat), *numbers.shape[batches:])
    slices = [np.take(batch, row, axis=axis_number - batches) for batch, row in zip(flat, rows, strict=True)]
    return tensor(np.stack(slices).reshape(lengths))


def _axis_and_batches(array: Any, numbers: Any, axis: int, batch_dims: int) -> tuple[int, int]:
    """Return the axis and the number of batch dimensions, from 0. Along axis 0, TensorFlow ignores batch_dims."""
    batches = 0 if axis == 0 else batch_dims + numbers.ndim if batch_dims < 0 else batch_dims
    if not -array.ndim <= axis < array.ndim:
        raise InvalidArgumentError(f"Expected axis in the range [{-array.ndim}, {array.ndim}), but got {axis}")
    axis_number = axis % array.ndim
    if not 0 <= batches <= numbers.ndim or batches > axis_number:
        raise InvalidArgumentError(f"batch_dims ({batch_dims}) must be at most axis ({axis}), and indices' rank")
    if array.shape[:batches] != numbers.shape[:batches]:
        raise InvalidArgumentError(
            f"params and indices have different batch shapes: {array.shape[:batches]} and {numbers.shape[:batches]}"
        )
    return axis_number, batches


def _gather_rows(params: RaggedTensor, numbers: Any, axis: Any, batch_dims: int) -> Any:
    if batch_dims or axis not in (None, 0):
        raise InvalidArgumentError("rows of a RaggedTensor can only be gathered along axis 0")
    if numbers.dtype.kind not in "iu":
        raise InvalidArgumentError(f"indices must be integers, got {array_dtype(numbers).name}")
    if numbers.size and (numbers.min() < 0 or numbers.max() >= len(params.plain)):
        raise InvalidArgumentError(f"indices are not in [0, {len(params.plain)}): {numbers!r:.100}")
    if numbers.ndim == 0:
        return params[int(numbers)]
    rows: Any = without_uniform_lengths(rows_at(params.plain, numbers.ravel()))
    for depth in range(numbers.ndim - 1, 0, -1):
        splits = np.arange(size_of_shape(numbers.shape[:depth]) + 1) * numbers.shape[depth]
        rows = Plain.from_row_splits(rows, splits.astype(params.plain.row_splits.dtype))
    return RaggedTensor(rows)


def _gather_ragged(params: Any, indices: RaggedTensor, axis: Any, batch_dims: int) -> Any:
    """Gather at ragged indices; the slices stay in the rows of the indices."""
    batches = batch_dims + len(indices.shape) if batch_dims < 0 else batch_dims
    flat = tensor(np.asarray(indices.plain.flat_values))
    if not batches and axis in (None, 0):
        return indices.with_flat_values(gather(params, flat))
    array = as_array(params)
    if (
        batches != 1
        or axis not in (None, 1, 1 - array.ndim)
        or len(indices.shape) != 2
        or len(array) != indices.nrows()
    ):
        raise InvalidArgumentError("ragged indices need axis 0, or axis 1 with one batch dimension")
    positions = np.stack([as_array(indices.value_rowids()), as_array(flat)], -1)
    return indices.with_flat_values(gather_nd(array, positions))


def gather_nd(
    params: Any, indices: Any, batch_dims: int = 0, name: str | None = None, bad_indices_policy: str = ""
) -> Any:
    """Return the values, or slices, at the indices along the last axis of `indices`."""
    array, numbers = as_array(params), as_array(indices)
    if batch_dims:
        slices = [unwrap(gather_nd(item, row, batch_dims - 1)) for item, row in zip(array, numbers, strict=True)]
        return tensor(np.stack(slices))
    for axis, length in enumerate(array.shape[: numbers.shape[-1]]):
        if numbers.size and (numbers[..., axis].min() < 0 or numbers[..., axis].max() >= length):
            raise InvalidArgumentError(f"indices do not index into param shape {list(array.shape)} [Op:GatherNd]")
    if not numbers.shape[-1]:  # an empty index means the whole tensor
        return tensor(np.broadcast_to(array, (*numbers.shape[:-1], *array.shape)).copy())
    return tensor(array[tuple(np.moveaxis(numbers, -1, 0))])


def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Any:
    """Return the slices where the mask is true."""
    array, chosen = as_array(tensor), as_array(mask).astype(bool)
    axis_number = 0 if axis is None else integer(axis)
    if chosen.ndim == 0:
        raise ValueError("mask cannot be scalar.")
    if chosen.shape != array.shape[axis_number : axis_number + chosen.ndim]:
        shape = array.shape[axis_number : axis_number + chosen.ndim]
        raise InvalidArgumentError(f"Shapes {shape} and {chosen.shape} are incompatible")
    return wrap(array[(_slice(None),) * axis_number + (chosen,)])


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Return the indices of true values; or x where the condition is true, and y elsewhere."""
    chosen = as_array(condition)
    if x is None and y is None:
        return tensor(np.argwhere(chosen if chosen.dtype.kind != "O" else chosen != b""))
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    first, second = as_arrays(x, y)
    try:
        return tensor(np.where(chosen.astype(bool), first, second).astype(first.dtype))
    except ValueError as error:
        raise InvalidArgumentError(f"{error} [Op:SelectV2]") from None


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """Reverse along these axes."""
    if not is_list_of_integers(axis):
        raise InvalidArgumentError(f"axis must be a list of integers, got {axis!r:.100} [Op:ReverseV2]")
    if isinstance(tensor, RaggedTensor):
        return _reversed_rows(tensor, as_axes(axis))
    array = as_array(tensor)
    return wrap(np.flip(array, as_axes(axis)) if array.ndim else array)


def _reversed_rows(rows: Any, axes: Any) -> Any:
    rank = len(rows.shape)
    for axis in axes:
        if not -rank <= axis < rank:
            raise InvalidArgumentError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
        rows = rows[(_slice(None),) * (axis % rank) + (_slice(None, None, -1),)]
    return rows


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Any:
    """Shift along an axis; values that leave one end enter at the other."""
    return tensor(np.roll(as_array(input), as_axes(shift), as_axes(axis)))


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Any:
    """Sort along an axis."""
    ordered = np.sort(as_array(values), axis=axis)
    return tensor(np.flip(ordered, axis) if _is_descending(direction) else ordered)


def argsort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Any:
    """Return the indices of the values in sorted order, int32."""
    array = as_array(values)
    if _is_descending(direction):
        flipped = np.argsort(np.flip(array, axis), axis=axis, kind="stable")
        return tensor(np.flip(array.shape[axis] - 1 - flipped, axis).astype(np.int32))
    return tensor(np.argsort(array, axis=axis, kind="stable").astype(np.int32))


def _is_descending(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f'Argument `direction` should be one of "ASCENDING" or "DESCENDING". Received: {direction}')
    return direction == "DESCENDING"


def unique(x: Any, out_idx: Any = "int32", name: str | None = None) -> Any:
    """Return the distinct values in order of first appearance, and each value's index among them."""
    array = as_array(x)
    numbers: dict[Any, int] = {}
    indices = np.array(
        [numbers.setdefault(value, len(numbers)) for value in array.tolist()], dtype=as_dtype(out_idx).as_numpy_dtype
    )
    firsts = np.unique(indices, return_index=True)[1] if len(indices) else np.zeros(0, np.int64)
    return Unique(*tensors((array[firsts], indices)))


class Unique(NamedTuple):
    """The result of `unique`."""

    y: Any
    idx: Any


def _places(indices: Any, shape: tuple[int, ...], updates: tuple[int, ...]) -> tuple[Any, ...]:
    array = as_array(indices)
    expected = (*array.shape[:-1], *shape[array.shape[-1] :])
    if updates != expected:
        raise InvalidArgumentError(f"updates must have shape {list(expected)} for these indices, got {list(updates)}")
    for axis, length in enumerate(shape[: array.shape[-1]]):
        if array.size and (array[..., axis].min() < 0 or array[..., axis].max() >= length):
            raise InvalidArgumentError(f"indices do not index into shape {list(shape)}")
    return tuple(np.moveaxis(array, -1, 0))


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Any:
    """Return zeros, with the updates added at their indices."""
    values, lengths = as_array(updates), as_lengths(shape)
    result = np.full(lengths, b"" if values.dtype.kind == "O" else 0, values.dtype)
    np.add.at(result, _places(indices, lengths, values.shape), values)
    return tensor(result)


def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """Return the tensor with the updates at their indices."""
    array, values = as_arrays(tensor, updates)
    result = array.copy()
    result[_places(indices, array.shape, values.shape)] = values
    return wrap(result)


def searchsorted(
    sorted_sequence: Any, values: Any, side: Any = "left", out_type: Any = "int32", name: str | None = None
) -> Any:
    """Return the indices that would keep a sorted sequence sorted; of several dimensions, row by row."""
    rows, wanted = as_arrays(sorted_sequence, values)
    numpy_dtype = as_dtype(out_type).as_numpy_dtype
    if rows.shape[:-1] != wanted.shape[:-1] or not wanted.ndim:
        raise InvalidArgumentError(
            f"sequences of shape {list(rows.shape)} do not fit values of shape {list(wanted.shape)}"
        )
    result = np.zeros(wanted.shape, numpy_dtype)
    for row in np.ndindex(rows.shape[:-1]):
        result[row] = np.searchsorted(rows[row], wanted[row], side)
    return tensor(result)


def diag_part(input: Any, name: str = "diag_part", k: Any = 0) -> Any:
    """Return the diagonal of matrices, the `k`-th above it or, below 0, below it."""
    return tensor(np.diagonal(as_array(input), integer(k), -2, -1).copy())
