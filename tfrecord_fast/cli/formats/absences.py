"""Features without values in Arrow columns: nulls, empty lists and lists of a null, and their meanings.

A feature may be "absent" from a record; "unset", which is present without a kind; or "empty", a list of its kind
without values. By default a null means absent, and an empty list means empty. If a column needs other meanings, the
metadata of its field has them, so that reading the file restores the same records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ... import _core
from ...examples.messages.wire import Value, example_of, to_example
from .base import arrow

_NULL, _EMPTY, _LIST = b"tfrecord_fast.null", b"tfrecord_fast.empty_list", b"tfrecord_fast.list_of_null"
MEANINGS = (_NULL, _EMPTY, _LIST)  # keys of metadata


class Form(NamedTuple):
    """The meanings of a null, an empty list and a list of a null: "absent", "unset", "empty", or "" if unused."""

    null: str
    empty_list: str = ""
    list_of_null: str = ""

    @property
    def metadata(self) -> dict[bytes, bytes] | None:
        metadata = {}
        if self.null not in ("", "absent"):
            metadata[_NULL] = self.null.encode()
        if self.empty_list not in ("", "empty"):
            metadata[_EMPTY] = self.empty_list.encode()
        if self.list_of_null:
            metadata[_LIST] = self.list_of_null.encode()
        return metadata or None

    @property
    def is_ambiguous(self) -> bool:
        """True if records differ in the state of features without values."""
        return bool(self.empty_list and self.null)


def states_of(seen: _core.KeySummary, records: int) -> list[str]:
    """Return the states of features without values under a key, in `records` records."""
    states = ["absent"] if seen.records + seen.unset < records else []
    states += ["unset"] if seen.unset else []
    return states + (["empty"] if seen.records and not seen.fewest else [])


def form_of(states: Sequence[str], single: bool) -> tuple[Form, bool]:
    """Return the form of a column with these states, and True if its values need no lists."""
    if len(states) == 3:
        return Form("absent", "empty", "unset"), False
    if len(states) == 2:
        return Form(states[0], states[1]), False
    if not single and states == ["empty"]:
        return Form("", "empty"), False
    return Form(states[0] if states else ""), single


def with_unset(records: _core.RecordBatch, unset: Mapping[str, Any]) -> _core.RecordBatch:
    """Add features without a kind to the records that the masks select."""
    rows: dict[int, list[str]] = {}
    for key, mask in unset.items():
        for row in np.flatnonzero(mask).tolist():
            rows.setdefault(row, []).append(key)
    if not rows:
        return records
    examples = records.tolist()
    for row, keys in rows.items():
        examples[row] = to_example(example_of(examples[row]) | {key: Value("none", []) for key in keys})
    return _core.record_batch(examples)


def restored(batch: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return columns with default meanings to encode, and masks of unset rows.

    Args:
      batch: a pyarrow.RecordBatch, whose schema has the metadata.
    """
    columns: dict[str, Any] = {}
    unset: dict[str, Any] = {}
    for field, column in zip(batch.schema, batch.columns, strict=True):
        metadata = {key: value.decode() for key, value in (field.metadata or {}).items()}
        form = Form(metadata.get(_NULL, "absent"), metadata.get(_EMPTY, "empty"), metadata.get(_LIST, ""))
        if form.metadata is None:
            columns[field.name] = column
            continue
        column, unset[field.name] = _restored(column, form)
        if column is not None:
            columns[field.name] = column
    return columns, unset


def _restored(column: Any, form: Form) -> tuple[Any, Any]:
    pa, types = arrow("pyarrow"), arrow("pyarrow.types")
    nulls = np.asarray(column.is_null())
    if not (types.is_list(column.type) or types.is_large_list(column.type)):
        if form.null == "empty":
            splits = np.concatenate([[0], np.cumsum(~nulls)]).astype(np.int64)
            return pa.LargeListArray.from_arrays(splits, column.drop_null()), np.zeros(len(column), bool)
        return (None if types.is_null(column.type) else column), nulls
    unset = np.zeros(len(column), bool)
    counts = np.asarray(arrow("pyarrow.compute").list_value_length(column).fill_null(-1))
    if form.null == "unset":
        unset |= nulls
    if form.empty_list == "unset":
        unset |= counts == 0
    if form.list_of_null == "unset":
        flat = np.asarray(column.flatten().is_null())
        starts = np.concatenate([[0], np.cumsum(np.maximum(counts, 0))])
        unset |= np.array([bool(n == 1 and flat[start]) for n, start in zip(counts, starts, strict=False)], bool)
    if types.is_null(column.type.value_type):
        return None, unset
    return pa.array(_without(column, unset), column.type), unset


def _without(column: Any, rows: Any) -> Iterator[Any]:
    for value, left_out in zip(column, rows.tolist(), strict=True):
        yield None if left_out else value.as_py()
