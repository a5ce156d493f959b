"""Protobuf messages read and written field by field, in Python: single records, exactly as they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ... import _core

__all__ = [
    "DELIMITED",
    "FIXED32",
    "FIXED64",
    "VARINT",
    "Field",
    "Value",
    "array_of",
    "entries_of",
    "example_of",
    "fields_of",
    "has_lists",
    "sequence_of",
    "steps_of",
    "to_example",
    "to_sequence",
]

VARINT, FIXED64, DELIMITED, START_GROUP, END_GROUP, FIXED32 = range(6)
_FIXED = {FIXED64: 8, FIXED32: 4}
_KINDS = {1: "bytes", 2: "float", 3: "int64"}
_MAX_SHIFT = 63  # bits, of the last of ten bytes


class Field(NamedTuple):
    """One field: its number, its wire type, and its value: an int (unsigned) of a varint, bytes of everything else."""

    number: int
    type: int
    value: int | bytes


class Value(NamedTuple):
    """What a feature holds: its kind ("bytes", "float", "int64", or "none" where no list is set), and the values.

    Floats are those with as few digits as tell the float32.
    """

    kind: str
    values: list[bytes] | list[float] | list[int]


def fields_of(message: bytes) -> Iterator[Field]:
    """The fields in order.

    Raises:
      ValueError: the bytes are no protobuf message.
    """
    place = 0
    while place < len(message):
        tag, place = _varint(message, place)
        number, type = tag >> 3, tag & 7
        if not 0 < number < 1 << 29:
            raise ValueError("a field has no valid number")
        value: int | bytes
        if type == VARINT:
            value, place = _varint(message, place)
        elif type == START_GROUP:
            start = place
            place = _group_end(message, place, number)
            value = message[start:place]
        else:
            if type == DELIMITED:
                size, place = _varint(message, place)
            elif type in _FIXED:
                size = _FIXED[type]
            else:
                raise ValueError(f"field {number} has no valid type")
            if size > len(message) - place:
                raise ValueError(f"field {number} is cut")
            value = message[place : place + size]
            place += size
        yield Field(number, type, value)


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(message) and shift <= _MAX_SHIFT:
        byte = message[place]
        place += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & (1 << 64) - 1, place
        shift += 7
    raise ValueError("a number is cut or too long")


def _group_end(message: bytes, place: int, number: int) -> int:
    """Where the group that began before `place` is over."""
    open_groups = [number]
    while open_groups:
        tag, place = _varint(message, place)
        type = tag & 7
        if type == START_GROUP:
            open_groups.append(tag >> 3)
        elif type == END_GROUP:
            if open_groups.pop() != tag >> 3:
                raise ValueError("a group does not end")
        elif type == VARINT:
            _, place = _varint(message, place)
        elif type == DELIMITED:
            size, place = _varint(message, place)
            place += size
        elif type in _FIXED:
            place += _FIXED[type]
        else:
            raise ValueError("a field has no valid type")
    return place


def example_of(record: bytes) -> dict[str, Value]:
    """The features of an Example, by name, in the order of the record; those of no kind too.

    Raises:
      ValueError: malformed.
    """
    made: dict[str, Value] = {}
    for features in _delimited(record, 1):
        made |= {key: _feature(value) for key, value in _entries(features)}
    return made


def sequence_of(record: bytes) -> tuple[dict[str, Value], dict[str, list[Value]]]:
    """The context features and the feature lists of a SequenceExample.

    Raises:
      ValueError: malformed.
    """
    lists: dict[str, list[Value]] = {}
    for all_lists in _delimited(record, 2):
        lists |= {key: [_feature(one) for one in _delimited(steps, 1)] for key, steps in _entries(all_lists)}
    return example_of(record), lists


def has_lists(record: bytes) -> bool:
    """Whether what is an Example or a SequenceExample is the latter: feature lists are set, if only to none."""
    return any(field.number == 2 and field.type == DELIMITED for field in fields_of(record))


def _delimited(message: bytes, number: int) -> Iterator[bytes]:
    for field in fields_of(message):
        if field.number == number and isinstance(field.value, bytes) and field.type == DELIMITED:
            yield field.value


def _entries(message: bytes) -> Iterator[tuple[str, bytes]]:
    for entry in _delimited(message, 1):
        keys = [b"", *_delimited(entry, 1)]  # the last one counts
        value = b"".join(_delimited(entry, 2))  # messages that are given twice are merged
        yield keys[-1].decode("utf-8", "surrogateescape"), value


def entries_of(record: bytes, number: int) -> Iterator[tuple[str, bytes]]:
    """The features (number 1) or feature lists (2) of a record as they are in it: a name may come twice.

    Raises:
      ValueError: malformed.
    """
    for entries in _delimited(record, number):
        yield from _entries(entries)


def steps_of(feature_list: bytes) -> Iterator[bytes]:
    """The features of a feature list, as `entries_of` gives one."""
    return _delimited(feature_list, 1)


def array_of(feature: bytes) -> tuple[str, list[bytes] | NDArray[np.float32] | NDArray[np.int64]]:
    """The kind and the values of a feature, as `entries_of` or `steps_of` gives one; numbers as an array.

    Raises:
      ValueError: malformed.
    """
    kind, parts = _kind_and_content(feature)
    if kind == "bytes":
        return kind, list(_delimited(parts, 1))
    return kind, _float_array(parts) if kind == "float" else _integer_array(parts)


def _kind_and_content(message: bytes) -> tuple[str, bytes]:
    kind, parts = "none", b""
    for field in fields_of(message):
        if field.type == DELIMITED and isinstance(field.value, bytes) and field.number in _KINDS:
            if _KINDS[field.number] != kind:
                kind, parts = _KINDS[field.number], b""
            parts += field.value
    return kind, parts


def _feature(message: bytes) -> Value:
    kind, parts = _kind_and_content(message)
    if kind == "bytes":
        return Value(kind, list(_delimited(parts, 1)))
    return Value(kind, _floats(parts) if kind == "float" else _integer_array(parts).tolist())


def _float_array(message: bytes) -> NDArray[np.float32]:
    packed = b"".join(
        field.value
        for field in fields_of(message)
        if field.number == 1 and field.type in (DELIMITED, FIXED32) and isinstance(field.value, bytes)
    )
    if len(packed) % 4:
        raise ValueError("a list of floats is cut")
    return np.frombuffer(packed, "<f4")


def _floats(message: bytes) -> list[float]:
    array = _float_array(message)
    made: list[float] = array.astype("U").astype(np.float64).tolist() if len(array) else []
    return made


def _integer_array(message: bytes) -> NDArray[np.int64]:
    parts: list[NDArray[np.int64]] = []
    single: list[int] = []
    for field in fields_of(message):
        if field.number != 1:
            continue
        if isinstance(field.value, int):
            single.append(field.value - (field.value >> 63 << 64))
        elif field.type == DELIMITED:
            if single:
                parts.append(np.array(single, np.int64))
                single = []
            parts.append(_core.decode_varints(field.value))
    if single or not parts:
        parts.append(np.array(single, np.int64))
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def to_example(features: Mapping[str, Value]) -> bytes:
    """The Example with these features, in the order of their keys; the same bytes as `encode_examples` gives."""
    return _message(1, _map((key, _feature_bytes(value)) for key, value in features.items()))


def to_sequence(context: Mapping[str, Value], lists: Mapping[str, list[Value]]) -> bytes:
    """The SequenceExample with these features and feature lists."""
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
        return _message(number, b"".join(_message(1, one) for one in values))
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
