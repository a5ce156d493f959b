"""Named tuples and attrs classes in files: which class an element had, and which it gets when it is read."""

from __future__ import annotations

import functools
import sys
from collections import namedtuple
from typing import Any
from weakref import WeakValueDictionary

from ...errors import InvalidArgumentError
from ...values.elements.attrs_classes import attribute_names, is_attrs

__all__ = ["attrs_class_of", "class_of", "described"]

_Key = tuple[str, str, tuple[str, ...]]

_written: WeakValueDictionary[_Key, type] = WeakValueDictionary()  # by this process


def described(element: Any) -> dict[str, Any]:
    """What is kept of its class, for JSON; nothing of a plain tuple. `class_of` finds the class from now on."""
    kind = type(element)
    if not is_attrs(element) and not hasattr(element, "_fields"):
        return {}
    fields = attribute_names(kind) if is_attrs(element) else tuple(element._fields)
    key = kind.__module__, kind.__qualname__, fields
    _written[key] = kind
    return dict(zip(("module", "name", "fields"), (*key[:2], list(key[2])), strict=True))


def class_of(described: dict[str, Any]) -> type | None:
    """The class, None for a plain tuple: the one that was written, or one with the same name and fields in a module
    that is imported; otherwise a new one, as of TensorFlow. Nothing is imported because a file says so.

    Raises:
      errors.InvalidArgumentError: there is no such class.
    """
    if "fields" not in described:
        return None
    key = str(described.get("module")), str(described.get("name")), tuple(map(str, described["fields"]))
    return _written.get(key) or _imported(*key) or _made(key)


def attrs_class_of(described: dict[str, Any]) -> type:
    """The attrs class: the one that was written, or one with the same name and attributes in a module that is imported.
    A new one would have none of its methods.

    Raises:
      errors.InvalidArgumentError: there is none.
    """
    key = str(described["module"]), str(described["name"]), tuple(map(str, described["fields"]))
    kinds: tuple[Any, Any] = _written.get(key), _named(*key[:2])
    for kind in kinds:
        if isinstance(kind, type) and hasattr(kind, "__attrs_attrs__") and attribute_names(kind) == key[2]:
            return kind
    raise InvalidArgumentError(f"no attrs class {key[1]!r} of {list(key[2])!r:.200} is in {key[0]!r}: import it first")


def _named(module: str, name: str) -> Any:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return found


def _imported(module: str, name: str, fields: tuple[str, ...]) -> type | None:
    found = _named(module, name)
    # Made by namedtuple or typing.NamedTuple, and no more: to make one runs no code of its own.
    if isinstance(found, type) and found.__bases__ == (tuple,) and getattr(found, "_fields", None) == fields:
        return found
    return None


@functools.lru_cache(maxsize=256)
def _made(key: _Key) -> type:
    _, name, fields = key
    try:
        return namedtuple(name.rpartition(".")[2], fields)
    except ValueError as error:
        raise InvalidArgumentError(f"there can be no named tuple {name!r} of {list(fields)!r:.200}: {error}") from None
