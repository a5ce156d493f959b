"""RaggedTensors, and tensors among them, joined along an axis or stacked; functions of their values."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...values.columns.ragged import RaggedTensor as Plain
from ...values.elements.composites import stack_ragged
from ..composites import RaggedTensor
from ..types import dtype_of
from ..uniform import with_splits_of
from .arguments import array_of, tensor

__all__ = ["concat_rows", "of_flat_values", "stack_rows"]


def of_flat_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function; of a RaggedTensor as its first argument, it is of all values, which stay in their rows."""
    first = next(iter(inspect.signature(function).parameters))

    @functools.wraps(function)
    def of_values(*args: Any, **kwargs: Any) -> Any:
        given = args[0] if args else kwargs.get(first)
        if not isinstance(given, RaggedTensor):
            return function(*args, **kwargs)
        flat = tensor(np.asarray(given.plain.flat_values))
        if args:
            return given.with_flat_values(function(flat, *args[1:], **kwargs))
        return given.with_flat_values(function(**{**kwargs, first: flat}))

    return of_values


def concat_rows(values: list[Any], axis: int) -> RaggedTensor:
    """One after the other along an axis.

    Raises:
      errors.InvalidArgumentError: dtypes, ranks or numbers of rows that differ; an axis that is not there.
    """
    parts, rank = _parts(values)
    return RaggedTensor(with_splits_of(_concat(parts, _axis(axis, rank)), _counted_in(values)))


def stack_rows(values: list[Any], axis: int) -> RaggedTensor:
    """Along a new axis; raises as `concat_rows`."""
    parts, rank = _parts(values)
    return RaggedTensor(with_splits_of(_stack(parts, _axis(axis, rank + 1)), _counted_in(values)))


def _counted_in(values: list[Any]) -> Any:
    """The dtype of the row splits.

    Raises:
      ValueError: they have several.
    """
    known = {value.plain.row_splits.dtype for value in values if isinstance(value, RaggedTensor)}
    if len(known) > 1:
        raise ValueError(f"RaggedTensors must have row_splits of one dtype, got {sorted(map(str, known))}")
    return known.pop() if known else np.int64


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"axis={axis} is out of bounds: expected {-rank} <= axis < {rank}")
    return axis % rank


def _parts(values: list[Any]) -> tuple[list[Any], int]:
    """All with as many ragged dimensions as the one that has most, and their rank."""
    parts = [value.plain if isinstance(value, RaggedTensor) else array_of(value) for value in values]
    dtypes = [dtype_of(np.asarray(part.flat_values) if isinstance(part, Plain) else part) for part in parts]
    for number, dtype in enumerate(dtypes):
        if dtype != dtypes[0]:
            raise InvalidArgumentError(f"value #0 is of dtype {dtypes[0].name}, #{number} of {dtype.name}")
    ranks = [len(part.shape) for part in parts]
    if len({*ranks}) > 1:
        raise InvalidArgumentError(f"values of one rank are joined, got the ranks {ranks}")
    ragged = max(part.ragged_rank if isinstance(part, Plain) else 0 for part in parts)
    return [_of_rank(part, ragged) for part in parts], ranks[0]


def _of_rank(part: Any, ragged: int) -> Any:
    """With so many ragged dimensions."""
    if not ragged:
        return part
    if isinstance(part, Plain):
        values, splits = part.values, part.row_splits
    else:
        rows, length = part.shape[:2]
        values = part.reshape(rows * length, *part.shape[2:])
        splits = np.arange(rows + 1, dtype=np.int64) * length
    return Plain.from_row_splits(_of_rank(values, ragged - 1), splits, validate=False)


def _concat(parts: list[Any], axis: int) -> Any:
    if not isinstance(parts[0], Plain):
        return np.concatenate([np.asarray(part) for part in parts], axis)
    if axis == 0:
        return stack_ragged(parts).values
    return _row_by_row(parts, lambda rows: _concat(rows, axis - 1))


def _stack(parts: list[Any], axis: int) -> Any:
    if axis == 0:
        return stack_ragged(parts)
    if not isinstance(parts[0], Plain):
        return np.stack([np.asarray(part) for part in parts], axis)
    return _row_by_row(parts, lambda rows: _stack(rows, axis - 1))


def _row_by_row(parts: list[Any], join: Any) -> Any:
    if len({len(part) for part in parts}) > 1:
        raise InvalidArgumentError(f"values of one number of rows are joined, got {[len(part) for part in parts]}")
    if not len(parts[0]):
        return parts[0]
    return stack_ragged([join(list(rows)) for rows in zip(*parts, strict=True)])
