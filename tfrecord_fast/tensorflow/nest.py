"""`tf.nest`: structures of tuples, lists, dicts and instances of attrs classes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..values.elements.attrs_classes import attrs_like, is_attrs, items_of
from .modules import module_lazy_names


def is_nested(structure: Any) -> bool:
    """Return True for a structure: a tuple, a list, a mapping or an instance of an attrs class."""
    if is_attrs(structure):
        return True
    return isinstance(structure, tuple | list | Mapping) and not hasattr(structure, "as_list")


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """Return the leaves in order; those of a mapping are sorted by key."""
    if isinstance(structure, Mapping):
        return [leaf for key in sorted(structure) for leaf in flatten(structure[key])]
    if is_nested(structure):
        items = items_of(structure) if is_attrs(structure) else structure
        return [leaf for item in items for leaf in flatten(item)]
    return [structure]


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Call a function for the leaves of structures that are alike, and return its results in the same structure."""
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types=kwargs.get("check_types", True))
    results = [func(*leaves) for leaves in zip(*map(flatten, structure), strict=True)]
    return pack_sequence_as(structure[0], results)


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """Return the same structure with other leaves."""
    leaves = list(flat_sequence)
    count = len(flatten(structure))
    if len(leaves) != count:
        raise ValueError(
            f"Could not pack sequence. Structure had {count} atoms, but flat_sequence had {len(leaves)} items."
        )
    return _pack(structure, iter(leaves))


def _pack(structure: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(structure, Mapping):
        by_key = {key: _pack(structure[key], leaves) for key in sorted(structure)}
        cls: Any = type(structure)
        items = {key: by_key[key] for key in structure}
        return items if cls is dict else cls(items)
    if is_attrs(structure):
        return attrs_like(structure, [_pack(item, leaves) for item in items_of(structure)])
    if is_nested(structure):
        sequence = [_pack(item, leaves) for item in structure]
        return type(structure)(*sequence) if hasattr(structure, "_fields") else type(structure)(sequence)
    return next(leaves)


def assert_same_structure(nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False) -> None:
    """Raise ValueError, or TypeError for other types, unless two structures are alike."""
    if is_nested(nest1) != is_nested(nest2):
        raise ValueError(f"The two structures don't have the same nested structure: {nest1!r:.200} and {nest2!r:.200}")
    if not is_nested(nest1):
        return
    are_mappings = isinstance(nest1, Mapping) and isinstance(nest2, Mapping)
    if check_types and type(nest1) is not type(nest2) and not are_mappings:
        raise TypeError(f"The two structures don't have the same sequence type: {type(nest1)} and {type(nest2)}")
    if are_mappings:
        if nest1.keys() != nest2.keys():
            raise ValueError(
                f"The two dictionaries don't have the same set of keys: {sorted(nest1)} and {sorted(nest2)}"
            )
        pairs = [(nest1[key], nest2[key]) for key in nest1]
    else:
        nest1, nest2 = (items_of(nest) if is_attrs(nest) else nest for nest in (nest1, nest2))
        if len(nest1) != len(nest2):
            raise ValueError(
                f"The two structures don't have the same number of elements: {len(nest1)} and {len(nest2)}"
            )
        pairs = list(zip(nest1, nest2, strict=True))
    for first, second in pairs:
        assert_same_structure(first, second, check_types)


_names = module_lazy_names(__name__, {}, "tf.nest")
__getattr__ = _names.getattr
__dir__ = _names.dir
