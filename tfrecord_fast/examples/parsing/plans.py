"""Dicts of features, compiled for the parsers and cached for as long as a dict holds the same features."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any, NamedTuple

from ... import _core
from ...typing import BytesLike, Column, Features, Record, Records
from . import user_columns as results
from .core_columns import CONTEXT_KINDS, EXAMPLE_KINDS, LIST_KINDS, RawColumns
from .groups import FrozenGroups, group
from .partitions import RowError
from .user_columns import Result


class ExamplePlan:
    __slots__ = ("checks_rows", "columns", "core")

    def __init__(self, features: Features, groups: FrozenGroups = ()) -> None:
        self.columns = RawColumns(features, EXAMPLE_KINDS)
        if groups:
            group(self.columns, groups)
        self.checks_rows = self.columns.checks_rows
        self.core = _core.ExamplePlan(self.columns.specs(), groups=self.columns.groups)

    def batch(self, records: Records, num_threads: int = 0) -> Result:
        return self.finish(self.core.parse(records, num_threads), records)

    def finish(self, columns: list[Column], records: Records | None = None) -> Result:
        """Return the results of a batch; a plan that `checks_rows` needs `records` to locate errors."""
        try:
            return results.of_batch(self.columns, columns)
        except RowError as error:
            raise error.located(records) from None

    def single(self, record: Record) -> Result:
        try:
            return results.of_one(self.columns, self.core.parse_one(record))
        except RowError as error:
            raise error.located(None) from None


class SequencePlan:
    __slots__ = ("checks_rows", "context", "core", "lists")

    def __init__(self, context: Features, lists: Features) -> None:
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
            return results.of_one(self.context, [column[0] for column in context_columns]), lists, lengths
        except RowError as error:
            raise error.located([record]) from None

    def finish(
        self, parsed: tuple[list[Column], list[Column]], records: Records | None = None
    ) -> tuple[Result, Result, Result]:
        context_columns, list_columns = parsed
        try:
            lists, lengths = results.of_lists(self.lists, list_columns, single=False)
            return results.of_batch(self.context, context_columns), lists, lengths
        except RowError as error:
            raise error.located(records) from None


class _Entry(NamedTuple):
    """A plan, and the keys and values of its dicts when it was made.

    The snapshots keep these objects alive, so no other object can get the identity of one of them.
    """

    snapshots: tuple[tuple[object, ...], ...]
    plan: Any


_CACHE_SIZE = 128
# By the identities of the dicts (and the groups of Examples).
_examples: dict[object, _Entry] = {}
_sequences: dict[tuple[int, int], _Entry] = {}


def _snapshot(features: Features) -> tuple[object, ...]:
    return tuple(itertools.chain.from_iterable(features.items()))


def _keep(cache: dict[Any, _Entry], key: object, entry: _Entry) -> None:
    while len(cache) >= _CACHE_SIZE:
        with contextlib.suppress(RuntimeError, StopIteration):  # another thread changed it meanwhile
            cache.pop(next(iter(cache)), None)
    cache[key] = entry


def example_plan(features: Features, groups: FrozenGroups = ()) -> ExamplePlan:
    """Return the plan for a dict of features, compiled now or before."""
    key: object = (id(features), groups) if groups else id(features)
    try:
        entry = _examples.get(key)
    except TypeError:  # unhashable groups, which making the plan refuses
        entry = None
    if entry is not None and type(features) is dict and _core.unchanged(features, entry.snapshots[0]):
        return entry.plan  # type: ignore[no-any-return]
    snapshot = _snapshot(features)  # first: a change while the plan is made must not be missed
    plan = ExamplePlan(features, groups)
    if type(features) is dict:
        _keep(_examples, key, _Entry((snapshot,), plan))
    return plan


def sequence_plan(context: Features | None, lists: Features | None) -> SequencePlan:
    context, lists = context or {}, lists or {}
    key = (id(context) if context else 0, id(lists) if lists else 0)
    entry = _sequences.get(key)
    are_dicts = type(context) is type(lists) is dict
    if entry is not None and are_dicts:
        (context_snapshot, lists_snapshot), plan = entry
        if _core.unchanged(context, context_snapshot) and _core.unchanged(lists, lists_snapshot):
            return plan  # type: ignore[no-any-return]
    snapshots = _snapshot(context), _snapshot(lists)
    plan = SequencePlan(context, lists)
    if are_dicts:
        _keep(_sequences, key, _Entry(snapshots, plan))
    return plan
