"""Whatever counts as a column, as the encoder takes it.

Private; `encode_examples` and `ExampleWriter` tell users what they accept.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import InvalidArgumentError
from ..typing import Table
from ..values.sparse import SparseTensor
from .arrow_columns import columns_of_arrow, concatenate, of_node
from .column import Column, as_key, both, common_length, naming, nest, nest_fixed, nulls

__all__ = ["as_column", "as_columns", "as_one_row", "column_of", "of_sequence"]


def as_columns(columns: Table, what: str = "columns") -> tuple[list[tuple[str, Column]], int | None]:
    """The columns of a dict, frame or Arrow table, by name, and their common length (None if there are none).

    Raises:
      TypeError: it is none of these, a key is not a string, or a column can't be written to an Example.
      errors.InvalidArgumentError: columns of unequal length.
    """
    if isinstance(columns, Mapping):
        named = [(as_key(key), as_column(key, value)) for key, value in columns.items()]
    elif _is_pandas(columns):
        named = [(as_key(key), as_column(key, series)) for key, series in columns.items()]
    elif hasattr(columns, "__arrow_c_stream__") or hasattr(columns, "__arrow_c_array__"):
        named = columns_of_arrow(columns)
    else:
        wanted = "a dict of columns, a data frame or an Arrow table"
        raise TypeError(f"{what}: expected {wanted}, got {type(columns).__name__}")
    return named, common_length([(key, column.rows) for key, column in named])


def as_column(key: object, value: Any) -> Column:
    """Whatever is accepted as a column, as a Column; errors name the `key`."""
    with naming(key):
        return column_of(value)


def as_one_row(value: Any) -> list[Any]:
    """A column with the value as its one row; of a sparse or ragged tensor, all its values."""
    while hasattr(value, "dense_shape") or (hasattr(value, "row_splits") and hasattr(value, "values")):
        value = value.values
    return [value]


def column_of(value: Any) -> Column:
    if isinstance(value, np.ndarray):
        return _of_masked(value) if isinstance(value, np.ma.MaskedArray) else _of_array(value)
    if isinstance(value, list | tuple):
        return of_sequence(value)
    if hasattr(value, "dense_shape"):
        return _of_sparse(value)
    if hasattr(value, "row_splits") and hasattr(value, "values"):
        return nest(np.asarray(value.row_splits, np.int64), column_of(value.values))
    if _is_pandas(value):
        return _of_pandas(value)
    if hasattr(value, "__arrow_c_array__"):
        return of_node(_core.arrow_array(*value.__arrow_c_array__()))
    if hasattr(value, "__arrow_c_stream__"):
        return concatenate([of_node(node) for node in _core.arrow_stream(value.__arrow_c_stream__())])
    if hasattr(value, "__array__"):
        return column_of(np.asarray(value))
    if isinstance(value, str | bytes | bytearray | memoryview | Mapping) or not isinstance(value, Sequence):
        raise TypeError(f"expected a column (an array, a list, …), got {type(value).__name__}")
    return of_sequence(list(value))


# ---- NumPy ----


def _of_array(array: npt.NDArray[Any]) -> Column:
    if array.ndim == 0:
        raise TypeError("expected a column with one value per row, got a single value")
    rows = len(array)
    if array.dtype.kind == "O":
        if array.ndim == 1:
            return of_sequence(array.tolist())
        if array.size == 0:
            return nulls(rows)  # nothing tells the kind
        return nest_fixed(rows, array.size // rows, of_sequence(array.ravel().tolist()))
    count = int(np.prod(array.shape[1:], dtype=np.int64))
    if array.dtype.kind == "T":
        views, valid = _core.views_of_objects(array.ravel().tolist())
        return nest_fixed(rows, count, Column("string", views, rows * count, valid=valid))
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
    return column._replace(valid=both(column.valid, np.asarray(~masked, np.uint8)))


def _filler(array: np.ma.MaskedArray[Any, Any]) -> Any:
    """A value of the same kind as those that are not masked, which tells the array's kind."""
    kept = array.compressed()
    return kept[0] if len(kept) else None


# ---- Python sequences ----


def of_sequence(values: Sequence[Any]) -> Column:
    rows = len(values)
    first = next((value for value in values if value is not None), None)
    if first is None:
        return nulls(rows)
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
        child = of_sequence(flat) if flat else nulls(0)
        if not flat:
            return nulls(len(values))  # nothing tells the kind
    splits = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    return nest(splits, child)._replace(valid=valid)


# ---- Ragged and sparse ----


def _of_sparse(value: Any) -> Column:
    if isinstance(value, SparseTensor) and not value.has_indices:  # the parser's own
        return nest(value.row_splits, column_of(value.values))
    indices = np.asarray(value.indices, np.int64)
    rows = int(np.asarray(value.dense_shape)[0])
    row_of = indices[:, 0] if indices.size else np.zeros(0, np.int64)
    if len(row_of) and (row_of[0] < 0 or row_of[-1] >= rows or np.any(row_of[1:] < row_of[:-1])):
        raise InvalidArgumentError("the indices of a SparseTensor must be in row-major order, inside dense_shape")
    return nest(np.searchsorted(row_of, np.arange(rows + 1)).astype(np.int64), column_of(value.values))


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
        column = of_sequence([value if ok else None for value, ok in zip(kept.tolist(), valid, strict=True)])
    return column if valid.all() else column._replace(valid=both(column.valid, valid))
