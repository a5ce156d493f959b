"""Surveys of the features of files, file by file and merged: counts, kinds, lengths, and an example value each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .... import _core
from ....examples.infer import InferredFeature, InferredList, features_of, lists_of
from ....examples.messages.wire import Value, sequence_of
from ....examples.record_kinds import EXAMPLE, SEQUENCE_EXAMPLE

_LOOKED_AT = 200  # records of a batch that are searched for example values


class Summary(NamedTuple):
    """Summary of one key: the core's KeySummary, but with a constructor."""

    key: bytes
    kind: str
    records: int
    fewest: int
    most: int
    unset: int


@dataclass
class Survey:
    """The features of the records of one or several files, in the form that `features_of` and `lists_of` take."""

    files: list[str]
    records: int = 0
    has_lists: bool = False
    values: dict[str, Value] = field(default_factory=dict)  # an example of each, by name; of lists the first step
    _features: list[Summary] = field(default_factory=list)
    _lists: list[Summary] = field(default_factory=list)

    def features(self) -> list[Summary]:
        """Return the features, or context features, sorted by key."""
        return self._features

    def lists(self) -> list[Summary]:
        """Return the feature lists, sorted by key."""
        return self._lists

    def take(self, scanner: _core.FeatureSurvey) -> None:
        self.records, self.has_lists = scanner.records, scanner.has_lists
        self._features = sorted(Summary(*_parts(summary)) for summary in scanner.features())
        self._lists = sorted(Summary(*_parts(summary)) for summary in scanner.lists())

    def find_values(self, scanner: _core.FeatureSurvey, batch: _core.RecordBatch) -> None:
        """Search the batch that was scanned last for example values of features that have none yet."""
        known = [summary.key for summary in (*scanner.features(), *scanner.lists()) if summary.most]
        lacking = {key.decode("utf-8", "surrogateescape") for key in known} - self.values.keys()
        for row in range(min(len(batch), _LOOKED_AT)):
            if not lacking:
                return
            context, lists = sequence_of(batch[row])
            values = {**{key: next(iter(steps), None) for key, steps in lists.items()}, **context}
            for key, value in values.items():
                if key in lacking and value is not None and value.values:
                    self.values[key] = value
                    lacking.discard(key)

    @property
    def kind(self) -> str:
        return SEQUENCE_EXAMPLE if self.has_lists else EXAMPLE

    @property
    def keys(self) -> set[bytes]:
        return {summary.key for summary in (*self._features, *self._lists)}

    def inferred(self, optional_scalars: bool = False) -> dict[str, InferredFeature]:
        return features_of(self, optional_scalars)

    def inferred_lists(self) -> dict[str, InferredList]:
        return lists_of(self)

    def and_(self, other: Survey) -> Survey:
        """Merge two surveys; where kinds conflict, the first survey's is kept."""
        return Survey(
            [*self.files, *other.files],
            self.records + other.records,
            self.has_lists or other.has_lists,
            {**other.values, **self.values},
            _merged(self._features, other._features, is_list=False),
            _merged(self._lists, other._lists, is_list=True),
        )


def _parts(summary: _core.KeySummary) -> tuple[bytes, str, int, int, int, int]:
    return summary.key, summary.kind, summary.records, summary.fewest, summary.most, summary.unset


def _merged(first: Sequence[Summary], second: Sequence[Summary], is_list: bool) -> list[Summary]:
    merged = {summary.key: summary for summary in first}
    for summary in second:
        known = merged.get(summary.key)
        if known is None:
            merged[summary.key] = summary
            continue
        # Without a kind, the fewest values are known only for lists whose steps are unset.
        fewest = [side.fewest for side in (known, summary) if side.kind != "none" or (is_list and side.unset)]
        merged[summary.key] = Summary(
            summary.key,
            summary.kind if known.kind == "none" else known.kind,
            known.records + summary.records,
            min(fewest, default=0),
            max(known.most, summary.most),
            known.unset + summary.unset,
        )
    return sorted(merged.values())


def conflicts(surveys: Sequence[Survey]) -> Iterator[str]:
    """Yield a message for each feature that has different kinds in different files."""
    seen: dict[tuple[bool, bytes], tuple[str, str]] = {}
    for survey in surveys:
        for is_list, summaries in ((False, survey.features()), (True, survey.lists())):
            for summary in summaries:
                if summary.kind == "none":
                    continue
                first_kind, path = seen.setdefault((is_list, summary.key), (summary.kind, survey.files[0]))
                if first_kind != summary.kind:
                    name = summary.key.decode("utf-8", "backslashreplace")
                    yield f"feature {name!r} is {summary.kind} in {survey.files[0]}, but {first_kind} in {path}"


def group(surveys: Sequence[Survey]) -> list[Survey]:
    """Merge the surveys of related files: those with the same kind of records and a common feature."""
    groups: list[Survey] = []
    for survey in surveys:
        together = replace(survey)
        apart = []
        for known in groups:
            fits = known.kind == together.kind and (known.keys & together.keys or not known.keys or not together.keys)
            if fits:
                together = known.and_(together)
            else:
                apart.append(known)
        groups = [*apart, together]
    return groups
