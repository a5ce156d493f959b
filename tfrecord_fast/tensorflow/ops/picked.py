"""Functions that pick values of tensors by place or condition, and those that put them in order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...errors import InvalidArgumentError
from ...values.columns.ragged import RaggedTensor as Plain
from .. import border
from ..composites import RaggedTensor
from ..types import as_dtype, dtype_of
from ..uniform import rows_at, without_lengths
from .arguments import array_of, arrays_of, axes_of, integer, is_list_of_integers, lengths_of, tensor, tensors
from .arrays import product_of

__all__ = [
    "argsort", "boolean_mask", "gather", "gather_nd", "reverse", "roll", "slice", "sort", "unique",
    "unique_with_counts", "where",
]  # fmt: skip

_slice = slice


def slice(input_: Any, begin: Any, size: Any, name: str | None = None) -> Any:
    """The part from `begin`, of `size`; -1: to the end."""
    given = array_of(input_)
    places: list[Any] = []
    for length, start, count in zip(given.shape, lengths_of(begin), lengths_of(size), strict=True):
        end = length if count == -1 else start + count
        if not 0 <= start <= end <= length:
            raise InvalidArgumentError(
                f"Expected size[{len(places)}] in [0, {length - start}], but got {count} [Op:Slice]"
            )
        places.append(_slice(start, end))
    return tensor(given[tuple(places)])


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Any:
    """The slices at these places along an axis."""
    if isinstance(indices, RaggedTensor):
        return _gather_ragged(params, indices, axis, batch_dims)
    if isinstance(params, RaggedTensor):
        return _gather_rows(params, array_of(indices), axis, batch_dims)
    given, places = array_of(params), array_of(indices)
    if places.dtype.kind not in "iu":
        raise InvalidArgumentError(f"indices are integers, got {dtype_of(places).name} [Op:GatherV2]")
    place, batches = _axis_and_batches(given, places, batch_dims if axis is None else integer(axis), batch_dims)
    if places.size and (places.min() < 0 or places.max() >= given.shape[place]):
        wrong = places.ravel()[np.argmax((places.ravel() < 0) | (places.ravel() >= given.shape[place]))]
        raise InvalidArgumentError(f"indices = {int(wrong)} is not in [0, {given.shape[place]}) [Op:GatherV2]")
    if not batches:
        return tensor(np.take(given, places, axis=place))
    flat = given.reshape(product_of(given.shape[:batches]), *given.shape[batches:])
    rows = places.reshape(len(flat), *places.shape[batches:])
    made = [np.take(one, at, axis=place - batches) for one, at in zip(flat, rows, strict=True)]
    lengths = (*given.shape[:place], *places.shape[batches:], *given.shape[place + 1 :])
    return tensor(np.stack(made).reshape(lengths) if made else np.zeros(lengths, given.dtype))


def _axis_and_batches(given: Any, places: Any, axis: int, batch_dims: int) -> tuple[int, int]:
    """Counted from 0. Along axis 0 there are no batches: TensorFlow does not look at their number then."""
    batches = 0 if axis == 0 else batch_dims + places.ndim if batch_dims < 0 else batch_dims
    if not -given.ndim <= axis < given.ndim:
        raise InvalidArgumentError(f"Expected axis in the range [{-given.ndim}, {given.ndim}), but got {axis}")
    place = axis % given.ndim
    if not 0 <= batches <= places.ndim or batches > place:
        raise InvalidArgumentError(f"batch_dims ({batch_dims}) must be at most axis ({axis}), and indices' rank")
    if given.shape[:batches] != places.shape[:batches]:
        raise InvalidArgumentError(f"batches of shape {given.shape[:batches]} and {places.shape[:batches]}")
    return place, batches


def _gather_rows(params: RaggedTensor, numbers: Any, axis: Any, batch_dims: int) -> Any:
    if batch_dims or axis not in (None, 0):
        raise InvalidArgumentError("rows of a RaggedTensor are gathered along axis 0")
    if numbers.dtype.kind not in "iu":
        raise InvalidArgumentError(f"indices are integers, got {dtype_of(numbers).name}")
    if numbers.size and (numbers.min() < 0 or numbers.max() >= len(params.plain)):
        raise InvalidArgumentError(f"indices are not in [0, {len(params.plain)}): {numbers!r:.100}")
    if numbers.ndim == 0:
        return params[int(numbers)]
    made: Any = without_lengths(rows_at(params.plain, numbers.ravel()))
    for depth in range(numbers.ndim - 1, 0, -1):
        splits = np.arange(product_of(numbers.shape[:depth]) + 1) * numbers.shape[depth]
        made = Plain.from_row_splits(made, splits.astype(params.plain.row_splits.dtype))
    return RaggedTensor(made)


def _gather_ragged(params: Any, indices: RaggedTensor, axis: Any, batch_dims: int) -> Any:
    """The slices at places that are ragged: they stay in their rows."""
    batches = batch_dims + len(indices.shape) if batch_dims < 0 else batch_dims
    flat = tensor(np.asarray(indices.plain.flat_values))
    if not batches and axis in (None, 0):
        return indices.with_flat_values(gather(params, flat))
    given = array_of(params)
    if (
        batches != 1
        or axis not in (None, 1, 1 - given.ndim)
        or len(indices.shape) != 2
        or len(given) != indices.nrows()
    ):
        raise InvalidArgumentError("ragged indices are gathered along axis 0, or along axis 1 with one of batches")
    places = np.stack([array_of(indices.value_rowids()), array_of(flat)], -1)
    return indices.with_flat_values(gather_nd(given, places))


def gather_nd(
    params: Any, indices: Any, batch_dims: int = 0, name: str | None = None, bad_indices_policy: str = ""
) -> Any:
    """The values, or slices, at these places, given along the last axis of `indices`."""
    given, places = array_of(params), array_of(indices)
    if batch_dims:
        made = [border.lowered(gather_nd(one, at, batch_dims - 1)) for one, at in zip(given, places, strict=True)]
        return tensor(np.stack(made))
    for axis, length in enumerate(given.shape[: places.shape[-1]]):
        if places.size and (places[..., axis].min() < 0 or places[..., axis].max() >= length):
            raise InvalidArgumentError(f"indices do not index into param shape {list(given.shape)} [Op:GatherNd]")
    if not places.shape[-1]:  # of no index, all for each
        return tensor(np.broadcast_to(given, (*places.shape[:-1], *given.shape)).copy())
    return tensor(given[tuple(np.moveaxis(places, -1, 0))])


def boolean_mask(tensor: Any, mask: Any, axis: Any = None, name: str = "boolean_mask") -> Any:
    """The slices where the mask is true."""
    given, chosen = array_of(tensor), array_of(mask).astype(bool)
    place = 0 if axis is None else integer(axis)
    if chosen.ndim == 0:
        raise ValueError("mask cannot be scalar.")
    if chosen.shape != given.shape[place : place + chosen.ndim]:
        raise ValueError(f"Shapes {given.shape[place : place + chosen.ndim]} and {chosen.shape} are incompatible")
    return border.raised(given[(_slice(None),) * place + (chosen,)])


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """The places of what is true; or x there and y elsewhere."""
    chosen = array_of(condition)
    if x is None and y is None:
        return tensor(np.argwhere(chosen if chosen.dtype.kind != "O" else chosen != b""))
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    first, second = arrays_of(x, y)
    try:
        return tensor(np.where(chosen.astype(bool), first, second).astype(first.dtype))
    except ValueError as error:
        raise InvalidArgumentError(f"{error} [Op:SelectV2]") from None


def reverse(tensor: Any, axis: Any, name: str | None = None) -> Any:
    """The other way round along these axes."""
    if not is_list_of_integers(axis):
        raise InvalidArgumentError(f"axis is a list of integers, got {axis!r:.100} [Op:ReverseV2]")
    if isinstance(tensor, RaggedTensor):
        return _reversed_rows(tensor, axes_of(axis))
    given = array_of(tensor)
    return border.raised(np.flip(given, axes_of(axis)) if given.ndim else given)


def _reversed_rows(rows: Any, axes: Any) -> Any:
    rank = len(rows.shape)
    for axis in axes:
        if not -rank <= axis < rank:
            raise InvalidArgumentError(f"axis={axis} out of bounds: expected {-rank}<=axis<{rank}")
        rows = rows[(_slice(None),) * (axis % rank) + (_slice(None, None, -1),)]
    return rows


def roll(input: Any, shift: Any, axis: Any, name: str | None = None) -> Any:
    """Shifted along an axis; what leaves one end comes in at the other."""
    return tensor(np.roll(array_of(input), axes_of(shift), axes_of(axis)))


def sort(values: Any, axis: int = -1, direction: str = "ASCENDING", name: str | None = None) -> Any:
    """Sorted along an axis."""
    made = np.sort(array_of(values), axis=axis)
    return tensor(np.flip(made, axis) if _is_descending(direction) else made)


def argsort(
    values: Any, axis: int = -1, direction: str = "ASCENDING", stable: bool = False, name: str | None = None
) -> Any:
    """The places of the values in sorted order, int32."""
    given = array_of(values)
    if _is_descending(direction):
        flipped = np.argsort(np.flip(given, axis), axis=axis, kind="stable")
        return tensor(np.flip(given.shape[axis] - 1 - flipped, axis).astype(np.int32))
    return tensor(np.argsort(given, axis=axis, kind="stable").astype(np.int32))


def _is_descending(direction: str) -> bool:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f'Argument `direction` should be one of "ASCENDING" or "DESCENDING". Received: {direction}')
    return direction == "DESCENDING"


def unique(x: Any, out_idx: Any = "int32", name: str | None = None) -> Any:
    """The different values in the order of their first appearance, and for each value the place of its like."""
    made, places, _count = unique_with_counts(x, out_idx)
    return Unique(made, places)


def unique_with_counts(x: Any, out_idx: Any = "int32", name: str | None = None) -> Any:
    """As `unique`, and how often each appears."""
    given = array_of(x)
    kind = as_dtype(out_idx).as_numpy_dtype
    numbers: dict[Any, int] = {}
    places = np.array([numbers.setdefault(value, len(numbers)) for value in given.tolist()], dtype=kind)
    firsts = np.unique(places, return_index=True)[1] if len(places) else np.zeros(0, np.int64)
    counts = np.bincount(places, minlength=len(numbers)).astype(kind)
    return UniqueWithCounts(*tensors((given[firsts], places, counts)))


class Unique(NamedTuple):
    """What `unique` gives."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """What `unique_with_counts` gives."""

    y: Any
    idx: Any
    count: Any
