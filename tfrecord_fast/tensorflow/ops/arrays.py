"""Functions that make tensors, and change their shape or the order of their values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from ...base.casting import numbers_as
from ...errors import InvalidArgumentError, UnimplementedError
from ...values import ops as plain_ops
from .. import border
from ..arithmetic import converted
from ..composites import RaggedTensor, SparseTensor
from ..shapes import TensorShape
from ..tensors import Tensor
from ..types import as_dtype, dtype_of
from ..uniform import uniform_rows
from .arguments import (
    array_of,
    arrays_of,
    axes_of,
    common_dtype,
    integer,
    is_list_of_integers,
    lengths_of,
    tensor,
    tensors,
)
from .rows import concat_rows, of_flat_values, stack_rows

__all__ = [
    "bitcast", "broadcast_to", "cast", "concat", "constant", "convert_to_tensor", "ensure_shape", "expand_dims",
    "identity", "pad", "rank", "repeat", "reshape", "shape", "shape_n", "size", "split", "squeeze", "stack",
    "tile", "transpose", "unstack",
]  # fmt: skip

_slice = slice
_range = range


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """A tensor: Python's ints become int32, floats float32, str bytes, unless `dtype` says otherwise."""
    dtype = common_dtype(value) if dtype is None else dtype
    given = border.lowered(value)
    made = array_of(given) if dtype is None else _of_dtype(given, dtype)
    if made.dtype == object and not all(isinstance(item, bytes) for item in made.flat):
        raise ValueError(f"Failed to convert a NumPy array to a Tensor: not all of it is text or bytes: {value!r:.100}")
    if shape is not None:
        lengths = lengths_of(shape)
        if made.size == 1:
            made = np.full(lengths, made.reshape(())[()], dtype=made.dtype)
        elif made.size != np.prod(lengths, dtype=np.int64):
            raise TypeError(
                f"Eager execution of tf.constant with unsupported shape. Tensor {made!r:.100} has {made.size} "
                f"elements, but got `shape` {lengths}."
            )
        else:
            made = made.reshape(lengths)
    return tensor(made.copy() if made.base is not None or made is given else made)


def _of_dtype(value: Any, dtype: Any) -> Any:
    wanted = as_dtype(dtype)
    if isinstance(value, list) and any(isinstance(item, np.ndarray | np.generic) for item in value):
        stacked = np.stack([np.asarray(item) for item in value])
        if stacked.dtype.kind == "f" and wanted.is_integer:
            raise TypeError(f"Cannot convert {value!r:.100} to a tensor of dtype {wanted.name}: floats are not cut")
        return converted(stacked, wanted)
    return converted(value, wanted)


def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None, preferred_dtype: Any = None
) -> Any:
    """As `constant`; a tensor stays as it is, and has to be of the dtype."""
    if isinstance(value, SparseTensor | RaggedTensor):
        return value

    if isinstance(value, Tensor):
        return tensor(array_of(value, dtype))
    hint = dtype_hint if preferred_dtype is None else preferred_dtype
    if dtype is None and hint is not None:
        try:
            return constant(value, hint)
        except (TypeError, ValueError):
            pass
    if hasattr(value, "numpy"):
        return tensor(array_of(value, dtype))
    return constant(value, dtype)


def cast(x: Any, dtype: Any, name: str | None = None) -> Any:
    """The values in another dtype: floats are cut, numbers that do not fit wrap, bools are 0 and 1.

    Floats beyond the limits of int8, uint8, int16 and uint16 become the limit, in tensors of 32 values or more.
    """
    if isinstance(x, SparseTensor):
        return x.with_values(cast(x.values, dtype))
    if isinstance(x, RaggedTensor):
        return x.with_flat_values(cast(border.raised(x.plain.flat_values), dtype))
    wanted, values = as_dtype(dtype), array_of(x)
    if dtype_of(values) == wanted:
        return tensor(values)
    if "string" in (wanted.name, dtype_of(values).name):
        raise UnimplementedError(f"Cast {dtype_of(values).name} to {wanted.name} is not supported")
    numbers = values.real if values.dtype.kind == "c" and not wanted.is_complex else values
    return tensor(numbers_as(numbers, wanted.as_numpy_dtype))


# ---- Shape ----


def shape(input: Any, out_type: Any = None, name: str | None = None) -> Any:
    """The lengths, int32 by default."""
    kind = as_dtype("int32" if out_type is None else out_type).as_numpy_dtype
    if isinstance(input, SparseTensor):
        return cast(input.dense_shape, kind)
    return tensor(np.array(array_of(input).shape, dtype=kind))


def shape_n(input: Any, out_type: Any = "int32", name: str | None = None) -> list[Any]:
    """The lengths of several tensors."""
    return [shape(one, out_type) for one in input]


def size(input: Any, out_type: Any = "int32", name: str | None = None) -> Any:
    """The number of values."""
    if isinstance(input, RaggedTensor):
        count = array_of(input.flat_values).size
    elif isinstance(input, SparseTensor):
        count = int(np.prod(array_of(input.dense_shape)))
    else:
        count = array_of(input).size
    return tensor(np.asarray(count, dtype=as_dtype(out_type).as_numpy_dtype))


def rank(input: Any, name: str | None = None) -> Any:
    """The number of dimensions."""
    known = isinstance(input, RaggedTensor | SparseTensor)
    return tensor(np.int32(len(input.shape) if known else array_of(input).ndim))


def reshape(tensor: Any, shape: Any, name: str | None = None) -> Any:
    """The values in another shape, of which one length may be -1."""
    given, lengths = array_of(tensor), lengths_of(shape)
    if any(length < -1 for length in lengths):
        raise InvalidArgumentError(f"Size must be non-negative, got {lengths} [Op:Reshape]")
    if not given.size and lengths.count(-1) == 1 and 0 in lengths:
        # As TensorFlow does, which counts the lengths that are not 0 on both sides.
        have, known = (product_of(one for one in some if one > 0) for some in (given.shape, lengths))
        lengths = tuple(have // known if length == -1 else length for length in lengths)
    return border.raised(plain_ops.reshape(given, np.array(lengths, dtype=np.int64)))


def ensure_shape(x: Any, shape: Any, name: str | None = None) -> Any:
    """The tensor itself.

    Raises:
      errors.InvalidArgumentError: it has another shape.
    """

    given = tensor(array_of(x))
    if not given.get_shape().is_compatible_with(shape):
        raise InvalidArgumentError(
            f"Shape of tensor {given.get_shape()} is not compatible with expected shape {TensorShape(shape)}."
        )
    return given


def expand_dims(input: Any, axis: Any, name: str | None = None) -> Any:
    """One more axis, of length 1."""
    if isinstance(input, RaggedTensor):
        return _expanded(input, integer(axis))
    try:
        return tensor(np.expand_dims(array_of(input), integer(axis)))
    except np.exceptions.AxisError as error:
        raise InvalidArgumentError(f"Tried to expand dim index {axis}: {error}") from None


def _expanded(rows: RaggedTensor, axis: int) -> Any:
    rank = len(rows.shape)
    if not -rank - 1 <= axis <= rank:
        raise ValueError(f"axis={axis} out of bounds: expected {-rank - 1}<=axis<{rank + 1}")
    place, plain = axis % (rank + 1), rows.plain
    if place > 1:
        return rows.with_values(expand_dims(rows.values, place - 1))
    length, count = (len(plain), 1) if place == 0 else (1, len(plain))
    return RaggedTensor(uniform_rows(plain, length, count, plain.row_splits.dtype))


def squeeze(input: Any, axis: Any = None, name: str | None = None) -> Any:
    """Without axes of length 1, or without those named, whose length must be 1."""
    axes = axes_of(axis)
    try:
        return tensor(np.squeeze(array_of(input), axis=None if axes == () else axes))
    except ValueError as error:
        raise InvalidArgumentError(f"Can not squeeze: {error}") from None


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str | None = None) -> Any:
    """The axes in another order; reversed by default."""
    try:
        made = np.transpose(array_of(a), None if perm is None else lengths_of(perm))
    except ValueError as error:
        raise InvalidArgumentError(f"transpose: {error}") from None
    return tensor(np.conj(made) if conjugate and made.dtype.kind == "c" else made)


def broadcast_to(input: Any, shape: Any, name: str | None = None) -> Any:
    """Repeated along axes of length 1, and new ones, up to the shape."""
    try:
        return tensor(np.broadcast_to(array_of(input), lengths_of(shape)).copy())
    except ValueError as error:
        raise InvalidArgumentError(f"Incompatible shapes: {error} [Op:BroadcastTo]") from None


# ---- Put together and taken apart ----


def stack(values: Any, axis: Any = 0, name: str = "stack") -> Any:
    """Tensors of one shape and dtype along a new axis."""
    if not len(values):
        return tensor(array_of(values))
    if isinstance(values, list | tuple) and any(isinstance(value, RaggedTensor) for value in values):
        return stack_rows(list(values), integer(axis))
    given = _of_numpy(values) or _several(values)
    for number, one in enumerate(given):
        if one.shape != given[0].shape:
            raise InvalidArgumentError(
                f"Shapes of all inputs must match: values[0].shape = {list(given[0].shape)} != values[{number}].shape "
                f"= {list(one.shape)} [Op:Pack]"
            )
    return tensor(np.stack(given, axis=integer(axis)))


def _of_numpy(values: Any) -> list[Any] | None:
    """NumPy's arrays of several dtypes in one; None for anything else."""
    if not isinstance(values, list | tuple) or any(isinstance(one, Tensor) for one in values):
        return None
    if not all(isinstance(one, np.ndarray | np.generic) for one in values):
        return None
    kinds = {one.dtype for one in values}
    if len(kinds) == 1 or any(kind.kind not in "biuf" for kind in kinds):
        return None
    wanted = np.result_type(*kinds)
    if wanted.kind == "f" and all(kind.kind in "biu" for kind in kinds):  # uint64 and int64: whichever holds them all
        least, most = (int(f([f(one, initial=0) for one in values])) for f in (np.min, np.max))
        if most > np.iinfo(np.int64).max and least < 0:
            raise InvalidArgumentError(f"no integers hold both {least} and {most} [Op:Pack]")
        wanted = np.dtype(np.int64 if most <= np.iinfo(np.int64).max else np.uint64)
    elif wanted.kind == "f":  # the first one says how exact they are
        wanted = values[0].dtype if values[0].dtype.kind == "f" else np.dtype(np.float32)
    return [np.asarray(one).astype(wanted) for one in values]


def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Tensors of one dtype one after the other along an axis."""
    parts = list(values) if isinstance(values, list | tuple) else [values]
    if any(isinstance(part, RaggedTensor) for part in parts):
        return concat_rows(parts, integer(axis))
    if parts and all(isinstance(part, SparseTensor) for part in parts):
        raise TypeError("concat takes no SparseTensor: use tf.sparse.concat")
    given = _several(parts)
    if any(one.ndim == 0 for one in given) and len(given) > 1:
        raise InvalidArgumentError(
            "ConcatOp : Expected concatenating dimensions in the range [0, 0), but got 0 [Op:ConcatV2]"
        )
    try:
        return tensor(np.concatenate(given, axis=integer(axis)) if len(given) > 1 else given[0])
    except (ValueError, np.exceptions.AxisError) as error:
        raise InvalidArgumentError(f"ConcatOp : {error} [Op:ConcatV2]") from None


def _several(values: Any) -> list[Any]:
    given = list(values) if isinstance(values, list | tuple) else list(array_of(values))
    if not given:
        raise ValueError("there must be at least one tensor")
    if all(isinstance(one, int | float) and not isinstance(one, bool) for one in given):
        return list(array_of(given))
    return arrays_of(*given)


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Any]:
    """The slices along an axis."""
    moved = np.moveaxis(array_of(value), axis, 0)
    if num is not None and len(moved) != num:
        raise InvalidArgumentError(
            f"Dimension {axis} in shape {list(array_of(value).shape)} is not {num}: cannot unstack"
        )
    return tensors(moved)


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None, name: str = "split") -> list[Any]:
    """Pieces along an axis: so many of one length, or of these lengths, of which one may be -1."""
    array, place = array_of(value), integer(axis)
    sizes = array_of(num_or_size_splits)
    if sizes.size and sizes.dtype.kind not in "iu":
        raise InvalidArgumentError(f"numbers and sizes of pieces are integers, got {num_or_size_splits!r:.100}")
    length = array.shape[place]
    if sizes.ndim == 0:
        if sizes < 1 or length % int(sizes):
            raise InvalidArgumentError(
                f"Number of ways to split should evenly divide the split dimension, but got split_dim {place} "
                f"(size = {length}) and num_split {int(sizes)} [Op:Split]"
            )
        return tensors(np.split(array, int(sizes), axis=place))
    wanted = [int(one) for one in sizes]
    if num is not None and num != len(wanted):
        raise InvalidArgumentError(f"num={num}, but there are {len(wanted)} sizes [Op:SplitV]")
    if -1 in wanted and len(wanted) > 1:  # one size is that of the axis
        wanted[wanted.index(-1)] = length - sum(one for one in wanted if one != -1)
    if sum(wanted) != length or min(wanted) < 0:
        raise InvalidArgumentError(
            f"Determined shape must either match input shape along split_dim exactly if fully specified: {length} != "
            f"{sum(wanted)} [Op:SplitV]"
        )
    return tensors(np.split(array, np.cumsum(wanted)[:-1], axis=place))


def tile(input: Any, multiples: Any, name: str | None = None) -> Any:
    """The tensor several times along each axis."""
    given = array_of(input)
    is_vector = is_list_of_integers(multiples)
    times = lengths_of(multiples) if is_vector else ()
    if not is_vector or len(times) != given.ndim:
        raise InvalidArgumentError(
            f"Expected multiples argument to be a vector of length {given.ndim} but got length {len(times)} [Op:Tile]"
        )
    return tensor(np.tile(given, times))


def repeat(input: Any, repeats: Any, axis: Any = None, name: str | None = None) -> Any:
    """Each value, or each slice along an axis, several times."""
    return tensor(np.repeat(array_of(input), array_of(repeats), axis=axes_of(axis)))


def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0, name: str | None = None) -> Any:
    """More values before and after, along each axis.

    Args:
      mode: CONSTANT; REFLECT and SYMMETRIC mirror what is there, once: without the outermost value, or with it.

    Raises:
      ValueError: another mode.
      errors.InvalidArgumentError: paddings that do not fit the rank, or that have more values than can be mirrored.
    """
    given, widths = array_of(tensor), array_of(paddings)
    if widths.shape != (given.ndim, 2) or widths.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"The first dimension of paddings must be the rank of inputs{list(widths.shape)} {list(given.shape)} "
            "[Op:Pad]"
        )
    if mode.upper() not in ("CONSTANT", "REFLECT", "SYMMETRIC"):
        raise ValueError(f"Value of argument `mode` expected to be one of CONSTANT, REFLECT or SYMMETRIC, got {mode!r}")
    if np.any(widths < 0):
        raise InvalidArgumentError(f"paddings must be non-negative: {widths.tolist()} [Op:Pad]")
    if mode.upper() == "CONSTANT":
        return border.raised(_padded(given, widths, constant_values))
    most = np.array(given.shape)[:, None] - (mode.upper() == "REFLECT") if given.ndim else 0
    if np.any(widths > most):
        raise InvalidArgumentError(
            f"paddings must be no greater than the size{' less one' if mode.upper() == 'REFLECT' else ''}: "
            f"{widths.tolist()} for the shape {list(given.shape)} [Op:MirrorPad]"
        )
    return border.raised(np.pad(given, widths.tolist(), mode=mode.lower()) if given.ndim else given)  # type: ignore[call-overload]


def _padded(given: Any, widths: Any, constant_values: Any) -> Any:
    if isinstance(constant_values, Tensor):
        filling: Any = array_of(constant_values, dtype_of(given))
    elif given.dtype.kind == "O" and constant_values == 0:
        filling = b""
    elif isinstance(constant_values, int) and constant_values == 0:
        filling = np.zeros((), given.dtype)
    else:
        filling = converted(constant_values, dtype_of(given))
    if np.ndim(filling):
        raise InvalidArgumentError(f"constant_values must be a scalar, got shape {list(np.shape(filling))} [Op:PadV2]")
    lengths = [length + int(sum(width)) for length, width in zip(given.shape, widths, strict=True)]
    made = np.full(lengths, filling, dtype=given.dtype)
    places = zip(given.shape, widths, strict=True)
    made[tuple(_slice(int(before), int(before) + length) for length, (before, _) in places)] = given
    return made


# ---- Picked ----


def identity(input: Any, name: str | None = None) -> Any:
    """The tensor itself."""
    return input if isinstance(input, SparseTensor | RaggedTensor) else tensor(array_of(input))


@of_flat_values
def bitcast(input: Any, type: Any, name: str | None = None) -> Any:
    """The bytes of the values as another dtype."""
    given, wanted = array_of(input), np.dtype(as_dtype(type).as_numpy_dtype)
    if "b" in (given.dtype.kind, wanted.kind) or "O" in (given.dtype.kind, wanted.kind):
        raise InvalidArgumentError(f"bitcast from {dtype_of(given).name} to {as_dtype(type).name} [Op:Bitcast]")
    contiguous = np.ascontiguousarray(given)
    parts = wanted.itemsize // given.dtype.itemsize
    if parts > 1 and given.shape[-1:] != (parts,):
        raise InvalidArgumentError(
            f"Cannot bitcast from {dtype_of(given).name} to {as_dtype(type).name}: the last length of "
            f"{list(given.shape)} would have to be {parts} [Op:Bitcast]"
        )
    if wanted.itemsize < given.dtype.itemsize:
        parts = given.dtype.itemsize // wanted.itemsize
        return tensor(contiguous.reshape(*given.shape, 1).view(wanted).reshape(*given.shape, parts))
    made = (
        contiguous.reshape(given.shape).view(wanted)
        if given.ndim or wanted.itemsize == given.dtype.itemsize
        else contiguous.view(wanted)
    )
    return tensor(made if wanted.itemsize == given.dtype.itemsize else made[..., 0])


Reducer = Callable[[Any, Any], Any]


def product_of(lengths: Any) -> int:
    """How many values a shape has."""
    return reduce(operator.mul, lengths, 1)
