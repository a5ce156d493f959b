"""Columns of images, sounds and videos of Hugging Face's datasets: structs of bytes and a path."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .base import Malformed, arrow


def flat_schema(schema: Any) -> Any:
    """Replace each of these columns by two: NAME for the bytes, and NAME/path for the path."""
    fields = [flat for field in schema for flat in _fields(field)]
    return arrow("pyarrow").schema(fields, metadata=schema.metadata)


def flat_batch(path: str, first: int, batch: Any) -> Any:
    """Convert a batch to the columns of `flat_schema`; `first` is the number of its first row in the file."""
    if not any(_is_media(field.type) for field in batch.schema):
        return batch
    columns = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if not _is_media(field.type):
            columns.append(column)
            continue
        parts = dict(zip((child.name for child in field.type), column.flatten(), strict=True))
        data, paths = parts["bytes"], parts["path"]
        for row in range(len(column)) if data.null_count else ():
            if paths[row].is_valid and not data[row].is_valid:
                where = f"{path}: column {field.name!r}, row {first + row}"
                raise Malformed(f"{where}: missing bytes of {paths[row].as_py()!r}")
        columns += [data, paths]
    return arrow("pyarrow").RecordBatch.from_arrays(columns, schema=flat_schema(batch.schema))


def _fields(field: Any) -> Iterator[Any]:
    if not _is_media(field.type):
        yield field
        return
    types = {child.name: child.type for child in field.type}
    yield arrow("pyarrow").field(field.name, types["bytes"])
    yield arrow("pyarrow").field(f"{field.name}/path", types["path"])


def _is_media(type: Any) -> bool:
    types = arrow("pyarrow.types")
    if not types.is_struct(type) or {child.name for child in type} != {"bytes", "path"} or type.num_fields != 2:
        return False
    data, path = type.field("bytes").type, type.field("path").type
    is_bytes = types.is_binary(data) or types.is_large_binary(data)
    return bool(is_bytes and (types.is_string(path) or types.is_large_string(path)))
