"""Arrow arrays and tables as Columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...errors import InvalidArgumentError
from .column import Column, Flags, Splits, Values, both, naming, nest, nest_fixed, nulls, refuse_twice

_TIMES = {"td": "dates", "tt": "times", "ts": "timestamps", "tD": "durations"}  # by Arrow's format strings
_TIMES_OF_32_BITS = ("tdD", "tts", "ttm")


def arrow_columns(table: Any) -> list[tuple[str, Column]]:
    _check_names(table)
    if hasattr(table, "__arrow_c_stream__"):
        nodes = _core.arrow_stream(table.__arrow_c_stream__())
    else:
        nodes = [_core.arrow_array(*table.__arrow_c_array__())]
    chunks: dict[str, list[Column]] = {}
    for table_node in nodes:
        if table_node.kind != "struct":
            raise TypeError("expected an Arrow table: an array of structs, or a stream of them")
        refuse_twice([name for name, _ in table_node.fields])
        for name, node in table_node.fields:
            with naming(name):
                column = node_column(node)
            chunks.setdefault(name, []).append(column._replace(valid=both(column.valid, table_node.valid)))
    named = []
    for name, columns in chunks.items():
        with naming(name):
            named.append((name, concatenate(columns)))
    return named


def refuse_objects(column: Any) -> None:
    """Raise TypeError for a Polars column of dtype Object, which Polars exports as addresses."""
    dtype = getattr(column, "dtype", None)
    while dtype is not None:
        if type(dtype).__module__.partition(".")[0] == "polars" and "Object" in (str(dtype), type(dtype).__name__):
            raise TypeError("Arrow cannot carry the values of a Polars column of dtype Object")
        dtype = getattr(dtype, "inner", None)


def _check_names(table: Any) -> None:
    """Refuse columns that Arrow's interface would change: names with a NUL, and Polars objects."""
    columns = getattr(table, "columns", None)
    names = getattr(table, "column_names", columns)
    for name in names if isinstance(names, list | tuple) else []:
        if isinstance(name, str) and "\0" in name:
            raise InvalidArgumentError(f"feature {name!r}: Arrow cuts names at a NUL; rename the feature")
    if type(table).__module__.partition(".")[0] == "polars" and hasattr(table, "iter_columns"):
        for column in table.iter_columns():
            with naming(column.name):
                refuse_objects(column)


def node_column(node: _core.ArrowNode) -> Column:
    """Convert an Arrow array, as the core imported it."""
    kind, rows, valid = node.kind, node.rows, node.valid
    if kind == "null":
        return nulls(rows)
    if kind == "values":
        values = node.values if node.type == "string" else np.require(node.values, requirements=["C", "A"])
        return Column(node.type, values, rows, valid=valid)
    if kind == "list":
        child, splits = node_column(node.child), node.splits
        if valid is not None and child.valid is not None:
            below = child.valid[: splits[-1]].copy()
            below[splits[0] :] |= np.repeat(1 - valid, np.diff(splits))
            child = child._replace(valid=below)  # values under a null row do not matter
        return nest(splits, child)._replace(valid=valid)
    if kind == "fixed":
        child = node_column(node.child)
        if valid is not None and child.valid is not None:
            child = child._replace(valid=child.valid | np.repeat(1 - valid, node.size))
        return nest_fixed(rows, node.size, child)._replace(valid=valid)
    if kind == "dictionary":
        return _dictionary_column(node.values, valid, node_column(node.child))
    if kind == "other" and node.type[:2] in _TIMES:
        bits = 32 if node.type in _TIMES_OF_32_BITS else 64
        raise TypeError(
            f"an Example cannot hold {_TIMES[node.type[:2]]}; write integers instead: column.to_physical() in polars, "
            f'column.cast("int{bits}") in pyarrow'
        )
    if kind == "other":
        what = "decimals" if node.type.startswith("d:") else f"an Arrow array of format {node.type!r}"
        raise TypeError(f"an Example cannot hold {what}; cast to integers, floats, strings, binary or lists of these")
    raise TypeError("an Example cannot hold a struct; pass its fields as columns")


def _dictionary_column(indices: npt.NDArray[Any], valid: Flags | None, child: Column) -> Column:
    if child.splits is not None or child.per_row != 1:
        raise TypeError("an Example cannot hold an Arrow dictionary of lists")
    rows = len(indices)
    if rows > 0 and child.rows == 0:
        return _nulls_like(child, rows)  # all are null, and still have the type of the dictionary
    positions = np.asarray(indices, np.int64)
    if valid is not None:
        positions = np.where(valid != 0, positions, 0)
    if child.valid is not None:
        valid = both(valid, child.valid[positions])
    values: Values
    if isinstance(child.values, np.ndarray):
        values = child.values[positions]
    else:
        values = _core.take_rows(child.values, positions)
    return Column(child.type, values, rows, valid=valid)


def concatenate(columns: list[Column]) -> Column:
    """Join the chunks of a stream into one column."""
    if not columns:
        return nulls(0)
    if len(columns) == 1:
        return columns[0]
    types = {column.type for column in columns if column.valid is None or column.valid.any()}
    if len(types) > 1:
        raise TypeError(f"the chunks of a column have different types: {sorted(types)}")
    type = types.pop() if types else columns[0].type
    model = next(column for column in columns if column.type == type)
    flat = [_flat(column if column.type == type else _nulls_like(model, column.rows)) for column in columns]
    chunks: list[Any] = [values for values, _ in flat]
    values = _core.concatenate(chunks) if type == "string" else np.concatenate(chunks)
    rows = sum(column.rows for column in columns)
    valid = None
    if any(column.valid is not None for column in columns):
        valid = np.concatenate([np.ones(c.rows, np.uint8) if c.valid is None else c.valid for c in columns])
    lengths = np.concatenate([lengths for _, lengths in flat])
    count = int(lengths[0]) if len(lengths) else 1
    if (lengths == count).all():
        return Column(type, values, rows, count, valid=valid)
    splits = np.zeros(rows + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    return Column(type, values, rows, splits=splits, valid=valid)


def _nulls_like(column: Column, rows: int) -> Column:
    values: Values
    if column.type == "string":
        values = _core.views_of_objects([b""] * rows)[0]
    else:
        assert isinstance(column.values, np.ndarray)
        values = np.zeros(rows, column.values.dtype)
    return nulls(rows)._replace(type=column.type, values=values)


def _flat(column: Column) -> tuple[Values, Splits]:
    """Return the values of the rows, end to end, and the number of values in each row."""
    if column.splits is None:
        first, last, lengths = 0, column.rows * column.per_row, np.full(column.rows, column.per_row, np.int64)
    else:
        first, last, lengths = int(column.splits[0]), int(column.splits[-1]), np.diff(column.splits)
    return column.values[first:last], lengths
