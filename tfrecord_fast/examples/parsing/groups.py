"""Groups: scalar features of one dtype whose values the parser lays side by side, in one column `[n, k]`."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeAlias

from ...dtypes import string
from ...errors import InvalidArgumentError
from ...typing import Groups, Key
from ..features import FixedLenFeature, OwnFeature, select_features
from .raw_columns import RawColumns, key_bytes

__all__ = ["FrozenGroups", "check_label", "frozen_groups", "group", "select_grouped"]

# The names, each with its keys in order. Not checked yet, except for being sequences.
FrozenGroups: TypeAlias = tuple[tuple[Any, tuple[Any, ...]], ...]


def frozen_groups(groups: Groups | None) -> FrozenGroups:
    """As tuples, which can be compared and won't change.

    Raises:
      TypeError: it is no dict of lists.
    """
    if groups is None:
        return ()
    if not isinstance(groups, Mapping):
        raise TypeError(f'groups is a dict of lists of keys, such as {{"dense": ["a", "b"]}}, got {groups!r}')
    return tuple([(name, _members(name, keys)) for name, keys in groups.items()])


def _members(name: object, keys: Any) -> tuple[Any, ...]:
    if type(keys) not in (list, tuple) and (not isinstance(keys, Sequence) or isinstance(keys, str | bytes)):
        raise TypeError(f"group {name!r} is a list of keys, in the order of its columns, got {keys!r}")
    return tuple(keys)


def check_label(label: Key, groups: FrozenGroups, features: Mapping[Any, Any], what: str = "the features") -> None:
    """Raises errors.InvalidArgumentError if there is no such column, or if the groups don't go with the features."""
    group_of, names = _checked(groups, features), [name for name, _ in groups]
    if label in names:
        return
    if label not in features:
        known = sorted([*features, *names], key=str)
        raise InvalidArgumentError(f"label_key {label!r} is none of {what} {known}")
    if label in group_of:
        raise InvalidArgumentError(
            f"label_key {label!r} is in group {group_of[label]!r}, whose column replaces it: the label is a column of "
            "its own, or a whole group"
        )


def _checked(groups: FrozenGroups, features: Mapping[Any, Any]) -> dict[Key, Key]:
    """Of each key in a group the group's name.

    Raises:
      TypeError: a name or a key is neither str nor bytes.
      errors.InvalidArgumentError: a group is empty, holds a key that is none of the features, or one that comes twice,
        or has the name of a feature that is in no group.
    """
    group_of: dict[Key, Key] = {}
    for name, keys in groups:
        for key in (name, *keys):
            if not isinstance(key, str | bytes):
                raise TypeError(f"group {name!r}: names and keys are str or bytes, got {key!r}")
        if not keys:
            raise InvalidArgumentError(f"group {name!r} is empty: a group needs one feature or more")
        for key in keys:
            if key not in features:
                known = sorted(features, key=key_bytes)
                raise InvalidArgumentError(f"group {name!r}: feature {key!r} is none of the features {known}")
            if key in group_of:
                other = group_of[key]
                where = f"group {name!r} twice" if other == name else f"two groups, {other!r} and {name!r}"
                raise InvalidArgumentError(f"feature {key!r} is in {where}: it has one place")
            group_of[key] = name
    _check_names(groups, [key for key in features if key not in group_of])
    return group_of


def _check_names(groups: FrozenGroups, others: Sequence[Hashable]) -> None:
    taken = {key_bytes(key): f"feature {key!r}, which is in no group" for key in others}
    for name, _ in groups:
        other = taken.setdefault(key_bytes(name), f"group {name!r}")
        if other != f"group {name!r}":
            raise InvalidArgumentError(
                f"group {name!r} has the name of {other}: there would be two columns of that name"
            )


def group(raw: RawColumns, groups: FrozenGroups) -> None:
    """Lets the columns of each group's features be one.

    Raises:
      TypeError: a name or a key is neither str nor bytes.
      errors.InvalidArgumentError: a feature is no FixedLenFeature of shape [] and a numeric dtype, or not of the dtype
        of its group's first; a group has the name of a raw column; or as `select_grouped`.
    """
    group_of = _checked(groups, raw.features)
    for name, keys in groups:
        for key in keys:
            why = _misfit(raw, key, keys[0])
            if why is not None:
                raise InvalidArgumentError(f"group {name!r}: feature {key!r} {why}")
    _check_names(groups, [key for key in raw.keys if key not in group_of])
    place = {key: i for i, key in enumerate(raw.keys)}
    raw.groups = [[place[key] for key in keys] for _, keys in groups]
    raw.names = [*(key for key in raw.keys if key not in group_of), *(name for name, _ in groups)]


def _misfit(raw: RawColumns, key: Any, first: Any) -> str | None:
    """Why the feature can't be in a group that begins with `first`; None if it can."""
    feature: OwnFeature = raw.features[key]
    takes = "a group takes FixedLenFeatures of shape []"
    if not isinstance(feature, FixedLenFeature):
        return f"is a {type(feature).__name__}, and {takes}"
    column, dtype = raw.dense[key], raw.dense[first].dtype
    if column.shape:
        note = f" ({column.note})" if column.note else ""
        return f"has shape {list(column.shape)}{note}, and {takes}"
    if column.dtype == string:
        return "holds strings, and a group is an array of numbers"
    if column.dtype != dtype:
        return f"has dtype {column.dtype.name}, and {first!r} has {dtype.name}: a group has one dtype"
    return None


def select_grouped(
    features: Mapping[Any, Any], columns: Sequence[Key], groups: FrozenGroups
) -> tuple[dict[Any, Any], FrozenGroups]:
    """The features and groups that make the columns of these names.

    Raises:
      TypeError: `columns` is one name, not a list of names.
      errors.InvalidArgumentError: as `features.select_features`; a name is that of a feature in a group; a group is
        empty, has a key that is none of the features, or one that comes twice, or the name of another feature.
    """
    group_of = _checked(groups, features)
    named = dict.fromkeys(name for name, _ in groups)
    for key in columns if not isinstance(columns, str | bytes) else ():
        if key in group_of and key not in named:
            raise InvalidArgumentError(
                f"column {key!r} is in group {group_of[key]!r}, whose column replaces it: name the group in columns"
            )
    others = {key: feature for key, feature in features.items() if key not in group_of}
    chosen, _ = select_features({**others, **named}, columns)
    chosen_features = {key: feature for key, feature in features.items() if group_of.get(key, key) in chosen}
    return chosen_features, tuple(one for one in groups if one[0] in chosen)
