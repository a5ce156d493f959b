"""A column on its way into Examples: flat values, how they are cut into rows, which rows are null."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...errors import InvalidArgumentError

__all__ = [
    "Column",
    "FeatureList",
    "Flags",
    "Splits",
    "Values",
    "all_splits",
    "as_integers",
    "as_key",
    "both",
    "common_length",
    "naming",
    "nest",
    "nest_all",
    "nest_fixed",
    "nulls",
    "refuse_twice",
]

Splits = npt.NDArray[np.int64]
Flags = npt.NDArray[np.uint8]
Values = npt.NDArray[Any] | _core.BytesViews


class Column(NamedTuple):
    """Row i has the values from `splits[i]` to `splits[i + 1]`, or `per_row` of them where `splits` is None.

    `type` is the name of an element type ("int64", …, "string"); `values` a flat, contiguous ndarray or a BytesViews;
    `valid` 0 for the rows that are null, or None.
    """

    type: str
    values: Values
    rows: int
    per_row: int = 1
    splits: Splits | None = None
    valid: Flags | None = None


class FeatureList(NamedTuple):
    """Row i has the steps from `steps[i]` to `steps[i + 1]`, each of them a row of `items`."""

    items: Column
    steps: Splits
    row_valid: Flags | None = None

    @property
    def rows(self) -> int:
        return len(self.steps) - 1


def nulls(rows: int) -> Column:
    return Column("int64", np.zeros(rows, np.int64), rows, valid=np.zeros(rows, np.uint8))


def nest(splits: Splits, child: Column) -> Column:
    """Rows that are runs of the child's rows."""
    if len(splits) == 0 or splits[0] < 0 or splits[-1] > child.rows or np.any(splits[1:] < splits[:-1]):
        raise InvalidArgumentError(f"row splits must ascend from 0 to at most {child.rows}, the number of values")
    _refuse_nulls(child, int(splits[0]), int(splits[-1]))
    inner = splits * child.per_row if child.splits is None else child.splits[splits]
    return Column(child.type, child.values, len(splits) - 1, splits=np.ascontiguousarray(inner, np.int64))


def nest_all(splits: npt.ArrayLike, child: Column) -> Column:
    """Rows that are runs of the child's rows, and leave none of them out."""
    return nest(all_splits(splits, child, "values"), child)


def all_splits(given: npt.ArrayLike, child: Column, what: str) -> Splits:
    """Row splits that leave none of the child's rows out."""
    splits = as_integers(given, "row splits")
    if splits.ndim != 1 or len(splits) == 0 or splits[0] != 0 or splits[-1] != child.rows:
        ends = f"got {splits[0]} to {splits[-1]}" if splits.ndim == 1 and len(splits) else "got none"
        raise InvalidArgumentError(f"row splits must ascend from 0 to {child.rows}, the number of {what}, {ends}")
    if np.any(splits[1:] < splits[:-1]):
        raise InvalidArgumentError(f"row splits must ascend from 0 to {child.rows}, the number of {what}")
    return np.ascontiguousarray(splits)


def as_integers(given: npt.ArrayLike, what: str) -> Splits:
    """Where values are, as int64; an array of int64 as it is. Nothing is rounded."""
    array = np.asarray(given)
    if array.size and array.dtype.kind not in "iub":
        raise InvalidArgumentError(f"{what}: expected integers, got {array.dtype}")
    return array.astype(np.int64, copy=False)


def nest_fixed(rows: int, size: int, child: Column) -> Column:
    """Rows of `size` of the child's rows each."""
    _refuse_nulls(child, 0, rows * size)
    if child.splits is None:
        return Column(child.type, child.values, rows, size * child.per_row)
    return Column(child.type, child.values, rows, splits=child.splits[np.arange(rows + 1) * size])


def _refuse_nulls(child: Column, first: int, last: int) -> None:
    if child.valid is not None and not child.valid[first:last].all():
        raise InvalidArgumentError("a null inside a list: only a whole row can be left out")


def both(one: Flags | None, other: Flags | None) -> Flags | None:
    return other if one is None else one if other is None else one & other


def common_length(lengths: list[tuple[str, int]]) -> int | None:
    """The length that all columns have; None if there are no columns."""
    for key, rows in lengths[1:]:
        if rows != lengths[0][1]:
            raise InvalidArgumentError(
                f"columns of unequal length: '{lengths[0][0]}' has {lengths[0][1]} rows, '{key}' has {rows}"
            )
    return lengths[0][1] if lengths else None


@contextlib.contextmanager
def naming(key: object, what: str = "feature") -> Iterator[None]:
    """Has errors begin with what they are about."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else InvalidArgumentError
        raise kind(f"{what} {as_key(key)!r}: {error}") from None
    except RecursionError:
        raise TypeError(f"{what} {as_key(key)!r}: a value is nested too deeply, or in itself") from None


def refuse_twice(keys: list[object], what: str = "feature") -> None:
    """Raises errors.InvalidArgumentError for a key that is there more than once, be it as str or as bytes."""
    names = list(map(as_key, keys))
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidArgumentError(f"{what} {twice!r} is given twice")


def as_key(key: object) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, bytes):
        try:
            return key.decode()
        except UnicodeDecodeError:
            raise InvalidArgumentError(f"keys are UTF-8, got {key!r}") from None
    raise TypeError(f"keys are strings, got {type(key).__name__}: {key!r}")
