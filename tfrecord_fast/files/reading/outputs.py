"""The outputs of a ShardReader: records, or columns of features, groups of features, and a label."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from ...errors import InvalidArgumentError
from ...examples.features import AS_IN, copied, names_of, select_features
from ...examples.parsing.groups import check_label, frozen_groups, select_grouped
from ...examples.parsing.plans import ExamplePlan, SequencePlan, example_plan, sequence_plan
from ...examples.parsing.table_plan import TablePlan
from ...typing import Column, Features, Groups, Key, SequenceFeatures

Plan = ExamplePlan | SequencePlan | TablePlan | None


class Outputs:
    """The features of a reader and the plan that parses them. The arguments are those of ShardReader.

    Attributes:
      features: None, a dict, a pair of dicts, or "infer"; limited to `columns`.
      groups: the groups, limited to `columns`.
      inferred: the features in place of "infer"; None until they are inferred.
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
        self.inferred: Any = None
        for name, value in {"label_key": label_key, "columns": columns, "groups": groups}.items():
            if value is not None and features is None:
                raise InvalidArgumentError(f"{name} needs features")
        if isinstance(features, str) and features != "infer":
            raise InvalidArgumentError(f'features must be a dict, None or "infer", got {features!r}')
        if isinstance(features, tuple | list | Mapping) and features:
            self.features = self._selected(features, "the features")
        elif features is not None and not features:
            raise InvalidArgumentError(f"features must not be empty, got {features!r}")
        if not isinstance(features, str):
            # Plans are cached by the caller's dict, so that later readers reuse what a plan has learnt about the
            # records. Afterwards the caller may change the dict.
            self._plan = self.plan(lambda: {})
            self.features = copied(self.features)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_plan": None}

    @property
    def is_table(self) -> bool:
        return isinstance(self.features, TablePlan)

    def known(self, infer: Callable[[], Any]) -> Any:
        """Return the features, inferred if necessary."""
        if not isinstance(self.features, str):
            return self.features
        if self.inferred is None:
            self.inferred = self._selected(infer(), "the inferred features,")
        return self.inferred

    def plan(self, infer: Callable[[], Any]) -> Plan:
        """Return the plan that parses batches. Raises for features that can't be parsed; `infer` finds the features."""
        if self._plan is not None:
            return self._plan
        if self.features is None or isinstance(self.features, TablePlan):
            return self.features
        features = self.known(infer)
        if isinstance(features, tuple | list):
            return sequence_plan(*features)
        return example_plan(features, self.groups)

    def finish(self, plan: Plan, then: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
        """Return a function from the core's result to a batch, or None if they are the same."""
        if plan is None:
            return then
        steps: list[Callable[[Any], Any]] = [partial(_with_records, plan.finish) if plan.checks_rows else plan.finish]
        steps += [] if self.label_key is None else [self._take_label]
        steps += [] if then is None else [then]
        return steps[0] if len(steps) == 1 else partial(_one_by_one, steps)

    def _take_label(self, columns: dict[Any, Column]) -> Any:
        return columns, columns.pop(self.label_key)

    def _check_sequences(self, features: Sequence[Any]) -> None:
        if len(features) != 2:
            pair = "(context_features, sequence_features)"
            raise InvalidArgumentError(f"features must be a dict, {AS_IN}, or for SequenceExamples a pair {pair}")
        if self.label_key is not None:
            raise InvalidArgumentError("label_key is for Examples; take the label from the columns of SequenceExamples")
        if self.groups:
            raise InvalidArgumentError("`groups` is supported for Examples only, not for SequenceExamples")

    def _selected(self, features: Any, what: str) -> Any:
        """Return the features of `columns`, and reduce `groups` to them; `what` names the features in errors."""
        label, columns = self.label_key, self._columns
        if isinstance(features, tuple | list):
            self._check_sequences(features)
            return features if columns is None else select_features(features[0] or {}, columns, features[1])
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
