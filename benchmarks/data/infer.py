"""What features the records of files have, found by the protobuf runtime, for files whose features nobody described."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from benchmarks.data.answers import frames
from benchmarks.data.dataset import Features
from benchmarks.data.reference import KINDS, messages

DTYPES = {kind: dtype for dtype, kind in KINDS.items()}


class Seen:
    """What was seen of one key: the kinds of its values, and the numbers of values that records have."""

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
                return {}, {}, [f"record {count} is no Example: records are read, not parsed"]
            count += 1
            for name, feature in parsed.context.feature.items():
                one = context.setdefault(name, Seen())
                one.records += 1
                one.add(feature)
            for name, steps in parsed.feature_lists.feature_list.items():
                one = lists.setdefault(name, Seen())
                one.records += 1
                for step in steps.feature:
                    one.add(step)
    notes: list[str] = []
    features = {name: of_context(one, count) for name, one in sorted(context.items()) if keeps(name, one, notes)}
    sequences = {}
    for name, one in sorted(lists.items()):
        if keeps(name, one, notes):
            if one.records < count or len(one.sizes) > 1:
                why = "not in every record" if one.records < count else "its steps are of different sizes"
                notes.append(f"feature list {name!r} is left out: {why}")
            elif 0 in one.sizes:
                notes.append(f"feature list {name!r} is left out: its steps are empty")
            else:
                sequences[name] = ["sequence", DTYPES[min(one.kinds)], shape_of(one)]
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
