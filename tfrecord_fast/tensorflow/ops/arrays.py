"""Functions that make tensors, change their shape, and join or split them."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any

import numpy as np

from ...base.casting import numbers_as
from ...errors import InvalidArgumentError, UnimplementedError
from ...values import plain_ops
from ..tensors.arithmetic import convert
from ..tensors.ragged_rows import uniform_rows
from ..tensors.ragged_tensor import RaggedTensor
from ..tensors.sparse_tensor import SparseTensor
from ..tensors.tensor import ArrayTensor, Tensor
from ..tensors.tensor_dtypes import array_dtype, as_dtype
from ..tensors.tensor_shape import TensorShape
from ..tensors.wrapping import unwrap, wrap
from .arguments import (
    as_array,
    as_arrays,
    as_axes,
    as_lengths,
    common_dtype,
    integer,
    is_list_of_integers,
    tensor,
    tensors,
)
from .rows import concat_rows, over_flat_values, stack_rows

_slice = slice
_range = range


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """Make a tensor: unless `dtype` is set, Python ints become int32, floats float32, and str bytes."""
    dtype = common_dtype(value) if dtype is None else dtype
    plain = unwrap(value)
    array = as_array(plain) if dtype is None else _with_dtype(plain, dtype)
    if array.dtype == object and not all(isinstance(item, bytes) for item in array.flat):
        raise ValueError(
            f"Failed to convert a NumPy array to a Tensor: not all values are text or bytes: {value!r:.100}"
        )
    if shape is not None:
        lengths = as_lengths(shape)
        if array.size == 1:
            array = np.full(lengths, array.reshape(())[()], dtype=array.dtype)
        elif array.size != np.prod(lengths, dtype=np.int64):
            raise TypeError(
                f"Eager execution of tf.constant with unsupported shape. Tensor {array!r:.100} has {array.size} "
                f"elements, but got `shape` {lengths}."
            )
        else:
            array = array.reshape(lengths)
    return tensor(array.copy() if array.base is not None or array is plain else array)


def _with_dtype(value: Any, dtype: Any) -> Any:
    wanted = as_dtype(dtype)
    if isinstance(value, list) and any(isinstance(item, np.ndarray | np.generic) for item in value):
        stacked = np.stack([np.asarray(item) for item in value])
        if stacked.dtype.kind == "f" and wanted.is_integer:
            raise TypeError(
                f"Cannot convert {value!r:.100} to a tensor of dtype {wanted.name}: floats are not truncated"
            )
        return convert(stacked, wanted)
    return convert(value, wanted)


def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None, preferred_dtype: Any = None
) -> Any:
    """Make a tensor as `constant` does; a tensor is returned unchanged and must have the dtype."""
    if isinstance(value, SparseTensor | RaggedTensor):
        return value
    if isinstance(value, Tensor):
        return tensor(as_array(value, dtype))
    hint = dtype_hint if preferred_dtype is None else preferred_dtype
    if dtype is None and hint is not None:
        try:
            return constant(value, hint)
        except (TypeError, ValueError):
            pass
    if hasattr(value, "numpy"):
        return tensor(as_array(value, dtype))
    return constant(value, dtype)


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """Cast the values: floats are truncated, integers wrap, bools become 0 and 1.

    In tensors of 32 values or more, floats are clipped to the limits of int8, uint8, int16 and uint16.
    """
    if isinstance(x, SparseTensor):
        return x.with_values(cast(x.values, dtype))
    if isinstance(x, RaggedTensor):
        return x.with_flat_values(cast(wrap(x.plain.flat_values), dtype))
    wanted, values = as_dtype(dtype).dtype, as_array(x)
    if values.dtype == wanted:
        return tensor(values)
    if wanted.hasobject or values.dtype.kind in "OSUT":
        raise UnimplementedError(f"Cast {array_dtype(values).name} to {as_dtype(dtype).name} is not supported")
    numbers = values.real if values.dtype.kind == "c" and wanted.kind != "c" else values
    return ArrayTensor(numbers_as(numbers, wanted))


# ---- Shape ----


def shape(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """Return the lengths, int32 by default."""
    numpy_dtype = as_dtype("int32" if out_type is None else out_type).as_numpy_dtype
    if isinstance(input, SparseTensor):
        return cast(input.dense_shape, numpy_dtype)
    return tensor(np.array(as_array(input).shape, dtype=numpy_dtype))


def size(input: Any, out_type: Any = "int32", name: str | None = None) -> Any:
    """Return the number of values."""
    if isinstance(input, RaggedTensor):
        count = as_array(input.flat_values).size
    elif isinstance(input, SparseTensor):
        count = int(np.prod(as_array(input.dense_shape)))
    else:
        count = as_array(input).size
    return tensor(np.asarray(count, dtype=as_dtype(out_type).as_numpy_dtype))


def rank(input: Any, name: str | None = None) -> Any:
    """Return the number of dimensions."""
    known = isinstance(input, RaggedTensor | SparseTensor)
    return tensor(np.int32(len(input.shape) if known else as_array(input).ndim))


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """Return the values in another shape, of which one length may be -1."""
    array, lengths = as_array(tensor), as_lengths(shape)
    if any(length < -1 for length in lengths):
        raise InvalidArgumentError(f"Size must be non-negative, got {lengths} [Op:Reshape]")
    if not array.size and lengths.count(-1) == 1 and 0 in lengths:
        # Like TensorFlow, divide the products of the lengths other than 0.
        have, known = (size_of_shape(length for length in side if length > 0) for side in (array.shape, lengths))
        lengths = tuple(have // known if length == -1 else length for length in lengths)
    try:
        return wrap(array.reshape(lengths))
    except ValueError:
        return wrap(plain_ops.reshape(array, np.array(lengths, dtype=np.int64)))  # which has the words


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """Return the tensor itself; raise InvalidArgumentError if it has another shape."""
    result = tensor(as_array(x))
    if not result.get_shape().is_compatible_with(shape):
        raise InvalidArgumentError(
            f"Shape of tensor {result.get_shape()} is not compatible with expected shape {TensorShape(shape)}."
        )
    return result


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """Insert an axis of length 1."""
    if isinstance(input, RaggedTensor):
        return _expanded(input, integer(axis))
    try:
        return tensor(np.expand_dims(as_array(input), integer(axis)))
    except np.exceptions.AxisError as error:
        raise InvalidArgumentError(f"Tried to expand dim index {axis}: {error}") from None


def _expanded(rows: RaggedTensor, axis: int) -> Any:
    rank = len(rows.shape)
    if not -rank - 1 <= axis <= rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank - 1}<=axis<{rank + 1}")
    number, plain = axis % (rank + 1), rows.plain
    if number > 1:
        return rows.with_values(expand_dims(rows.values, number - 1))
    length, count = (len(plain), 1) if number == 0 else (1, len(plain))
    return RaggedTensor(uniform_rows(plain, length, count, plain.row_splits.dtype))


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """Remove all axes of length 1, or those named, whose length must be 1."""
    axes = as_axes(axis)
    try:
        return tensor(np.squeeze(as_array(input), axis=None if axes == () else axes))
    except ValueError as error:
        raise InvalidArgumentError(f"Can not squeeze: {error}") from None


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str | None = None) -> Any:
    """Permute the axes; reverse them by default."""
    try:
        array = np.transpose(as_array(a), None if perm is None else as_lengths(perm))
    except ValueError as error:
        raise InvalidArgumentError(f"transpose: {error}") from None
    return tensor(np.conj(array) if conjugate and array.dtype.kind == "c" else array)


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """Repeat along axes of length 1, and along new axes, up to a shape."""
    try:
        return tensor(np.broadcast_to(as_array(input), as_lengths(shape)).copy())
    except ValueError as error:
        raise InvalidArgumentError(f"Incompatible shapes: {error} [Op:BroadcastTo]") from None


# ---- Joining and splitting ----


def stack(values: Any, axis: Any = 0, name: str = "stack") -> Any:
    """Join tensors of one shape and dtype along a new axis."""
    if not len(values):
        return tensor(as_array(values))
    classes = set(map(type, values)) if isinstance(values, list | tuple) else set()
    if RaggedTensor in classes:
        return stack_rows(list(values), integer(axis))
    arrays = as_arrays(*values) if classes == {ArrayTensor} else _common_arrays(values) or _item_arrays(values)
    first, number = arrays[0], integer(axis)
    if len({array.shape for array in arrays}) > 1:
        item, shape = next((i, array.shape) for i, array in enumerate(arrays) if array.shape != first.shape)
        raise InvalidArgumentError(
            f"Shapes of all inputs must match: values[0].shape = {list(first.shape)} != values[{item}].shape "
            f"= {list(shape)} [Op:Pack]"
        )
    if first.ndim == 0 and first.dtype.kind in "biuf" and number in (0, -1):
        return tensor(np.array(arrays))  # np.stack takes ten times as long
    return tensor(np.stack(arrays, axis=number))


def _common_arrays(values: Any) -> list[Any] | None:
    """Convert NumPy arrays of several dtypes to a common one; return None for anything else."""
    if not isinstance(values, list | tuple) or any(isinstance(item, Tensor) for item in values):
        return None
    if not all(isinstance(item, np.ndarray | np.generic) for item in values):
        return None
    dtypes = {item.dtype for item in values}
    if len(dtypes) == 1 or any(dtype.kind not in "biuf" for dtype in dtypes):
        return None
    common = np.result_type(*dtypes)
    if common.kind == "f" and all(dtype.kind in "biu" for dtype in dtypes):  # uint64 and int64: choose by value
        least, most = (int(f([f(item, initial=0) for item in values])) for f in (np.min, np.max))
        if most > np.iinfo(np.int64).max and least < 0:
            raise InvalidArgumentError(f"no integers hold both {least} and {most} [Op:Pack]")
        common = np.dtype(np.int64 if most <= np.iinfo(np.int64).max else np.uint64)
    elif common.kind == "f":  # the first one sets the precision
        common = values[0].dtype if values[0].dtype.kind == "f" else np.dtype(np.float32)
    return [np.asarray(item).astype(common) for item in values]


def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Join tensors of one dtype along an axis."""
    items = list(values) if isinstance(values, list | tuple) else [values]
    if any(isinstance(item, RaggedTensor) for item in items):
        return concat_rows(items, integer(axis))
    if items and all(isinstance(item, SparseTensor) for item in items):
        raise TypeError("concat does not support SparseTensors; convert them with tf.sparse.to_dense")
    arrays = _item_arrays(items)
    if any(array.ndim == 0 for array in arrays) and len(arrays) > 1:
        raise InvalidArgumentError(
            "ConcatOp : Expected concatenating dimensions in the range [0, 0), but got 0 [Op:ConcatV2]"
        )
    try:
        return tensor(np.concatenate(arrays, axis=integer(axis)) if len(arrays) > 1 else arrays[0])
    except (ValueError, np.exceptions.AxisError) as error:
        raise InvalidArgumentError(f"ConcatOp : {error} [Op:ConcatV2]") from None


def _item_arrays(values: Any) -> list[Any]:
    items = list(values) if isinstance(values, list | tuple) else list(as_array(values))
    if not items:
        raise ValueError("at least one tensor is required")
    if all(isinstance(item, int | float) and not isinstance(item, bool) for item in items):
        return list(as_array(items))
    return as_arrays(*items)


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Any]:
    """Return the slices along an axis."""
    moved = np.moveaxis(as_array(value), axis, 0)
    if num is not None and len(moved) != num:
        raise InvalidArgumentError(
            f"Dimension {axis} in shape {list(as_array(value).shape)} is not {num}: cannot unstack"
        )
    return tensors(moved)


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split") -> list[Any]:
    """Split along an axis into a number of pieces, or into pieces of these lengths, of which one may be -1."""
    array, number = as_array(value), integer(axis)
    sizes = as_array(num_or_size_splits)
    if sizes.size and sizes.dtype.kind not in "iu":
        raise InvalidArgumentError(f"num_or_size_splits must be integers, got {num_or_size_splits!r:.100}")
    length = array.shape[number]
    if sizes.ndim == 0:
        if sizes < 1 or length % int(sizes):
            raise InvalidArgumentError(
                f"Number of ways to split should evenly divide the split dimension, but got split_dim {number} "
                f"(size = {length}) and num_split {int(sizes)} [Op:Split]"
            )
        return tensors(np.split(array, int(sizes), axis=number))
    lengths = [int(size) for size in sizes]
    if num is not None and num != len(lengths):
        raise InvalidArgumentError(f"num={num}, but num_or_size_splits has {len(lengths)} sizes [Op:SplitV]")
    if -1 in lengths and len(lengths) > 1:  # a lone -1 means the whole axis
        lengths[lengths.index(-1)] = length - sum(size for size in lengths if size != -1)
    if sum(lengths) != length or min(lengths) < 0:
        raise InvalidArgumentError(
            f"Determined shape must either match input shape along split_dim exactly if fully specified: {length} != "
            f"{sum(lengths)} [Op:SplitV]"
        )
    return tensors(np.split(array, np.cumsum(lengths)[:-1], axis=number))


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """Repeat the tensor along each axis."""
    array = as_array(input)
    is_vector = is_list_of_integers(multiples)
    times = as_lengths(multiples) if is_vector else ()
    if not is_vector or len(times) != array.ndim:
        raise InvalidArgumentError(
            f"Expected multiples argument to be a vector of length {array.ndim} but got length {len(times)} [Op:Tile]"
        )
    return tensor(np.tile(array, times))


def repeat(input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Any:
    """Repeat each value, or each slice along an axis."""
    return tensor(np.repeat(as_array(input), as_array(repeats), axis=as_axes(axis)))


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: str | None = None) -> Any:
    """Add values before and after, along each axis.

    The modes REFLECT and SYMMETRIC mirror the values without or with the outermost one.
    """
    array, widths = as_array(tensor), as_array(paddings)
    if widths.shape != (array.ndim, 2) or widths.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"The first dimension of paddings must be the rank of inputs{list(widths.shape)} {list(array.shape)} "
            "[Op:Pad]"
        )
    if mode.upper() not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(f"Value of argument `mode` expected to be one of CONSTANT, REFLECT or SYMMETRIC, got {mode!r}")
    if np.any(widths < 0):
        raise InvalidArgumentError(f"paddings must be non-negative: {widths.tolist()} [Op:Pad]")
    if mode.upper() == "CONSTANT":
        return wrap(_padded(array, widths, constant_values))
    most = np.array(array.shape)[:, None] - (mode.upper() == "REFLECT") if array.ndim else 0
    if np.any(widths > most):
        raise InvalidArgumentError(
            f"paddings must be no greater than the size{' less one' if mode.upper() == 'REFLECT' else ''}: "
            f"{widths.tolist()} for the shape {list(array.shape)} [Op:MirrorPad]"
        )
    return wrap(np.pad(array, widths.tolist(), mode=mode.lower()) if array.ndim else array)  # type: ignore[call-overload]


def _padded(array: Any, widths: Any, constant_values: Any) -> Any:
    if isinstance(constant_values, Tensor):
        filling: Any = as_array(constant_values, array_dtype(array))
    elif array.dtype.kind == "O" and constant_values == 0:
        filling = b""
    elif isinstance(constant_values, int) and constant_values == 0:
        filling = np.zeros((), array.dtype)
    else:
        filling = convert(constant_values, array_dtype(array))
    if np.ndim(filling):
        raise InvalidArgumentError(f"constant_values must be a scalar, got shape {list(np.shape(filling))} [Op:PadV2]")
    lengths = [length + int(sum(width)) for length, width in zip(array.shape, widths, strict=True)]
    result = np.full(lengths, filling, dtype=array.dtype)
    slices = zip(array.shape, widths, strict=True)
    result[tuple(_slice(int(before), int(before) + length) for length, (before, _) in slices)] = array
    return result


def identity(input: Any, name: str | None = None) -> Any:
    """Return the tensor itself."""
    return input if isinstance(input, SparseTensor | RaggedTensor) else tensor(as_array(input))


@over_flat_values
def bitcast(input: Any, type: Any, name: str | None = None) -> Any:
    """Reinterpret the bytes of the values as another dtype."""
    array, numpy_dtype = as_array(input), np.dtype(as_dtype(type).as_numpy_dtype)
    if "b" in (array.dtype.kind, numpy_dtype.kind) or "O" in (array.dtype.kind, numpy_dtype.kind):
        raise InvalidArgumentError(f"bitcast from {array_dtype(array).name} to {as_dtype(type).name} [Op:Bitcast]")
    contiguous = np.ascontiguousarray(array)
    count = numpy_dtype.itemsize // array.dtype.itemsize
    if count > 1 and array.shape[-1:] != (count,):
        raise InvalidArgumentError(
            f"Cannot bitcast from {array_dtype(array).name} to {as_dtype(type).name}: the last length of "
            f"{list(array.shape)} must be {count} [Op:Bitcast]"
        )
    if numpy_dtype.itemsize < array.dtype.itemsize:
        count = array.dtype.itemsize // numpy_dtype.itemsize
        return tensor(contiguous.reshape(*array.shape, 1).view(numpy_dtype).reshape(*array.shape, count))
    result = (
        contiguous.reshape(array.shape).view(numpy_dtype)
        if array.ndim or numpy_dtype.itemsize == array.dtype.itemsize
        else contiguous.view(numpy_dtype)
    )
    return tensor(result if numpy_dtype.itemsize == array.dtype.itemsize else result[..., 0])


def size_of_shape(lengths: Any) -> int:
    """Return the number of values of a shape."""
    return reduce(operator.mul, lengths, 1)
