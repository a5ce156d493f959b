"""Spark's types and their features.

| Spark | Example | with recordType SequenceExample |
| --- | --- | --- |
| BOOLEAN, BYTE, SHORT, INTEGER, LONG | int64, one value | the same, in the context |
| FLOAT, DOUBLE | float, one value | |
| STRING, BINARY | bytes, one value; STRING is UTF-8 | |
| ARRAY of one of these | any number of values | |
| ARRAY of ARRAY | | a feature list; each step any number of values |
"""

from __future__ import annotations

from typing import Any

import pyarrow
import pyarrow.compute
from pyspark.sql import types
from pyspark.sql.pandas.types import to_arrow_type

from ...dtypes import float32, int64, string
from ...errors import InvalidArgumentError
from ...examples.features import FixedLenFeature, VarLenFeature

RECORD_TYPES = ("Example", "SequenceExample", "ByteArray")
BYTE_ARRAY = "byteArray"  # the column of records that are not parsed

_DTYPES: dict[type[types.DataType], Any] = {
    types.BooleanType: int64,
    types.ByteType: int64,
    types.ShortType: int64,
    types.IntegerType: int64,
    types.LongType: int64,
    types.FloatType: float32,
    types.DoubleType: float32,
    types.StringType: string,
    types.BinaryType: string,
}
_SPARK_TYPES = {"int64": types.LongType(), "float32": types.FloatType(), "string": types.BinaryType()}


def features_of(schema: types.StructType, record_type: str) -> Any:
    """Return the features of columns: a dict or, for SequenceExamples, a pair of dicts."""
    context: dict[str, Any] = {}
    lists: dict[str, Any] = {}
    for field in schema.fields:
        element_type, depth = _element_of(field.dataType)
        dtype = _DTYPES.get(type(element_type))
        if dtype is None or depth > (2 if record_type == "SequenceExample" else 1):
            raise InvalidArgumentError(
                f"column {field.name!r}: {record_type} can't hold values of type {field.dataType.simpleString()}"
            )
        if depth == 2:
            lists[field.name] = VarLenFeature(dtype)
        else:
            context[field.name] = VarLenFeature(dtype) if depth else FixedLenFeature([], dtype)
    return (context, lists) if record_type == "SequenceExample" else context


def check_bytes(schema: types.StructType, *data_types: type[types.DataType]) -> None:
    """Check that there is one column, of one of these types. Raises errors.InvalidArgumentError."""
    if len(schema.fields) != 1 or not isinstance(schema.fields[0].dataType, data_types):
        raise InvalidArgumentError(
            f"recordType ByteArray needs one column, of type binary, got {schema.simpleString()}"
        )


def check_written(schema: types.StructType, record_type: str) -> None:
    """Check the types of columns to write. Raises errors.InvalidArgumentError."""
    if record_type == "ByteArray":
        check_bytes(schema, types.BinaryType)
    else:
        features_of(schema, record_type)


def schema_of(features: Any) -> types.StructType:
    pair = features if isinstance(features, tuple) else (features, {})
    fields = []
    for group, is_sequence in zip(pair, (False, True), strict=True):
        for key, feature in group.items():
            data_type: types.DataType = _SPARK_TYPES[feature.dtype.name]
            is_scalar = isinstance(feature, FixedLenFeature) and feature.shape in ((), [])
            depth = 2 if is_sequence else 0 if is_scalar else 1
            for _ in range(depth):
                data_type = types.ArrayType(data_type)
            fields.append(types.StructField(key.decode() if isinstance(key, bytes) else key, data_type))
    return types.StructType(fields)


def as_spark(column: Any, field: types.StructField, where: str) -> Any:
    if not field.nullable and column.null_count:
        raise InvalidArgumentError(f"{where}: column {field.name!r}: not nullable, but a record lacks a value")
    try:
        if isinstance(_element_of(field.dataType)[0], types.BooleanType):
            _check_truths(column)
        return pyarrow.compute.cast(column, to_arrow_type(field.dataType))
    except (ValueError, pyarrow.ArrowInvalid) as error:
        expected = field.dataType.simpleString()
        raise InvalidArgumentError(f"{where}: column {field.name!r}: not of type {expected}: {error}") from None


def _check_truths(column: Any) -> None:
    """Check that all numbers are 0 or 1, since Arrow casts others to true. Raises ValueError."""
    while pyarrow.types.is_list(column.type):
        column = column.flatten()
    others = [value for value in pyarrow.compute.unique(column).to_pylist() if value not in (0, 1, None)]
    if others:
        raise ValueError(f"{others[0]} is neither 0 nor 1")


def _element_of(data_type: types.DataType) -> tuple[types.DataType, int]:
    """Return the type of the elements of nested arrays, and the depth of nesting."""
    depth = 0
    while isinstance(data_type, types.ArrayType):
        data_type, depth = data_type.elementType, depth + 1
    return data_type, depth
