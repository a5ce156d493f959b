"""Functions that pick values of tensors by place or condition, and those that put them in order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...errors import InvalidArgumentError
from .. import border
from ..composites import RaggedTensor
from ..row_items import rows_at
from ..types import as_dtype
from .arguments import array_of, arrays_of, axes_of, integer, lengths_of, tensor, tensors

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
    if isinstance(params, RaggedTensor):
        numbers = array_of(indices)
        if numbers.ndim > 1 or batch_dims or axis not in (None, 0):
            raise InvalidArgumentError("rows of a RaggedTensor are gathered by a list of numbers, along axis 0")
        if numbers.size and (numbers.min() < 0 or numbers.max() >= len(params.plain)):
            raise InvalidArgumentError(f"indices are not in [0, {len(params.plain)}): {numbers!r:.100}")
        return params[int(numbers)] if numbers.ndim == 0 else RaggedTensor(rows_at(params.plain, numbers))
    given, places = array_of(params), array_of(indices)
    batches = batch_dims + places.ndim if batch_dims < 0 else batch_dims
    place = batches if axis is None else integer(axis)
    place = place + given.ndim if place < 0 else place
    if places.size and (places.min() < 0 or places.max() >= given.shape[place]):
        wrong = places.ravel()[np.argmax((places.ravel() < 0) | (places.ravel() >= given.shape[place]))]
        raise InvalidArgumentError(f"indices = {int(wrong)} is not in [0, {given.shape[place]}) [Op:GatherV2]")
    if not batches:
        return tensor(np.take(given, places, axis=place))
    flat = given.reshape(-1, *given.shape[batches:])
    rows = places.reshape(-1, *places.shape[batches:])
    made = [np.take(one, at, axis=place - batches) for one, at in zip(flat, rows, strict=True)]
    return tensor(np.stack(made).reshape(*given.shape[:batches], *made[0].shape))


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
    given = array_of(tensor)
    return border.raised(np.flip(given, axes_of(axis)) if given.ndim else given)


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
