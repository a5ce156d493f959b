"""Conversion between Arrow's fixed-size lists and Ray's tensors, which are arrays in Ray's batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow
from ray.data.extensions import ArrowTensorTypeV2


def tensor_schema(schema: pyarrow.Schema, names: frozenset[str]) -> pyarrow.Schema:
    fields = [field.with_type(_tensor_type(field.type)) if field.name in names else field for field in schema]
    return pyarrow.schema(fields)


def as_tensors(batch: pyarrow.RecordBatch, schema: pyarrow.Schema) -> pyarrow.Table:
    """Convert a batch to a schema of `tensor_schema`, without copying values."""
    columns = []
    for column, field in zip(batch.columns, schema, strict=True):
        if isinstance(field.type, ArrowTensorTypeV2):
            columns.append(_as_tensor(column, field.type))
        else:
            columns.append(column)
    return pyarrow.Table.from_arrays(columns, schema=schema)


def as_lists(table: pyarrow.Table) -> pyarrow.Table:
    """Convert Ray's tensors to lists: of fixed size, nested like the shape, if all rows have the same shape."""
    columns, fields = [], []
    for column, field in zip(table.columns, table.schema, strict=True):
        convert = _CONVERSIONS.get(getattr(field.type, "extension_name", ""))
        if convert is not None:
            chunks = [convert(chunk, field.name, column.null_count > 0) for chunk in column.chunks]
            column = pyarrow.chunked_array(chunks) if chunks else pyarrow.nulls(0)
        elif pyarrow.types.is_null(_leaf(field.type)):  # the values of empty lists have no type
            column = pyarrow.nulls(len(column))
        columns.append(column)
        fields.append(pyarrow.field(field.name, column.type))
    return pyarrow.Table.from_arrays(columns, schema=pyarrow.schema(fields))


def kinds_of(table: pyarrow.Table) -> dict[str, str]:
    """Map each column of a table without tensors to the kind of its feature. Columns without values are left out."""
    kinds = ((field.name, _kind(_leaf(field.type))) for field in table.schema)
    return {name: kind for name, kind in kinds if kind}


def _tensor_type(lists: pyarrow.DataType) -> ArrowTensorTypeV2:
    shape: list[int] = []
    while pyarrow.types.is_fixed_size_list(lists):
        shape.append(lists.list_size)
        lists = lists.value_type
    return ArrowTensorTypeV2(tuple(shape), lists)


def _as_tensor(column: Any, tensor_type: ArrowTensorTypeV2) -> Any:
    size = 1
    values = column
    while pyarrow.types.is_fixed_size_list(values.type):
        size *= values.type.list_size
        values = values.flatten()
    offsets = pyarrow.array(np.arange(len(column) + 1, dtype=np.int64) * size)
    return pyarrow.ExtensionArray.from_storage(tensor_type, pyarrow.LargeListArray.from_arrays(offsets, values))


def _tensor_lists(chunk: Any, name: str, has_nulls: bool) -> Any:
    """Convert tensors of one shape to nested lists; to flat lists, if rows are null or empty."""
    if has_nulls or 0 in chunk.type.shape:
        return _with_text(chunk.storage)
    values = chunk.storage.flatten()
    if pyarrow.types.is_fixed_size_binary(values.type):
        values = _text(values)
    for size in reversed(chunk.type.shape):
        values = pyarrow.FixedSizeListArray.from_arrays(values, size)
    return values


def _with_text(lists: Any) -> Any:
    if not pyarrow.types.is_fixed_size_binary(lists.type.value_type):
        return lists
    lists = lists.take(pyarrow.array(np.arange(len(lists))))  # take() gives a slice offsets of its own
    return type(lists).from_arrays(lists.offsets, _text(lists.values), mask=lists.is_null())


def _refuse_objects(chunk: Any, name: str, has_nulls: bool) -> Any:
    first = next((value.as_py() for value in chunk if value.is_valid), None)
    raise TypeError(
        f"column {name!r} holds Python objects, which no feature can hold: the first is of type {type(first).__name__}"
    )


_CONVERSIONS = {
    "ray.data.arrow_tensor": _tensor_lists,
    "ray.data.arrow_tensor_v2": _tensor_lists,
    # Tensors of several shapes become flat lists.
    "ray.data.arrow_variable_shaped_tensor": lambda chunk, name, has_nulls: _with_text(chunk.storage.flatten()[0]),
    "ray.data.arrow_pickled_object": _refuse_objects,
}


def _text(values: Any) -> Any:
    """Decode the values of tensors of str, which Ray stores like NumPy, with four bytes per character."""
    width = values.type.byte_width
    size = len(values) * width
    raw = values.buffers()[1].slice(values.offset * width, size) if size else b""
    return pyarrow.array(np.frombuffer(raw, f"<U{width // 4}").tolist(), pyarrow.large_string())


def _leaf(arrow_type: pyarrow.DataType) -> pyarrow.DataType:
    while True:
        if isinstance(arrow_type, pyarrow.BaseExtensionType):
            arrow_type = arrow_type.storage_type
        elif pyarrow.types.is_nested(arrow_type) and arrow_type.num_fields == 1 and hasattr(arrow_type, "value_type"):
            arrow_type = arrow_type.value_type
        elif pyarrow.types.is_dictionary(arrow_type):
            arrow_type = arrow_type.value_type
        else:
            return arrow_type


def _kind(leaf: pyarrow.DataType) -> str:
    types = pyarrow.types
    if types.is_null(leaf):
        return ""
    if types.is_integer(leaf) or types.is_boolean(leaf):
        return "int64"
    return "float" if types.is_floating(leaf) else "bytes"
