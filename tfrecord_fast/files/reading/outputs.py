"""What a ShardReader is to make of its records: features, groups of them, and a label."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ...errors import InvalidArgumentError
from ...examples.features import copied, names_of, select_features
from ...examples.parsing.groups import check_label, frozen_groups, select_grouped
from ...examples.parsing.plans import ExamplePlan, SequencePlan, example_plan, sequence_plan
from ...examples.parsing.table_plan import TablePlan
from ...typing import Column, Features, Groups, Key, SequenceFeatures

__all__ = ["Plan", "Wanted"]

Plan = ExamplePlan | SequencePlan | TablePlan | None


class Wanted:
    """The features, once they are known, and what parses them. The arguments are those of ShardReader.

    Args:
      infer: gives the features, if they are to be inferred.

    Attributes:
      features: None, a dict, a pair of dicts, or "infer"; only those that are asked for.
      groups: only those that are asked for.

    Raises:
      errors.InvalidArgumentError, TypeError, ValueError: these can't be parsed.
    """

    def __init__(
        self,
        features: Features | SequenceFeatures | TablePlan | str | None,
        label_key: Key | None,
        columns: Sequence[Key] | None,
        groups: Groups | None,
    ) -> None:
        self.features: Any = features
        self._plan: Plan = None
        self.groups = frozen_groups(groups)
        self.label_key = label_key
        self._columns = columns = names_of(columns)
        self._inferred: Mapping[Any, Any] | None = None
        given = {"label_key": label_key, "columns": columns, "groups": groups}
        for name, value in given.items():
            if value is not None and features is None:
                raise InvalidArgumentError(f"{name} needs features")
        if isinstance(features, str) and features != "infer":
            raise InvalidArgumentError(f'features is a dict, None or "infer", got {features!r}')
        if isinstance(features, tuple | list):
            self._check_sequences(features)
        elif features is not None and not features:
            raise InvalidArgumentError(f"features must not be empty, got {features!r}")
        if isinstance(features, Mapping):
            self.features = self._selected(features, "the features")
        elif isinstance(features, tuple | list) and columns is not None:
            self.features = select_features(features[0] or {}, columns, features[1])
        if not isinstance(features, str):
            # Of the very dict that was given: readers that are made of it one after the other share a plan, and what
            # it has learnt. From here on, the dict may change.
            self._plan = self.plan(lambda: {})
            self.features = copied(self.features)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_plan": None}

    @property
    def is_table(self) -> bool:
        return isinstance(self.features, TablePlan)

    def plan(self, infer: Callable[[], Mapping[Any, Any]]) -> Plan:
        """What parses the batches. Features that can't be parsed are refused now, and not in a thread."""
        if self._plan is not None:
            return self._plan
        if self.features is None or isinstance(self.features, TablePlan):
            return self.features
        if isinstance(self.features, tuple | list):
            return sequence_plan(*self.features)
        if not isinstance(self.features, str):
            return example_plan(self.features, self.groups)
        if self._inferred is None:
            self._inferred = self._selected(infer(), "the features found,")
        return example_plan(self._inferred, self.groups)

    def finish(self, plan: Plan, then: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
        """What makes a batch of what the core gives; None for nothing."""
        if plan is None:
            return then
        steps: list[Callable[[Any], Any]] = [partial(_with_records, plan.finish) if plan.checks_rows else plan.finish]
        steps += [] if self.label_key is None else [self._take_label]
        steps += [] if then is None else [then]
        return steps[0] if len(steps) == 1 else partial(_one_by_one, steps)

    def _take_label(self, columns: dict[Any, Column]) -> Any:
        return columns, columns.pop(self.label_key)

    def _check_sequences(self, features: Sequence[Any]) -> None:
        if len(features) != 2 or self.label_key is not None:
            raise InvalidArgumentError(
                "features of SequenceExamples are (context_features, sequence_features), without label_key"
            )
        if self.groups:
            raise InvalidArgumentError("groups are of the features of Examples; those of SequenceExamples have none")

    def _selected(self, features: Mapping[Any, Any], what: str) -> Mapping[Any, Any]:
        """The features of the columns that are asked for; notes the groups of these."""
        label, columns = self.label_key, self._columns
        if label is not None:
            check_label(label, self.groups, features, what)
        if columns is None:
            return features
        if label is not None and label not in columns and not isinstance(columns, str | bytes):
            columns = [*columns, label]
        chosen, self.groups = select_grouped(features, columns, self.groups)
        return chosen


def _with_records(finish: Callable[..., Any], parsed: tuple[Any, Any]) -> Any:
    return finish(*parsed)


def _one_by_one(steps: list[Callable[[Any], Any]], batch: Any) -> Any:
    for step in steps:
        batch = step(batch)
    return batch
