"""Instances of classes that `attrs` makes: structure, with their attributes in order, as for TensorFlow's nests.

The package attrs itself is not needed: its classes say what they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

__all__ = ["attribute_names", "attrs_like", "is_attrs", "items_of"]

# What most values are: asked first, as that takes a sixth of the time.
_NEVER: frozenset[type] = frozenset(
    {np.ndarray, *np.sctypeDict.values(), type(None), bool, int, float, complex, str, bytes, tuple, list, dict}
)


def is_attrs(value: object) -> bool:
    """Whether it is an instance of such a class."""
    kind = type(value)
    return kind not in _NEVER and hasattr(kind, "__attrs_attrs__")


def attribute_names(kind: Any) -> tuple[str, ...]:
    """Of such a class."""
    return tuple(attribute.name for attribute in kind.__attrs_attrs__)


def items_of(value: Any) -> list[Any]:
    """Its attributes, in order."""
    return [getattr(value, name) for name in attribute_names(type(value))]


def attrs_like(like: Any, items: Iterable[Any]) -> Any:
    """An instance of the same class with these attributes, in the order of `items_of`.

    Raises:
      TypeError: the class takes not each attribute as an argument, or keeps something else than what it was given:
        what it became would be neither its component nor a value of NumPy's.
    """
    kind: Any = type(like)
    given, attributes = list(items), kind.__attrs_attrs__
    unset = [attribute.name for attribute in attributes if not attribute.init]
    if unset:
        raise TypeError(f"{kind.__name__} can't be an element: it takes no argument for its attribute {unset[0]!r}")
    try:
        if any(attribute.kw_only for attribute in attributes):
            made = kind(**{_argument(attribute): item for attribute, item in zip(attributes, given, strict=True)})
        else:
            made = kind(*given)
    except TypeError as error:
        raise TypeError(f"{kind.__name__} can't be made of its components: {error}") from error
    for attribute, item in zip(attributes, given, strict=True):
        kept = getattr(made, attribute.name)
        if kept is not item:
            raise TypeError(
                f"{kind.__name__} can't be an element: it made {kept!r:.100} of its attribute {attribute.name!r}, "
                f"{item!r:.100}; convert in a map() instead"
            )
    return made


def _argument(attribute: Any) -> str:
    """The name of its argument; older versions of attrs don't say it."""
    return str(getattr(attribute, "alias", None) or attribute.name.lstrip("_"))
