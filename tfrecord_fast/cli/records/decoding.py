"""Decoding of records into trees, to be shown or written as JSON: dicts, lists, `Value`s of features, and scalars."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ... import _core
from ...dtypes import DATA_TYPES
from ...examples.messages.wire import DELIMITED, FIXED32, FIXED64, VARINT, Field, example_of, fields_of, sequence_of
from ...examples.record_kinds import EMPTY, EXAMPLE, SEQUENCE_EXAMPLE, form_of, kind_of, unknown_field

FORMS = ("auto", "example", "raw", "base64", "event", "proto")

_DTYPES = {number: name for name, number in DATA_TYPES.items()}
_DEPTH = 4  # of nested messages whose form is guessed
_TYPES = {VARINT: "varint", FIXED64: "fixed64", DELIMITED: "bytes", FIXED32: "fixed32"}
_STRING = DATA_TYPES["string"]

# The repeated fields of a TensorProto that hold numbers: the packed dtype, or None for varints.
_TENSOR_VALUES: dict[int, str | None] = {
    **{5: "<f4", 6: "<f8", 9: "<f4", 12: "<f8"},
    **{7: None, 10: None, 11: None, 13: None, 16: None, 17: None},
}
_COMPLEX, _HALVES, _UNSIGNED = (9, 12), 13, (16, 17)  # real and imaginary parts; bits of 16-bit floats; uint32, uint64


class Undecodable(ValueError):
    """The record does not have the requested form."""


class Decoded(NamedTuple):
    """A record's kind and its tree; the tree is None if the record is shown as bytes or text."""

    kind: str
    tree: dict[str, Any] | None


def decode(record: bytes, form: str = "auto") -> Decoded:
    """Decode a record by its detected kind ("auto"), or as "example", "event" or "proto"."""
    record_kind = kind_of(record)
    if form == "example" and record_kind not in (EXAMPLE, SEQUENCE_EXAMPLE, EMPTY):
        raise Undecodable(f"the record is not an Example (looks like {record_kind})")
    if form == "event" and record_kind != "TensorBoard event":
        raise Undecodable(f"the record is not a TensorBoard event (looks like {record_kind})")
    read = _proto if form == "proto" else _READERS.get(record_kind)
    if read is None:
        return Decoded(record_kind, None)
    try:
        return Decoded(record_kind, read(record))
    except (ValueError, struct.error) as error:
        if form == "auto":
            return Decoded(record_kind, None)
        raise Undecodable(f"cannot decode the record as {form}: {error}") from None


def left_out(record: bytes, decoded: Decoded) -> int:
    """Return the number of the first field that is not part of an Example and not in the tree, or 0."""
    is_example = decoded.tree is not None and not {"features", "feature_lists"}.isdisjoint(decoded.tree)
    return unknown_field(record) if is_example else 0


def _sequence(record: bytes) -> dict[str, Any]:
    context, lists = sequence_of(record)
    return {"context": context, "feature_lists": lists}


def _elwc(record: bytes) -> dict[str, Any]:
    tree: dict[str, Any] = {"context": {}, "examples": []}
    for field in fields_of(record):
        assert isinstance(field.value, bytes)
        if field.number == 1:
            tree["examples"].append(example_of(field.value))
        else:
            tree["context"] |= example_of(field.value)
    return tree


def _event(record: bytes) -> dict[str, Any]:
    names = {3: "file_version", 4: "graph_def", 6: "log_message", 7: "session_log", 8: "tagged_run_metadata"}
    names |= {9: "meta_graph_def", 10: "source_metadata"}
    tree: dict[str, Any] = {}
    for number, _, value in fields_of(record):
        if number == 1 and isinstance(value, bytes):
            tree["wall_time"] = struct.unpack("<d", value)[0]
        elif number == 2 and isinstance(value, int):
            tree["step"] = _signed(value)
        elif number == 5 and isinstance(value, bytes):
            tree["summary"] = [
                _summary(message.value) for message in fields_of(value) if isinstance(message.value, bytes)
            ]
        elif number in names:
            tree[names[number]] = value
    return tree


def _summary(message: bytes) -> dict[str, Any]:
    """Decode one value of a Summary: its tag, and a number, an image, a histogram, a tensor, …"""
    names = {1: "tag", 7: "node_name"}
    tree: dict[str, Any] = {}
    for number, type, value in fields_of(message):
        if number == 2 and type == FIXED32 and isinstance(value, bytes):
            tree["simple_value"] = float(str(np.frombuffer(value, "<f4")[0]))
        elif number == 8 and isinstance(value, bytes):
            tree["tensor"] = _tensor(value)
        elif number == 4 and isinstance(value, bytes):
            tree["image"] = next((field.value for field in fields_of(value) if field.number == 4), b"")
        elif number == 5 and isinstance(value, bytes):
            tree["histogram"] = _histogram(value)
        elif number in names:
            tree[names[number]] = value
        elif number != 9:  # metadata, for plugins
            tree[f"field {number}"] = value
    return tree


def _histogram(message: bytes) -> dict[str, Any]:
    names = {1: "min", 2: "max", 3: "num", 4: "sum", 5: "sum_squares", 6: "bucket_limit", 7: "bucket"}
    tree: dict[str, Any] = {}
    for number, type, value in fields_of(message):
        if number in names and isinstance(value, bytes):
            numbers = np.frombuffer(value, "<f8").tolist()
            tree[names[number]] = numbers if type == DELIMITED else numbers[0]
    return tree


def _tensor(record: bytes) -> dict[str, Any]:
    dtype, shape, content, kept_in = 0, [], b"", 0
    values: list[Any] = []
    for number, type, value in fields_of(record):
        if number == 1 and isinstance(value, int):
            dtype = value
        elif number == 2 and isinstance(value, bytes):
            shape = [_dimension(item) for item in fields_of(value) if item.number == 2]
        elif number == 4 and isinstance(value, bytes):
            content = value
        elif number == 8 or number in _TENSOR_VALUES:
            if number != kept_in:  # the last field counts
                values, kept_in = [], number
            values += [value] if number == 8 else _tensor_values(number, type, value)
    name = _DTYPES.get(dtype, f"dtype {dtype}")
    if content and name in _DTYPES.values() and dtype != _STRING and name != "bfloat16":
        values = np.frombuffer(content, np.dtype(name).newbyteorder("<")).tolist()
        if name.startswith("complex"):
            values = [str(item) for item in values]
    elif content:
        return {"dtype": name, "shape": shape, "content": content}
    elif kept_in in _COMPLEX:
        values = [str(complex(*pair)) for pair in zip(values[::2], values[1::2], strict=False)]
    elif kept_in == _HALVES:
        bits = np.array(values, np.int64).astype(np.uint16)
        floats = (bits.astype(np.uint32) << 16).view(np.float32) if name == "bfloat16" else bits.view(np.float16)
        values = floats.tolist()
    return {"dtype": name, "shape": shape, "values": values}


def _tensor_values(number: int, type: int, value: int | bytes) -> list[Any]:
    packed = _TENSOR_VALUES[number]
    if isinstance(value, int):
        return [value if number in _UNSIGNED else _signed(value)]
    if packed is not None:
        numbers: list[Any] = np.frombuffer(value, packed).tolist()
        return numbers
    varints = _core.decode_varints(value)
    values: list[int] = (varints.view(np.uint64) if number in _UNSIGNED else varints).tolist()
    return values


def _dimension(field: Field) -> int:
    assert isinstance(field.value, bytes)
    return next((_signed(item.value) for item in fields_of(field.value) if isinstance(item.value, int)), 0)


def _signed(value: int) -> int:
    return value - (value >> 63 << 64)


def _proto(record: bytes, depth: int = _DEPTH) -> dict[str, Any]:
    """Decode fields by number and wire type; try to decode bytes as messages."""
    return {"fields": [_proto_field(field, depth) for field in fields_of(record)]}


def _proto_field(field: Field, depth: int) -> dict[str, Any]:
    value: Any = field.value
    tree = {"field": field.number, "type": _TYPES.get(field.type, "group")}
    if field.type == FIXED64:
        return {**tree, "double": struct.unpack("<d", value)[0], "integer": struct.unpack("<Q", value)[0]}
    if field.type == FIXED32:
        return {**tree, "float": float(str(np.frombuffer(value, "<f4")[0])), "integer": struct.unpack("<I", value)[0]}
    if field.type != VARINT and depth and value and form_of(value) not in ("text", "JSON"):
        try:
            return {**tree, "message": _proto(value, depth - 1)["fields"]}
        except ValueError:
            pass
    return {**tree, "value": value}


_READERS: dict[str, Callable[[bytes], dict[str, Any]]] = {
    EXAMPLE: lambda record: {"features": example_of(record)},
    SEQUENCE_EXAMPLE: _sequence,
    "ELWC": _elwc,
    "TensorBoard event": _event,
    "TensorProto": _tensor,
    "nested Examples": _proto,
    "TFX statistics": _proto,
    "Waymo Scenario": _proto,
    "protobuf": _proto,
}
