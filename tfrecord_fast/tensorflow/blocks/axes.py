"""Rules of operations with axes and shapes: the axes of a record come after that of the records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...values.blocks.columns import Dense, Sparse, Uneven, as_uneven, starts_of
from ..ops.arguments import as_array, as_arrays, as_axes, as_lengths, integer, tensor
from ..tensors.tensor import Tensor, as_tensor
from ..tensors.tensor_dtypes import as_dtype
from .block_tensor import BlockTensor, block_value, check_shapes, is_block_value
from .calls import common, has_block_values, selected
from .elementwise import dense, dense_array, uneven
from .frames import Frame

Operation = Callable[..., Any]


def _array(value: Any, frame: Frame) -> Any:
    """Return the array `[n, *shape]` of a block tensor; None if there is none."""
    return dense_array(selected(value, frame)) if is_block_value(value) else None


def _shifted(axis: int, rank: int) -> int | None:
    """Return a record's axis as an axis of the block; None if it is out of range."""
    if not -rank <= axis < rank:
        return None
    return axis if axis < 0 else axis + 1


def _results(results: Any, frame: Frame) -> Any:
    if isinstance(results, Tensor):
        return dense(results, frame)
    return [dense(result, frame) for result in results]


def reduction(
    function: Operation, frame: Frame, input_tensor: Any, axis: Any = None, keepdims: Any = False, name: Any = None
) -> Any:
    array = _array(input_tensor, frame)
    if array is None or is_block_value(axis) or is_block_value(keepdims) or not array.size:
        return NotImplemented
    rank = array.ndim - 1
    axes = as_axes(axis)
    if axes is None:
        if not keepdims:
            return dense(function(as_tensor(array.reshape(len(array), -1)), 1), frame)
        axes = tuple(range(rank))
    numbers = [_shifted(number, rank) for number in (axes if isinstance(axes, tuple) else (axes,))]
    if not numbers or None in numbers:
        return NotImplemented
    return dense(function(as_tensor(array), numbers, keepdims), frame)


def along_axis(default: int) -> Callable[..., Any]:
    """Return the rule of an operation along one axis, `default` if it is None or missing."""

    def rule(function: Operation, frame: Frame, value: Any, axis: Any = default, *args: Any, **kwargs: Any) -> Any:
        array = _array(value, frame)
        if array is None or has_block_values((axis, *args, *kwargs.values())):
            return NotImplemented
        number = _shifted(default if axis is None else integer(axis), array.ndim - 1)
        if number is None:
            return NotImplemented
        return _results(function(as_tensor(array), number, *args, **kwargs), frame)

    return rule


def stack(function: Operation, frame: Frame, values: Any, axis: Any = 0, name: Any = None) -> Any:
    if is_block_value(axis):
        return NotImplemented
    arrays = _operands(values, frame)
    if arrays is None or any(array.shape != arrays[0].shape for array in arrays):
        return NotImplemented
    number = _shifted(integer(axis), arrays[0].ndim)
    return NotImplemented if number is None else dense(function([*map(as_tensor, arrays)], number), frame)


def concat(function: Operation, frame: Frame, values: Any, axis: Any, name: Any = None) -> Any:
    if is_block_value(axis):
        return NotImplemented
    arrays = _operands(values, frame)
    if arrays is None:
        return _concat_uneven(values, integer(axis), frame)
    rank = arrays[0].ndim - 1
    number = _shifted(integer(axis), rank)
    if number is None or any(array.ndim - 1 != rank for array in arrays):
        return NotImplemented
    return dense(function([*map(as_tensor, arrays)], number), frame)


def _operands(values: Any, frame: Frame) -> list[Any] | None:
    """Return the arrays `[n, *shape]` of a list of tensors, of one dtype; None if some are uneven."""
    if not isinstance(values, list | tuple):
        return None
    arrays = [_array(value, frame) for value in values]
    if any(array is None and has_block_values((value,)) for array, value in zip(arrays, values, strict=True)):
        return None
    samples = as_arrays(
        *(
            value if array is None else as_tensor(np.empty(array.shape[1:], array.dtype))
            for array, value in zip(arrays, values, strict=True)
        )
    )
    return [
        np.broadcast_to(sample, (frame.count, *sample.shape)) if array is None else array
        for array, sample in zip(arrays, samples, strict=True)
    ]


def _concat_uneven(values: Any, axis: int, frame: Frame) -> Any:
    """Concatenate vectors whose lengths differ."""
    if not isinstance(values, list | tuple) or axis not in (0, -1):
        return NotImplemented
    columns = [selected(value, frame) if is_block_value(value) else None for value in values]
    samples = []
    for value, column in zip(values, columns, strict=True):
        if column is None:
            if has_block_values((value,)):
                return NotImplemented
            samples.append(value)
            continue
        array = dense_array(column)
        is_vector = array.ndim == 2 if array is not None else isinstance(column, Uneven) and column.rank == 1
        if not is_vector:
            return NotImplemented
        samples.append(as_tensor(np.empty(0, array.dtype if array is not None else column.dtype)))  # type: ignore[attr-defined]
    pieces = []
    for column, sample in zip(columns, as_arrays(*samples), strict=True):
        if sample.ndim != 1:
            return NotImplemented
        if column is None:
            pieces.append((np.tile(sample, frame.count), np.full(frame.count, len(sample))))
        elif isinstance(column, Uneven):
            pieces.append((column.compact(), column.sizes))
        else:
            array = dense_array(column)
            assert array is not None
            pieces.append((array.ravel(), np.full(frame.count, array.shape[1])))
    lengths: Any = sum(sizes for _, sizes in pieces)
    starts = starts_of(lengths)
    flat = np.empty(int(lengths.sum()), pieces[0][0].dtype)
    places = starts
    for piece, sizes in pieces:
        flat[np.repeat(places - starts_of(sizes), sizes) + np.arange(len(piece))] = piece
        places = places + sizes
    return uneven(flat, starts, lengths[:, None], frame)


def expand_dims(function: Operation, frame: Frame, input: Any, axis: Any, name: Any = None) -> Any:
    if is_block_value(axis):
        return NotImplemented
    array, number = _array(input, frame), integer(axis)
    if array is None:
        column = selected(input, frame) if is_block_value(input) else None
        if not isinstance(column, Uneven) or column.rank != 1 or number not in (-2, -1, 0, 1):
            return NotImplemented
        flat, starts, shapes = column.parts()
        ones = np.ones_like(shapes)
        return uneven(flat, starts, np.hstack([ones, shapes] if number in (0, -2) else [shapes, ones]), frame)
    shifted = _shifted(number, array.ndim)
    return NotImplemented if shifted is None else dense(np.expand_dims(array, shifted), frame)


def squeeze(function: Operation, frame: Frame, input: Any, axis: Any = None, name: Any = None) -> Any:
    array = _array(input, frame)
    if array is None or is_block_value(axis):
        return NotImplemented
    rank, axes = array.ndim - 1, as_axes(axis)
    if axes is None or axes == ():
        numbers: Any = [number for number in range(rank) if array.shape[number + 1] == 1]
    else:
        numbers = axes if isinstance(axes, tuple) else (axes,)
    shifted: Any = [_shifted(number, rank) for number in numbers]
    if None in shifted or any(array.shape[number] != 1 for number in shifted):
        return NotImplemented
    return dense(np.squeeze(array, axis=tuple(shifted)), frame)


def transpose(
    function: Operation, frame: Frame, a: Any, perm: Any = None, conjugate: bool = False, name: Any = None
) -> Any:
    array = _array(a, frame)
    if array is None or is_block_value(perm) or conjugate:
        return NotImplemented
    rank = array.ndim - 1
    numbers = tuple(reversed(range(rank))) if perm is None else as_lengths(perm)
    if sorted(numbers) != list(range(rank)):
        return NotImplemented
    return dense(np.transpose(array, (0, *(number + 1 for number in numbers))), frame)


def reshape(function: Operation, frame: Frame, tensor: Any, shape: Any, name: Any = None) -> Any:
    shape = common(shape, frame)
    if shape is NotImplemented or not is_block_value(tensor):
        return NotImplemented
    lengths = as_lengths(shape)
    if any(length < -1 for length in lengths) or lengths.count(-1) > 1:
        return NotImplemented
    column = selected(tensor, frame)
    array = dense_array(column)
    known = int(np.prod([length for length in lengths if length != -1], dtype=np.int64))
    if array is not None:
        size = int(np.prod(array.shape[1:], dtype=np.int64))
        if -1 in lengths:
            if not known or size % known:
                return NotImplemented
            lengths = tuple(size // known if length == -1 else length for length in lengths)
        elif known != size:
            return NotImplemented
        return dense(array.reshape(len(array), *lengths), frame)
    if not isinstance(column, Uneven) or not known:
        return NotImplemented
    sizes = column.sizes
    if -1 not in lengths:
        return NotImplemented if (sizes != known).any() else dense(column.compact().reshape(-1, *lengths), frame)
    if (sizes % known).any():
        return NotImplemented
    flat, starts, _ = column.parts()
    shapes = np.tile(np.array(lengths, np.int64), (len(sizes), 1))
    shapes[:, lengths.index(-1)] = sizes // known
    return uneven(flat, starts, shapes, frame)


def shape_of(function: Operation, frame: Frame, input: Any, out_type: Any = None, name: Any = None) -> Any:
    column = selected(input, frame)
    dtype = as_dtype("int32" if out_type is None else out_type).as_numpy_dtype
    array = dense_array(column)
    if array is not None:
        return tensor(np.array(array.shape[1:], dtype))
    if isinstance(column, Sparse):
        column = column.values
    return dense(column.shapes.astype(dtype), frame) if isinstance(column, Uneven) else NotImplemented


def size_of(function: Operation, frame: Frame, input: Any, out_type: Any = "int32", name: Any = None) -> Any:
    column = selected(input, frame)
    dtype = as_dtype(out_type).as_numpy_dtype
    array = dense_array(column)
    if array is not None:
        return tensor(np.asarray(np.prod(array.shape[1:], dtype=np.int64)).astype(dtype))
    if isinstance(column, Sparse):
        column = column.values
    return dense(column.sizes.astype(dtype), frame) if isinstance(column, Uneven) else NotImplemented


def rank_of(function: Operation, frame: Frame, input: Any, name: Any = None) -> Any:
    column = selected(input, frame)
    array = dense_array(column)
    if array is None and not isinstance(column, Uneven):
        return NotImplemented
    return tensor(np.int32(array.ndim - 1 if array is not None else column.rank))  # type: ignore[attr-defined]


def ensure_shape(function: Operation, frame: Frame, x: Any, shape: Any, name: Any = None) -> Any:
    if not isinstance(x, BlockTensor) or has_block_values((shape,)):
        return NotImplemented
    check_shapes(x, shape, ValueError, "{} is not {}")
    return x


def tile(function: Operation, frame: Frame, input: Any, multiples: Any, name: Any = None) -> Any:
    array, multiples = _array(input, frame), common(multiples, frame)
    if array is None or multiples is NotImplemented:
        return NotImplemented
    times = as_lengths(multiples)
    return dense(np.tile(array, (1, *times)), frame) if len(times) == array.ndim - 1 else NotImplemented


def pad(function: Operation, frame: Frame, tensor: Any, paddings: Any, *args: Any, **kwargs: Any) -> Any:
    array = _array(tensor, frame)
    if array is None or has_block_values((paddings,)):
        return _pad_vectors(tensor, paddings, frame) if not args and not kwargs else NotImplemented
    if array is None or paddings is NotImplemented or has_block_values((*args, *kwargs.values())):
        return NotImplemented
    widths = as_array(paddings)
    if widths.shape != (array.ndim - 1, 2):
        return NotImplemented
    return dense(function(as_tensor(array), [[0, 0], *widths.tolist()], *args, **kwargs), frame)


def _pad_vectors(tensor: Any, paddings: Any, frame: Frame) -> Any:
    """Add zeros around vectors, as many as each record says."""
    column = selected(tensor, frame) if is_block_value(tensor) else None
    is_pair = isinstance(paddings, list | tuple) and len(paddings) == 1 and isinstance(paddings[0], list | tuple)
    vectors = None if column is None else as_uneven(column)
    if vectors is None or vectors.rank != 1 or vectors.dtype.kind not in "iuf" or not is_pair or len(paddings[0]) != 2:
        return NotImplemented
    counts = []
    for count in paddings[0]:
        array = _array(count, frame) if is_block_value(count) else np.full(frame.count, integer(count))
        if array is None or array.ndim != 1 or array.dtype.kind not in "iu" or (array < 0).any():
            return NotImplemented
        counts.append(array.astype(np.int64))
    sizes = vectors.sizes
    lengths = sizes + counts[0] + counts[1]
    starts = starts_of(lengths)
    flat = np.zeros(int(lengths.sum()), vectors.dtype)
    flat[np.repeat(starts + counts[0] - starts_of(sizes), sizes) + np.arange(int(sizes.sum()))] = vectors.compact()
    if (lengths == lengths[0]).all():
        return dense(flat.reshape(frame.count, -1), frame)
    return uneven(flat, starts, lengths[:, None], frame)


def reverse(function: Operation, frame: Frame, tensor: Any, axis: Any, name: Any = None) -> Any:
    array = _array(tensor, frame)
    if array is None or has_block_values((axis,)):
        return NotImplemented
    axes = as_axes(axis)
    numbers = [_shifted(number, array.ndim - 1) for number in (axes if isinstance(axes, tuple) else (axes,))]
    return NotImplemented if None in numbers else dense(function(as_tensor(array), numbers), frame)


def one_hot(
    function: Operation,
    frame: Frame,
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: Any = None,
) -> Any:
    array = _array(indices, frame)
    if array is None or has_block_values((depth, on_value, off_value, axis)):
        return NotImplemented
    number = -1 if axis is None else integer(axis)
    if not -1 <= number <= array.ndim - 1:
        return NotImplemented
    shifted = number if number < 0 else number + 1
    return dense(function(as_tensor(array), depth, on_value, off_value, shifted, dtype), frame)


def sequence_mask(
    function: Operation, frame: Frame, lengths: Any, maxlen: Any = None, *args: Any, **kwargs: Any
) -> Any:
    array = _array(lengths, frame)
    if array is None or maxlen is None or has_block_values((maxlen, *args, *kwargs.values())):
        return NotImplemented
    return dense(function(as_tensor(array), maxlen, *args, **kwargs), frame)


def unstack(function: Operation, frame: Frame, value: Any, num: Any = None, axis: Any = 0, name: Any = None) -> Any:
    array = _array(value, frame)
    if array is None or has_block_values((num, axis)):
        return NotImplemented
    number = _shifted(integer(axis), array.ndim - 1)
    return NotImplemented if number is None else _results(function(as_tensor(array), num, number), frame)


def split(
    function: Operation,
    frame: Frame,
    value: Any,
    num_or_size_splits: Any,
    axis: Any = 0,
    num: Any = None,
    name: Any = None,
) -> Any:
    array = _array(value, frame)
    if array is None or has_block_values((num_or_size_splits, axis, num)):
        return NotImplemented
    number = _shifted(integer(axis), array.ndim - 1)
    if number is None:
        return NotImplemented
    return _results(function(as_tensor(array), num_or_size_splits, number, num), frame)


def to_dense(function: Operation, frame: Frame, sp_input: Any, *args: Any, **kwargs: Any) -> Any:
    """Return the values: those of a VarLenFeature leave no gaps, so no default is needed."""
    column = selected(sp_input, frame) if is_block_value(sp_input) else None
    if not isinstance(column, Sparse) or has_block_values((*args, *kwargs.values())):
        return NotImplemented
    default = args[0] if args else kwargs.get("default_value")
    if default is not None or not isinstance(column.values, Uneven | Dense):
        values = column.values
        dtype = values.dtype if isinstance(values, Uneven) else dense_array(values).dtype  # type: ignore[union-attr]
        sample = as_tensor(np.empty(0, dtype))
        if default is not None and as_arrays(sample, default)[1].ndim:
            return NotImplemented
    return block_value(column.values, frame)
