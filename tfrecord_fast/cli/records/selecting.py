"""The features of records that a condition reads."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...dtypes import as_dtype
from ...errors import InvalidArgumentError
from ...examples.features import VarLenFeature
from ...examples.infer import features_of
from ...examples.messages.wire import Value, sequence_of
from ...examples.parsing.parse import parse_example
from ...examples.record_kinds import EMPTY, EXAMPLE, SEQUENCE_EXAMPLE, kind_of
from .decoding import Undecodable
from .where import Condition, WhereError

_MOST_NAMES = 1000  # kept for suggestions


class NamesSeen:
    """Tracker of the `wanted` names that no record has had so far."""

    def __init__(self, wanted: Collection[str]) -> None:
        self._missing = set(wanted)
        self._features: set[str] = set()
        self._lists: set[str] = set()
        self.records = 0

    def add(self, records: int, features: Collection[str], lists: Collection[str]) -> None:
        """Add `records` records that have these features and feature lists."""
        self.records += records
        self._missing.difference_update(features)
        for known, names in ((self._features, features), (self._lists, lists)):
            if len(known) < _MOST_NAMES:
                known.update(names)

    def problems(self) -> Iterator[str]:
        """Yield a message for each name that no record has."""
        for name in sorted(self._missing) if self.records else ():
            if name in self._lists:
                yield f"{name!r} is a feature list; conditions can compare only features"
                continue
            close = difflib.get_close_matches(name, sorted(self._features), 1, 0.6)
            meant = f" (did you mean {close[0]!r}?)" if close else ""
            yield f"no feature {name!r} in the {self.records:,} records read{meant}"


def features_of_rows(
    records: _core.RecordBatch, names: Collection[str], seen: NamesSeen | None = None
) -> Callable[[int], Mapping[str, Value]]:
    """Return a function from a row to its features; it raises Undecodable for a row that is not an Example.

    All rows are parsed at once if each feature has one kind in all of them.

    Args:
      seen: gets the names of all features.
    """
    scanner = _core.FeatureSurvey()
    try:
        scanner.add(records)
    except InvalidArgumentError:
        return lambda row: _features_of(records[row], seen)
    if seen is not None:
        seen.add(len(records), *(list(map(_text, summaries)) for summaries in (scanner.features(), scanner.lists())))
    known = {name: VarLenFeature(feature.dtype) for name, feature in features_of(scanner).items() if name in names}
    try:
        columns = parse_example(records, known) if known else {}
    except InvalidArgumentError:  # a record with further fields, which TensorFlow rejects
        return lambda row: _features_of(records[row], None)
    lists: dict[str, tuple[str, list[int], list[Any]]] = {}
    for name, column in columns.items():
        dtype, values = as_dtype(known[name].dtype).name, column.values
        if dtype == "float32":  # shortest digits, as in example_of
            values = values.astype("U").astype("float64")
        lists[name] = dtype, column.row_splits.tolist(), values.tolist()
    return lambda row: {
        name: Value(dtype, values[splits[row] : splits[row + 1]]) for name, (dtype, splits, values) in lists.items()
    }


def matching_rows(records: _core.RecordBatch, condition: Condition, seen: NamesSeen) -> NDArray[np.int64]:
    """Return the rows that match; raise InvalidArgumentError for a record that the condition does not fit."""
    features = features_of_rows(records, condition.names, seen)
    rows = []
    for row in range(len(records)):
        try:
            if condition.holds(features(row)):
                rows.append(row)
        except (Undecodable, WhereError) as error:
            _core.fail_at(records, row, str(error))
    return np.array(rows, np.int64)


def _text(seen: _core.KeySummary) -> str:
    return seen.key.decode("utf-8", "surrogateescape")


def _features_of(record: bytes, seen: NamesSeen | None) -> Mapping[str, Value]:
    record_kind = kind_of(record)
    if record_kind not in (EXAMPLE, SEQUENCE_EXAMPLE, EMPTY):
        raise Undecodable(f"--where requires Examples, but the record looks like {record_kind}")
    context, lists = sequence_of(record)
    if seen is not None:
        seen.add(1, context, lists)
    return context
