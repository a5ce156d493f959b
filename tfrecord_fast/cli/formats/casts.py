"""Arrow's types that no feature has, as text or integers: times, dates, decimals; and columns as a schema has them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from .base import Unsuitable, arrow

__all__ = ["CASTS", "cast_to_plain", "cast_to_schema", "read_schema"]

CASTS = ("text", "int")
_DAYS = 32  # bits of dates and of times of day in seconds or milliseconds


def read_schema(path: str) -> Any:
    """The pyarrow.Schema of a Parquet or an Arrow IPC file."""
    pa = arrow("pyarrow")
    try:
        if path.endswith((".parquet", ".pq")):
            return arrow("pyarrow.parquet").read_schema(path)
        with pa.memory_map(path) as file:
            return pa.ipc.open_file(file).schema
    except pa.ArrowInvalid as error:
        raise Unsuitable(f"{path}: no schema can be read: {error}") from None


def cast_to_plain(path: str, batch: Any, how: str) -> Any:
    """The batch with times, dates and decimals as text or as integers; `how` is one of CASTS.

    An integer is what Arrow stores: of a timestamp, the units since 1970; of a decimal, the digits without the point.
    """
    pa = arrow("pyarrow")
    fields, columns = [], []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        made = _plain(path, field.name, column, how)
        fields.append(pa.field(field.name, made.type, metadata=field.metadata))
        columns.append(made)
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def _plain(path: str, name: str, column: Any, how: str) -> Any:
    pa, types = arrow("pyarrow"), arrow("pyarrow.types")
    type = column.type
    if types.is_decimal(type) and how == "int":
        digits = [None if one is None else int(one.scaleb(type.scale)) for one in column.to_pylist()]
        if any(one is not None and not -(2**63) <= one < 2**63 for one in digits):
            raise Unsuitable(f"{path}: column {name!r}: a decimal has more digits than an int64: use --cast text")
        return pa.array(digits, pa.int64())
    if not (types.is_temporal(type) or types.is_decimal(type)):
        return column
    if how == "text" and not types.is_duration(type):
        made = column.cast(pa.string())
        if not _says_same(column, made):
            raise Unsuitable(f"{path}: column {name!r}: a {type} is beyond what text can say: use --cast int")
        return made
    return column.cast(pa.int32() if type.bit_width == _DAYS else pa.int64())


def _says_same(column: Any, texts: Any) -> bool:
    """Whether texts can be read as what they were made of: beyond some years, Arrow writes what is no time."""
    try:
        return bool(_as_type(texts, column.type).equals(column))
    except (arrow("pyarrow").ArrowInvalid, ValueError):
        return False


def cast_to_schema(path: str, batch: Any, schema: Any) -> Any:
    """The batch with the columns, their order and their types as in a schema.

    Raises:
      Unsuitable: a column is not in the schema, or a value would not be the same.
    """
    pa = arrow("pyarrow")
    for name in batch.schema.names:
        if name not in schema.names:
            raise Unsuitable(f"{path}: feature {name!r} is no column of the schema")
    columns = []
    for field in schema:
        if field.name not in batch.schema.names:
            columns.append(pa.nulls(batch.num_rows, field.type))
            continue
        column = batch.column(field.name)
        try:
            columns.append(_as_type(column, field.type))
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
            raise Unsuitable(f"{path}: column {field.name!r} of {column.type} as {field.type}: {error}") from None
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _as_type(column: Any, type: Any) -> Any:
    pa, types = arrow("pyarrow"), arrow("pyarrow.types")
    is_number = types.is_integer(column.type)
    if types.is_null(column.type):
        return pa.nulls(len(column), type)
    if types.is_large_binary(column.type) and not types.is_binary(type) and not types.is_large_binary(type):
        column = column.cast(pa.large_string() if not types.is_fixed_size_binary(type) else column.type)
    if types.is_decimal(type) and is_number:
        return pa.array([_point(one, type.scale) for one in column.to_pylist()], type)
    if types.is_time(type) and not is_number:
        time = np.datetime64  # only its parser of ISO 8601
        texts = column.to_pylist()
        units = [None if one is None else int(time(f"1970-01-01T{one}", type.unit).astype("int64")) for one in texts]
        return pa.array(units, pa.int64()).cast(pa.int32() if type.bit_width == _DAYS else pa.int64()).cast(type)
    if types.is_temporal(type) and is_number and type.bit_width == _DAYS:
        column = column.cast(pa.int32())
    if types.is_dictionary(type):
        return _as_type(column, type.value_type).dictionary_encode().cast(type)
    made = column.cast(type)
    if not _is_same(column, made):
        raise ValueError("a value would not be the same")
    return made


def _is_same(given: Any, made: Any) -> bool:
    """Whether numbers, or texts that were taken for numbers, can be had back; what they hold, of lists."""
    types = arrow("pyarrow.types")
    if types.is_large_list(given.type):
        given, made = given.flatten(), made.flatten()
    if types.is_floating(given.type):
        values, others = (one.to_numpy(zero_copy_only=False) for one in (given, made.cast(given.type)))
        return np.array_equal(values, others, equal_nan=True)
    is_text = types.is_string(given.type) or types.is_large_string(given.type)
    if types.is_integer(given.type) or (is_text and (types.is_integer(made.type) or types.is_boolean(made.type))):
        return bool(made.cast(given.type).equals(given))
    return True


def _point(digits: int | None, scale: int) -> Any:
    return None if digits is None else Decimal(digits).scaleb(-scale)
