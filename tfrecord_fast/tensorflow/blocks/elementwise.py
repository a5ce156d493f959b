"""Rules of operations on each value: on the arrays of all records, with the ranks of the operands aligned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ...values.blocks.columns import Column, Dense, Strings, Uneven, starts_of
from ..ops.arguments import as_array
from ..tensors.tensor import Tensor, as_tensor
from ..tensors.tensor_dtypes import as_dtype
from .block_tensor import block_value, is_block_value
from .calls import has_block_values, selected
from .frames import Frame

_Array = npt.NDArray[Any]


def dense_array(column: Column) -> _Array | None:
    """Return a column's array `[n, *shape]`; None if its values have no common shape."""
    if isinstance(column, Dense):
        return column.array
    return column.array() if isinstance(column, Strings) else None


def dense(array: Any, frame: Frame) -> Any:
    """Return the block tensor of an array or tensor `[n, *shape]`."""
    return block_value(Dense(as_array(array) if isinstance(array, Tensor) else np.asarray(array)), frame)


def uneven(flat: Any, starts: Any, shapes: Any, frame: Frame) -> Any:
    return block_value(Uneven.of_flat(flat, starts, shapes), frame)


def elementwise(function: Callable[..., Any], frame: Frame, *args: Any, **kwargs: Any) -> Any:
    """Call the operation on whole arrays."""
    if kwargs:
        names = list(kwargs)
        positional = len(args)
        original = function

        def function(*values: Any) -> Any:
            return original(*values[:positional], **dict(zip(names, values[positional:], strict=True)))

        args = (*args, *kwargs.values())
    columns = [selected(value, frame) if is_block_value(value) else None for value in args]
    arrays = [None if column is None else dense_array(column) for column in columns]
    if any(not is_block_value(value) and isinstance(value, list | tuple) and has_block_values(value) for value in args):
        return NotImplemented
    if any(column is not None and array is None for column, array in zip(columns, arrays, strict=True)):
        return _on_flat(function, frame, args, columns, arrays)
    rank = max(array.ndim - 1 if array is not None else _rank(value) for array, value in zip(arrays, args, strict=True))
    operands = [
        value if array is None else as_tensor(_with_rank(array, rank))
        for array, value in zip(arrays, args, strict=True)
    ]
    result = function(*operands)
    if not isinstance(result, Tensor):
        return NotImplemented
    values = as_array(result)
    if values.ndim != rank + 1 or len(values) != frame.count:
        return NotImplemented
    return block_value(Dense(values), frame)


def _rank(value: Any) -> int:
    if isinstance(value, Tensor):
        return len(value.get_shape())
    return np.ndim(value) if isinstance(value, list | tuple | np.ndarray) else 0


def _with_rank(array: _Array, rank: int) -> _Array:
    """Insert axes of length 1 after the first, so that the others align as they do for a single record."""
    missing = rank + 1 - array.ndim
    return array.reshape(len(array), *[1] * missing, *array.shape[1:]) if missing else array


def _on_flat(function: Callable[..., Any], frame: Frame, args: Any, columns: Any, arrays: Any) -> Any:
    """Call the operation on the values of uneven tensors, one after the other; other operands must be scalars."""
    shapes: Any = None
    for column in columns:
        if isinstance(column, Uneven):
            if shapes is not None and not np.array_equal(shapes, column.shapes):
                return NotImplemented
            shapes = column.shapes
        elif column is not None and (dense_array(column) is None or dense_array(column).ndim != 1):  # type: ignore[union-attr]
            return NotImplemented
    if shapes is None:
        return NotImplemented
    sizes = shapes[:, 0] if shapes.shape[1] == 1 else shapes.prod(axis=1)
    operands = []
    for value, column, array in zip(args, columns, arrays, strict=True):
        if isinstance(column, Uneven):
            operands.append(as_tensor(column.compact()))
        elif array is not None:
            operands.append(as_tensor(np.repeat(array, sizes)))
        elif _rank(value):
            return NotImplemented
        else:
            operands.append(value)
    result = function(*operands)
    if not isinstance(result, Tensor):
        return NotImplemented
    flat = as_array(result)
    if flat.shape != (int(sizes.sum()),):
        return NotImplemented
    return uneven(flat, starts_of(sizes), shapes, frame)


_AT_A_TIME = 32  # the fewest floats that are clipped when cast to small integers


def cast(function: Callable[..., Any], frame: Frame, x: Any, dtype: Any, name: str | None = None) -> Any:
    """Cast whole arrays, unless the number of a record's values matters."""
    if not is_block_value(x):
        return NotImplemented
    column = selected(x, frame)
    target = as_dtype(dtype)
    if target.is_integer and target.size <= 2:
        array = dense_array(column)
        least = array[0].size if array is not None else int(column.sizes.min()) if isinstance(column, Uneven) else 0
        if least < _AT_A_TIME:
            return NotImplemented
    return elementwise(function, frame, x, dtype)


def same_shape(function: Callable[..., Any], frame: Frame, input: Any, *args: Any, **kwargs: Any) -> Any:
    """Call an operation of one tensor on whole arrays; its other arguments must be ordinary values."""
    if not is_block_value(input) or has_block_values((*args, *kwargs.values())):
        return NotImplemented
    return elementwise(lambda value: function(value, *args, **kwargs), frame, input)
