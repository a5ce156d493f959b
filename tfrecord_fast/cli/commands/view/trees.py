"""What is in a record, as a tree of groups and of lists of values, of which parts are described one by one.

A place in the tree is the numbers of the items that lead to it: (3, 0) is the first value of the fourth feature.
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
from ...records.decoding import decode
from .media import media_of

__all__ = ["Group", "Item", "Leaf", "described", "found", "text_of", "tree_of"]

_MOST_ITEMS = 1 << 17  # features of a record, steps of a feature list
_MOST_DECODED = 16 << 20  # bytes of a TensorBoard event or a tensor
_MESSAGES = ("protobuf", "nested Examples", "TFX statistics", "Waymo Scenario")
_READABLE = (*_MESSAGES, EXAMPLE, SEQUENCE_EXAMPLE, "ELWC", "TensorProto", "TensorBoard event")
_SHOWN_ITEMS = (100, 20, 10)  # of a group, by its depth
_SHOWN_VALUES = 24
_SHOWN_BLOBS = 8
_MORE_VALUES = 1000  # when one has asked for more
_SHOWN_TEXT = 1000  # characters
_SHOWN_HEX = 64  # bytes
_MOST_TEXT = 4 << 20  # bytes that are looked at to tell what they are


T = TypeVar("T")


class Leaf(NamedTuple):
    """Values of one kind; `values` has a length and can be sliced."""

    kind: str
    values: Any


class Group(NamedTuple):
    """Named items; each is made when it is looked at."""

    items: Sequence[tuple[str, Callable[[], Item]]]


Item: TypeAlias = "Leaf | Group"


def tree_of(record: bytes) -> tuple[str, Item]:
    """The kind of a record, and what is in it.

    Raises:
      ValueError: it is malformed, or has too many features.
    """
    kind = kind_of(record)
    if kind == EXAMPLE:
        return kind, Group([*_features(record).items, *_unknown(record)])
    if kind == SEQUENCE_EXAMPLE:
        lists = {name: _later(_steps, steps) for name, steps in _bounded(entries_of(record, 2), "feature lists")}
        parts = {"context": lambda: _features(record), "feature lists": lambda: Group([*lists.items()])}
        return kind, Group([*parts.items(), *_unknown(record)])
    if kind == "ELWC":
        context, examples = (_delimited(record, number) for number in (2, 1))
        made = [(str(i), _later(_features, one)) for i, one in enumerate(examples)]
        return kind, Group([("context", _later(_features, b"".join(context))), ("examples", lambda: Group(made))])
    if kind in _MESSAGES:
        return kind, _fields(record)
    if len(record) <= _MOST_DECODED:
        decoded = decode(record)
        if decoded.tree is not None:
            return decoded.kind, _of_value(decoded.tree)
    return kind, Leaf("bytes", [record])


def _unknown(record: bytes) -> list[tuple[str, Callable[[], Item]]]:
    """What says of an Example that there is more in it."""
    number = unknown_field(record)
    said = f"field {number} is unknown, and not shown; tfrecord-fast cat --as proto shows it"
    return [("(unknown)", lambda: Leaf("text", [said]))] if number else []


def _delimited(message: bytes, number: int) -> list[bytes]:
    fields = _bounded(fields_of(message), "fields")
    return [one.value for one in fields if one.number == number and isinstance(one.value, bytes)]


def _fields(message: bytes) -> Group:
    """Of a message whose form is not known, by their numbers."""
    return Group([(str(one.number), _later(_field, one)) for one in _bounded(fields_of(message), "fields")])


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
    features = {name: _later(_feature, one) for name, one in _bounded(entries_of(record, 1), "features")}
    return Group(sorted(features.items()))


def _steps(feature_list: bytes) -> Group:
    return Group([(str(i), _later(_feature, one)) for i, one in enumerate(_bounded(steps_of(feature_list), "steps"))])


def _feature(message: bytes) -> Leaf:
    return Leaf(*array_of(message))


def _later(make: Callable[[T], Item], of: T) -> Callable[[], Item]:
    return lambda: make(of)


def _bounded(items: Iterator[Any], what: str) -> list[Any]:
    made = list(islice(items, _MOST_ITEMS + 1))
    if len(made) > _MOST_ITEMS:
        raise ValueError(f"it has more than {_MOST_ITEMS:,} {what}")
    return made


def _of_value(value: Any) -> Item:
    """A tree of records.decode."""
    if isinstance(value, dict):
        return Group([(name, _later(_of_value, one)) for name, one in value.items()])
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return Group([(str(i), _later(_of_value, one)) for i, one in enumerate(value)])
    values = value if isinstance(value, list) else [value]
    kinds = {int: "int64", float: "float", bytes: "bytes", str: "text"}
    return Leaf(kinds.get(type(values[0]), "text") if values else "none", values)


def found(item: Item, place: Sequence[int]) -> Item:
    """What is at a place; a value is a leaf of one.

    Raises:
      LookupError: nothing.
    """
    for number in place:
        if isinstance(item, Group):
            item = item.items[number][1]()
        elif number < len(item.values):
            item = Leaf(item.kind, item.values[number : number + 1])
        else:
            raise LookupError(number)
    return item


def described(
    item: Item, place: Sequence[int] = (), first: int = 0, more: bool = False, depth: int = 0
) -> dict[str, Any]:
    """What the page shows of an item, as JSON has it.

    Args:
      place: where the item is.
      first: its first value or item to show.
      more: whether the reader has asked for more of it.
      depth: how deep in the page it is.
    """
    made: dict[str, Any] = {"place": ".".join(map(str, place)), "first": first}
    if isinstance(item, Leaf):
        texts = item.kind in ("bytes", "text")
        most = _MORE_VALUES if more and not texts else _SHOWN_BLOBS if texts else _SHOWN_VALUES
        shown = _shown(item, first, most)
        return {**made, "kind": item.kind, "count": len(item.values), "values": shown}
    made["count"] = len(item.items)
    if depth >= len(_SHOWN_ITEMS):
        return {**made, "items": []}
    items = islice(enumerate(item.items), first, first + _SHOWN_ITEMS[0 if more else depth])
    made["items"] = [
        {"name": _name(name), **described(make(), (*place, number), depth=depth + 1)} for number, (name, make) in items
    ]
    return made


def _shown(leaf: Leaf, first: int, most: int) -> list[dict[str, Any]]:
    values = leaf.values[first : first + most]
    if isinstance(values, np.ndarray):
        return [{"number": one} for one in values.astype("U").tolist()]  # text, since JavaScript has no int64
    return [_value(one) for one in values]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        value = value.encode("utf-8", "surrogatepass")
    if not isinstance(value, bytes):
        return {"number": str(value)}
    made: dict[str, Any] = {"size": len(value)}
    image, media = image_of(value), media_of(value)
    if media is not None:
        made["media"], made["name"] = media.type.partition("/")[0], media.name
        if image is not None:
            made["width"], made["height"] = image[1:]
        return made
    text = text_of(value)
    if text is not None:
        return {**made, "text": text[:_SHOWN_TEXT], "more": max(0, len(text) - _SHOWN_TEXT)}
    kind = form_of(value[:_MOST_TEXT])
    return {**made, "hex": value[:_SHOWN_HEX].hex(" "), "name": kind if kind.endswith(("image", "data", ")")) else ""}


def text_of(value: bytes) -> str | None:
    """Bytes as text; None if they are not UTF-8, or more than one would read."""
    if len(value) > _MOST_TEXT:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _name(key: str) -> str:
    """As it is; what is not UTF-8 or can't be seen is escaped."""
    if key.isprintable():
        return key
    return "".join(
        one
        if one.isprintable()
        else f"\\x{ord(one) - 0xDC00:02x}"
        if 0xDC80 <= ord(one) <= 0xDCFF
        else one.encode("unicode_escape").decode()
        for one in key
    )
