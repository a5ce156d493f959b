"""Arrow's lists of fixed size as Ray's tensors, which its batches give as arrays, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow
from ray.data.extensions import ArrowTensorTypeV2

__all__ = ["as_lists", "as_tensors", "kinds_of", "tensor_schema"]


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
    """The table with plain lists where it has Ray's tensors: of fixed size, nested as their shape is, if all rows have
    the same.

    Raises:
      TypeError: a column holds Python objects, which Ray keeps as pickles: Examples can't, and must not, hold those.
    """
    columns, fields = [], []
    for column, field in zip(table.columns, table.schema, strict=True):
        chosen = _CHANGED.get(getattr(field.type, "extension_name", ""))
        if chosen is not None:
            chunks = [chosen(chunk, field.name, column.null_count > 0) for chunk in column.chunks]
            column = pyarrow.chunked_array(chunks) if chunks else pyarrow.nulls(0)
        elif pyarrow.types.is_null(_leaf(field.type)):  # lists that are all empty are of no kind
            column = pyarrow.nulls(len(column))
        columns.append(column)
        fields.append(pyarrow.field(field.name, column.type))
    return pyarrow.Table.from_arrays(columns, schema=pyarrow.schema(fields))


def kinds_of(table: pyarrow.Table) -> dict[str, str]:
    """The kind of feature that each column of a table without tensors becomes; not of those without a value."""
    kinds = {field.name: _kind(_leaf(field.type)) for field in table.schema}
    return {name: kind for name, kind in kinds.items() if kind}


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


def _of_tensors(chunk: Any, name: str, has_nulls: bool) -> Any:
    """An array of tensors of one shape as nested lists; as flat ones, if rows are null or have no value."""
    if has_nulls or 0 in chunk.type.shape:
        return _with_text(chunk.storage)
    values = chunk.storage.flatten()
    if pyarrow.types.is_fixed_size_binary(values.type):
        values = _text(values)
    for size in reversed(chunk.type.shape):
        values = pyarrow.FixedSizeListArray.from_arrays(values, size)
    return values


def _of_ragged_tensors(chunk: Any, name: str, has_nulls: bool) -> Any:
    """An array of tensors of several shapes as flat lists."""
    return _with_text(chunk.storage.flatten()[0])


def _with_text(lists: Any) -> Any:
    if not pyarrow.types.is_fixed_size_binary(lists.type.value_type):
        return lists
    lists = lists.take(pyarrow.array(np.arange(len(lists))))  # a slice has no offsets of its own
    return type(lists).from_arrays(lists.offsets, _text(lists.values), mask=lists.is_null())


def _of_objects(chunk: Any, name: str, has_nulls: bool) -> Any:
    raise TypeError(f"column {name!r} holds Python objects, of which no feature can be made: {_first(chunk)}")


def _first(chunk: Any) -> str:
    found = next((one.as_py() for one in chunk if one.is_valid), None)
    return f"the first is of type {type(found).__name__}"


_CHANGED = {
    "ray.data.arrow_tensor": _of_tensors,
    "ray.data.arrow_tensor_v2": _of_tensors,
    "ray.data.arrow_variable_shaped_tensor": _of_ragged_tensors,
    "ray.data.arrow_pickled_object": _of_objects,
}


def _text(values: Any) -> Any:
    """Ray keeps the values of tensors of str as NumPy does, four bytes a character."""
    width = values.type.byte_width
    size = len(values) * width
    raw = values.buffers()[1].slice(values.offset * width, size) if size else b""
    return pyarrow.array(np.frombuffer(raw, f"<U{width // 4}").tolist(), pyarrow.large_string())


def _leaf(kind: pyarrow.DataType) -> pyarrow.DataType:
    while True:
        if isinstance(kind, pyarrow.BaseExtensionType):
            kind = kind.storage_type
        elif pyarrow.types.is_nested(kind) and kind.num_fields == 1 and hasattr(kind, "value_type"):
            kind = kind.value_type
        elif pyarrow.types.is_dictionary(kind):
            kind = kind.value_type
        else:
            return kind


def _kind(leaf: pyarrow.DataType) -> str:
    types = pyarrow.types
    if types.is_null(leaf):
        return ""
    if types.is_integer(leaf) or types.is_boolean(leaf):
        return "int64"
    return "float" if types.is_floating(leaf) else "bytes"
