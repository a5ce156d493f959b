"""The content of a record as a tree of groups and lists of values, which the page reads piece by piece.

The path of an item is the numbers that lead to it: (3, 0) is the first value of the fourth feature.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from ....examples.messages.wire import FIXED32, FIXED64, VARINT, Field, array_of, entries_of, fields_of, steps_of
from ....examples.record_kinds import EXAMPLE, SEQUENCE_EXAMPLE, form_of, kind_of, unknown_field
from ....images.headers import image_of
from ...console import printable
from ...records.decoding import decode
from .media import media_of

_MOST_ITEMS = 1 << 17  # features of a record, steps of a feature list
_MOST_DECODED = 16 << 20  # bytes of a TensorBoard event or a tensor
_MESSAGES = ("protobuf", "nested Examples", "TFX statistics", "Waymo Scenario")
_READABLE = (*_MESSAGES, EXAMPLE, SEQUENCE_EXAMPLE, "ELWC", "TensorProto", "TensorBoard event")
_SHOWN_ITEMS = (100, 20, 10)  # of a group, by depth
_SHOWN_VALUES = 24
_SHOWN_BLOBS = 8
_MORE_VALUES = 1000  # on request
_SHOWN_TEXT = 1000  # characters
_SHOWN_HEX = 64  # bytes
_MOST_TEXT = 4 << 20  # bytes that are examined to detect their form


T = TypeVar("T")


class Leaf(NamedTuple):
    """Values of one kind; `values` is a sequence."""

    kind: str
    values: Any


class Group(NamedTuple):
    """Named items, created on demand."""

    items: Sequence[tuple[str, Callable[[], Item]]]


Item: TypeAlias = "Leaf | Group"


def tree_of(record: bytes) -> tuple[str, Item]:
    """Return the kind of a record and its tree."""
    record_kind = kind_of(record)
    if record_kind == EXAMPLE:
        return record_kind, Group([*_features(record).items, *_unknown(record)])
    if record_kind == SEQUENCE_EXAMPLE:
        lists = {name: _later(_steps, steps) for name, steps in _bounded(entries_of(record, 2), "feature lists")}
        parts = {"context": lambda: _features(record), "feature lists": lambda: Group([*lists.items()])}
        return record_kind, Group([*parts.items(), *_unknown(record)])
    if record_kind == "ELWC":
        context, examples = (_delimited(record, number) for number in (2, 1))
        items = [(str(i), _later(_features, example)) for i, example in enumerate(examples)]
        return record_kind, Group(
            [("context", _later(_features, b"".join(context))), ("examples", lambda: Group(items))]
        )
    if record_kind in _MESSAGES:
        return record_kind, _fields(record)
    if len(record) <= _MOST_DECODED:
        decoded = decode(record)
        if decoded.tree is not None:
            return decoded.kind, _of_value(decoded.tree)
    return record_kind, Leaf("bytes", [record])


def _unknown(record: bytes) -> list[tuple[str, Callable[[], Item]]]:
    number = unknown_field(record)
    note = f"field {number} is unknown and not shown; use `tfrecord-fast cat --as proto` to see it"
    return [("(unknown)", lambda: Leaf("text", [note]))] if number else []


def _delimited(message: bytes, number: int) -> list[bytes]:
    fields = _bounded(fields_of(message), "fields")
    return [field.value for field in fields if field.number == number and isinstance(field.value, bytes)]


def _fields(message: bytes) -> Group:
    return Group([(str(field.number), _later(_field, field)) for field in _bounded(fields_of(message), "fields")])


def _field(field: Field) -> Item:
    value: Any = field.value
    if field.type == VARINT:
        return Leaf("varint", [value])
    if field.type == FIXED64:
        return Leaf("fixed64", [f"{struct.unpack('<d', value)[0]} or {struct.unpack('<Q', value)[0]}"])
    if field.type == FIXED32:
        return Leaf("fixed32", [f"{np.frombuffer(value, '<f4')[0]} or {struct.unpack('<I', value)[0]}"])
    if value and form_of(value) in _READABLE:
        with contextlib.suppress(ValueError):
            return _fields(value)
    return Leaf("bytes", [value])


def _features(record: bytes) -> Group:
    features = {name: _later(_feature, feature) for name, feature in _bounded(entries_of(record, 1), "features")}
    return Group(sorted(features.items()))


def _steps(feature_list: bytes) -> Group:
    return Group([(str(i), _later(_feature, step)) for i, step in enumerate(_bounded(steps_of(feature_list), "steps"))])


def _feature(message: bytes) -> Leaf:
    return Leaf(*array_of(message))


def _later(make: Callable[[T], Item], of: T) -> Callable[[], Item]:
    return lambda: make(of)


def _bounded(items: Iterator[Any], what: str) -> list[Any]:
    bounded = list(islice(items, _MOST_ITEMS + 1))
    if len(bounded) > _MOST_ITEMS:
        raise ValueError(f"the record has more than {_MOST_ITEMS:,} {what}")
    return bounded


def _of_value(value: Any) -> Item:
    if isinstance(value, dict):
        return Group([(name, _later(_of_value, item)) for name, item in value.items()])
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return Group([(str(i), _later(_of_value, item)) for i, item in enumerate(value)])
    values = value if isinstance(value, list) else [value]
    kinds = {int: "int64", float: "float", bytes: "bytes", str: "text"}
    return Leaf(kinds.get(type(values[0]), "text") if values else "none", values)


def found(item: Item, path: Sequence[int]) -> Item:
    """Return the item at a path; a value is a leaf of one value."""
    for number in path:
        if isinstance(item, Group):
            item = item.items[number][1]()
        elif number < len(item.values):
            item = Leaf(item.kind, item.values[number : number + 1])
        else:
            raise LookupError(number)
    return item


def described(
    item: Item, path: Sequence[int] = (), first: int = 0, more: bool = False, depth: int = 0
) -> dict[str, Any]:
    """Return what the page shows of an item, for JSON."""
    fields: dict[str, Any] = {"place": ".".join(map(str, path)), "first": first}
    if isinstance(item, Leaf):
        texts = item.kind in ("bytes", "text")
        most = _MORE_VALUES if more and not texts else _SHOWN_BLOBS if texts else _SHOWN_VALUES
        shown = _shown(item, first, most)
        return {**fields, "kind": item.kind, "count": len(item.values), "values": shown}
    fields["count"] = len(item.items)
    if depth >= len(_SHOWN_ITEMS):
        return {**fields, "items": []}
    items = islice(enumerate(item.items), first, first + _SHOWN_ITEMS[0 if more else depth])
    fields["items"] = [
        {"name": printable(name), **described(make(), (*path, number), depth=depth + 1)}
        for number, (name, make) in items
    ]
    return fields


def _shown(leaf: Leaf, first: int, most: int) -> list[dict[str, Any]]:
    values = leaf.values[first : first + most]
    if isinstance(values, np.ndarray):
        return [{"number": text} for text in values.astype("U").tolist()]  # text, since JavaScript has no int64
    return [_value(text) for text in values]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogatepass")
    if not isinstance(value, bytes):
        return {"number": str(value)}
    fields: dict[str, Any] = {"size": len(value)}
    image, media = image_of(value), media_of(value)
    if media is not None:
        fields["media"], fields["name"] = media.type.partition("/")[0], media.name
        if image is not None:
            fields["width"], fields["height"] = image[1:]
        return fields
    text = text_of(value)
    if text is not None:
        return {**fields, "text": text[:_SHOWN_TEXT], "more": max(0, len(text) - _SHOWN_TEXT)}
    form = form_of(value[:_MOST_TEXT])
    return {**fields, "hex": value[:_SHOWN_HEX].hex(" "), "name": form if form.endswith(("image", "data", ")")) else ""}


def text_of(value: bytes) -> str | None:
    """Decode bytes, or return None if they are not UTF-8 or too long to read."""
    if len(value) > _MOST_TEXT:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None
