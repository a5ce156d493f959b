"""Functions that make tensors from a shape, a range or a few numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ..tensors.arithmetic import convert
from ..tensors.ragged_tensor import RaggedTensor
from ..tensors.tensor_dtypes import array_dtype, as_dtype
from ..tensors.wrapping import unwrap
from .arguments import as_array, as_arrays, as_lengths, integer, tensor, tensors


def zeros(shape: Any, dtype: Any = "float32", name: str | None = None, layout: Any = None) -> Any:
    """Return zeros, or empty strings."""
    return _filled(as_lengths(shape), 0, as_dtype(dtype))


def ones(shape: Any, dtype: Any = "float32", name: str | None = None, layout: Any = None) -> Any:
    """Return ones."""
    return _filled(as_lengths(shape), 1, as_dtype(dtype))


def zeros_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Return zeros of the shape, and by default the dtype, of another tensor."""
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(zeros_like(input.flat_values, dtype))
    array = as_array(input)
    return _filled(array.shape, 0, array_dtype(array) if dtype is None else as_dtype(dtype))


def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Return ones of the shape, and by default the dtype, of another tensor."""
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(ones_like(input.flat_values, dtype))
    array = as_array(input)
    return _filled(array.shape, 1, array_dtype(array) if dtype is None else as_dtype(dtype))


def _filled(lengths: Any, number: int, dtype: Any) -> Any:
    if dtype == "string":
        if number:
            raise TypeError("ones of dtype string do not exist")
        return tensor(np.full(lengths, b"", dtype=object))
    return tensor(np.full(lengths, number, dtype=dtype.as_numpy_dtype))


def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Any:
    """Return a tensor filled with one value."""
    filling = as_array(value)
    if filling.shape not in ((), (1,)):
        raise InvalidArgumentError(f"value must be a scalar, got shape {list(filling.shape)} [Op:Fill]")
    try:
        return tensor(np.broadcast_to(filling, as_lengths(dims)).copy())
    except ValueError as error:
        raise InvalidArgumentError(f"fill: {error} [Op:Fill]") from None


def eye(
    num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = "float32", name: str | None = None
) -> Any:
    """Return ones on the diagonal and zeros elsewhere."""
    rows = integer(num_rows)
    square = np.eye(rows, rows if num_columns is None else integer(num_columns), dtype=as_dtype(dtype).as_numpy_dtype)
    return tensor(
        square if batch_shape is None else np.broadcast_to(square, (*as_lengths(batch_shape), *square.shape)).copy()
    )


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Any:
    """Return the numbers from start up to limit, excluded, in the widest dtype of the three arguments."""
    if limit is None:
        start, limit = 0, start
    if dtype is None:
        names = [array_dtype(as_array(value)).name for value in (start, limit, delta)]
        order = ["int32", "int64", "float32", "float64"]
        known = [number_type for number_type in names if number_type in order]
        number_type: Any = max(known, key=order.index) if len(known) == 3 else names[0]
    else:
        number_type = as_dtype(dtype).name
    first, last, step = (np.asarray(as_array(value)).astype(number_type)[()] for value in (start, limit, delta))
    if step == 0:
        raise InvalidArgumentError("Requires delta != 0: 0 [Op:Range]")
    if (step > 0 and first > last) or (step < 0 and first < last):
        raise InvalidArgumentError(
            f"Requires start {'<=' if step > 0 else '>='} limit when delta {'>' if step > 0 else '<'} 0: "
            f"{first}/{last} [Op:Range]"
        )
    if np.dtype(number_type).kind in "iu":
        return tensor(np.arange(int(first), int(last), int(step)).astype(number_type))
    count = int(np.ceil(np.abs((last - first) / step)))
    return tensor((first + np.arange(count, dtype=number_type) * step).astype(number_type))


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Any:
    """Return `num` numbers from start to stop, both included."""
    first, last = as_arrays(start, stop)
    if first.dtype.kind in "iu":
        first, last = first.astype(np.float64), last.astype(np.float64)
    return tensor(np.linspace(first, last, integer(num), axis=axis, dtype=first.dtype))


def meshgrid(*args: Any, indexing: str = "xy", name: str | None = None) -> list[Any]:
    """Return the coordinates of a grid, one tensor per axis."""
    arrays = [as_array(array) for array in args]
    if len({array.dtype for array in arrays}) > 1:
        raise InvalidArgumentError(
            f"the coordinates of a grid must have one dtype, got {[array_dtype(array).name for array in arrays]}"
        )
    return tensors(np.meshgrid(*arrays, indexing=indexing))  # type: ignore[call-overload]


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """Return a row of `depth` values for each index: `on_value` there and `off_value` elsewhere."""
    count, number = as_array(depth, "int32"), -1 if axis is None else integer(axis)
    if count.ndim or count < 0:
        raise InvalidArgumentError(f"depth must be a scalar of at least 0, got {depth!r:.100} [Op:OneHot]")
    if isinstance(indices, RaggedTensor):
        return _one_hot_rows(indices, count, on_value, off_value, number, dtype)
    numbers = as_array(indices)
    if array_dtype(numbers).name not in ("uint8", "int8", "int32", "int64"):
        raise InvalidArgumentError(
            f"Value for attr 'TI' of {array_dtype(numbers).name} is not in the list of allowed values [Op:OneHot]"
        )
    if not -1 <= number <= numbers.ndim:
        raise InvalidArgumentError(f"Expected axis to be -1 or between [0, {numbers.ndim + 1}), but got {number}")
    values = [value for value in (on_value, off_value) if value is not None]
    result_dtype = (
        as_dtype(dtype) if dtype is not None else (array_dtype(as_array(values[0])) if values else as_dtype("float32"))
    )
    if not values and result_dtype.dtype.kind in "iufc":
        rows = (numbers[..., None] == np.arange(int(count))).astype(result_dtype.dtype)
        return tensor(rows if number in (-1, numbers.ndim) else np.moveaxis(rows, -1, number))
    on = convert(1 if on_value is None else unwrap(on_value), result_dtype)
    off = convert(0 if off_value is None else unwrap(off_value), result_dtype)
    if on.ndim or off.ndim:
        raise InvalidArgumentError("on_value and off_value must be scalars [Op:OneHot]")
    rows = np.where(numbers[..., None] == np.arange(int(count)), on, off).astype(result_dtype.as_numpy_dtype)
    return tensor(np.moveaxis(rows, -1, number))


def _one_hot_rows(rows: RaggedTensor, depth: Any, on: Any, off: Any, axis: int, dtype: Any) -> Any:
    if 0 <= axis <= rows.ragged_rank:
        raise ValueError(f"axis ({axis}) must be greater than indices.ragged_rank ({rows.ragged_rank}).")
    within = axis if axis < 0 else axis - rows.ragged_rank
    return rows.with_flat_values(one_hot(rows.flat_values, depth, on, off, within, dtype))


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = "bool", name: str | None = None) -> Any:
    """Return a row for each length: `length` times True, then False up to `maxlen`."""
    counts = as_array(lengths)
    longest = (int(counts.max()) if counts.size else 0) if maxlen is None else integer(maxlen)
    return tensor((np.arange(longest) < counts[..., None]).astype(as_dtype(dtype).as_numpy_dtype))
