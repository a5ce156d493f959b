"""Functions that make tensors of a shape, a range or a few numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from .. import border
from ..arithmetic import converted
from ..composites import RaggedTensor
from ..types import as_dtype, dtype_of
from .arguments import array_of, arrays_of, integer, lengths_of, tensor, tensors

__all__ = [
    "eye", "fill", "linspace", "meshgrid", "one_hot", "ones", "ones_like", "range", "sequence_mask", "zeros",
    "zeros_like",
]  # fmt: skip


def zeros(shape: Any, dtype: Any = "float32", name: str | None = None, layout: Any = None) -> Any:
    """Zeros; of strings, empty ones."""
    return _filled(lengths_of(shape), 0, as_dtype(dtype))


def ones(shape: Any, dtype: Any = "float32", name: str | None = None, layout: Any = None) -> Any:
    """Ones."""
    return _filled(lengths_of(shape), 1, as_dtype(dtype))


def zeros_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Zeros of the shape, and by default the dtype, of another tensor."""
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(zeros_like(input.flat_values, dtype))
    given = array_of(input)
    return _filled(given.shape, 0, dtype_of(given) if dtype is None else as_dtype(dtype))


def ones_like(input: Any, dtype: Any = None, name: str | None = None, layout: Any = None) -> Any:
    """Ones of the shape, and by default the dtype, of another tensor."""
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(ones_like(input.flat_values, dtype))
    given = array_of(input)
    return _filled(given.shape, 1, dtype_of(given) if dtype is None else as_dtype(dtype))


def _filled(lengths: Any, number: int, dtype: Any) -> Any:
    if dtype == "string":
        if number:
            raise TypeError("there are no ones among strings")
        return tensor(np.full(lengths, b"", dtype=object))
    return tensor(np.full(lengths, number, dtype=dtype.as_numpy_dtype))


def fill(dims: Any, value: Any, name: str | None = None, layout: Any = None) -> Any:
    """One value everywhere."""
    filling = array_of(value)
    if filling.shape not in ((), (1,)):
        raise InvalidArgumentError(f"value must be a scalar, got shape {list(filling.shape)} [Op:Fill]")
    try:
        return tensor(np.broadcast_to(filling, lengths_of(dims)).copy())
    except ValueError as error:
        raise InvalidArgumentError(f"fill: {error} [Op:Fill]") from None


def eye(
    num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = "float32", name: str | None = None
) -> Any:
    """Ones on the diagonal, zeros elsewhere."""
    rows = integer(num_rows)
    square = np.eye(rows, rows if num_columns is None else integer(num_columns), dtype=as_dtype(dtype).as_numpy_dtype)
    return tensor(
        square if batch_shape is None else np.broadcast_to(square, (*lengths_of(batch_shape), *square.shape)).copy()
    )


def range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None, name: str = "range") -> Any:
    """The numbers from start to before limit, delta apart; of the widest dtype of the three."""
    if limit is None:
        start, limit = 0, start
    if dtype is None:
        kinds = [dtype_of(array_of(value)).name for value in (start, limit, delta)]
        order = ["int32", "int64", "float32", "float64"]
        known = [kind for kind in kinds if kind in order]
        kind: Any = max(known, key=order.index) if len(known) == 3 else kinds[0]
    else:
        kind = as_dtype(dtype).name
    first, last, step = (np.asarray(array_of(value)).astype(kind)[()] for value in (start, limit, delta))
    if step == 0:
        raise InvalidArgumentError("Requires delta != 0: 0 [Op:Range]")
    if (step > 0 and first > last) or (step < 0 and first < last):
        raise InvalidArgumentError(
            f"Requires start {'<=' if step > 0 else '>='} limit when delta {'>' if step > 0 else '<'} 0: "
            f"{first}/{last} [Op:Range]"
        )
    if np.dtype(kind).kind in "iu":
        return tensor(np.arange(int(first), int(last), int(step)).astype(kind))
    count = int(np.ceil(np.abs((last - first) / step)))
    return tensor((first + np.arange(count, dtype=kind) * step).astype(kind))


def linspace(start: Any, stop: Any, num: Any, name: str | None = None, axis: int = 0) -> Any:
    """`num` numbers from start to stop, both included."""
    first, last = arrays_of(start, stop)
    if first.dtype.kind in "iu":
        first, last = first.astype(np.float64), last.astype(np.float64)
    return tensor(np.linspace(first, last, integer(num), axis=axis, dtype=first.dtype))


def meshgrid(*args: Any, indexing: str = "xy", name: str | None = None) -> list[Any]:
    """A grid's coordinates, one tensor per axis."""
    given = [array_of(one) for one in args]
    if len({one.dtype for one in given}) > 1:
        raise InvalidArgumentError(f"a grid of several dtypes: {[dtype_of(one).name for one in given]}")
    return tensors(np.meshgrid(*given, indexing=indexing))  # type: ignore[call-overload]


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: str | None = None,
) -> Any:
    """For each index a row of `depth` values, `on_value` at that place and `off_value` elsewhere."""
    count, place = array_of(depth, "int32"), -1 if axis is None else integer(axis)
    if count.ndim or count < 0:
        raise InvalidArgumentError(f"depth is a scalar, and not negative, got {depth!r:.100} [Op:OneHot]")
    if isinstance(indices, RaggedTensor):
        return _one_hot_rows(indices, count, on_value, off_value, place, dtype)
    places = array_of(indices)
    if dtype_of(places).name not in ("uint8", "int8", "int32", "int64"):
        raise InvalidArgumentError(
            f"Value for attr 'TI' of {dtype_of(places).name} is not in the list of allowed values [Op:OneHot]"
        )
    if not -1 <= place <= places.ndim:
        raise InvalidArgumentError(f"Expected axis to be -1 or between [0, {places.ndim + 1}), but got {place}")
    given = [value for value in (on_value, off_value) if value is not None]
    kind = as_dtype(dtype) if dtype is not None else (dtype_of(array_of(given[0])) if given else as_dtype("float32"))
    on = converted(1 if on_value is None else border.lowered(on_value), kind)
    off = converted(0 if off_value is None else border.lowered(off_value), kind)
    if on.ndim or off.ndim:
        raise InvalidArgumentError("on_value and off_value must be scalars [Op:OneHot]")
    rows = np.where(places[..., None] == np.arange(int(count)), on, off).astype(kind.as_numpy_dtype)
    return tensor(np.moveaxis(rows, -1, place))


def _one_hot_rows(rows: RaggedTensor, depth: Any, on: Any, off: Any, axis: int, dtype: Any) -> Any:
    if 0 <= axis <= rows.ragged_rank:
        raise ValueError(f"axis ({axis}) must be greater than indices.ragged_rank ({rows.ragged_rank}).")
    within = axis if axis < 0 else axis - rows.ragged_rank
    return rows.with_flat_values(one_hot(rows.flat_values, depth, on, off, within, dtype))


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = "bool", name: str | None = None) -> Any:
    """For each length, so many trues, then falses up to `maxlen`."""
    counts = array_of(lengths)
    longest = (int(counts.max()) if counts.size else 0) if maxlen is None else integer(maxlen)
    return tensor((np.arange(longest) < counts[..., None]).astype(as_dtype(dtype).as_numpy_dtype))
