"""Inference of the features of files, with the protobuf runtime, for files without a description."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.data.answers import frames
from benchmarks.data.dataset import Features
from benchmarks.data.reference import KINDS, messages

DTYPES = {kind: dtype for dtype, kind in KINDS.items()}


class Seen:
    """The kinds of values under one key, and the numbers of values in a record."""

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self.sizes: set[int] = set()
        self.records = 0

    def add(self, feature: Any) -> None:
        kind = feature.WhichOneof("kind")
        size = len(getattr(feature, kind).value) if kind else 0
        if kind:
            self.kinds.add(kind)
        self.sizes.add(size)


def infer(files: Iterable[str]) -> tuple[Features, Features, list[str]]:
    """Looks at all records.

    Returns:
      (features, feature lists, notes): those of an Example, or of a SequenceExample's context, and its lists; none
      where the records are something else. A note is a line about what was left out, because it has values of two
      kinds, or because the contenders have no common way to parse it: lists that are not in every record, or steps of
      different sizes.
    """
    _, message = messages()
    context: dict[str, Seen] = {}
    lists: dict[str, Seen] = {}
    count = 0
    for path in files:
        for record in frames(path, check=False):
            try:
                parsed = message.FromString(record)
            except Exception:  # each implementation of protobuf has an error of its own
                return {}, {}, [f"record {count} is not an Example: records are read, not parsed"]
            count += 1
            for name, feature in parsed.context.feature.items():
                seen = context.setdefault(name, Seen())
                seen.records += 1
                seen.add(feature)
            for name, steps in parsed.feature_lists.feature_list.items():
                seen = lists.setdefault(name, Seen())
                seen.records += 1
                for step in steps.feature:
                    seen.add(step)
    notes: list[str] = []
    features = {name: of_context(seen, count) for name, seen in sorted(context.items()) if keeps(name, seen, notes)}
    sequences = {}
    for name, seen in sorted(lists.items()):
        if keeps(name, seen, notes):
            if seen.records < count or len(seen.sizes) > 1:
                why = "not in every record" if seen.records < count else "its steps are of different sizes"
                notes.append(f"feature list {name!r} is left out: {why}")
            elif 0 in seen.sizes:
                notes.append(f"feature list {name!r} is left out: its steps are empty")
            else:
                sequences[name] = ["sequence", DTYPES[min(seen.kinds)], shape_of(seen)]
    if not features and not sequences:
        notes.append("the records have no features: they are read, not parsed")
    return features, sequences, notes


def keeps(name: str, one: Seen, notes: list[str]) -> bool:
    if len(one.kinds) == 1:
        return True
    notes.append(f"feature {name!r} is left out: {' and '.join(sorted(one.kinds)) or 'it has no values'}")
    return False


def of_context(one: Seen, count: int) -> list[Any]:
    fixed = one.records == count and len(one.sizes) == 1 and 0 not in one.sizes
    return ["fixed" if fixed else "varlen", DTYPES[min(one.kinds)], shape_of(one) if fixed else []]


def shape_of(one: Seen) -> list[int]:
    size = min(one.sizes)
    return [] if size == 1 else [size]
