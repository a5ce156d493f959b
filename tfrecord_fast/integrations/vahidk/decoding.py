"""Conversion of records to the dicts of `tfrecord`: one array, or one `bytes`, per feature.

A batch is parsed into columns if all its records have the same keys with the same types. Otherwise it is halved until
they do.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ... import _core
from ...dtypes import DType, float32, int64, string
from ...errors import InvalidArgumentError
from ...examples.features import FixedLenFeature, RaggedFeature
from ...examples.parsing.plans import example_plan, sequence_plan
from ...values.columns.bytes_array import BytesArray

Description = Mapping[str, str | None] | Sequence[str] | None
Row = dict[str, Any]

_NO_KIND = "none"
_KINDS = {"byte": "bytes", "float": "float", "int": "int64"}
_TYPES = {value: key for key, value in _KINDS.items()}
_DTYPES: dict[str, DType] = {"bytes": string, "float": float32, "int64": int64}


class _KeyInfo(NamedTuple):
    """The kind of the values of a run of records under a key, and their number if it is the same in all."""

    key: str
    kind: str
    length: int | None


class _Run(NamedTuple):
    batch: _core.RecordBatch
    features: list[_KeyInfo]
    lists: list[_KeyInfo]


def check_description(description: Description) -> dict[str, str | None] | None:
    """Return the expected types of values by key, None for any type; None: all keys."""
    if description is None or len(description) == 0:
        return None
    if isinstance(description, str):
        raise TypeError(f"a description must be a dict or a list of keys, got the string {description!r}")
    wanted = dict(description) if isinstance(description, Mapping) else dict.fromkeys(description)
    for key, name in wanted.items():
        if name is not None and name not in _KINDS:
            raise KeyError(f"unknown type {name!r} for {key!r}: expected one of {', '.join(map(repr, _KINDS))}")
    return wanted


def example_rows(batch: _core.RecordBatch, description: dict[str, str | None] | None) -> Iterator[Row]:
    """Yield the features of each Example."""
    for run in _runs(batch, description, None):
        yield from _rows(_example_columns(run), len(run.batch))


def sequence_rows(
    batch: _core.RecordBatch,
    context: dict[str, str | None] | None,
    lists: dict[str, str | None] | None,
) -> Iterator[tuple[Row, Row]]:
    """Yield the context and the feature lists of each SequenceExample. Errors are those of `example_rows`."""
    for run in _runs(batch, context, (lists,)):
        features = {info.key: RaggedFeature(_DTYPES[info.kind]) for info in run.lists if info.kind != _NO_KIND}
        steps: dict[str, list[Any]] = {info.key: [[] for _ in range(len(run.batch))] for info in run.lists}
        if features:
            _, parsed, _ = sequence_plan(None, features).batch(run.batch)
            steps |= {key: _nested(column) for key, column in parsed.items()}
        contexts = _rows(_example_columns(run), len(run.batch))
        yield from zip(contexts, _rows(steps, len(run.batch)), strict=True)


# ---- Runs of similar records ----


def _runs(
    batch: _core.RecordBatch,
    description: dict[str, str | None] | None,
    lists: tuple[dict[str, str | None] | None] | None,
) -> Iterator[_Run]:
    """Divide a batch into runs; `lists` holds the description of the feature lists, and is None for Examples."""
    count = len(batch)
    if count == 0:
        return
    scanner = _core.FeatureSurvey()
    try:
        scanner.add(batch)
    except InvalidArgumentError:
        if count == 1:
            raise
    else:
        if lists is None and description is None and scanner.has_lists and count == 1:
            _core.fail_at(batch, 0, "the record has feature lists, which need a sequence_description")
        blame = _Blame(batch) if count == 1 else None
        features = _choose(scanner.features(), count, description, "feature", blame)
        chosen = [] if lists is None else _choose(scanner.lists(), count, lists[0], "feature list", blame)
        hidden = lists is None and description is None and scanner.has_lists
        if features is not None and chosen is not None and not hidden:
            yield _Run(batch, features, chosen)
            return
    for half in (batch[: count // 2], batch[count // 2 :]):
        yield from _runs(half, description, lists)


class _Blame(NamedTuple):
    """A record whose errors begin with its file and number."""

    record: _core.RecordBatch

    def fail(self, error_class: Callable[[str], Exception], text: str) -> NoReturn:
        try:
            _core.fail_at(self.record, 0, text)
        except InvalidArgumentError as error:
            raise error_class(str(error)) from None


def _choose(
    summaries: list[_core.KeySummary],
    count: int,
    description: dict[str, str | None] | None,
    what: str,
    blame: _Blame | None,
) -> list[_KeyInfo] | None:
    """Return the keys to read of `count` records; None if they differ. For one record, raise an error instead."""
    by_key = {summary.key.decode("utf-8", "surrogateescape"): summary for summary in summaries}
    chosen = []
    for key, name in (dict.fromkeys(by_key) if description is None else description).items():
        seen = by_key.get(key)
        steps = what == "feature list"
        if seen is None or seen.records != count or (seen.kind == _NO_KIND and not steps):
            if blame is None:
                return None
            if seen is None:
                blame.fail(KeyError, f"{what} {key!r} doesn't exist (select from {sorted(by_key)})")
            blame.fail(InvalidArgumentError, f"{what} {key!r} has no list of values, so that its type is unknown")
        if name is not None and seen.kind not in (_KINDS[name], _NO_KIND):
            if blame is None:
                return None
            blame.fail(TypeError, f"incompatible type {name!r} for {what} {key!r} (should be {_TYPES[seen.kind]!r})")
        if steps and seen.kind == _NO_KIND and blame is None:
            return None  # some record may have steps without values
        if steps and seen.kind == _NO_KIND and blame is not None and _has_steps(blame.record, key):
            blame.fail(InvalidArgumentError, f"{what} {key!r} has steps without values, so that its type is unknown")
        chosen.append(_KeyInfo(key, seen.kind, seen.most if seen.fewest == seen.most else None))
    return chosen


def _has_steps(record: _core.RecordBatch, key: str) -> bool:
    _, parsed, _ = sequence_plan(None, {key: RaggedFeature(int64)}).batch(record)
    return len(parsed[key].values) > 0


# ---- Columns to rows ----


def _example_columns(run: _Run) -> dict[str, list[Any]]:
    features = {
        info.key: RaggedFeature(_DTYPES[info.kind], row_splits_dtype=int64)
        if info.length is None or (info.kind == "bytes" and info.length != 1) or info.length == 0
        else FixedLenFeature([] if info.kind == "bytes" else [info.length], _DTYPES[info.kind])
        for info in run.features
    }
    if not features:
        return {}
    columns = example_plan(features).batch(run.batch)
    return {key: _values(columns[key]) for key in features}


def _values(column: Any) -> list[Any]:
    if isinstance(column, BytesArray):
        return column.tolist()
    if isinstance(column, np.ndarray):
        return [row.copy() for row in column]  # independent of the batch
    return _cut(column.values, column.row_splits)


def _cut(values: Any, splits: Any) -> list[Any]:
    bounds = itertools.pairwise(splits.tolist())
    if isinstance(values, BytesArray):
        every = values.tolist()
        return [strings(every[begin:end]) for begin, end in bounds]
    return [values[begin:end].copy() for begin, end in bounds]


def _nested(column: Any) -> list[list[Any]]:
    """Convert a RaggedTensor `[records, steps, values]` to a list of steps per record."""
    steps = _cut(column.values.values, column.values.row_splits)
    return [steps[begin:end] for begin, end in itertools.pairwise(column.row_splits.tolist())]


def strings(values: list[bytes]) -> Any:
    """Return a single value as `bytes`; others as an array of dtype S, or of objects if S would drop final zeros."""
    if len(values) == 1:
        return values[0]
    dtype: type = object if any(value.endswith(b"\0") for value in values) else np.bytes_
    return np.array(values, dtype=dtype)


def _rows(columns: dict[str, list[Any]], count: int) -> Iterator[Row]:
    if not columns:
        return ({} for _ in range(count))
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
