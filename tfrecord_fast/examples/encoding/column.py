"""A column to encode: flat values, the splits that cut them into rows, and flags of null rows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from ...errors import InvalidArgumentError

Splits = npt.NDArray[np.int64]
Flags = npt.NDArray[np.uint8]
Values = npt.NDArray[Any] | _core.RecordBatch

_WHOLE = 2.0**53  # beyond, every float64 is whole
_LARGEST = float(np.finfo(np.float32).max)


class Column(NamedTuple):
    """Values cut into rows: row i is `values[splits[i]:splits[i + 1]]`, or has `per_row` values if `splits` is None.

    `type` is the name of an element type ("int64", …, "string"). `values` is a flat, contiguous ndarray or a
    RecordBatch of strings. `valid` is 0 for null rows; None if there are none.
    """

    type: str
    values: Values
    rows: int
    per_row: int = 1
    splits: Splits | None = None
    valid: Flags | None = None

    @property
    def kind(self) -> str:
        """The kind of list that the values become: "bytes", "float" or "int64"."""
        if self.type == "string":
            return "bytes"
        return "float" if "float" in self.type else "int64"

    @property
    def has_values(self) -> bool:
        return len(self.values) > 0 and (self.valid is None or bool(self.valid.any()))


class FeatureList(NamedTuple):
    """Steps cut into rows: row i has the steps from `steps[i]` to `steps[i + 1]`; each step is a row of `items`."""

    items: Column
    steps: Splits
    row_valid: Flags | None = None

    @property
    def rows(self) -> int:
        return len(self.steps) - 1


def nulls(rows: int) -> Column:
    return Column("int64", np.zeros(rows, np.int64), rows, valid=np.zeros(rows, np.uint8))


def nest(splits: Splits, child: Column) -> Column:
    """Make rows that are runs of the child's rows."""
    check_splits(splits, child, "values")
    _refuse_nulls(child, int(splits[0]), int(splits[-1]))
    _refuse_uneven(child)
    inner = splits * child.per_row if child.splits is None else child.splits[splits]
    return Column(child.type, child.values, len(splits) - 1, splits=np.ascontiguousarray(inner, np.int64))


def nest_all(splits: npt.ArrayLike, child: Column) -> Column:
    """Make rows that are runs of the child's rows, and leave none of them out."""
    return nest(all_splits(splits, child, "values"), child)


def check_splits(splits: Splits, child: Column, what: str) -> None:
    """Raise errors.InvalidArgumentError unless row splits ascend within the child's rows, which are `what`."""
    if len(splits) == 0 or splits[0] < 0 or splits[-1] > child.rows or np.any(splits[1:] < splits[:-1]):
        raise InvalidArgumentError(f"row splits must ascend from 0 to at most {child.rows}, the number of {what}")


def all_splits(row_splits: npt.ArrayLike, child: Column, what: str) -> Splits:
    """Return row splits as an array; they must leave none of the child's rows, which are `what`, out."""
    splits = as_integers(row_splits, "row splits")
    rule = f"row splits must ascend from 0 to {child.rows}, the number of {what}"
    if splits.ndim != 1 or len(splits) == 0 or splits[0] != 0 or splits[-1] != child.rows:
        ends = f"got {splits[0]} to {splits[-1]}" if splits.ndim == 1 and len(splits) else "got none"
        raise InvalidArgumentError(f"{rule}, {ends}")
    if np.any(splits[1:] < splits[:-1]):
        raise InvalidArgumentError(rule)
    return np.ascontiguousarray(splits)


def as_integers(values: npt.ArrayLike, what: str) -> Splits:
    """Return positions as int64, without rounding; an array of int64 is not copied."""
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iub":
        raise InvalidArgumentError(f"{what}: expected integers, got {array.dtype}")
    return array.astype(np.int64, copy=False)


def nest_fixed(rows: int, size: int, child: Column) -> Column:
    _refuse_nulls(child, 0, rows * size)
    if child.splits is None:
        return Column(child.type, child.values, rows, size * child.per_row)
    _refuse_uneven(child)
    return Column(child.type, child.values, rows, splits=child.splits[np.arange(rows + 1) * size])


def _refuse_nulls(child: Column, first: int, last: int) -> None:
    if child.valid is not None and not child.valid[first:last].all():
        raise InvalidArgumentError("a null inside a list; only a whole row can be null")


def _refuse_uneven(child: Column) -> None:
    """Raise errors.InvalidArgumentError for lists of different lengths inside rows: an Example would join them."""
    if child.splits is None or child.rows < 2:
        return
    lengths = np.diff(child.splits)
    if (lengths != lengths[0]).any():
        raise InvalidArgumentError(
            "the lists inside of rows have different lengths, and an Example can't tell where they end: use "
            "encode_sequence_examples, or arrays of one shape, which FixedLenFeature(shape, …) reads"
        )


def check_rounding(column: Column, within: bool = True) -> None:
    """Raise errors.InvalidArgumentError if float32, the type of a float list, loses what distinguishes the values.

    No value may change by half or more, unless it is beyond 2**53; nor, `within` a column, by more than a hundredth of
    its spread.
    """
    if column.type != "float64" or not isinstance(column.values, np.ndarray):
        return
    values = column.values if column.splits is None else column.values[column.splits[0] : column.splits[-1]]
    if column.valid is not None:  # a null row of Arrow may have any value
        values = values[
            np.repeat(column.valid != 0, column.per_row if column.splits is None else np.diff(column.splits))
        ]
    values = values[np.abs(values) < _LARGEST]  # without NaN
    change = np.abs(values - values.astype(np.float32))
    if not change.any():
        return
    wrong = (change >= 0.5) & (np.abs(values) < _WHOLE)
    spread = values.max() - values.min()
    if spread and within:
        wrong |= change > spread / 100
    suspects = values[wrong]
    # The shortest text of a float32, such as 0.1, names it: then the column comes from float32.
    suspects = suspects[suspects.astype(np.float32).astype("U").astype(np.float64) != suspects]
    if len(suspects):
        value = float(suspects[0])
        raise InvalidArgumentError(
            f"{value!r} becomes {float(np.float32(value))!r} in a float list, which holds float32: write integers, "
            "numbers relative to a start, or the bytes of the array; allow_rounding=True rounds"
        )


def both(a: Flags | None, b: Flags | None) -> Flags | None:
    return b if a is None else a if b is None else a & b


def common_length(lengths: list[tuple[str, int]]) -> int | None:
    for key, rows in lengths[1:]:
        if rows != lengths[0][1]:
            raise InvalidArgumentError(
                f"columns of unequal length: '{lengths[0][0]}' has {lengths[0][1]} rows, '{key}' has {rows}"
            )
    return lengths[0][1] if lengths else None


@contextlib.contextmanager
def naming(key: object, what: str = "feature") -> Iterator[None]:
    """Prefix errors with the feature that they are about."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        cls = TypeError if isinstance(error, TypeError) else InvalidArgumentError
        raise cls(f"{what} {as_key(key)!r}: {error}") from None
    except RecursionError:
        raise TypeError(f"{what} {as_key(key)!r}: a value is nested too deeply, or contains itself") from None


def refuse_twice(keys: list[object], what: str = "feature") -> None:
    """Raise errors.InvalidArgumentError for a repeated key, as str or as bytes."""
    names = list(map(as_key, keys))
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise InvalidArgumentError(f"{what} {repeated!r} is given twice")


def as_key(key: object) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, bytes):
        try:
            return key.decode()
        except UnicodeDecodeError:
            raise InvalidArgumentError(f"keys must be UTF-8, got {key!r}") from None
    raise TypeError(f"keys must be strings, got {type(key).__name__}: {key!r}")
