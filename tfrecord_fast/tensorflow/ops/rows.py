"""RaggedTensors, and tensors among them, joined or stacked; functions over their flat values."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...values.columns.ragged import RaggedTensor as Plain
from ...values.elements.composites import stack_ragged
from ..tensors.ragged_rows import with_splits_dtype
from ..tensors.ragged_tensor import RaggedTensor
from ..tensors.tensor_dtypes import array_dtype
from .arguments import as_array, tensor


def over_flat_values(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function take a RaggedTensor as its first argument: it is called with the flat values."""
    first = next(iter(inspect.signature(function).parameters))

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        ragged = args[0] if args else kwargs.get(first)
        if not isinstance(ragged, RaggedTensor):
            return function(*args, **kwargs)
        flat = tensor(np.asarray(ragged.plain.flat_values))
        if args:
            return ragged.with_flat_values(function(flat, *args[1:], **kwargs))
        return ragged.with_flat_values(function(**{**kwargs, first: flat}))

    return call


def concat_rows(values: list[Any], axis: int) -> RaggedTensor:
    parts, rank = _plain_values(values)
    return RaggedTensor(with_splits_dtype(_concat(parts, _axis(axis, rank)), _splits_dtype(values)))


def stack_rows(values: list[Any], axis: int) -> RaggedTensor:
    parts, rank = _plain_values(values)
    return RaggedTensor(with_splits_dtype(_stack(parts, _axis(axis, rank + 1)), _splits_dtype(values)))


def _splits_dtype(values: list[Any]) -> Any:
    known = {value.plain.row_splits.dtype for value in values if isinstance(value, RaggedTensor)}
    if len(known) > 1:
        raise ValueError(f"RaggedTensors must have row_splits of one dtype, got {sorted(map(str, known))}")
    return known.pop() if known else np.int64


def _axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"axis={axis} is out of bounds: expected {-rank} <= axis < {rank}")
    return axis % rank


def _plain_values(values: list[Any]) -> tuple[list[Any], int]:
    """Return plain values with the same number of ragged dimensions, and their rank."""
    plains = [value.plain if isinstance(value, RaggedTensor) else as_array(value) for value in values]
    dtypes = [array_dtype(np.asarray(plain.flat_values) if isinstance(plain, Plain) else plain) for plain in plains]
    for number, dtype in enumerate(dtypes):
        if dtype != dtypes[0]:
            raise InvalidArgumentError(f"value #0 has dtype {dtypes[0].name}, value #{number} {dtype.name}")
    ranks = [len(plain.shape) for plain in plains]
    if len({*ranks}) > 1:
        raise InvalidArgumentError(f"the values must have one rank, got {ranks}")
    ragged = max(plain.ragged_rank if isinstance(plain, Plain) else 0 for plain in plains)
    return [_with_ragged_rank(plain, ragged) for plain in plains], ranks[0]


def _with_ragged_rank(plain: Any, ragged: int) -> Any:
    if not ragged:
        return plain
    if isinstance(plain, Plain):
        values, splits = plain.values, plain.row_splits
    else:
        rows, length = plain.shape[:2]
        values = plain.reshape(rows * length, *plain.shape[2:])
        splits = np.arange(rows + 1, dtype=np.int64) * length
    return Plain.from_row_splits(_with_ragged_rank(values, ragged - 1), splits, validate=False)


def _concat(plains: list[Any], axis: int) -> Any:
    if not isinstance(plains[0], Plain):
        return np.concatenate([np.asarray(plain) for plain in plains], axis)
    if axis == 0:
        return stack_ragged(plains).values
    return _row_by_row(plains, lambda rows: _concat(rows, axis - 1))


def _stack(plains: list[Any], axis: int) -> Any:
    if axis == 0:
        return stack_ragged(plains)
    if not isinstance(plains[0], Plain):
        return np.stack([np.asarray(plain) for plain in plains], axis)
    return _row_by_row(plains, lambda rows: _stack(rows, axis - 1))


def _row_by_row(plains: list[Any], join: Any) -> Any:
    if len({len(plain) for plain in plains}) > 1:
        raise InvalidArgumentError(
            f"the values must have the same number of rows, got {[len(plain) for plain in plains]}"
        )
    if not len(plains[0]):
        return plains[0]
    return stack_ragged([join(list(rows)) for rows in zip(*plains, strict=True)])
