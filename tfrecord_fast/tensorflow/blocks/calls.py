"""Calls of operations in functions that run on blocks: by a rule for all records at once, or in a loop over them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import repeat
from typing import Any

import numpy as np

from ...values.blocks.columns import Column, Constant, of_values
from ...values.elements.attrs_classes import is_attrs
from ...values.elements.nests import map_leaves, normalize
from ..interop import has_tensorflow_values
from ..tensors.ragged_tensor import RaggedTensor
from ..tensors.sparse_tensor import SparseTensor
from ..tensors.tensor import Tensor
from ..tensors.wrapping import unwrap, wrap
from .block_tensor import OPERATORS, block_value, is_block_value, set_operation
from .frames import Frame, current, entered, needs_records, required

# A rule takes the operation, the frame, and the operation's arguments. It returns NotImplemented for arguments that
# need a loop. Errors need not be the operation's: the function then runs record by record.
Rule = Callable[..., Any]


def has_block_values(values: Any) -> bool:
    """Return True if a value, or an item of a list, tuple or dict among them, is a block value."""
    for value in values:
        if is_block_value(value):
            return True
        if isinstance(value, list | tuple):
            if has_block_values(value):
                return True
        elif isinstance(value, dict) and has_block_values(value.values()):
            return True
    return False


def call(function: Callable[..., Any], rule: Rule | None, draws: bool, args: Any, kwargs: Any) -> Any:
    """Call an operation in the current frame.

    Args:
      draws: calls the rule for ordinary arguments too: each record has its own random numbers, or effect.
    """
    for value in args:
        if is_block_value(value):
            value.check_thread()
    frame = required()
    if frame.is_single:
        return function(*map(_single, args), **{name: _single(value) for name, value in kwargs.items()})
    if has_tensorflow_values((*args, *kwargs.values())):
        raise needs_records("TensorFlow's own values are used")
    if not draws and not has_block_values(args) and not (kwargs and has_block_values(kwargs.values())):
        return function(*args, **kwargs)
    try:
        if rule is not None:
            result = rule(function, frame, *args, **kwargs)
            if result is not NotImplemented:
                return result
        return loop(function, frame, args, kwargs)
    except Exception as error:
        # The error may be that of a single record: if the script catches it, its answer is not for all of them.
        frame.interrupt(error)
        raise


def _single(value: Any) -> Any:
    """Return a value with the tensors of the current frame's only record."""
    if is_block_value(value):
        return value.alone()
    if isinstance(value, list | tuple) and has_block_values(value):
        return _sequence_like(value, map(_single, value))
    if isinstance(value, dict) and has_block_values(value.values()):
        return {key: _single(item) for key, item in value.items()}
    return value


def _sequence_like(value: Any, items: Any) -> Any:
    return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)


# ---- Loops ----


def loop(function: Callable[..., Any], frame: Frame, args: Any, kwargs: Any) -> Any:
    """Call an operation for each record, and put the results together."""
    names = list(kwargs)
    rows = zip(*(rows_of(value, frame) for value in (*args, *kwargs.values())), strict=False)
    count = len(args)
    calls_functions = any(map(callable, (*args, *kwargs.values())))
    results: list[Any] = []
    if not args and not kwargs:
        rows = repeat((), frame.count)  # type: ignore[assignment]
    for number, row in zip(range(frame.count), rows, strict=False):
        named = dict(zip(names, row[count:], strict=True))
        if not calls_functions:
            results.append(function(*row[:count], **named))
            continue
        with entered(Frame(frame.call, np.array([number]), frame, is_single=True)):
            results.append(function(*row[:count], **named))
    return combine(results, frame)


def rows_of(value: Any, frame: Frame) -> Iterator[Any]:
    """Iterate over a value as each record of the frame sees it."""
    if is_block_value(value):
        return map(wrap, frame.select(value.column, value.frame))
    if isinstance(value, list | tuple) and has_block_values(value):
        items = zip(*(rows_of(item, frame) for item in value), strict=False)
        return (_sequence_like(value, row) for row in items)
    if isinstance(value, dict) and has_block_values(value.values()):
        keys = list(value)
        rows = zip(*(rows_of(item, frame) for item in value.values()), strict=False)
        return (dict(zip(keys, row, strict=True)) for row in rows)
    return repeat(value)


def combine(results: list[Any], frame: Frame) -> Any:
    """Return the results for all records of a frame, as the function goes on with them."""
    first = results[0]
    if isinstance(first, Tensor | SparseTensor | RaggedTensor):
        return block_value(of_values([unwrap(result) for result in results]), frame)
    if isinstance(first, list | tuple):
        if all(type(result) is type(first) and len(result) == len(first) for result in results):
            return _sequence_like(first, [combine(list(items), frame) for items in zip(*results, strict=True)])
    elif isinstance(first, dict):
        if all(type(result) is type(first) and result.keys() == first.keys() for result in results):
            return {key: combine([result[key] for result in results], frame) for key in first}
    elif all(result is first for result in results):
        return first
    elif isinstance(first, bool | int | float | str | bytes):
        if all(type(result) is type(first) and result == first for result in results):
            return first
    raise needs_records(f"an operation returns a {type(first).__name__} that may differ from record to record")


# ---- Columns and arrays of arguments ----


def selected(value: Any, frame: Frame) -> Column:
    column: Column = frame.select(value.column, value.frame)
    return column


def common(value: Any, frame: Frame) -> Any:
    """Return an argument as an ordinary value; NotImplemented if the records differ."""
    if is_block_value(value):
        rows = list(selected(value, frame))
        first = rows[0]
        for row in rows:
            if not (np.shape(row) == np.shape(first) and np.array_equal(row, first)):
                return NotImplemented
        return wrap(first)
    if isinstance(value, list | tuple) and has_block_values(value):
        items = [common(item, frame) for item in value]
        return NotImplemented if any(item is NotImplemented for item in items) else _sequence_like(value, items)
    return value


def columns_of(value: Any, frame: Frame) -> Any:
    """Return a function's result as a structure of columns."""
    if has_tensorflow_values((value,)):
        raise needs_records("TensorFlow's own values are returned")
    if type(value) is dict:
        return {key: columns_of(item, frame) for key, item in value.items()}
    if isinstance(value, tuple) and not hasattr(value, "as_list"):
        items = [columns_of(item, frame) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if is_block_value(value):
        column = frame.select(value.column, value.frame)
        column.settle()
        return column
    if isinstance(value, list) and has_block_values(value):
        rows = zip(range(frame.count), rows_of(value, frame), strict=False)
        return of_values([normalize(unwrap(row)) for _, row in rows])
    if isinstance(value, Mapping) or is_attrs(value):
        return map_leaves(lambda leaf: columns_of(leaf, frame), value)
    return map_leaves(lambda leaf: Constant(leaf, frame.count), normalize(unwrap(value)))


# ---- Operators, methods and attributes ----

_RULES: dict[Any, Rule] = {}


def set_rule(function: Any, rule: Rule) -> None:
    """Set the rule of an operator."""
    _RULES[function] = rule


def _operate(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return call(function, _RULES.get(function), False, args, kwargs)


set_operation(_operate)


def add_operator_rules(elementwise: Rule, getitem: Rule) -> None:
    for name, function in OPERATORS.items():
        if name != "matmul" and name != "rmatmul":
            set_rule(function, getitem if name == "getitem" else elementwise)


def in_block() -> bool:
    """Return True in a function that runs on a block."""
    return current.frame is not None
