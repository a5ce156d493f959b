"""What stands in the brackets after a RaggedTensor: `rows[1]`, `rows[:, :2]`, `rows[..., tf.newaxis]`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..values.ragged import RaggedTensor
from .indexes import index_of
from .tensors import plain_array

__all__ = ["item_of", "rows_at"]


def item_of(rows: RaggedTensor, key: Any) -> Any:
    """A row, or a RaggedTensor of some rows and of parts of them.

    Raises:
      ValueError: a number for a dimension whose lengths differ: some rows may have no such place.
    """
    keys = list(index_of(key, plain_array))
    if Ellipsis in keys:
        place = keys.index(Ellipsis)
        others = sum(part is not None for part in keys) - 1
        keys[place : place + 1] = [slice(None)] * (len(rows.shape) - others)
    return _item(rows, keys)


def _item(rows: Any, keys: list[Any]) -> Any:
    if not keys or not isinstance(rows, RaggedTensor):
        return rows[tuple(keys)] if keys else rows
    key, *others = keys
    if key is None:
        inner = _item(rows, others)
        splits = np.array([0, len(inner)], rows.row_splits.dtype)
        return RaggedTensor(inner, splits) if isinstance(inner, RaggedTensor) else inner[None]
    if isinstance(key, slice):
        is_block = key.step in (None, 1)
        return _parts(rows[key] if is_block else rows_at(rows, np.arange(len(rows))[key]), others)
    try:
        return _item(rows[key], others)
    except IndexError as error:
        raise InvalidArgumentError(f"slice index out of bounds: {error}") from None


def _parts(rows: Any, keys: list[Any]) -> Any:
    """What the keys after that of the rows leave of each row."""
    if not keys:
        return rows
    if not isinstance(rows, RaggedTensor):
        places = (slice(None), *keys)
        return rows[places]
    key, *others = keys
    splits = rows.row_splits
    if key is None:
        return RaggedTensor(_parts(rows, others), np.arange(len(splits), dtype=splits.dtype))
    if not isinstance(key, slice):
        raise ValueError("Cannot index into an inner ragged dimension.")
    values = rows.values
    if key != slice(None):
        kept = [np.arange(begin, end)[key] for begin, end in pairwise(splits)]
        splits = np.cumsum([0, *map(len, kept)]).astype(splits.dtype)
        values = _at(values, np.concatenate([np.zeros(0, np.int64), *kept]).astype(np.int64))
    return RaggedTensor(_parts(values, others), splits)


def rows_at(rows: RaggedTensor, numbers: Any) -> RaggedTensor:
    """The rows with these numbers."""
    starts, lengths = rows.row_splits[:-1][numbers], np.diff(rows.row_splits)[numbers]
    places = np.concatenate([np.zeros(0, np.int64), *map(np.arange, starts, starts + lengths)]).astype(np.int64)
    return RaggedTensor.from_row_lengths(_at(rows.values, places), lengths)


def _at(values: Any, places: Any) -> Any:
    return rows_at(values, places) if isinstance(values, RaggedTensor) else np.asarray(values)[places]
