"""Arrow's lists of fixed size as Ray's tensors, which its batches give as arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow
from ray.data.extensions import ArrowTensorTypeV2

__all__ = ["as_lists", "as_tensors", "tensor_schema"]


def tensor_schema(schema: pyarrow.Schema, names: frozenset[str]) -> pyarrow.Schema:
    """The schema with the columns of these names as tensors."""
    fields = [field.with_type(_tensor_type(field.type)) if field.name in names else field for field in schema]
    return pyarrow.schema(fields)


def as_tensors(batch: pyarrow.RecordBatch, schema: pyarrow.Schema) -> pyarrow.Table:
    """The batch with its columns as the schema that `tensor_schema` made has them. No value is copied."""
    columns = []
    for column, field in zip(batch.columns, schema, strict=True):
        if isinstance(field.type, ArrowTensorTypeV2):
            columns.append(_as_tensor(column, field.type))
        else:
            columns.append(column)
    return pyarrow.Table.from_arrays(columns, schema=schema)


def as_lists(table: pyarrow.Table) -> pyarrow.Table:
    """The table with lists of fixed size, nested as their shape is, where it has Ray's tensors."""
    columns, fields = [], []
    for column, field in zip(table.columns, table.schema, strict=True):
        if hasattr(field.type, "shape") and isinstance(field.type, pyarrow.ExtensionType):
            column = pyarrow.chunked_array([_as_list(chunk) for chunk in column.chunks], type=_list_type(field.type))
        columns.append(column)
        fields.append(pyarrow.field(field.name, column.type))
    return pyarrow.Table.from_arrays(columns, schema=pyarrow.schema(fields))


def _shape_of(kind: pyarrow.DataType) -> tuple[tuple[int, ...], pyarrow.DataType]:
    shape: list[int] = []
    while pyarrow.types.is_fixed_size_list(kind):
        shape.append(kind.list_size)
        kind = kind.value_type
    return tuple(shape), kind


def _tensor_type(kind: pyarrow.DataType) -> ArrowTensorTypeV2:
    return ArrowTensorTypeV2(*_shape_of(kind))


def _as_tensor(column: Any, kind: ArrowTensorTypeV2) -> Any:
    size = 1
    values = column
    while pyarrow.types.is_fixed_size_list(values.type):
        size *= values.type.list_size
        values = values.flatten()
    offsets = pyarrow.array(np.arange(len(column) + 1, dtype=np.int64) * size)
    return pyarrow.ExtensionArray.from_storage(kind, pyarrow.LargeListArray.from_arrays(offsets, values))


def _list_type(kind: Any) -> pyarrow.DataType:
    found = kind.storage_type.value_type
    for size in reversed(kind.shape):
        found = pyarrow.list_(found, size)
    return found


def _as_list(chunk: Any) -> Any:
    values = chunk.storage.flatten()
    for size in reversed(chunk.type.shape):
        values = pyarrow.FixedSizeListArray.from_arrays(values, size)
    return values
