"""Items and slices of RaggedTensors: `ragged[key]`."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from ...values.columns.ragged import RaggedTensor
from .ragged_rows import UniformRows, rows_at, uniform_rows, with_same_rows
from .tensor import as_tensor, checked_index
from .wrapping import unwrap

_ALL = slice(None)


def ragged_item(plain: RaggedTensor, key: Any) -> Any:
    """Return the item or slice for a key; a list of keys means a tuple, as for tensors."""
    keys = list(key) if isinstance(key, list | tuple) else [key]
    return _item(plain, [checked_index(entry) for entry in keys])


def _item(value: Any, keys: list[Any]) -> Any:
    if not isinstance(value, RaggedTensor):
        return unwrap(as_tensor(np.asarray(value))[tuple(keys)])
    if not keys:
        return value
    key, *others = keys
    if key is Ellipsis:
        return _item(value, _expand_ellipsis(keys, len(value.shape)))
    if key is None:
        inner = _as_ragged(_item(value, others))
        return uniform_rows(inner, len(inner), 1, inner.row_splits.dtype)
    if isinstance(key, slice):
        return _items_within_rows(_slice_rows(value, key), others)
    if not -len(value) <= key < len(value):
        raise IndexError(f"row {key} is out of range for a RaggedTensor of {len(value)} rows")
    return _item(value[key], others)


def _slice_rows(value: RaggedTensor, key: slice) -> RaggedTensor:
    if key == _ALL:
        return value
    numbers = np.arange(len(value))[key]
    return value[key] if key.step in (None, 1) else rows_at(value, numbers)  # type: ignore[no-any-return]


def _items_within_rows(value: Any, keys: list[Any]) -> Any:
    if not keys:
        return value
    if not isinstance(value, RaggedTensor):
        return _item(value, [_ALL, *keys])
    key, *others = keys
    if key is Ellipsis:
        return _items_within_rows(value, _expand_ellipsis(keys, len(value.values.shape)))
    if key is None:
        inner = _as_ragged(_items_within_rows(value, others))
        return uniform_rows(inner, 1, len(inner), inner.row_splits.dtype)
    if isinstance(key, slice):
        rows = value if key == _ALL else _slice_within_rows(value, key)
        return with_same_rows(rows, _items_within_rows(rows.values, others))
    if not isinstance(value, UniformRows):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if not -value.length <= key < value.length:
        raise IndexError(f"Index out of bounds when indexing into a ragged tensor: {key} of {value.length}")
    return _items_within_rows(rows_at(value.values, value.row_splits[:-1] + key % value.length), others)


def _slice_within_rows(value: RaggedTensor, key: slice) -> RaggedTensor:
    splits = value.row_splits
    indices = [start + np.arange(*key.indices(int(end - start))) for start, end in pairwise(splits)]
    lengths = np.array([len(row) for row in indices], dtype=splits.dtype)
    values = rows_at(value.values, np.concatenate([np.zeros(0, np.int64), *indices]).astype(np.int64))
    if isinstance(value, UniformRows):
        return uniform_rows(values, len(range(value.length)[key]), len(value), splits.dtype)
    return RaggedTensor.from_row_lengths(values, lengths, validate=False)


def _as_ragged(value: Any) -> RaggedTensor:
    if not isinstance(value, RaggedTensor):
        raise ValueError("tf.newaxis must stand before or within a ragged dimension")
    return value


def _expand_ellipsis(keys: list[Any], dimensions: int) -> list[Any]:
    """Replace a leading ellipsis by a slice before it, or drop it if the other keys cover all dimensions."""
    count = sum(key is not None for key in keys)
    if count > dimensions + 1:
        raise IndexError("Too many indices for RaggedTensor")
    return keys[1:] if count == dimensions + 1 else [_ALL, *keys]
