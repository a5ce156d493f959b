"""What parse_example does with a dict of features: compiled once, and kept for as long as the dict stays the same."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ... import _core
from ...typing import BytesLike, Column, Features, Record, Records
from ..features import is_array, own
from . import results
from .groups import FrozenGroups, group
from .partitions import RowError
from .raw_columns import CONTEXT_KINDS, EXAMPLE_KINDS, LIST_KINDS, RawColumns
from .results import Result

__all__ = ["ExamplePlan", "SequencePlan", "example_plan", "sequence_plan"]


class _Parts(NamedTuple):
    """The parts of features that can be changed in place, and what they held when the plan was made."""

    now: list[object]  # lists of Python's values, which are compared at once
    then: list[object]
    others: list[tuple[object, object]]  # arrays, and lists that hold some

    def are_unchanged(self) -> bool:
        try:
            return self.now == self.then and all(_same(now, then) for now, then in self.others)
        except Exception:  # where an array was put into a list; or what can't be compared at all
            return False


def _changeable(*features: Features) -> _Parts | None:
    """None if there are none. An empty list, which nearly all shapes are, counts as none."""
    parts = [part for some in features for one in some.values() if isinstance(one, tuple) for part in one]
    parts = [part for part in parts if _may_change(part)]
    plain = [part for part in parts if _is_plain(part)]
    others = [(part, own(part)) for part in parts if not _is_plain(part)]
    return _Parts(plain, own(plain), others) if parts else None


def _may_change(part: object) -> bool:
    if isinstance(part, tuple):
        return any(map(_may_change, part))
    return is_array(part) or (isinstance(part, list) and len(part) > 0)


def _is_plain(part: object) -> bool:
    if isinstance(part, list | tuple):
        return all(map(_is_plain, part))
    return part is None or type(part) in (int, float, bool, str, bytes)


def _same(now: object, then: object) -> bool:
    if isinstance(now, list | tuple) and isinstance(then, list | tuple):
        return len(now) == len(then) and all(map(_same, now, then))
    if isinstance(now, np.ndarray) and isinstance(then, np.ndarray) and not now.dtype.hasobject:
        return (now.dtype, now.shape) == (then.dtype, then.shape) and now.tobytes() == then.tobytes()
    if isinstance(now, np.ndarray):
        return isinstance(then, np.ndarray) and now.shape == then.shape and _same(now.tolist(), then.tolist())
    if now is then or type(now) is not type(then):
        return now is then
    return _same(np.asarray(now), np.asarray(then)) if hasattr(now, "__array__") else bool(now == then)


class ExamplePlan:
    """What parse_example does with one dict of features, some of them in groups."""

    __slots__ = ("changeable", "checks_rows", "columns", "core", "single")

    def __init__(self, features: Features, groups: FrozenGroups = ()) -> None:
        self.changeable = _changeable(features)
        self.columns = RawColumns(features, EXAMPLE_KINDS)
        if groups:
            group(self.columns, groups)
        self.checks_rows = self.columns.checks_rows
        self.core = _core.ExamplePlan(self.columns.specs(), groups=self.columns.groups)
        self.single: Callable[[Record], Result] = self._single

    def batch(self, records: Records, num_threads: int = 0) -> Result:
        return self.finish(self.core.parse(records, num_threads), records)

    def finish(self, columns: list[Column], records: Records | None = None) -> Result:
        """The results of a batch; `records` are needed where the plan `checks_rows`."""
        try:
            return results.of_batch(self.columns, columns)
        except RowError as error:
            raise error.located(records) from None

    def _single(self, record: Record) -> Result:
        try:
            return results.of_one(self.columns, self.core.parse_one(record))
        except RowError as error:
            raise error.located(None) from None


class SequencePlan:
    """What parse_sequence_example does with its two dicts of features."""

    __slots__ = ("changeable", "checks_rows", "context", "core", "lists")

    def __init__(self, context: Features, lists: Features) -> None:
        self.changeable = _changeable(context, lists)
        self.context = RawColumns(context, CONTEXT_KINDS)
        self.lists = RawColumns(lists, LIST_KINDS)
        self.checks_rows = self.context.checks_rows or self.lists.checks_rows
        self.core = _core.SequencePlan(self.context.specs(), self.lists.specs())

    def batch(self, records: Records, num_threads: int = 0) -> tuple[Result, Result, Result]:
        return self.finish(self.core.parse(records, num_threads), records)

    def single(self, record: BytesLike) -> tuple[Result, Result, Result]:
        context_columns, list_columns = self.core.parse([record], 0)
        try:
            lists, lengths = results.of_lists(self.lists, list_columns, single=True)
            return results.of_one(self.context, _alone(context_columns)), lists, lengths
        except RowError as error:
            raise error.located([record]) from None

    def finish(
        self, parsed: tuple[list[Column], list[Column]], records: Records | None = None
    ) -> tuple[Result, Result, Result]:
        """The results of a batch; `records` are needed where the plan `checks_rows`."""
        context_columns, list_columns = parsed
        try:
            lists, lengths = results.of_lists(self.lists, list_columns, single=False)
            return results.of_batch(self.context, context_columns), lists, lengths
        except RowError as error:
            raise error.located(records) from None


def _alone(batch: list[Column]) -> list[Column]:
    """The columns of a batch of one as the values of one Example."""
    return [column[0] for column in batch]


# By the identity of the dict. An entry counts only while the dict holds the very keys and values of the snapshot,
# which keeps them alive, so no other object can have taken their place.
_CACHE_SIZE = 128
_Snapshot = tuple[object, ...]
_examples: dict[int, tuple[_Snapshot, ExamplePlan]] = {}
_grouped: dict[tuple[int, FrozenGroups], tuple[_Snapshot, ExamplePlan]] = {}
_sequences: dict[tuple[int, int], tuple[_Snapshot, _Snapshot, SequencePlan]] = {}


def _snapshot(features: Features) -> _Snapshot:
    """What is held now. It is noted before the plan is made: a change in between makes another one next time."""
    return tuple(part for item in features.items() for part in item)


def _make_room(cache: dict[Any, Any]) -> None:
    """The oldest entries go first."""
    while len(cache) >= _CACHE_SIZE:
        with contextlib.suppress(RuntimeError, StopIteration):  # another thread has changed it in between
            cache.pop(next(iter(cache)), None)


def example_plan(features: Features, groups: FrozenGroups = ()) -> ExamplePlan:
    """The plan for a dict of features, compiled now or before."""
    if groups:
        return _grouped_plan(features, groups)
    found = _examples.get(id(features))
    if found is not None and type(features) is dict and _core.unchanged(features, found[0]):
        plan = found[1]
        if plan.changeable is None or plan.changeable.are_unchanged():
            return plan
    held = _snapshot(features)
    plan = ExamplePlan(features)
    if type(features) is dict:
        _make_room(_examples)
        _examples[id(features)] = (held, plan)
    return plan


def _grouped_plan(features: Features, groups: FrozenGroups) -> ExamplePlan:
    """The groups count by what they hold: many a caller writes them down at each call."""
    key = (id(features), groups)
    try:
        found = _grouped.get(key)
    except TypeError:  # a key that can't be one, as the plan will say
        found = None
    if found is not None and type(features) is dict and _core.unchanged(features, found[0]):
        plan = found[1]
        if plan.changeable is None or plan.changeable.are_unchanged():
            return plan
    held = _snapshot(features)
    plan = ExamplePlan(features, groups)
    if type(features) is dict:
        _make_room(_grouped)
        _grouped[key] = (held, plan)
    return plan


def sequence_plan(context: Features | None, lists: Features | None) -> SequencePlan:
    """The plan for two dicts of features, either of which may be None."""
    context, lists = context or {}, lists or {}
    key = (id(context) if context else 0, id(lists) if lists else 0)
    found = _sequences.get(key)
    if (
        found is not None
        and type(context) is type(lists) is dict
        and _core.unchanged(context, found[0])
        and _core.unchanged(lists, found[1])
        and (found[2].changeable is None or found[2].changeable.are_unchanged())
    ):
        return found[2]
    held = _snapshot(context), _snapshot(lists)
    plan = SequencePlan(context, lists)
    if type(context) is type(lists) is dict:
        _make_room(_sequences)
        _sequences[key] = (*held, plan)
    return plan
