"""Named tuples in files: which class one had, and which it gets when it is read."""

from __future__ import annotations

import functools
import sys
from collections import namedtuple
from typing import Any
from weakref import WeakValueDictionary

from ..errors import InvalidArgumentError

__all__ = ["class_of", "described"]

_Key = tuple[str, str, tuple[str, ...]]

_written: WeakValueDictionary[_Key, type] = WeakValueDictionary()  # by this process


def described(element: tuple[Any, ...]) -> dict[str, Any]:
    """What is kept of its class, for JSON; nothing of a plain tuple. `class_of` finds the class from now on."""
    if not hasattr(element, "_fields"):
        return {}
    kind = type(element)
    key = kind.__module__, kind.__qualname__, tuple(element._fields)
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


def _imported(module: str, name: str, fields: tuple[str, ...]) -> type | None:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, "__dict__", {}).get(part)
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
