"""Protobuf's wire format in Python: single records, read and written field by field."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core

VARINT, FIXED64, DELIMITED, START_GROUP, END_GROUP, FIXED32 = range(6)
_FIXED = {FIXED64: 8, FIXED32: 4}
_KINDS = {1: "bytes", 2: "float", 3: "int64"}
_MAX_SHIFT = 63  # bits, of the last of ten bytes


class Field(NamedTuple):
    """One field: its number, its wire type, and its value: an unsigned int for a varint, otherwise bytes."""

    number: int
    type: int
    value: int | bytes


class Value(NamedTuple):
    """The kind of a feature ("bytes", "float", "int64", or "none" if no list is set), and its values.

    Floats have the fewest digits that identify the float32.
    """

    kind: str
    values: list[bytes] | list[float] | list[int]


def fields_of(message: bytes) -> Iterator[Field]:
    position = 0
    while position < len(message):
        tag, position = _varint(message, position)
        number, type = tag >> 3, tag & 7
        if not 0 < number < 1 << 29:
            raise ValueError("a field has no valid number")
        value: int | bytes
        if type == VARINT:
            value, position = _varint(message, position)
        elif type == START_GROUP:
            start = position
            position = _group_end(message, position, number)
            value = message[start:position]
        else:
            if type == DELIMITED:
                size, position = _varint(message, position)
            elif type in _FIXED:
                size = _FIXED[type]
            else:
                raise ValueError(f"field {number} has no valid type")
            if size > len(message) - position:
                raise ValueError(f"field {number} is truncated")
            value = message[position : position + size]
            position += size
        yield Field(number, type, value)


def _varint(message: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(message) and shift <= _MAX_SHIFT:
        byte = message[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, position
        shift += 7
    raise ValueError("a varint is truncated or too long")


def _group_end(message: bytes, position: int, number: int) -> int:
    open_groups = [number]
    while open_groups:
        tag, position = _varint(message, position)
        type = tag & 7
        if type == START_GROUP:
            open_groups.append(tag >> 3)
        elif type == END_GROUP:
            if open_groups.pop() != tag >> 3:
                raise ValueError("a group does not end")
        elif type == VARINT:
            _, position = _varint(message, position)
        elif type == DELIMITED:
            size, position = _varint(message, position)
            position += size
        elif type in _FIXED:
            position += _FIXED[type]
        else:
            raise ValueError("a field has no valid type")
    return position


def example_of(record: bytes) -> dict[str, Value]:
    """Return the features of an Example by name, in the order of the record, including features without a list."""
    return {key: _feature(value) for key, value in entries_of(record, 1)}


def sequence_of(record: bytes) -> tuple[dict[str, Value], dict[str, list[Value]]]:
    """Return the context features and the feature lists of a SequenceExample."""
    lists = {key: [_feature(step) for step in steps_of(value)] for key, value in entries_of(record, 2)}
    return example_of(record), lists


def has_lists(record: bytes) -> bool:
    """Return True if an Example or SequenceExample is the latter: its feature lists are set, if only to none."""
    return any(field.number == 2 and field.type == DELIMITED for field in fields_of(record))


def _delimited(message: bytes, number: int) -> Iterator[bytes]:
    for field in fields_of(message):
        if field.number == number and isinstance(field.value, bytes) and field.type == DELIMITED:
            yield field.value


def entries_of(record: bytes, number: int) -> Iterator[tuple[str, bytes]]:
    """Yield the features (number 1) or feature lists (2) of a record as they are stored: a name may be repeated."""
    for entries in _delimited(record, number):
        for entry in _delimited(entries, 1):
            keys = [b"", *_delimited(entry, 1)]  # the last one counts
            value = b"".join(_delimited(entry, 2))  # repeated messages are merged
            yield keys[-1].decode("utf-8", "surrogateescape"), value


def steps_of(feature_list: bytes) -> Iterator[bytes]:
    return _delimited(feature_list, 1)


def array_of(feature: bytes) -> tuple[str, list[bytes] | NDArray[np.float32] | NDArray[np.int64]]:
    """Return the kind and the values of a feature from `entries_of` or `steps_of`; numbers as an array."""
    kind, content = _kind_and_content(feature)
    if kind == "bytes":
        return kind, list(_delimited(content, 1))
    return kind, _float_array(content) if kind == "float" else _integer_array(content)


def _kind_and_content(message: bytes) -> tuple[str, bytes]:
    kind, content = "none", b""
    for field in fields_of(message):
        if field.type == DELIMITED and isinstance(field.value, bytes) and field.number in _KINDS:
            if _KINDS[field.number] != kind:
                kind, content = _KINDS[field.number], b""
            content += field.value
    return kind, content


def _feature(message: bytes) -> Value:
    kind, values = array_of(message)
    if isinstance(values, list):
        return Value(kind, values)
    return Value(
        kind, values.astype("U").astype(np.float64).tolist() if kind == "float" and len(values) else values.tolist()
    )


def _float_array(message: bytes) -> NDArray[np.float32]:
    packed = b"".join(
        field.value
        for field in fields_of(message)
        if field.number == 1 and field.type in (DELIMITED, FIXED32) and isinstance(field.value, bytes)
    )
    if len(packed) % 4:
        raise ValueError("a list of floats is truncated")
    return np.frombuffer(packed, "<f4")


def _integer_array(message: bytes) -> NDArray[np.int64]:
    arrays = [np.zeros(0, np.int64)]
    unpacked: list[int] = []
    for field in fields_of(message):
        if field.number == 1 and isinstance(field.value, int):
            unpacked.append(field.value - (field.value >> 63 << 64))
        elif field.number == 1 and field.type == DELIMITED and isinstance(field.value, bytes):
            arrays += [np.array(unpacked, np.int64), _core.decode_varints(field.value)]
            unpacked = []
    return np.concatenate([*arrays, np.array(unpacked, np.int64)])


def to_example(features: Mapping[str, Value]) -> bytes:
    """Serialize an Example with these features, in the order of their keys, as `encode_examples` does."""
    return _message(1, _map((key, _feature_bytes(value)) for key, value in features.items()))


def to_sequence(context: Mapping[str, Value], lists: Mapping[str, list[Value]]) -> bytes:
    steps = ((key, b"".join(_message(1, _feature_bytes(step)) for step in steps)) for key, steps in lists.items())
    return (to_example(context) if context else b"") + _message(2, _map(steps))


def _map(entries: Iterable[tuple[str, bytes]]) -> bytes:
    keyed = sorted((key.encode("utf-8", "surrogateescape"), value) for key, value in entries)
    return b"".join(_message(1, _message(1, key) + _message(2, value)) for key, value in keyed)


def _feature_bytes(value: Value) -> bytes:
    if value.kind == "none":
        return b""
    number = next(number for number, kind in _KINDS.items() if kind == value.kind)
    values: list[Any] = list(value.values)
    if value.kind == "bytes":
        return _message(number, b"".join(_message(1, item) for item in values))
    if not values:
        return _message(number, b"")
    if value.kind == "float":
        return _message(number, _message(1, np.array(values, "<f4").tobytes()))
    return _message(number, _message(1, _core.encode_varints(np.array(values, np.int64))))


def _message(number: int, content: bytes) -> bytes:
    size, left = bytearray(), len(content)
    while left >= 0x80:
        size.append(left & 0x7F | 0x80)
        left >>= 7
    size.append(left)
    return bytes([number << 3 | DELIMITED]) + bytes(size) + content
