"""Users' columns, tables and data frames as Columns.

`encode_examples` and `ExampleWriter` document what they accept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Sized
from typing import Any, Literal, TypeGuard, get_args

import numpy as np

from ... import _core
from ...base.optional import optional
from ...errors import InvalidArgumentError
from ...typing import Table
from ...values.columns.sparse import SparseTensor, check_indices
from .arrow_columns import arrow_columns, concatenate, node_column, refuse_objects
from .column import (
    Column,
    as_integers,
    as_key,
    both,
    check_rounding,
    common_length,
    naming,
    nest,
    nest_all,
    refuse_twice,
)
from .sequences import array_column, sequence_column

Nan = Literal["missing", "value"]  # what NaN means in a pandas column without another missing value


def as_columns(
    columns: Table, what: str = "columns", nan: Nan = "missing", allow_rounding: bool = False
) -> tuple[list[tuple[str, Column]], int | None]:
    """Return the columns of a dict, frame or Arrow table by name, and their length, or None without columns."""
    if nan not in get_args(Nan):
        raise ValueError(f"nan must be 'missing' or 'value', got {nan!r}")
    if type(columns).__name__ == "Series":
        raise TypeError(f"{what}: expected columns, got a Series; pass {{'name': series}}")
    if isinstance(columns, Mapping) or _is_pandas(columns):
        pairs: list[tuple[object, Any]] = list(columns.items())
        refuse_twice([key for key, _ in pairs])
        named = [(as_key(key), as_column(key, value, nan)) for key, value in pairs]
    elif hasattr(columns, "__arrow_c_stream__") or hasattr(columns, "__arrow_c_array__"):
        named = arrow_columns(columns)
    elif type(columns).__module__.partition(".")[0] == "datasets" and hasattr(columns, "with_format"):
        named = arrow_columns(_hugging_face_table(columns))
    else:
        accepted = "a dict of columns (write_example takes a dict of values), a data frame or an Arrow table"
        hint = "; call its collect() first" if hasattr(columns, "collect") else ""
        if isinstance(columns, bytes) or (isinstance(columns, list) and all(type(x) is bytes for x in columns)):
            hint = "; io.TFRecordWriter writes records of bytes"
        raise TypeError(f"{what}: expected {accepted}, got {type(columns).__name__}{hint}")
    if not isinstance(allow_rounding, bool):
        raise TypeError(f"allow_rounding must be True or False, got {allow_rounding!r:.100}")
    for key, column in named if not allow_rounding else ():
        with naming(key):
            check_rounding(column)
    if not named and isinstance(columns, Sized) and not isinstance(columns, Mapping):
        return named, len(columns)  # a frame may have rows without columns
    return named, common_length([(key, column.rows) for key, column in named])


def as_column(key: object, value: Any, nan: Nan = "missing") -> Column:
    """Convert a value to a Column; errors name the `key`."""
    with naming(key):
        return column_of(value, nan)


def as_one_row(value: Any) -> list[Any]:
    """Return a column with the value as its one row; a sparse or ragged tensor gives all its values."""
    while hasattr(value, "dense_shape") or (hasattr(value, "row_splits") and hasattr(value, "values")):
        value = value.values
    return [value]


def column_of(value: Any, nan: Nan = "missing") -> Column:
    if isinstance(value, np.ndarray):
        return array_column(value)
    if hasattr(value, "dense_shape"):  # before tuples: TensorFlow 1's SparseTensorValue is one
        return _sparse_column(value)
    if hasattr(value, "row_splits") and hasattr(value, "values"):
        return nest_all(value.row_splits, column_of(value.values))
    if isinstance(value, list | tuple):
        return sequence_column(value)
    if _is_pandas(value):
        return _pandas_column(value, nan)
    refuse_objects(value)
    if hasattr(value, "__arrow_c_array__"):
        return node_column(_core.arrow_array(*value.__arrow_c_array__()))
    if hasattr(value, "__arrow_c_stream__"):
        return concatenate([node_column(node) for node in _core.arrow_stream(value.__arrow_c_stream__())])
    if hasattr(value, "__array__"):
        return array_column(np.asarray(value))
    if isinstance(value, str | bytes | bytearray | memoryview | Mapping) or not isinstance(value, Sequence):
        name = type(value).__name__
        raise TypeError(f"expected a column (an array, a list, …), got {name}; write_example writes one record")
    return sequence_column(list(value))


# ---- Hugging Face ----


def _hugging_face_table(dataset: Any) -> Any:
    """Return the rows of a datasets.Dataset as an Arrow table; images and sounds as their bytes."""
    if not hasattr(dataset, "__getitem__") or not hasattr(dataset, "num_rows"):
        raise TypeError(
            f"{type(dataset).__name__} has no length; encode it batch by batch: "
            'for batch in dataset.with_format("arrow").iter(1000): encode_examples(batch)'
        )
    table = dataset.with_format("arrow")[:]
    for i, field in enumerate(table.schema):
        if field.type.num_fields == 2 and {inner.name for inner in field.type} == {"bytes", "path"}:
            table = table.set_column(i, field.name, _media_bytes(field.name, table.column(i)))
    return table


def _media_bytes(name: str, column: Any) -> Any:
    compute = optional("pyarrow.compute", "datasets need pyarrow")
    data, path = compute.struct_field(column, "bytes"), compute.struct_field(column, "path")
    if compute.any(compute.and_(compute.is_null(data), compute.is_valid(path))).as_py():
        raise InvalidArgumentError(
            f"feature {name!r}: the dataset has the paths of files, not their bytes; embed them with "
            "datasets.table.embed_table_storage"
        )
    return data


# ---- Ragged and sparse ----


def _sparse_column(value: Any) -> Column:
    if isinstance(value, SparseTensor) and not value.has_indices and len(value.dense_shape) == 2:  # the parser's own
        return nest(value.row_splits, column_of(value.values))
    indices = as_integers(value.indices, "the indices of a SparseTensor")
    shape = tuple(as_integers(value.dense_shape, "the dense_shape of a SparseTensor").tolist())
    if not shape:
        raise TypeError("a SparseTensor without dimensions has no rows")
    try:
        check_indices(indices, shape)
    except InvalidArgumentError as error:
        raise InvalidArgumentError(
            f"the indices of a SparseTensor must be unique, in row-major order, and inside dense_shape: {error}"
        ) from None
    row_of = indices[:, 0] if indices.size else np.zeros(0, np.int64)
    values = column_of(value.values)
    if values.rows != len(indices):
        raise InvalidArgumentError(f"a SparseTensor has {len(indices)} indices but {values.rows} values")
    return nest(np.searchsorted(row_of, np.arange(shape[0] + 1)).astype(np.int64), values)


# ---- pandas ----


def _is_pandas(value: object) -> TypeGuard[Mapping[object, Any]]:
    return type(value).__module__.partition(".")[0] == "pandas" and hasattr(value, "isna")


def _pandas_column(series: Any, nan: Nan) -> Column:
    """Missing values become nulls. NaN in a NumPy dtype is missing, unless `nan` is "value"."""
    if hasattr(series, "columns") or hasattr(series, "levels"):
        raise TypeError(f"expected a column, got a {type(series).__name__}, which has several columns")
    if hasattr(series.dtype, "pyarrow_dtype"):  # NumPy would turn nulls inside lists into NaN
        return column_of(getattr(series, "array", series).__arrow_array__())
    if hasattr(series.dtype, "categories"):
        return sequence_column(_category_values(series))
    missing = np.asarray(series.isna())  # before `to_dense`, where sparse integers lose it
    if hasattr(series, "sparse"):
        series = series.sparse.to_dense()
    if not isinstance(series.dtype, np.dtype) or series.dtype.kind == "O":
        values = np.asarray(series, dtype=object).tolist()
        nans = float | np.floating if nan == "value" and isinstance(series.dtype, np.dtype) else ()
        pairs = zip(missing, values, strict=True)
        return sequence_column([None if null and not isinstance(value, nans) else value for null, value in pairs])
    column = array_column(series.to_numpy())
    if not missing.any() or (nan == "value" and series.dtype.kind == "f"):
        return column
    return column._replace(valid=both(column.valid, (~missing).astype(np.uint8)))


def _category_values(series: Any) -> list[Any]:
    """Return the values of a categorical, None where missing. NumPy would turn integers into floats there."""
    categorical = getattr(series, "array", series)
    values = np.asarray(categorical.categories, dtype=object).tolist()
    values.append(None)  # for the code -1
    return [values[code] for code in categorical.codes.tolist()]
