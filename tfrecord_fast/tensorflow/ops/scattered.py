"""Functions that put values into places, count them, or sum them by place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ..types import as_dtype, dtype_of
from .arguments import array_of, arrays_of, axes_of, integer, lengths_of, tensor
from .arrays import cast
from .numbers import logits_of
from .rows import of_flat_values

__all__ = [
    "acosh",
    "asinh",
    "atanh",
    "bincount",
    "conj",
    "dynamic_partition",
    "einsum",
    "imag",
    "invert_permutation",
    "l2_normalize",
    "log_softmax",
    "real",
    "rint",
    "saturate_cast",
    "scatter_nd",
    "searchsorted",
    "segment_sum",
    "softplus",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_update",
    "truncatediv",
    "truncatemod",
    "unsorted_segment_sum",
    "zero_fraction",
]


def _places(indices: Any, shape: tuple[int, ...], updates: tuple[int, ...]) -> tuple[Any, ...]:
    """Of updates of that shape, one for each index."""
    given = array_of(indices)
    wanted = (*given.shape[:-1], *shape[given.shape[-1] :])
    if updates != wanted:
        raise InvalidArgumentError(f"updates must be of shape {list(wanted)} for these indices, got {list(updates)}")
    for axis, length in enumerate(shape[: given.shape[-1]]):
        if given.size and (given[..., axis].min() < 0 or given[..., axis].max() >= length):
            raise InvalidArgumentError(f"indices do not index into shape {list(shape)}")
    return tuple(np.moveaxis(given, -1, 0))


def scatter_nd(indices: Any, updates: Any, shape: Any, name: str | None = None) -> Any:
    """Zeros of that shape, to which the updates are added at their places."""
    values, lengths = array_of(updates), lengths_of(shape)
    made = np.full(lengths, b"" if values.dtype.kind == "O" else 0, values.dtype)
    np.add.at(made, _places(indices, lengths, values.shape), values)
    return tensor(made)


def tensor_scatter_nd_update(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """The tensor, with the updates at their places."""
    given, values = arrays_of(tensor, updates)
    made = given.copy()
    made[_places(indices, given.shape, values.shape)] = values
    return _tensor(made)


def tensor_scatter_nd_add(tensor: Any, indices: Any, updates: Any, name: str | None = None) -> Any:
    """The tensor, with the updates added at their places."""
    given, values = arrays_of(tensor, updates)
    if given.dtype.kind == "O":
        raise InvalidArgumentError("tensor_scatter_nd_add is of numbers, got string")
    made = given.copy()
    np.add.at(made, _places(indices, given.shape, values.shape), values)
    return _tensor(made)


_tensor = tensor


def dynamic_partition(data: Any, partitions: Any, num_partitions: Any, name: str | None = None) -> Any:
    """A list of so many tensors: the slices of each number."""
    given, numbers = array_of(data), array_of(partitions)
    if given.shape[: numbers.ndim] != numbers.shape:
        raise InvalidArgumentError(
            f"data.shape must start with partitions.shape, got {list(given.shape)} and {list(numbers.shape)}"
        )
    count = integer(num_partitions)
    if numbers.size and (numbers.min() < 0 or numbers.max() >= count):
        raise InvalidArgumentError(f"partitions must be in [0, {count})")
    return [tensor(given[numbers == number]) for number in range(count)]


def searchsorted(
    sorted_sequence: Any, values: Any, side: Any = "left", out_type: Any = "int32", name: str | None = None
) -> Any:
    """Where values would stand in a sorted sequence; of several dimensions, row by row."""
    rows, wanted = arrays_of(sorted_sequence, values)
    kind = as_dtype(out_type).as_numpy_dtype
    if rows.shape[:-1] != wanted.shape[:-1] or not wanted.ndim:
        raise InvalidArgumentError(f"sequences of shape {list(rows.shape)} for values of shape {list(wanted.shape)}")
    made = np.zeros(wanted.shape, kind)
    for row in np.ndindex(rows.shape[:-1]):
        made[row] = np.searchsorted(rows[row], wanted[row], side)
    return tensor(made)


def bincount(
    arr: Any, weights: Any = None, minlength: Any = None, maxlength: Any = None, dtype: Any = "int32", name: Any = None
) -> Any:
    """How often each number from 0 on appears, or the sums of their weights."""
    numbers = array_of(arr).ravel()
    numbers = numbers.astype(np.int32) if numbers.dtype.kind in "bf" else numbers
    if numbers.dtype not in (np.int32, np.int64):
        raise InvalidArgumentError(f"bincount counts int32 and int64, got {dtype_of(numbers).name}")
    if numbers.size and numbers.min() < 0:
        raise InvalidArgumentError("Input arr must be non-negative!")
    factors = None if weights is None else array_of(weights).ravel()
    made = np.bincount(numbers, factors, integer(minlength) if minlength is not None else 0)
    most = len(made) if maxlength is None else integer(maxlength)
    kind: Any = as_dtype(dtype).as_numpy_dtype if factors is None else factors.dtype
    return tensor(made[:most].astype(kind))


def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any, name: str | None = None) -> Any:
    """The sums of the slices of each number from 0 on; those of negative numbers are left out."""
    given, numbers = array_of(data), array_of(segment_ids)
    made = np.zeros((integer(num_segments), *given.shape[numbers.ndim :]), given.dtype)
    if numbers.size and numbers.max() >= len(made):
        raise InvalidArgumentError(f"segment_ids must be below {len(made)}, got {numbers.max()}")
    np.add.at(made, numbers[numbers >= 0], given[numbers >= 0])
    return tensor(made)


def segment_sum(data: Any, segment_ids: Any, name: str | None = None) -> Any:
    """The sums of the slices of each number, which are sorted."""
    numbers = array_of(segment_ids)
    if numbers.size and ((np.diff(numbers) < 0).any() or numbers[0] < 0):
        raise InvalidArgumentError("segment ids are not increasing")
    return unsorted_segment_sum(data, numbers, int(numbers[-1]) + 1 if numbers.size else 0)


def invert_permutation(x: Any, name: str | None = None) -> Any:
    """Where each number from 0 on stands."""
    given = array_of(x)
    if sorted(given.tolist()) != list(range(len(given))):
        raise InvalidArgumentError("x is no permutation of 0, 1, 2, …")
    return tensor(np.argsort(given).astype(given.dtype))


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """Products summed over axes, as `equation` says: "ij,jk->ik"."""
    given = arrays_of(*inputs)
    try:
        return tensor(np.einsum(equation, *given).astype(given[0].dtype))
    except ValueError as error:
        raise InvalidArgumentError(f"{error} [Op:Einsum]") from None


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None) -> Any:
    """Divided by the root of the sum of squares along an axis."""
    given = array_of(x)
    if given.dtype.kind not in "fcV":
        raise InvalidArgumentError(f"l2_normalize is of floats, got {dtype_of(given).name}")
    wide = given.astype(np.float32) if given.dtype.itemsize == 2 else given  # sums of 16 bits stop growing
    total = np.sum(np.square(np.abs(wide)), axis=axes_of(axis), keepdims=True)
    return tensor((wide / np.sqrt(np.maximum(total, epsilon))).astype(given.dtype))


def zero_fraction(value: Any, name: str | None = None) -> Any:
    """The share of zeros, float32."""
    given = array_of(value)
    return tensor(np.float32(np.mean(given == 0)) if given.size else np.float32(np.nan))


@of_flat_values
def saturate_cast(value: Any, dtype: Any, name: str | None = None) -> Any:
    """As `cast`, with the nearest value of the dtype for those beyond it."""
    given, wanted = array_of(value), as_dtype(dtype)
    if given.dtype.kind == "c" and "complex" not in wanted.name:
        given = given.real
    known = dtype_of(given)
    if known == wanted or "complex" in known.name + wanted.name:
        return cast(given, wanted)
    if not all(one.is_integer or one.is_floating for one in (known, wanted)):
        raise TypeError(f"saturate_cast is of numbers, got {known.name} to {wanted.name}")
    # The limits as values of the dtype that comes in: where it has none so close, the next one within.
    kind: Any = given.dtype.type
    with np.errstate(all="ignore"):
        low, high = kind(max(known.min, wanted.min)), kind(min(known.max, wanted.max))
        if low < wanted.min:
            low = np.nextafter(low, kind(0))
        if _exact(high) > _exact(wanted.max):
            high = np.nextafter(high, kind(0))
        return tensor(np.clip(given, low, high).astype(wanted.as_numpy_dtype))


def _exact(number: Any) -> Any:
    """As Python's number, which compares without rounding."""
    return int(number) if isinstance(number, int | np.integer) else float(number)


def _float(called: str, function: Callable[[Any], Any], text: str, kinds: str = "fcV") -> Callable[..., Any]:
    def of_one(x: Any, name: str | None = None) -> Any:
        given = array_of(x)
        if given.dtype.kind not in kinds:
            raise InvalidArgumentError(f"{called} is of floats, got {dtype_of(given).name}")
        with np.errstate(all="ignore"):
            return tensor(np.asarray(function(given)).astype(given.dtype))

    of_one.__name__ = of_one.__qualname__ = called
    of_one.__doc__ = text
    return of_flat_values(of_one)


acosh = _float("acosh", np.arccosh, "The inverse of cosh.")
asinh = _float("asinh", np.arcsinh, "The inverse of sinh.")
atanh = _float("atanh", np.arctanh, "The inverse of tanh.")
rint = _float("rint", np.rint, "Rounded to the nearest whole number, halves to the even one.", "fV")
softplus = _float("softplus", lambda x: np.logaddexp(x, 0), "log(exp(x) + 1).", "fV")


def log_softmax(logits: Any, axis: Any = -1, name: str | None = None) -> Any:
    """The logarithm of `softmax`."""
    given = logits_of(logits, "LogSoftmax")
    if not given.size:
        return tensor(given)
    wide = given.astype(np.float32) if given.dtype.itemsize == 2 else given  # sums of 16 bits stop growing
    shifted = wide - wide.max(axis=axis, keepdims=True)
    return tensor((shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))).astype(given.dtype))


def truncatediv(x: Any, y: Any, name: str | None = None) -> Any:
    """Integers divided, and rounded towards 0."""
    first, second = arrays_of(x, y)
    if first.size and not np.all(second):
        raise InvalidArgumentError("Integer division by zero")
    return tensor(np.asarray((first - np.fmod(first, second)) // second))


def truncatemod(x: Any, y: Any, name: str | None = None) -> Any:
    """What is left of `truncatediv`, with the sign of x."""
    first, second = arrays_of(x, y)
    if first.size and second.dtype.kind in "iu" and not np.all(second):
        raise InvalidArgumentError("Integer division by zero")
    with np.errstate(invalid="ignore"):
        return tensor(np.asarray(np.fmod(first, second)))


def _number_of(value: Any) -> Any:
    given = array_of(value)
    if given.dtype.kind in "bO":
        raise TypeError(f"a number was expected, got {dtype_of(given).name}")
    return given


@of_flat_values
def real(input: Any, name: str | None = None) -> Any:
    """The real part."""
    return tensor(np.real(_number_of(input)))


@of_flat_values
def imag(input: Any, name: str | None = None) -> Any:
    """The imaginary part."""
    return tensor(np.imag(_number_of(input)))


@of_flat_values
def conj(x: Any, name: str | None = None) -> Any:
    """With the other sign of the imaginary part."""
    return tensor(np.conj(_number_of(x)))
