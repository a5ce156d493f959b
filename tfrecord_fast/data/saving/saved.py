"""Datasets that are kept in a file: a TFRecord file of their own kind, which appears when it is complete.

The first record says in JSON how the elements are structured, the last how many there are. Each record between them is
an Example with a list "parts": for each component of the element its arrays, as of `serialize_tensor`; b"" for one that
a SparseTensor does not have.
"""

from __future__ import annotations

import json
import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ... import _core
from ...dtypes import as_dtype
from ...errors import DataLossError, InvalidArgumentError, TFRecordError
from ...examples.encoding.encode import encode_examples
from ...examples.features import RaggedFeature
from ...examples.messages.tensors import parse_tensor, serialize_tensor
from ...examples.parsing.parse import parse_single_example
from ...files.naming.location import location_of
from ...files.streams.record_iterator import tf_record_iterator
from ...files.streams.record_reader import tf_record_random_reader
from ...files.writing.output_files import OutputFile, open_outputs
from ...values.columns.bytes_array import BytesArray
from ...values.columns.ragged import RaggedTensor
from ...values.columns.sparse import SparseTensor, restored
from ...values.elements.attrs_classes import attribute_names, is_attrs, items_of
from ...values.elements.nests import leaves
from ..numbers import UNKNOWN
from .named_tuples import attrs_class_of, class_of, described

__all__ = ["Saving", "as_read", "count_in", "elements_in"]

_FORMAT = "elements of tfrecord_fast"
_LAST = b'{"count": '  # how the last record begins
_TAIL_BYTES = 64  # in which it is
_HEADER_BYTES = 8 + 4  # of a record: its length, and the CRC of that
_KINDS = {SparseTensor: "sparse", RaggedTensor: "ragged", BytesArray: "bytes", _core.RecordBatch: "records"}


class Saving:
    """A file that elements are written to."""

    def __init__(self, path: str, compression: str) -> None:
        self._shards: list[OutputFile] = []
        open_outputs(self._shards, [path], compression, 1, True, None)
        self._structure: Any = None
        self._count = 0

    def add(self, element: Any) -> None:
        """Writes one element.

        Raises:
          errors.InvalidArgumentError, TypeError: it can't be kept, or is of another structure than the first.
        """
        structure = _structure(element)
        if self._count == 0:
            self._begin(structure)
        elif structure != self._structure:
            raise InvalidArgumentError(f"element {self._count} is {structure}, the first is {self._structure}")
        parts = [part for leaf in leaves(element) for part in _parts(leaf)]
        self._shards[0].writer.write(encode_examples({"parts": [parts]})[0])
        self._count += 1

    def complete(self) -> None:
        """Gives the file its name."""
        shard = self._shards[0]
        if self._count == 0:
            self._begin(None)
        shard.writer.write(json.dumps({"count": self._count}))
        shard.complete(sync=False)
        shard.publish()

    def discard(self) -> None:
        """Removes what is not complete."""
        self._shards[0].discard()

    def _begin(self, structure: Any) -> None:
        self._structure = structure
        self._shards[0].writer.write(json.dumps({"format": _FORMAT, "structure": structure}))


def as_read(element: Any) -> Any:
    """The element with the types that it has when it is read: the epoch that writes a file gives what later ones give.

    Mappings are dicts or OrderedDicts; named tuples, attrs classes, BytesArrays and RecordBatches stay what they are;
    what is like an array is one, without dimensions a scalar.
    """
    if isinstance(element, Mapping):
        made = {name: as_read(value) for name, value in element.items()}
        return OrderedDict(made) if isinstance(element, OrderedDict) else made
    if isinstance(element, tuple):
        items = [as_read(item) for item in element]
        return _of_class(type(element) if hasattr(element, "_fields") else tuple, items)
    if is_attrs(element):
        return _of_class(type(element), [as_read(item) for item in items_of(element)])
    if not isinstance(element, np.ndarray):
        if type(element) in _KINDS or not hasattr(element, "__array__"):
            return element
        element = np.asarray(element)
    return element if element.ndim else element[()]


def elements_in(path: str, compression: str) -> Iterator[Any]:
    """The elements of a file that `Saving` has written.

    Raises:
      FileNotFoundError: there is none.
      errors.InvalidArgumentError: the file is another one.
      errors.DataLossError: at the end: there were more elements.
    """
    records = tf_record_iterator(path, compression)
    return _elements(path, records, _header(path, next(records, b"")))


def count_in(path: str, compression: str) -> int:
    """How many elements such a file holds, as its last record says; UNKNOWN if all of it would have to be read."""
    name, is_url = location_of(path)
    if compression or is_url:
        return UNKNOWN
    try:
        with open(name, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            begin = file.tell()
            place = file.read().rfind(_LAST)
        record, end = tf_record_random_reader(name).read(begin + place - _HEADER_BYTES)
        count = json.loads(record)["count"] if place >= 0 and end == size else UNKNOWN
    except (OSError, ValueError, TypeError, KeyError, TFRecordError):
        return UNKNOWN
    return count if isinstance(count, int) else UNKNOWN


def _header(path: str, record: bytes) -> Any:
    try:
        said = json.loads(record)
        if said["format"] == _FORMAT:
            return said["structure"]
    except (ValueError, TypeError, KeyError):
        pass
    raise InvalidArgumentError(f"{path} holds no dataset: its first record is {record!r:.100}")


def _elements(path: str, records: Iterator[bytes], structure: Any) -> Iterator[Any]:
    count = 0
    try:
        like = None if structure is None else _like(structure)
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
        raise InvalidArgumentError(
            f"{path} holds no dataset: its first record does not say of what ({error})"
        ) from None
    for record in records:
        if record == json.dumps({"count": count}).encode():
            return
        parts = parse_single_example(record, {"parts": RaggedFeature("string")})["parts"].tolist()
        yield _element(like, iter(parts))
        count += 1
    raise DataLossError(path, 0, count, f"the file ends after {count} elements; there were more")


def _parts(leaf: Any) -> list[bytes]:
    if isinstance(leaf, SparseTensor):
        return [b"" if array is None else serialize_tensor(np.asarray(array)) for array in _arrays_of(leaf)]
    arrays: list[Any]
    if isinstance(leaf, RaggedTensor):
        arrays = [leaf.flat_values, *leaf.nested_row_splits]
    else:
        arrays = [leaf]
    return [serialize_tensor(array if isinstance(array, bytes) else np.asarray(array)) for array in arrays]


def _arrays_of(sparse: SparseTensor) -> list[Any]:
    """All that makes it what it is: indices decide what it becomes elsewhere, and steps may be empty."""
    indices = sparse.indices if sparse.has_indices else None
    splits = sparse.row_splits if indices is None or sparse.row_steps is not None else None
    return [indices, sparse.values, sparse.dense_shape, splits, sparse.row_steps]


def _structure(element: Any) -> Any:
    if isinstance(element, Mapping):
        ordered = {"ordered": True} if isinstance(element, OrderedDict) else {}
        return {"dict": {_key(name): _structure(value) for name, value in element.items()}, **ordered}
    if isinstance(element, tuple):
        return {"tuple": [_structure(item) for item in element], **described(element)}
    if is_attrs(element):
        return {"attrs": [_structure(item) for item in items_of(element)], **described(element)}
    if element is None:
        raise InvalidArgumentError("an element with None in it can't be kept in a file")
    values = getattr(element, "flat_values", getattr(element, "values", element))
    dtype = np.dtype(object) if isinstance(values, bytes) else np.asarray(values).dtype
    if not (isinstance(values, bytes | np.ndarray | np.generic) or hasattr(values, "__array__")):
        raise TypeError(f"an element of type {type(element).__name__} can't be kept in a file")
    return {
        "leaf": _KINDS.get(type(element), "tensor"),
        "dtype": "string" if dtype.kind == "O" else str(dtype),
        "splits": [str(splits.dtype) for splits in getattr(element, "nested_row_splits", ())],
        **({"steps": True} if isinstance(element, SparseTensor) else {}),
        **({"views": True} if isinstance(values, BytesArray) and values is not element else {}),
    }


def _key(name: Any) -> str:
    if not isinstance(name, str):
        raise InvalidArgumentError(f"only dicts whose keys are str can be kept in a file, got {name!r}")
    return name


def _element(like: Any, parts: Iterator[bytes]) -> Any:
    if isinstance(like, Mapping):
        made = {name: _element(like[name], parts) for name in sorted(like)}  # in the order of `leaves`
        ordered = {name: made[name] for name in like}
        return OrderedDict(ordered) if isinstance(like, OrderedDict) else ordered
    if isinstance(like, tuple):
        return _of_class(type(like), [_element(item, parts) for item in like])
    if is_attrs(like):
        return _of_class(type(like), [_element(item, parts) for item in items_of(like)])
    return _leaf(like, parts)


def _of_class(kind: Any, items: list[Any]) -> Any:
    """A tuple, a named one or an instance of an attrs class as it was. Code of its class's own would change the items
    once more, and could be any code, as a file says which class it is."""
    if issubclass(kind, tuple):
        return tuple.__new__(kind, items)
    made = object.__new__(kind)
    for name, item in zip(attribute_names(kind), items, strict=True):
        object.__setattr__(made, name, item)
    return made


def _like(structure: dict[str, Any]) -> Any:
    if "dict" in structure:
        made = {_key(name): _like(value) for name, value in structure["dict"].items()}
        return OrderedDict(made) if structure.get("ordered") else made
    if "tuple" in structure or "attrs" in structure:
        items = [*map(_like, structure["tuple"] if "tuple" in structure else structure["attrs"])]
        kind = class_of(structure) if "tuple" in structure else attrs_class_of(structure)
        if kind is not None and len(items) != len(structure["fields"]):
            raise ValueError(f"{len(items)} items of the fields {structure['fields']!r:.200}")
        return _of_class(kind or tuple, items)
    return _Leaf(
        structure["leaf"],
        structure["dtype"],
        structure["splits"],
        views=bool(structure.get("views")),
        steps=bool(structure.get("steps")),
    )


class _Leaf:
    """What one component was.

    `views`: whether its values are a BytesArray. `steps`: whether a SparseTensor has its rows and steps with it; files
    of earlier versions don't say either.

    Raises:
      TypeError, ValueError: there is no such kind, or no such dtype.
    """

    def __init__(self, kind: str, dtype: str, splits: list[str], *, views: bool, steps: bool) -> None:
        if kind not in ("tensor", *_KINDS.values()):
            raise ValueError(f"no kind of component {kind!r:.100}")
        if not isinstance(dtype, str) or (dtype[:1] in (">", "<") and np.dtype(dtype).hasobject):
            raise TypeError(f"no dtype {dtype!r:.100}")
        as_dtype(np.dtype(dtype) if dtype[:1] in (">", "<") else dtype)
        if not isinstance(splits, list) or not set(splits) <= {"int32", "int64"}:
            raise ValueError(f"no dtypes of splits {splits!r:.100}")
        self.kind, self.dtype, self.splits, self.views, self.steps = kind, dtype, splits, views, steps


def _leaf(leaf: _Leaf, parts: Iterator[bytes]) -> Any:
    if leaf.kind == "sparse":
        return _sparse(leaf, parts)
    values = _values(leaf, parts)
    if leaf.kind == "records":
        return _core.record_batch(values.tolist())
    if leaf.kind == "bytes":
        return BytesArray(values)
    for splits in reversed([_tensor(parts, dtype) for dtype in leaf.splits]):
        values = RaggedTensor.from_row_splits(values, splits)
    return values


def _sparse(leaf: _Leaf, parts: Iterator[bytes]) -> SparseTensor:
    indices, values, shape = _tensor_or_none(parts), _values(leaf, parts), _tensor(parts, "int64")
    splits, steps = (_tensor_or_none(parts), _tensor_or_none(parts)) if leaf.steps else (None, None)
    if splits is not None:  # which are used as they are
        rows: Any = RaggedTensor.from_row_splits(values, splits)
        if steps is not None:
            RaggedTensor.from_row_splits(rows, steps)
    if indices is None and (splits is None or shape.ndim != 1 or not 1 <= len(shape) - (steps is not None) <= 2):
        raise InvalidArgumentError("a sparse component has neither indices nor rows that tell them")
    return restored(indices, values, shape, splits, steps)


def _values(leaf: _Leaf, parts: Iterator[bytes]) -> Any:
    values = _tensor(parts, leaf.dtype)
    return BytesArray(values) if leaf.views else values


def _tensor_or_none(parts: Iterator[bytes]) -> Any:
    part = next(parts, b"")
    return parse_tensor(part, "int64") if part else None


def _tensor(parts: Iterator[bytes], dtype: str) -> Any:
    part = next(parts, None)
    if part is None:
        raise InvalidArgumentError("an element lacks a component: the file was changed")
    if dtype.startswith((">", "<")):  # not the order of this machine's bytes, which files have no name for
        return parse_tensor(part, np.dtype(dtype).newbyteorder("=")).astype(dtype)
    return parse_tensor(part, dtype)
