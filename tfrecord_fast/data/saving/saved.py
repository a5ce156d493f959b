"""Datasets in a file: a TFRecord file in a format of its own, which appears when it is complete.

The first record is the structure of elements in JSON, the last one their number. Each record between them is an Example
with a list "parts": the arrays of each component, from `serialize_tensor`; b"" for an array that a SparseTensor lacks.
"""

from __future__ import annotations

import json
import os
import warnings
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

_FORMAT = "elements of tfrecord_fast"
_LAST = b'{"count": '  # beginning of the last record
_TAIL_BYTES = 64  # more than the last record takes
_HEADER_BYTES = 8 + 4  # of a record: its length, and the CRC of the length
_LEAF_NAMES = {SparseTensor: "sparse", RaggedTensor: "ragged", BytesArray: "bytes", _core.RecordBatch: "records"}


class Saving:
    """A file to which elements are written; `pipeline`: the fingerprint of their dataset."""

    def __init__(self, path: str, compression: str, pipeline: str | None = None) -> None:
        self._pipeline = pipeline
        self._shards: list[OutputFile] = []
        open_outputs(self._shards, [path], compression, 1, True, None)
        self._structure: Any = None
        self._count = 0

    def add(self, element: Any) -> None:
        structure = _structure(element)
        if self._count == 0:
            self._begin(structure)
        elif structure != self._structure:
            raise InvalidArgumentError(
                f"element {self._count} differs from the first: {structure} instead of {self._structure}"
            )
        arrays = [array for leaf in leaves(element) for array in serialized(leaf)]
        self._shards[0].write(encode_examples({"parts": [arrays]}))
        self._count += 1

    def complete(self) -> None:
        """Rename the file to its final name."""
        shard = self._shards[0]
        if self._count == 0:
            self._begin(None)
        shard.write([json.dumps({"count": self._count})])
        shard.complete(sync=False)
        shard.publish()

    def discard(self) -> None:
        self._shards[0].discard()

    def _begin(self, structure: Any) -> None:
        self._structure = structure
        pipeline = {} if self._pipeline is None else {"pipeline": self._pipeline}
        self._shards[0].write([json.dumps({"format": _FORMAT, "structure": structure, **pipeline})])


def as_read(element: Any) -> Any:
    """Return the element as a reader of the file gets it, so that the writing epoch equals later ones.

    Mappings are dicts or OrderedDicts. Named tuples, attrs classes, BytesArrays and RecordBatches keep their types.
    Anything else with `__array__` is an array, or without dimensions a scalar.
    """
    if isinstance(element, Mapping):
        items = {name: as_read(value) for name, value in element.items()}
        return OrderedDict(items) if isinstance(element, OrderedDict) else items
    if isinstance(element, tuple):
        cls = type(element) if hasattr(element, "_fields") else tuple
        return _instance(cls, [as_read(item) for item in element])
    if is_attrs(element):
        return _instance(type(element), [as_read(item) for item in items_of(element)])
    if not isinstance(element, np.ndarray):
        if type(element) in _LEAF_NAMES or not hasattr(element, "__array__"):
            return element
        element = np.asarray(element)
    return element if element.ndim else element[()]


def elements_in(path: str, compression: str, pipeline: str | None = None) -> Iterator[Any]:
    """Iterate over the elements of a file that `Saving` has written; warn if a dataset of another fingerprint did."""
    records = tf_record_iterator(path, compression)
    header = _header(path, next(records, b""))
    if pipeline is not None and header.get("pipeline", pipeline) != pipeline:
        warnings.warn(
            f"{path} has the elements of another dataset: its files, options or functions were different. "
            "They are used, as in TensorFlow. If the dataset has changed, remove the file or name another one",
            stacklevel=2,
        )
    return _elements(path, records, header["structure"])


def count_in(path: str, compression: str) -> int:
    """Return the number of elements, from the last record; UNKNOWN if that would require reading the whole file."""
    name, is_url = location_of(path)
    if compression or is_url:
        return UNKNOWN
    try:
        with open(name, "rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL_BYTES))
            begin = file.tell()
            last = file.read().rfind(_LAST)
        record, end = tf_record_random_reader(name).read(begin + last - _HEADER_BYTES)
        count = json.loads(record)["count"] if last >= 0 and end == size else UNKNOWN
    except (OSError, ValueError, TypeError, KeyError, TFRecordError):
        return UNKNOWN
    return count if isinstance(count, int) else UNKNOWN


def _header(path: str, record: bytes) -> Any:
    try:
        header = json.loads(record)
        if header["format"] == _FORMAT and "structure" in header:
            return header
    except (ValueError, TypeError, KeyError):
        pass
    raise InvalidArgumentError(f"{path} is not a saved dataset: its first record is {record!r:.100}")


def _elements(path: str, records: Iterator[bytes], structure: Any) -> Iterator[Any]:
    count = 0
    try:
        like = None if structure is None else _like(structure)
    except (TypeError, ValueError, KeyError, AttributeError, RecursionError) as error:
        raise InvalidArgumentError(
            f"{path} is not a saved dataset: its first record is not a structure of elements ({error})"
        ) from None
    for record in records:
        if record == json.dumps({"count": count}).encode():
            return
        parts = parse_single_example(record, {"parts": RaggedFeature("string")})["parts"].tolist()
        yield _element(like, iter(parts))
        count += 1
    raise DataLossError(path, 0, count, f"the file ends after {count} elements; its end is missing")


def serialized(leaf: Any) -> list[bytes]:
    if isinstance(leaf, SparseTensor):
        indices = leaf.indices if leaf.has_indices else None
        splits = leaf.row_splits if indices is None or leaf.row_steps is not None else None
        arrays: list[Any] = [indices, leaf.values, leaf.dense_shape, splits, leaf.row_steps]
        return [b"" if array is None else serialize_tensor(np.asarray(array)) for array in arrays]
    arrays = [leaf.flat_values, *leaf.nested_row_splits] if isinstance(leaf, RaggedTensor) else [leaf]
    return [serialize_tensor(array if isinstance(array, bytes) else np.asarray(array)) for array in arrays]


def _structure(element: Any) -> Any:
    if isinstance(element, Mapping):
        ordered = {"ordered": True} if isinstance(element, OrderedDict) else {}
        return {"dict": {_key(name): _structure(value) for name, value in element.items()}, **ordered}
    if isinstance(element, tuple):
        return {"tuple": [_structure(item) for item in element], **described(element)}
    if is_attrs(element):
        return {"attrs": [_structure(item) for item in items_of(element)], **described(element)}
    if element is None:
        raise InvalidArgumentError("an element that contains None can't be saved")
    values = getattr(element, "flat_values", getattr(element, "values", element))
    dtype = np.dtype(object) if isinstance(values, bytes) else np.asarray(values).dtype
    if not (isinstance(values, bytes | np.ndarray | np.generic) or hasattr(values, "__array__")):
        raise TypeError(f"an element of type {type(element).__name__} can't be saved")
    return {
        "leaf": _LEAF_NAMES.get(type(element), "tensor"),
        "dtype": "string" if dtype.kind == "O" else str(dtype),
        "splits": [str(splits.dtype) for splits in getattr(element, "nested_row_splits", ())],
        **({"views": True} if isinstance(values, BytesArray) and values is not element else {}),
    }


def _key(name: Any) -> str:
    if not isinstance(name, str):
        raise InvalidArgumentError(f"only dicts whose keys are str can be saved, got the key {name!r}")
    return name


def _element(like: Any, parts: Iterator[bytes]) -> Any:
    if isinstance(like, Mapping):
        items = {name: _element(like[name], parts) for name in sorted(like)}  # in the order of `leaves`
        ordered = {name: items[name] for name in like}
        return OrderedDict(ordered) if isinstance(like, OrderedDict) else ordered
    if isinstance(like, tuple):
        return _instance(type(like), [_element(item, parts) for item in like])
    if is_attrs(like):
        return _instance(type(like), [_element(item, parts) for item in items_of(like)])
    return _leaf(like, parts)


def _instance(cls: Any, items: list[Any]) -> Any:
    """Return an instance of a tuple or an attrs class without calling its code.

    A constructor could convert the items a second time; and since the file names the class, it could be any code.
    """
    if issubclass(cls, tuple):
        return tuple.__new__(cls, items)
    instance = object.__new__(cls)
    for name, item in zip(attribute_names(cls), items, strict=True):
        object.__setattr__(instance, name, item)
    return instance


def _like(structure: dict[str, Any]) -> Any:
    if "dict" in structure:
        values = {_key(name): _like(value) for name, value in structure["dict"].items()}
        return OrderedDict(values) if structure.get("ordered") else values
    if "tuple" in structure or "attrs" in structure:
        items = [*map(_like, structure["tuple"] if "tuple" in structure else structure["attrs"])]
        cls = class_of(structure) if "tuple" in structure else attrs_class_of(structure)
        if cls is not None and len(items) != len(structure["fields"]):
            raise ValueError(f"{len(items)} items for the fields {structure['fields']!r:.200}")
        return _instance(cls or tuple, items)
    return _Leaf(structure["leaf"], structure["dtype"], structure["splits"], views=bool(structure.get("views")))


class _Leaf:
    """Description of a component; with `views`, its values are a BytesArray."""

    def __init__(self, name: str, dtype: str, splits: list[str], *, views: bool) -> None:
        if name not in ("tensor", *_LEAF_NAMES.values()):
            raise ValueError(f"unknown component {name!r:.100}")
        if not isinstance(dtype, str) or (dtype[:1] in (">", "<") and np.dtype(dtype).hasobject):
            raise TypeError(f"unknown dtype {dtype!r:.100}")
        as_dtype(np.dtype(dtype) if dtype[:1] in (">", "<") else dtype)
        if not isinstance(splits, list) or not set(splits) <= {"int32", "int64"}:
            raise ValueError(f"row splits must be int32 or int64, got {splits!r:.100}")
        self.name, self.dtype, self.splits, self.views = name, dtype, splits, views


def _leaf(leaf: _Leaf, parts: Iterator[bytes]) -> Any:
    if leaf.name == "sparse":
        return _sparse(leaf, parts)
    values = _values(leaf, parts)
    if leaf.name == "records":
        return _core.record_batch(values.tolist())
    if leaf.name == "bytes":
        return BytesArray(values)
    for splits in reversed([_tensor(parts, dtype) for dtype in leaf.splits]):
        values = RaggedTensor.from_row_splits(values, splits)
    return values


def _sparse(leaf: _Leaf, parts: Iterator[bytes]) -> SparseTensor:
    indices, values, shape = _tensor_or_none(parts), _values(leaf, parts), _tensor(parts, "int64")
    splits, steps = _tensor_or_none(parts), _tensor_or_none(parts)
    if splits is not None:  # checked here, because `restored` does not
        rows: Any = RaggedTensor.from_row_splits(values, splits)
        if steps is not None:
            RaggedTensor.from_row_splits(rows, steps)
    if indices is None and (splits is None or shape.ndim != 1 or not 1 <= len(shape) - (steps is not None) <= 2):
        raise InvalidArgumentError("a saved SparseTensor has neither indices nor valid row splits")
    return restored(indices, values, shape, splits, steps)


def _values(leaf: _Leaf, parts: Iterator[bytes]) -> Any:
    values = _tensor(parts, leaf.dtype)
    return BytesArray(values) if leaf.views else values


def _tensor_or_none(parts: Iterator[bytes]) -> Any:
    data = next(parts, b"")
    return parse_tensor(data, "int64") if data else None


def _tensor(parts: Iterator[bytes], dtype: str) -> Any:
    data = next(parts, None)
    if data is None:
        raise InvalidArgumentError("an element has too few components: the file was changed")
    if dtype.startswith((">", "<")):  # not the machine's byte order; serialized tensors have no name for it
        return parse_tensor(data, np.dtype(dtype).newbyteorder("=")).astype(dtype)
    return parse_tensor(data, dtype)
