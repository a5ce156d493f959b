"""What counts as a column, and as what the core takes it: flat values, how they are cut into rows, which rows are null.

Private; `encode_examples` and `ExampleWriter` tell users what they accept.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import InvalidArgumentError
from ..typing import Integers, Table
from ..values.sparse import SparseTensor

__all__ = [
    "Column",
    "FeatureList",
    "Flags",
    "Splits",
    "Values",
    "as_column",
    "as_columns",
    "as_feature_list",
    "as_one_row",
    "common_length",
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


def as_columns(columns: Table, what: str = "columns") -> tuple[list[tuple[str, Column]], int | None]:
    """The columns of a dict, frame or Arrow table, by name, and their common length (None if there are none).

    Raises:
      TypeError: it is none of these, a key is not a string, or a column can't be written to an Example.
      errors.InvalidArgumentError: columns of unequal length.
    """
    if isinstance(columns, Mapping):
        named = [(_as_key(key), as_column(key, value)) for key, value in columns.items()]
    elif _is_pandas(columns):
        named = [(_as_key(key), as_column(key, series)) for key, series in columns.items()]
    elif hasattr(columns, "__arrow_c_stream__") or hasattr(columns, "__arrow_c_array__"):
        named = _columns_of_arrow(columns)
    else:
        wanted = "a dict of columns, a data frame or an Arrow table"
        raise TypeError(f"{what}: expected {wanted}, got {type(columns).__name__}")
    return named, common_length([(key, column.rows) for key, column in named])


def common_length(lengths: list[tuple[str, int]]) -> int | None:
    """The length that all columns have; None if there are no columns."""
    for key, rows in lengths[1:]:
        if rows != lengths[0][1]:
            raise InvalidArgumentError(
                f"columns of unequal length: '{lengths[0][0]}' has {lengths[0][1]} rows, '{key}' has {rows}"
            )
    return lengths[0][1] if lengths else None


def as_column(key: object, value: Any) -> Column:
    """Whatever is accepted as a column, as a Column; errors name the `key`."""
    with _naming(key):
        return _column_of(value)


@contextlib.contextmanager
def _naming(key: object, what: str = "feature") -> Iterator[None]:
    """Has errors begin with what they are about."""
    try:
        yield
    except (TypeError, ValueError, OverflowError) as error:
        kind = TypeError if isinstance(error, TypeError) else InvalidArgumentError
        raise kind(f"{what} {_as_key(key)!r}: {error}") from None


def as_one_row(value: Any) -> list[Any]:
    """A column with the value as its one row; of a sparse or ragged tensor, all its values."""
    while hasattr(value, "dense_shape") or (hasattr(value, "row_splits") and hasattr(value, "values")):
        value = value.values
    return [value]


def _as_key(key: object) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, bytes):
        return key.decode()
    raise TypeError(f"keys are strings, got {type(key).__name__}: {key!r}")


def _column_of(value: Any) -> Column:
    if isinstance(value, np.ndarray):
        return _of_masked(value) if isinstance(value, np.ma.MaskedArray) else _of_array(value)
    if isinstance(value, list | tuple):
        return _of_sequence(value)
    if hasattr(value, "dense_shape"):
        return _of_sparse(value)
    if hasattr(value, "row_splits") and hasattr(value, "values"):
        return _nest(np.asarray(value.row_splits, np.int64), _column_of(value.values))
    if _is_pandas(value):
        return _of_pandas(value)
    if hasattr(value, "__arrow_c_array__"):
        return _of_node(_core.arrow_array(*value.__arrow_c_array__()))
    if hasattr(value, "__arrow_c_stream__"):
        return _concatenate([_of_node(node) for node in _core.arrow_stream(value.__arrow_c_stream__())])
    if hasattr(value, "__array__"):
        return _column_of(np.asarray(value))
    if isinstance(value, str | bytes | bytearray | memoryview | Mapping) or not isinstance(value, Sequence):
        raise TypeError(f"expected a column (an array, a list, …), got {type(value).__name__}")
    return _of_sequence(list(value))


# ---- NumPy ----


def _of_array(array: npt.NDArray[Any]) -> Column:
    if array.ndim == 0:
        raise TypeError("expected a column with one value per row, got a single value")
    rows = len(array)
    if array.dtype.kind == "O":
        if array.ndim == 1:
            return _of_sequence(array.tolist())
        if array.size == 0:
            return _nulls(rows)  # nothing tells the kind
        return _nest_fixed(rows, array.size // rows, _of_sequence(array.ravel().tolist()))
    count = int(np.prod(array.shape[1:], dtype=np.int64))
    if array.dtype.kind == "T":
        views, valid = _core.views_of_objects(array.ravel().tolist())
        return _nest_fixed(rows, count, Column("string", views, rows * count, valid=valid))
    if array.dtype.kind == "U":
        array = np.char.encode(array, "utf-8")
    if array.dtype.kind == "S":
        return Column("string", _core.views_of_fixed(np.ascontiguousarray(array).ravel()), rows, count)
    name = array.dtype.name
    if name not in _NUMERIC:
        raise TypeError(f"no values of dtype {name} in an Example")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return Column(name, np.require(array, requirements=["C", "A"]).reshape(-1), rows, count)


_NUMERIC = {"bool", "float16", "bfloat16", "float32", "float64"}
_NUMERIC |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


def _of_masked(array: np.ma.MaskedArray[Any, Any]) -> Column:
    column = _of_array(np.asarray(array.filled(_filler(array)) if array.dtype.kind == "O" else array.data))
    if array.size == 0:
        return column
    mask = np.ma.getmaskarray(array).reshape(len(array), -1)
    masked = np.asarray(mask.all(axis=1))
    torn = np.nonzero(mask.any(axis=1) & ~masked)[0]
    if len(torn):
        raise InvalidArgumentError(f"row {int(torn[0])} is masked in part: only a whole row can be left out")
    return column._replace(valid=_both(column.valid, np.asarray(~masked, np.uint8)))


def _filler(array: np.ma.MaskedArray[Any, Any]) -> Any:
    """A value of the same kind as those that are not masked, which tells the array's kind."""
    kept = array.compressed()
    return kept[0] if len(kept) else None


# ---- Python sequences ----


def _of_sequence(values: Sequence[Any]) -> Column:
    rows = len(values)
    first = next((value for value in values if value is not None), None)
    if first is None:
        return _nulls(rows)
    if isinstance(first, str | bytes | bytearray | memoryview):
        views, valid = _core.views_of_objects(values)
        return Column("string", views, rows, valid=valid)
    if isinstance(first, int | float | np.generic) or (isinstance(first, np.ndarray) and first.ndim == 0):
        return _of_numbers(values)
    if isinstance(first, Mapping | set | frozenset) or not hasattr(first, "__len__"):
        raise TypeError(f"no values of type {type(first).__name__} in an Example")
    return _of_lists(values)


def _of_numbers(values: Sequence[Any]) -> Column:
    valid = None
    missing = [value is None for value in values]
    if any(missing):
        valid = (~np.asarray(missing)).astype(np.uint8)
        values = [0 if value is None else value for value in values]
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.name not in _NUMERIC:
        if array.dtype.kind == "O" and all(isinstance(value, int) for value in values):
            raise OverflowError("an integer that int64 does not hold")
        raise TypeError("values of more than one kind in a list")
    if array.dtype.kind == "f" and all(isinstance(value, int | np.integer) for value in values):
        raise OverflowError("an integer that int64 does not hold")  # NumPy made floats of them
    return _of_array(array)._replace(valid=valid)


def _of_lists(values: Sequence[Any]) -> Column:
    """From rows that are lists, arrays or None."""
    missing = np.fromiter((value is None for value in values), bool, len(values))
    rows = [() if value is None else value for value in values] if missing.any() else list(values)
    valid = (~missing).astype(np.uint8) if missing.any() else None
    arrays = [row for row in rows if isinstance(row, np.ndarray)]
    if len(arrays) == len(rows) and all(row.dtype.kind not in "OSUT" for row in arrays):
        lengths = [row.size for row in arrays]
        child = _of_array(np.concatenate([row.reshape(-1) for row in arrays]))
    else:
        for row in rows:
            if isinstance(row, str | bytes) or not hasattr(row, "__len__"):
                raise TypeError(f"lists and a single value ({type(row).__name__}) in one column")
        lengths = [len(row) for row in rows]
        flat = list(itertools.chain.from_iterable(rows))
        child = _of_sequence(flat) if flat else _nulls(0)
        if not flat:
            return _nulls(len(values))  # nothing tells the kind
    splits = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    return _nest(splits, child)._replace(valid=valid)


def _nulls(rows: int) -> Column:
    return Column("int64", np.zeros(rows, np.int64), rows, valid=np.zeros(rows, np.uint8))


# ---- Ragged and sparse ----


def _of_sparse(value: Any) -> Column:
    if isinstance(value, SparseTensor) and not value.has_indices:  # the parser's own
        return _nest(value.row_splits, _column_of(value.values))
    indices = np.asarray(value.indices, np.int64)
    rows = int(np.asarray(value.dense_shape)[0])
    row_of = indices[:, 0] if indices.size else np.zeros(0, np.int64)
    if len(row_of) and (row_of[0] < 0 or row_of[-1] >= rows or np.any(row_of[1:] < row_of[:-1])):
        raise InvalidArgumentError("the indices of a SparseTensor must be in row-major order, inside dense_shape")
    return _nest(np.searchsorted(row_of, np.arange(rows + 1)).astype(np.int64), _column_of(value.values))


def _nest(splits: Splits, child: Column) -> Column:
    """Rows that are runs of the child's rows."""
    if len(splits) == 0 or splits[0] < 0 or splits[-1] > child.rows or np.any(splits[1:] < splits[:-1]):
        raise InvalidArgumentError(f"row splits must ascend from 0 to at most {child.rows}, the number of values")
    _refuse_nulls(child, int(splits[0]), int(splits[-1]))
    inner = splits * child.per_row if child.splits is None else child.splits[splits]
    return Column(child.type, child.values, len(splits) - 1, splits=np.ascontiguousarray(inner, np.int64))


def _nest_fixed(rows: int, size: int, child: Column) -> Column:
    """Rows of `size` of the child's rows each."""
    _refuse_nulls(child, 0, rows * size)
    if child.splits is None:
        return Column(child.type, child.values, rows, size * child.per_row)
    return Column(child.type, child.values, rows, splits=child.splits[np.arange(rows + 1) * size])


def _refuse_nulls(child: Column, first: int, last: int) -> None:
    if child.valid is not None and not child.valid[first:last].all():
        raise InvalidArgumentError("a null inside a list: only a whole row can be left out")


def _both(one: Flags | None, other: Flags | None) -> Flags | None:
    return other if one is None else one if other is None else one & other


# ---- pandas ----


def _is_pandas(value: object) -> TypeGuard[Mapping[object, Any]]:
    return type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "items")


def _of_pandas(series: Any) -> Column:
    """pandas' missing values, NaN among them, are nulls."""
    valid = series.notna().to_numpy().astype(np.uint8)
    if isinstance(series.dtype, np.dtype) and series.dtype.kind != "O":
        column = _of_array(series.to_numpy())
    else:
        kept = series.to_numpy(dtype=object)
        column = _of_sequence([value if ok else None for value, ok in zip(kept.tolist(), valid, strict=True)])
    return column if valid.all() else column._replace(valid=_both(column.valid, valid))


# ---- Arrow ----


def _columns_of_arrow(table: Any) -> list[tuple[str, Column]]:
    if hasattr(table, "__arrow_c_stream__"):
        nodes = _core.arrow_stream(table.__arrow_c_stream__())
    else:
        nodes = [_core.arrow_array(*table.__arrow_c_array__())]
    chunks: dict[str, list[Column]] = {}
    for table_node in nodes:
        if table_node.kind != "struct":
            raise TypeError("expected an Arrow table: an array of structs, or a stream of them")
        for name, node in table_node.fields:
            with _naming(name):
                column = _of_node(node)
            chunks.setdefault(name, []).append(column._replace(valid=_both(column.valid, table_node.valid)))
    named = []
    for name, columns in chunks.items():
        with _naming(name):
            named.append((name, _concatenate(columns)))
    return named


def _of_node(node: _core.ArrowNode) -> Column:
    """From what the core made of an Arrow array."""
    kind, rows, valid = node.kind, node.rows, node.valid
    if kind == "null":
        return _nulls(rows)
    if kind == "values":
        values = node.values if node.type == "string" else np.require(node.values, requirements=["C", "A"])
        return Column(node.type, values, rows, valid=valid)
    if kind == "list":
        child, splits = _of_node(node.child), node.splits
        if valid is not None and child.valid is not None:
            below = child.valid[: splits[-1]].copy()
            below[splits[0] :] |= np.repeat(1 - valid, np.diff(splits))
            child = child._replace(valid=below)  # what lies under a null row does not matter
        return _nest(splits, child)._replace(valid=valid)
    if kind == "fixed":
        child = _of_node(node.child)
        if valid is not None and child.valid is not None:
            child = child._replace(valid=child.valid | np.repeat(1 - valid, node.size))
        return _nest_fixed(rows, node.size, child)._replace(valid=valid)
    if kind == "dictionary":
        return _of_dictionary(node.values, valid, _of_node(node.child))
    if kind == "other":
        raise TypeError(f"an Arrow array of format {node.type!r} can't be written to an Example")
    raise TypeError("a struct can't be written to an Example: give its fields as columns")


def _of_dictionary(indices: npt.NDArray[Any], valid: Flags | None, child: Column) -> Column:
    if child.splits is not None or child.per_row != 1:
        raise TypeError("an Arrow dictionary of lists")
    rows = len(indices)
    if child.rows == 0:
        return _nulls(rows)
    places = np.asarray(indices, np.int64)
    if valid is not None:
        places = np.where(valid != 0, places, 0)
    if child.valid is not None:
        valid = _both(valid, child.valid[places])
    values = child.values[places] if isinstance(child.values, np.ndarray) else child.values.take(places)
    return Column(child.type, values, rows, valid=valid)


def _concatenate(columns: list[Column]) -> Column:
    """The chunks of a stream as one column."""
    if not columns:
        return _nulls(0)
    if len(columns) == 1:
        return columns[0]
    kinds = {column.type for column in columns if column.valid is None or column.valid.any()}
    if len(kinds) > 1:
        raise TypeError(f"chunks of several types: {sorted(kinds)}")
    wanted = kinds.pop() if kinds else columns[0].type
    flat = [_flat(column if column.type == wanted else _nulls(column.rows)._replace(type=wanted)) for column in columns]
    parts: list[Any] = [values for values, _ in flat]
    values = _core.views_concatenate(parts) if wanted == "string" else np.concatenate(parts)
    rows = sum(column.rows for column in columns)
    valid = None
    if any(column.valid is not None for column in columns):
        flags = [np.ones(c.rows, np.uint8) if c.valid is None else c.valid for c in columns]
        valid = np.concatenate(flags)
    lengths = np.concatenate([lengths for _, lengths in flat])
    count = int(lengths[0]) if len(lengths) else 1
    if (lengths == count).all():
        return Column(wanted, values, rows, count, valid=valid)
    splits = np.zeros(rows + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    return Column(wanted, values, rows, splits=splits, valid=valid)


def _flat(column: Column) -> tuple[Values, Splits]:
    """Exactly the values that the rows have, end to end, and how many each has."""
    if column.splits is None:
        first, last, lengths = 0, column.rows * column.per_row, np.full(column.rows, column.per_row, np.int64)
    else:
        first, last, lengths = int(column.splits[0]), int(column.splits[-1]), np.diff(column.splits)
    if column.type == "string":
        if isinstance(column.values, np.ndarray):  # nulls only
            return _core.views_of_objects([b""] * column.rows)[0], lengths
        whole = first == 0 and last == len(column.values)
        return column.values if whole else column.values.take(np.arange(first, last)), lengths
    assert isinstance(column.values, np.ndarray)
    return column.values[first:last], lengths


# ---- Feature lists ----


def as_feature_list(key: object, value: Any, lengths: Integers | None = None) -> FeatureList:
    """One feature list of a SequenceExample: rows of steps, each step a value, a list or an array.

    `lengths`: how many steps of each row count, in a dense array `[n, longest, …]`.
    """
    with _naming(key, "feature list"):
        return _feature_list_of(value, lengths)


def _feature_list_of(value: Any, lengths: Integers | None) -> FeatureList:
    if lengths is not None:
        return _of_padded(value, np.asarray(lengths, np.int64))
    if getattr(value, "row_steps", None) is not None:  # a SparseTensor of parse_sequence_example
        splits = np.asarray(value.row_splits, np.int64)
        return _checked(_nest(splits, _column_of(value.values)), np.asarray(value.row_steps, np.int64))
    if hasattr(value, "row_splits") and hasattr(value, "values"):
        return _checked(_column_of(value.values), np.asarray(value.row_splits, np.int64))
    if isinstance(value, np.ndarray) and value.dtype.kind == "O" and value.ndim == 1:
        value = value.tolist()
    if isinstance(value, list | tuple):
        return _of_nested_lists(list(value))
    if isinstance(value, np.ndarray) or (hasattr(value, "shape") and len(value.shape) > 1):
        return _of_padded(value, None)
    if hasattr(value, "__arrow_c_array__"):
        node = _core.arrow_array(*value.__arrow_c_array__())
        if node.kind == "list":
            return _checked(_of_node(node.child), node.splits)._replace(row_valid=node.valid)
        if node.kind == "fixed":
            steps = np.arange(node.rows + 1, dtype=np.int64) * node.size
            return _checked(_of_node(node.child), steps)._replace(row_valid=node.valid)
    wanted = "rows of steps (a RaggedTensor, nested lists, an array [n, steps, …])"
    raise TypeError(f"expected {wanted}, got {type(value).__name__}")


def _of_padded(value: Any, lengths: Splits | None) -> FeatureList:
    if len(value.shape) < 2:
        raise TypeError("expected rows of steps, got one value per row")
    rows, longest = value.shape[:2]
    items = _column_of(value.reshape(rows * longest, *value.shape[2:]))
    if lengths is None:
        return FeatureList(items, np.arange(rows + 1, dtype=np.int64) * longest)
    if lengths.shape != (rows,) or (rows and (lengths.min() < 0 or lengths.max() > longest)):
        raise InvalidArgumentError(f"lengths: expected {rows} numbers of 0 to {longest}")
    places = np.nonzero(np.arange(longest) < lengths[:, None])
    kept = _column_of(value[places])
    steps = np.zeros(rows + 1, np.int64)
    np.cumsum(lengths, out=steps[1:])
    return FeatureList(kept, steps)


def _of_nested_lists(rows: list[Any]) -> FeatureList:
    for row in rows:
        if row is not None and (isinstance(row, str | bytes) or not hasattr(row, "__len__")):
            raise TypeError(f"expected rows of steps, got a row of type {type(row).__name__}")
    missing = np.fromiter((row is None for row in rows), bool, len(rows))
    lengths = [0 if row is None else len(row) for row in rows]
    steps = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths, out=steps[1:])
    items = _of_sequence(list(itertools.chain.from_iterable(row for row in rows if row is not None)))
    return FeatureList(items, steps, (~missing).astype(np.uint8) if missing.any() else None)


def _checked(items: Column, steps: Splits) -> FeatureList:
    if len(steps) == 0 or steps[0] < 0 or steps[-1] > items.rows or np.any(steps[1:] < steps[:-1]):
        raise InvalidArgumentError(f"row splits must ascend from 0 to at most {items.rows}, the number of steps")
    return FeatureList(items, np.ascontiguousarray(steps, np.int64))
