"""Named tuples and attrs classes in files: the class of an element, and the class that a reader uses for it."""

from __future__ import annotations

import functools
import sys
from collections import namedtuple
from typing import Any
from weakref import WeakValueDictionary

from ...errors import InvalidArgumentError
from ...values.elements.attrs_classes import attribute_names, is_attrs

_Key = tuple[str, str, tuple[str, ...]]

_written: WeakValueDictionary[_Key, type] = WeakValueDictionary()  # by this process


def described(element: Any) -> dict[str, Any]:
    """Return a description, for JSON, of the element's class, which `class_of` finds from now on; {} for a tuple."""
    cls = type(element)
    if not is_attrs(element) and not hasattr(element, "_fields"):
        return {}
    fields = attribute_names(cls) if is_attrs(element) else tuple(element._fields)
    key = cls.__module__, cls.__qualname__, fields
    _written[key] = cls
    return dict(zip(("module", "name", "fields"), (*key[:2], list(key[2])), strict=True))


def class_of(described: dict[str, Any]) -> type | None:
    """Return the class of a named tuple, None for a plain tuple.

    It is the class that this process wrote, or one with the same name and fields in an imported module; otherwise a
    new one, as in TensorFlow. Contents of a file never import a module.
    """
    if "fields" not in described:
        return None
    key = _key(described)
    return _written.get(key) or _imported(*key) or _new_named_tuple(key)


def attrs_class_of(described: dict[str, Any]) -> type:
    """Return the attrs class: the one that this process wrote, or one with these attributes in an imported module."""
    key = _key(described)
    classes: tuple[Any, Any] = _written.get(key), _find(*key[:2])
    for cls in classes:
        if isinstance(cls, type) and hasattr(cls, "__attrs_attrs__") and attribute_names(cls) == key[2]:
            return cls
    raise InvalidArgumentError(f"no attrs class {key[1]!r} of {list(key[2])!r:.200} is in {key[0]!r}: import it first")


def _key(described: dict[str, Any]) -> _Key:
    return str(described.get("module")), str(described.get("name")), tuple(map(str, described["fields"]))


def _find(module: str, name: str) -> Any:
    value: Any = sys.modules.get(module)
    for attribute in name.split("."):
        value = getattr(value, "__dict__", {}).get(attribute)
    return value


def _imported(module: str, name: str, fields: tuple[str, ...]) -> type | None:
    cls = _find(module, name)
    # Only a class of namedtuple or typing.NamedTuple: creating an instance runs no code of its own.
    if isinstance(cls, type) and cls.__bases__ == (tuple,) and getattr(cls, "_fields", None) == fields:
        return cls
    return None


@functools.lru_cache(maxsize=256)
def _new_named_tuple(key: _Key) -> type:
    _, name, fields = key
    try:
        return namedtuple(name.rpartition(".")[2], fields)
    except ValueError as error:
        raise InvalidArgumentError(
            f"cannot create a named tuple {name!r} with fields {list(fields)!r:.200}: {error}"
        ) from None
