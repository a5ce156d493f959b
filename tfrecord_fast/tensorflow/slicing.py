"""What stands in the brackets after a RaggedTensor."""

from __future__ import annotations

import operator
from itertools import pairwise
from typing import Any

import numpy as np

from ..values.columns.ragged import RaggedTensor
from . import border
from .tensors import tensor_of
from .uniform import UniformRows, rows_at, uniform_rows, with_rows_of

__all__ = ["item_of"]

_ALL = slice(None)


def item_of(plain: RaggedTensor, key: Any) -> Any:
    """The rows, or parts of all rows, at these places; a list of them is a tuple, as for tensors.

    Raises:
      IndexError: a row that is not there; too many places.
      TypeError: another kind of place.
      ValueError: a place within rows of different lengths, where only a slice has a meaning.
    """
    keys = list(key) if isinstance(key, list | tuple) else [key]
    return _item(plain, [_checked(one) for one in keys])


def _checked(key: Any) -> Any:
    if key is None or key is Ellipsis:
        return key
    if isinstance(key, slice):
        bounds = (key.start, key.stop, key.step)
        return slice(*(None if bound is None else _number(bound) for bound in bounds))
    return _number(key)


def _number(value: Any) -> int:
    given = border.lowered(value)
    if np.ndim(given) or isinstance(given, bool | np.bool_) or not hasattr(given, "__index__"):
        raise TypeError(f"indices are integers, slices, ellipsis and tf.newaxis, got {value!r:.100}")
    return operator.index(given)


def _item(value: Any, keys: list[Any]) -> Any:
    if not isinstance(value, RaggedTensor):
        return border.lowered(tensor_of(np.asarray(value))[tuple(keys)])
    if not keys:
        return value
    key, *others = keys
    if key is Ellipsis:
        return _item(value, _spelt_out(keys, len(value.shape)))
    if key is None:
        inner = _ragged(_item(value, others))
        return uniform_rows(inner, len(inner), 1, inner.row_splits.dtype)
    if isinstance(key, slice):
        return _inner(_rows(value, key), others)
    if not -len(value) <= key < len(value):
        raise IndexError(f"row {key} of a RaggedTensor of {len(value)} rows")
    return _item(value[key], others)


def _rows(value: RaggedTensor, key: slice) -> RaggedTensor:
    if key == _ALL:
        return value
    places = np.arange(len(value))[key]
    return value[key] if key.step in (None, 1) else rows_at(value, places)  # type: ignore[no-any-return]


def _inner(value: Any, keys: list[Any]) -> Any:
    """The places within each row."""
    if not keys:
        return value
    if not isinstance(value, RaggedTensor):
        return _item(value, [_ALL, *keys])
    key, *others = keys
    if key is Ellipsis:
        return _inner(value, _spelt_out(keys, len(value.values.shape)))
    if key is None:
        inner = _ragged(_inner(value, others))
        return uniform_rows(inner, 1, len(inner), inner.row_splits.dtype)
    if isinstance(key, slice):
        rows = value if key == _ALL else _cut(value, key)
        return with_rows_of(rows, _inner(rows.values, others))
    if not isinstance(value, UniformRows):
        raise ValueError("Cannot index into an inner ragged dimension.")
    if not -value.length <= key < value.length:
        raise IndexError(f"Index out of bounds when indexing into a ragged tensor: {key} of {value.length}")
    return _inner(rows_at(value.values, value.row_splits[:-1] + key % value.length), others)


def _cut(value: RaggedTensor, key: slice) -> RaggedTensor:
    """A slice of each row."""
    splits = value.row_splits
    places = [start + np.arange(*key.indices(int(end - start))) for start, end in pairwise(splits)]
    lengths = np.array([len(one) for one in places], dtype=splits.dtype)
    values = rows_at(value.values, np.concatenate([np.zeros(0, np.int64), *places]).astype(np.int64))
    if isinstance(value, UniformRows):
        return uniform_rows(values, len(range(value.length)[key]), len(value), splits.dtype)
    return RaggedTensor.from_row_lengths(values, lengths, validate=False)


def _ragged(value: Any) -> RaggedTensor:
    if not isinstance(value, RaggedTensor):
        raise ValueError("tf.newaxis stands before or within what is ragged")
    return value


def _spelt_out(keys: list[Any], dimensions: int) -> list[Any]:
    """An ellipsis at the beginning as a slice more, or as none."""
    places = sum(key is not None for key in keys)
    if places > dimensions + 1:
        raise IndexError("Too many indices for RaggedTensor")
    return keys[1:] if places == dimensions + 1 else [_ALL, *keys]
