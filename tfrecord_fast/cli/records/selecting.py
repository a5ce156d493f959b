"""The features of records that a condition looks at."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from ... import _core
from ...dtypes import as_dtype
from ...errors import InvalidArgumentError
from ...examples.features import VarLenFeature
from ...examples.infer import features_of
from ...examples.messages.wire import Value, sequence_of
from ...examples.parsing.parse import parse_example
from ...examples.record_kinds import EMPTY, EXAMPLE, SEQUENCE_EXAMPLE, kind_of
from .decoding import Undecodable

__all__ = ["NamesSeen", "features_of_rows"]

_MOST_NAMES = 1000  # that are kept to suggest one


class NamesSeen:
    """Which of some names are those of features in the records that were looked at.

    Args:
      wanted: the names.
    """

    def __init__(self, wanted: Collection[str]) -> None:
        self._missing = set(wanted)
        self._features: set[str] = set()
        self._lists: set[str] = set()
        self.records = 0

    def add(self, records: int, features: Collection[str], lists: Collection[str]) -> None:
        """So many more records have features and feature lists of these names."""
        self.records += records
        self._missing.difference_update(features)
        for known, names in ((self._features, features), (self._lists, lists)):
            if len(known) < _MOST_NAMES:
                known.update(names)

    def problems(self) -> Iterator[str]:
        """What is to be said of each name that no record has."""
        for name in sorted(self._missing) if self.records else ():
            if name in self._lists:
                yield f"{name!r} is a feature list, and conditions look at single features"
                continue
            close = difflib.get_close_matches(name, sorted(self._features), 1, 0.6)
            meant = f" (did you mean {close[0]!r}?)" if close else ""
            yield f"none of the {self.records:,} records that were read has a feature {name!r}{meant}"


def features_of_rows(
    records: _core.RecordBatch, names: Collection[str], seen: NamesSeen | None = None
) -> Callable[[int], Mapping[str, Value]]:
    """What gives the features of a row: of all rows parsed at once, if they agree on what the features hold. `seen` is
    told of all names.

    The function raises Undecodable for a row that is no Example.
    """
    scanner = _core.FeatureScanner()
    try:
        scanner.add(records)
    except InvalidArgumentError:
        return lambda row: _features_of(records[row], seen)
    if seen is not None:
        seen.add(len(records), *(list(map(_text, part)) for part in (scanner.features(), scanner.lists())))
    known = {name: VarLenFeature(one.dtype) for name, one in features_of(scanner).items() if name in names}
    try:
        columns = parse_example(records, known) if known else {}
    except InvalidArgumentError:  # a record with fields that TensorFlow refuses beside its features
        return lambda row: _features_of(records[row], None)
    lists: dict[str, tuple[str, list[int], list[Any]]] = {}
    for name, column in columns.items():
        kind, values = as_dtype(known[name].dtype).name, column.values
        if kind == "float32":  # as example_of gives them: with as few digits as tell the float32
            values = values.astype("U").astype("float64")
        lists[name] = kind, column.row_splits.tolist(), values.tolist()
    return lambda row: {
        name: Value(kind, values[splits[row] : splits[row + 1]]) for name, (kind, splits, values) in lists.items()
    }


def _text(seen: _core.KeySummary) -> str:
    return seen.key.decode("utf-8", "surrogateescape")


def _features_of(record: bytes, seen: NamesSeen | None) -> Mapping[str, Value]:
    kind = kind_of(record)
    if kind not in (EXAMPLE, SEQUENCE_EXAMPLE, EMPTY):
        raise Undecodable(f"--where is for Examples, and the record looks like {kind}")
    context, lists = sequence_of(record)
    if seen is not None:
        seen.add(1, context, lists)
    return context
