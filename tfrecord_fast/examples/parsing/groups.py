"""Groups: scalar features of one dtype that are parsed side by side, into one column `[n, k]`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

from ...dtypes import string
from ...errors import InvalidArgumentError
from ...typing import Groups, Key
from ...values.text import did_you_mean
from ..features import FixedLenFeature, OwnFeature, select_features
from .core_columns import RawColumns, key_bytes

# The names of groups, each with its keys in order; checked against features by `group`.
FrozenGroups: TypeAlias = tuple[tuple[Any, tuple[Any, ...]], ...]


def frozen_groups(groups: Groups | None) -> FrozenGroups:
    """Return groups as tuples, which can be compared and are not changed later."""
    if groups is None:
        return ()
    if not isinstance(groups, Mapping):
        raise TypeError(f'groups must be a dict of lists of keys, such as {{"dense": ["a", "b"]}}, got {groups!r}')
    return tuple([(name, _members(name, keys)) for name, keys in groups.items()])


def _members(name: object, keys: Any) -> tuple[Any, ...]:
    if type(keys) not in (list, tuple) and (not isinstance(keys, Sequence) or isinstance(keys, str | bytes)):
        raise TypeError(f"group {name!r} must be a list of keys, in the order of its columns, got {keys!r}")
    return tuple(keys)


def check_label(label: Key, groups: FrozenGroups, features: Mapping[Any, Any], what: str = "the features") -> None:
    """Raise errors.InvalidArgumentError if there is no column `label`, or if the groups do not fit the features."""
    group_of, names = _checked(groups, features), [name for name, _ in groups]
    if label in names:
        return
    if label not in features:
        known = sorted([*features, *names], key=str)
        raise InvalidArgumentError(f"label_key {label!r} is not among {what} {known}{did_you_mean(label, known)}")
    if label in group_of:
        raise InvalidArgumentError(
            f"label_key {label!r} is in group {group_of[label]!r}, whose column replaces it; name the group, or take "
            "the label out of the group"
        )


def _checked(groups: FrozenGroups, features: Mapping[Any, Any]) -> dict[Key, Key]:
    """Return the group's name for each key in a group."""
    group_of: dict[Key, Key] = {}
    for name, keys in groups:
        for key in (name, *keys):
            if not isinstance(key, str | bytes):
                raise TypeError(f"group {name!r}: names and keys must be str or bytes, got {key!r}")
        if not keys:
            raise InvalidArgumentError(f"group {name!r} is empty; a group needs at least one feature")
        for key in keys:
            if key not in features:
                known = sorted(features, key=key_bytes)
                hint = did_you_mean(key, known)
                raise InvalidArgumentError(f"group {name!r}: {key!r} is not among the features {known}{hint}")
            if key in group_of:
                other = group_of[key]
                where = f"group {name!r} twice" if other == name else f"two groups, {other!r} and {name!r}"
                raise InvalidArgumentError(f"feature {key!r} is in {where}; it can be in one group, once")
            group_of[key] = name
    _check_names(groups, [key for key in features if key not in group_of])
    return group_of


def _check_names(groups: FrozenGroups, others: Sequence[Hashable]) -> None:
    taken = {key_bytes(key): f"feature {key!r}, which is not in a group" for key in others}
    for name, _ in groups:
        other = taken.setdefault(key_bytes(name), f"group {name!r}")
        if other != f"group {name!r}":
            raise InvalidArgumentError(f"group {name!r} has the name of {other}; two columns cannot have the same name")


def group(raw: RawColumns, groups: FrozenGroups) -> None:
    """Merge the columns of each group's features into one."""
    group_of = _checked(groups, raw.features)
    for name, keys in groups:
        for key in keys:
            why = _misfit(raw, key, keys[0])
            if why is not None:
                raise InvalidArgumentError(f"group {name!r}: feature {key!r} {why}")
    _check_names(groups, [key for key in raw.keys if key not in group_of])
    positions = {key: i for i, key in enumerate(raw.keys)}
    raw.groups = [[positions[key] for key in keys] for _, keys in groups]
    raw.names = [*(key for key in raw.keys if key not in group_of), *(name for name, _ in groups)]


def _misfit(raw: RawColumns, key: Any, first: Any) -> str | None:
    """Return why the feature cannot be in a group that begins with `first`, or None."""
    feature: OwnFeature = raw.features[key]
    rule = "a group takes FixedLenFeatures of shape []"
    if not isinstance(feature, FixedLenFeature):
        return f"is a {type(feature).__name__}; {rule}"
    column, dtype = raw.dense[key], raw.dense[first].dtype
    if column.shape:
        note = f" ({column.note})" if column.note else ""
        return f"has shape {list(column.shape)}{note}; {rule}"
    if column.dtype == string:
        return "holds strings; a group is an array of numbers"
    if column.dtype != dtype:
        return f"has dtype {column.dtype.name}, but {first!r} has {dtype.name}; a group has one dtype"
    return None


def select_grouped(
    features: Mapping[Any, Any], columns: Sequence[Key], groups: FrozenGroups
) -> tuple[dict[Any, Any], FrozenGroups]:
    """Select the features and groups that make the columns of these names."""
    group_of = _checked(groups, features)
    named = dict.fromkeys(name for name, _ in groups)
    for key in columns if not isinstance(columns, str | bytes) else ():
        if key in group_of and key not in named:
            raise InvalidArgumentError(
                f"column {key!r} is in group {group_of[key]!r}, whose column replaces it; name the group in columns"
            )
    others = {key: feature for key, feature in features.items() if key not in group_of}
    chosen, _ = select_features({**others, **named}, columns)
    chosen_features = {key: feature for key, feature in features.items() if group_of.get(key, key) in chosen}
    return chosen_features, tuple((name, keys) for name, keys in groups if name in chosen)
