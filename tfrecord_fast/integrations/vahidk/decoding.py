"""Records to the dicts that `tfrecord` makes of them: one array, or one `bytes`, per feature.

A batch is parsed into columns, for which all its records must have the same keys, of the same kinds. Where they don't,
the batch is halved until they do.
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

__all__ = ["Description", "check_description", "example_rows", "sequence_rows", "strings"]

Description = Mapping[str, str | None] | Sequence[str] | None
Row = dict[str, Any]

_NO_KIND = "none"
_KIND_OF = {"byte": "bytes", "float": "float", "int": "int64"}
_TYPE_OF = {kind: name for name, kind in _KIND_OF.items()}
_DTYPES: dict[str, DType] = {"bytes": string, "float": float32, "int64": int64}


class _Found(NamedTuple):
    """What a run of records has under a key: the kind, and the number of values if all have as many."""

    key: str
    kind: str
    length: int | None


class _Run(NamedTuple):
    """Records that all have the same keys, of the same kinds."""

    batch: _core.RecordBatch
    features: list[_Found]
    lists: list[_Found]


def check_description(description: Description) -> dict[str, str | None] | None:
    """By key, the type that its values must have, if one is given; None stands for all keys.

    Raises:
      KeyError: a type is none of "byte", "float" and "int".
    """
    if description is None or len(description) == 0:
        return None
    if isinstance(description, str):
        raise TypeError(f"a description is a dict or a list of keys, got the string {description!r}")
    wanted = dict(description) if isinstance(description, Mapping) else dict.fromkeys(description)
    for key, name in wanted.items():
        if name is not None and name not in _KIND_OF:
            raise KeyError(f"unknown type {name!r} for {key!r}: expected one of {', '.join(map(repr, _KIND_OF))}")
    return wanted


def example_rows(batch: _core.RecordBatch, description: dict[str, str | None] | None) -> Iterator[Row]:
    """The features of each Example.

    Raises:
      KeyError: a record lacks a key.
      TypeError: the values under a key have another type.
      errors.InvalidArgumentError: a record is no Example; or all features are wanted, and it has feature lists, or a
        feature that has no type.
    """
    for run in _runs(batch, description, None):
        yield from _columns_to_rows(run, _example_columns(run))


def sequence_rows(
    batch: _core.RecordBatch,
    context: dict[str, str | None] | None,
    lists: dict[str, str | None] | None,
) -> Iterator[tuple[Row, Row]]:
    """The context and the feature lists of each SequenceExample. Raises as `example_rows`."""
    for run in _runs(batch, context, (lists,)):
        wanted = {one.key: RaggedFeature(_DTYPES[one.kind]) for one in run.lists if one.kind != _NO_KIND}
        steps: dict[str, list[Any]] = {one.key: [[] for _ in range(len(run.batch))] for one in run.lists}
        if wanted:
            _, parsed, _ = sequence_plan(None, wanted).batch(run.batch)
            steps |= {key: _nested(column) for key, column in parsed.items()}
        contexts = _columns_to_rows(run, _example_columns(run))
        yield from zip(contexts, _rows(steps, len(run.batch)), strict=True)


# ---- Runs of records that are alike ----


def _runs(
    batch: _core.RecordBatch,
    description: dict[str, str | None] | None,
    lists: tuple[dict[str, str | None] | None] | None,
) -> Iterator[_Run]:
    """Cuts a batch into runs; `lists` holds the description of the feature lists, and is None for Examples."""
    count = len(batch)
    if count == 0:
        return
    scanner = _core.FeatureScanner()
    try:
        scanner.add(batch)
    except InvalidArgumentError:
        if count == 1:
            raise
    else:
        if lists is None and description is None and scanner.has_lists and count == 1:
            _core.fail_at(batch, 0, "the record has feature lists, which only a sequence_description reads")
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
    """How the errors of a record begin: with its file and number."""

    record: _core.RecordBatch

    def fail(self, kind: Callable[[str], Exception], text: str) -> NoReturn:
        try:
            _core.fail_at(self.record, 0, text)
        except InvalidArgumentError as error:
            raise kind(str(error)) from None


def _choose(
    summaries: list[_core.KeySummary],
    count: int,
    description: dict[str, str | None] | None,
    what: str,
    blame: _Blame | None,
) -> list[_Found] | None:
    """What is to be read of `count` records; None if they are not alike, which one record (to blame) always is."""
    found = {one.key.decode("utf-8", "surrogateescape"): one for one in summaries}
    wanted = dict.fromkeys(found) if description is None else description
    chosen = []
    for key, name in wanted.items():
        seen = found.get(key)
        steps = what == "feature list"
        if seen is None or seen.records != count or (seen.kind == _NO_KIND and not steps):
            if blame is None:
                return None
            if seen is None:
                blame.fail(KeyError, f"{what} {key!r} doesn't exist (select from {sorted(found)})")
            blame.fail(InvalidArgumentError, f"{what} {key!r} has no list of values, so that its type is unknown")
        if name is not None and seen.kind not in (_KIND_OF[name], _NO_KIND):
            if blame is None:
                return None
            blame.fail(TypeError, f"incompatible type {name!r} for {what} {key!r} (should be {_TYPE_OF[seen.kind]!r})")
        if steps and seen.kind == _NO_KIND and blame is None:
            return None  # there may be steps without values, in one record or another
        if steps and seen.kind == _NO_KIND and blame is not None and _steps(blame.record, key):
            blame.fail(InvalidArgumentError, f"{what} {key!r} has steps without values, so that its type is unknown")
        chosen.append(_Found(key, seen.kind, seen.most if seen.fewest == seen.most else None))
    return chosen


def _steps(record: _core.RecordBatch, key: str) -> int:
    _, parsed, _ = sequence_plan(None, {key: RaggedFeature(int64)}).batch(record)
    return len(parsed[key].values)


# ---- Columns to rows ----


def _example_columns(run: _Run) -> dict[str, list[Any]]:
    """By key, the value of each record."""
    features = {
        one.key: RaggedFeature(_DTYPES[one.kind], row_splits_dtype=int64)
        if one.length is None or (one.kind == "bytes" and one.length != 1) or one.length == 0
        else FixedLenFeature([] if one.kind == "bytes" else [one.length], _DTYPES[one.kind])
        for one in run.features
    }
    if not features:
        return {}
    columns = example_plan(features).batch(run.batch)
    return {key: _values(columns[key]) for key in features}


def _values(column: Any) -> list[Any]:
    if isinstance(column, BytesArray):
        return column.tolist()
    if isinstance(column, np.ndarray):
        return [row.copy() for row in column]  # each to be kept, or changed, for itself
    return _cut(column.values, column.row_splits)


def _cut(values: Any, splits: Any) -> list[Any]:
    bounds = itertools.pairwise(splits.tolist())
    if isinstance(values, BytesArray):
        every = values.tolist()
        return [strings(every[begin:end]) for begin, end in bounds]
    return [values[begin:end].copy() for begin, end in bounds]


def _nested(column: Any) -> list[list[Any]]:
    """Of a RaggedTensor `[records, steps, values]`, a list of values per step, per record."""
    steps = _cut(column.values.values, column.values.row_splits)
    return [steps[begin:end] for begin, end in itertools.pairwise(column.row_splits.tolist())]


def strings(values: list[bytes]) -> Any:
    """One value as `bytes`, others as an array `[n]` of dtype S, or of objects if S would cut off zeros at an end."""
    if len(values) == 1:
        return values[0]
    dtype: type = object if any(value.endswith(b"\0") for value in values) else np.bytes_
    return np.array(values, dtype=dtype)


def _columns_to_rows(run: _Run, columns: dict[str, list[Any]]) -> Iterator[Row]:
    return _rows(columns, len(run.batch))


def _rows(columns: dict[str, list[Any]], count: int) -> Iterator[Row]:
    if not columns:
        return ({} for _ in range(count))
    return (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
