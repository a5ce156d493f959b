"""Spark's types and the features that they are read from.

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
from pyspark.sql.pandas.types import to_arrow_type
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructField,
    StructType,
)

from ...dtypes import float32, int64, string
from ...errors import InvalidArgumentError
from ...examples.features import FixedLenFeature, VarLenFeature

__all__ = ["BYTE_ARRAY", "RECORD_TYPES", "as_spark", "check_bytes", "check_written", "features_of", "schema_of"]

RECORD_TYPES = ("Example", "SequenceExample", "ByteArray")
BYTE_ARRAY = "byteArray"  # the column of records that are not parsed

_DTYPES: dict[type[DataType], Any] = {
    BooleanType: int64,
    ByteType: int64,
    ShortType: int64,
    IntegerType: int64,
    LongType: int64,
    FloatType: float32,
    DoubleType: float32,
    StringType: string,
    BinaryType: string,
}
_OF_DTYPE = {"int64": LongType(), "float32": FloatType(), "string": BinaryType()}


def features_of(schema: StructType, record_type: str) -> Any:
    """The features that the columns are read from: a dict, or of SequenceExamples a pair of them.

    Raises:
      errors.InvalidArgumentError: a column of another type.
    """
    context: dict[str, Any] = {}
    lists: dict[str, Any] = {}
    for field in schema.fields:
        kind, depth = _element_of(field.dataType)
        dtype = _DTYPES.get(type(kind))
        if dtype is None or depth > (2 if record_type == "SequenceExample" else 1):
            raise InvalidArgumentError(
                f"column {field.name!r}: no {record_type} holds a value of type {field.dataType.simpleString()}"
            )
        if depth == 2:
            lists[field.name] = VarLenFeature(dtype)
        else:
            context[field.name] = VarLenFeature(dtype) if depth else FixedLenFeature([], dtype)
    return (context, lists) if record_type == "SequenceExample" else context


def check_bytes(schema: StructType) -> None:
    """Raises errors.InvalidArgumentError if the columns are not the one of records as they are."""
    if len(schema.fields) != 1 or not isinstance(schema.fields[0].dataType, BinaryType | StringType):
        raise InvalidArgumentError(
            f"recordType ByteArray: one column of records, of type binary, got {schema.simpleString()}"
        )


def check_written(schema: StructType, record_type: str) -> None:
    """Raises errors.InvalidArgumentError if columns of these types can't be written."""
    if record_type == "ByteArray":
        if len(schema.fields) != 1 or not isinstance(schema.fields[0].dataType, BinaryType):
            raise InvalidArgumentError("recordType ByteArray: there is one column of records, of type binary")
        return
    features_of(schema, record_type)


def schema_of(features: Any) -> StructType:
    """The columns of features that were inferred."""
    pair = features if isinstance(features, tuple) else (features, {})
    fields = []
    for part, more in zip(pair, (0, 1), strict=True):
        for key, feature in part.items():
            kind: DataType = _OF_DTYPE[feature.dtype.name]
            depth = more + (
                1 if more or not isinstance(feature, FixedLenFeature) or feature.shape not in ((), []) else 0
            )
            for _ in range(depth):
                kind = ArrayType(kind)
            fields.append(StructField(key.decode() if isinstance(key, bytes) else key, kind))
    return StructType(fields)


def as_spark(column: Any, field: StructField, where: str) -> Any:
    """A column as Spark's type has it in Arrow.

    Raises:
      errors.InvalidArgumentError: a value does not fit, or is missing where none may be.
    """
    if not field.nullable and column.null_count:
        raise InvalidArgumentError(f"{where}: column {field.name!r}: a record lacks it, and it is not nullable")
    try:
        if isinstance(_element_of(field.dataType)[0], BooleanType):
            _check_truths(column)
        return pyarrow.compute.cast(column, to_arrow_type(field.dataType))
    except (ValueError, pyarrow.ArrowInvalid) as error:
        wanted = field.dataType.simpleString()
        raise InvalidArgumentError(f"{where}: column {field.name!r}: not of type {wanted}: {error}") from None


def _check_truths(column: Any) -> None:
    """Raises ValueError if there is a number but 0 and 1, which Arrow takes for true."""
    while pyarrow.types.is_list(column.type):
        column = column.flatten()
    wrong = [one for one in pyarrow.compute.unique(column).to_pylist() if one not in (0, 1, None)]
    if wrong:
        raise ValueError(f"{wrong[0]} is neither 0 nor 1")


def _element_of(kind: DataType) -> tuple[DataType, int]:
    depth = 0
    while isinstance(kind, ArrayType):
        kind, depth = kind.elementType, depth + 1
    return kind, depth
