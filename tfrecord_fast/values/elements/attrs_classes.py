"""Instances of attrs classes, which are structure in TensorFlow's nests: their attributes in order.

The package attrs is not needed: `__attrs_attrs__` describes its classes.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

# The types of most values, for a check six times as fast.
_NEVER: frozenset[type] = frozenset(
    {np.ndarray, *np.sctypeDict.values(), type(None), bool, int, float, complex, str, bytes, tuple, list, dict}
)


def is_attrs(value: object) -> bool:
    cls = type(value)
    return cls not in _NEVER and hasattr(cls, "__attrs_attrs__")


def attribute_names(cls: Any) -> tuple[str, ...]:
    return tuple(attribute.name for attribute in cls.__attrs_attrs__)


def items_of(value: Any) -> list[Any]:
    return [getattr(value, name) for name in attribute_names(type(value))]


def attrs_like(like: Any, items: Iterable[Any]) -> Any:
    """Make an instance of the same class with these attributes, in the order of `items_of`.

    Raises:
      TypeError: the class does not take each attribute as an argument, or does not keep arguments as they are. Then an
        attribute would be neither a component nor a NumPy value.
    """
    cls: Any = type(like)
    arguments, attributes = list(items), cls.__attrs_attrs__
    unset = [attribute.name for attribute in attributes if not attribute.init]
    if unset:
        raise TypeError(f"{cls.__name__} can't be an element: it takes no argument for its attribute {unset[0]!r}")
    try:
        if any(attribute.kw_only for attribute in attributes):
            instance = cls(**dict(zip(map(_argument, attributes), arguments, strict=True)))
        else:
            instance = cls(*arguments)
    except TypeError as error:
        raise TypeError(f"{cls.__name__} can't be made of its components: {error}") from error
    for attribute, argument in zip(attributes, arguments, strict=True):
        kept = getattr(instance, attribute.name)
        if kept is not argument:
            raise TypeError(
                f"{cls.__name__} can't be an element: it changed its attribute {attribute.name!r} from "
                f"{argument!r:.100} to {kept!r:.100}; convert in a map() instead"
            )
    return instance


def _argument(attribute: Any) -> str:
    """Return the name of an attribute's argument; older versions of attrs have no alias."""
    return str(getattr(attribute, "alias", None) or attribute.name.lstrip("_"))
