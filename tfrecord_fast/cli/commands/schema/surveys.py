"""What the features of files are, file by file and together: counts of records, kinds, lengths, and a value each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from .... import _core
from ....examples.infer import InferredFeature, InferredList, features_of, lists_of
from ....examples.messages.wire import Value, sequence_of
from ....examples.record_kinds import EXAMPLE, SEQUENCE_EXAMPLE

__all__ = ["Survey", "conflicts", "group"]

_LOOKED_AT = 200  # records of a batch, while some features lack an example


class Summary(NamedTuple):
    """What some records hold under one key: as the core's KeySummary, but it can be made."""

    key: bytes
    kind: str
    records: int
    fewest: int
    most: int
    unset: int


@dataclass
class Survey:
    """The features of some records, of one file or of several. Has what `features_of` and `lists_of` ask for."""

    files: list[str]
    records: int = 0
    has_lists: bool = False
    values: dict[str, Value] = field(default_factory=dict)  # an example each, by name; lists by their first step
    _features: list[Summary] = field(default_factory=list)
    _lists: list[Summary] = field(default_factory=list)

    def features(self) -> list[Summary]:
        """Of Examples, or of contexts, sorted by key."""
        return self._features

    def lists(self) -> list[Summary]:
        """Of feature lists, sorted by key."""
        return self._lists

    def take(self, scanner: _core.FeatureScanner) -> None:
        """What a scanner has seen of these files."""
        self.records, self.has_lists = scanner.records, scanner.has_lists
        self._features = sorted(Summary(*_parts(one)) for one in scanner.features())
        self._lists = sorted(Summary(*_parts(one)) for one in scanner.lists())

    def find_values(self, scanner: _core.FeatureScanner, batch: _core.RecordBatch) -> None:
        """Looks for a value of each feature that has none yet, in a batch that the scanner has just seen."""
        known = [one.key for one in (*scanner.features(), *scanner.lists()) if one.most]
        lacking = {key.decode("utf-8", "surrogateescape") for key in known} - self.values.keys()
        for row in range(min(len(batch), _LOOKED_AT)):
            if not lacking:
                return
            context, lists = sequence_of(batch[row])
            found = {**{key: next(iter(steps), None) for key, steps in lists.items()}, **context}
            for key, value in found.items():
                if key in lacking and value is not None and value.values:
                    self.values[key] = value
                    lacking.discard(key)

    @property
    def kind(self) -> str:
        """What the records are."""
        return SEQUENCE_EXAMPLE if self.has_lists else EXAMPLE

    @property
    def keys(self) -> set[bytes]:
        """The names of all features."""
        return {one.key for one in (*self._features, *self._lists)}

    def inferred(self, optional_scalars: bool = False) -> dict[str, InferredFeature]:
        """The features, or context features."""
        return features_of(self, optional_scalars)

    def inferred_lists(self) -> dict[str, InferredList]:
        """The feature lists."""
        return lists_of(self)

    def and_(self, other: Survey) -> Survey:
        """Both together; where they conflict, the kind is the first one's."""
        return Survey(
            [*self.files, *other.files],
            self.records + other.records,
            self.has_lists or other.has_lists,
            {**other.values, **self.values},
            _merged(self._features, other._features, is_list=False),
            _merged(self._lists, other._lists, is_list=True),
        )


def _parts(one: _core.KeySummary) -> tuple[bytes, str, int, int, int, int]:
    return one.key, one.kind, one.records, one.fewest, one.most, one.unset


def _merged(one: Sequence[Summary], other: Sequence[Summary], is_list: bool) -> list[Summary]:
    made = {summary.key: summary for summary in one}
    for summary in other:
        known = made.get(summary.key)
        if known is None:
            made[summary.key] = summary
            continue
        # Of one without a kind, what tells the fewest values is whether there were steps.
        fewest = [one.fewest for one in (known, summary) if one.kind != "none" or (is_list and one.unset)]
        made[summary.key] = Summary(
            summary.key,
            summary.kind if known.kind == "none" else known.kind,
            known.records + summary.records,
            min(fewest, default=0),
            max(known.most, summary.most),
            known.unset + summary.unset,
        )
    return sorted(made.values())


def conflicts(surveys: Sequence[Survey]) -> Iterator[str]:
    """What files disagree on: features of one name and of two kinds."""
    seen: dict[tuple[bool, bytes], tuple[str, str]] = {}
    for survey in surveys:
        for is_list, summaries in ((False, survey.features()), (True, survey.lists())):
            for one in summaries:
                if one.kind == "none":
                    continue
                kind, path = seen.setdefault((is_list, one.key), (one.kind, survey.files[0]))
                if kind != one.kind:
                    name = one.key.decode("utf-8", "backslashreplace")
                    yield f"feature {name!r} is {one.kind} in {survey.files[0]}, and {kind} in {path}"


def group(surveys: Sequence[Survey]) -> list[Survey]:
    """The files that hold the same kind of thing, together: records of one kind that share names of features."""
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
