"""Dicts of features, compiled for the parsers, and found again by their content."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ... import _core
from ...errors import InvalidArgumentError
from ...typing import BytesLike, Column, Features, Record, Records
from ..features import AS_IN
from . import contents
from . import user_columns as results
from .core_columns import CONTEXT_KINDS, EXAMPLE_KINDS, LIST_KINDS, RawColumns
from .groups import FrozenGroups, group
from .partitions import RowError
from .user_columns import Result


class ExamplePlan:
    __slots__ = ("checks_rows", "columns", "core", "has_images")

    def __init__(self, features: Features, groups: FrozenGroups = ()) -> None:
        self.columns = RawColumns(features, EXAMPLE_KINDS)
        if groups:
            group(self.columns, groups)
        self.checks_rows = self.columns.checks_rows
        self.has_images = bool(self.columns.images)
        self.core = _core.ExamplePlan(self.columns.specs(), groups=self.columns.groups)

    def batch(self, records: Records, num_threads: int = 0) -> Result:
        self._check_seeds()
        return self.finish(self.core.parse(records, num_threads), records)

    def finish(self, columns: list[Column], records: Records | None = None) -> Result:
        """Return the results of a batch; a plan that `checks_rows` needs `records` to locate errors."""
        try:
            return results.of_batch(self.columns, columns)
        except RowError as error:
            raise error.located(records) from None

    def single(self, record: Record) -> Result:
        if self.has_images:
            records: Any = [record]
            return self.single_row(records)
        try:
            return results.of_one(self.columns, self.core.parse_one(record))
        except RowError as error:
            raise error.located(None) from None

    def single_row(self, records: Records) -> Result:
        """Return the results of a batch of one record, without the dimension of the batch."""
        self._check_seeds()
        columns = self.core.parse(records, 1)
        for key in self.columns.images:
            if not len(columns[self.columns.names.index(key)]):
                raise InvalidArgumentError(
                    f'feature {key!r}: the image can\'t be decoded, and on_error="skip" drops rows of batches; use '
                    'on_error="zeros" for single records'
                )
        try:
            return results.of_one(self.columns, [column[0] for column in columns])
        except RowError as error:
            raise error.located(None) from None

    def _check_seeds(self) -> None:
        for key, image in self.columns.images.items():
            if image.is_random and image.seed is None:
                raise InvalidArgumentError(
                    f"feature {key!r}: random crops and flips need ImageFeature(…, seed=…), or a ShardReader, which "
                    "has a seed and epochs"
                )


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


# Tuples, replaced and never changed: other threads may be reading them.
_examples: contents.Entries = ()
_sequences: contents.Entries = ()


def _as_dict(features: Features) -> dict[Any, Any]:
    if not isinstance(features, Mapping):
        raise TypeError(f"features must be a dict, {AS_IN}; got {features!r:.100}")
    return features if type(features) is dict else dict(features.items())


def example_plan(features: Features, groups: FrozenGroups = ()) -> ExamplePlan:
    """Return the plan for a dict of features, compiled now or before."""
    global _examples
    plan = _core.find(_examples, features, groups)
    if plan is None and type(features) is not dict:
        return example_plan(_as_dict(features), groups)
    if plan is None:
        frozen = contents.frozen(features)
        plan = ExamplePlan(contents.thawed(frozen), groups)  # not of `features`, which may be changed meanwhile
        _examples = contents.added(_examples, frozen, contents.frozen(groups), plan)
    return plan  # type: ignore[no-any-return]


def sequence_plan(context: Features | None, lists: Features | None) -> SequencePlan:
    """Return the plan for dicts of features and of feature lists, compiled now or before."""
    global _sequences
    context, lists = _as_dict(context or {}), _as_dict(lists or {})
    plan = _core.find(_sequences, context, lists)
    if plan is None:
        parts = contents.frozen(context), contents.frozen(lists)
        plan = SequencePlan(*map(contents.thawed, parts))
        _sequences = contents.added(_sequences, *parts, plan)
    return plan  # type: ignore[no-any-return]
