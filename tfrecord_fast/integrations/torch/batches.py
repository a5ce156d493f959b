"""Batches of the datasets, which are sent between processes as one block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils.data import default_collate
from torch.utils.data._utils.collate import default_collate_fn_map

from .tensors import padded


class Batch(dict[Any, Any]):
    """The columns of a batch: a dict of tensors, and of lists of bytes.

    A DataLoader's worker sends it as one block of shared memory; the tensors on the other side are views of the block.
    To send dicts of your own `collate_fn` or dataset in the same way, wrap them: `Batch({"x": x, "y": y})`. Values may
    be nests of tensors. Use it like any dict.

    >>> import torch
    >>> Batch(x=torch.zeros(2))["x"]
    tensor([0., 0.])
    """

    __slots__ = ()

    def __copy__(self) -> Batch:
        return Batch(self)


class LabelledBatch(NamedTuple):
    """The batch of a dataset with a `label_key`: (columns, label), also sent as one block."""

    columns: Any
    label: Any


class SequenceBatch(NamedTuple):
    """The batch of a dataset of SequenceExamples: (context, sequences, lengths), also sent as one block."""

    context: Any
    sequences: Any
    lengths: Any


class Row(dict[Any, Any]):
    """The values of one record: tensors, bytes and lists of bytes.

    `jagged` and `padded` are the keys of values whose length differs from record to record, and which are jagged or
    padded tensors in a batch.
    """

    __slots__ = ("jagged", "padded")

    def __init__(
        self, values: dict[Any, Any], jagged: frozenset[Any] = frozenset(), padded: frozenset[Any] = frozenset()
    ) -> None:
        super().__init__(values)
        self.jagged = jagged
        self.padded = padded

    def __copy__(self) -> Row:
        return Row(self, self.jagged, self.padded)

    def __reduce__(self) -> tuple[type[Row], tuple[dict[Any, Any], frozenset[Any], frozenset[Any]]]:
        return Row, (dict(self), self.jagged, self.padded)


_Content = tuple[Any, Any, list[torch.Tensor]]


class Rows(Sequence[Row]):
    """The rows of a batch, made on access. `default_collate` returns the batch itself, unless rows were changed.

    Args:
      unpadded: returns the value of a padded column in a row, without its padding.
      padded: the keys of these columns.
    """

    def __init__(
        self, batch: Batch, count: int, unpadded: Callable[[Any, int], Any], padded: frozenset[Any] = frozenset()
    ) -> None:
        self.batch = batch
        self._count = count
        self._unpadded, self._padded = unpadded, padded
        self._jagged: dict[Any, Sequence[torch.Tensor]] | None = None  # the rows of jagged columns
        self._accessed: dict[int, tuple[Row, list[_Content]]] = {}  # by number, with their original contents

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return [self[i] for i in range(*key.indices(self._count))]
        i = range(self._count)[key]
        if i not in self._accessed:
            row = self._make(i)
            self._accessed[i] = row, _contents(row)
        return self._accessed[i][0]

    def _make(self, i: int) -> Row:
        if self._jagged is None:
            self._jagged = {name: column.unbind() for name, column in self.batch.items() if _is_jagged(column)}
        rows = self._jagged
        values = {name: rows[name][i] if name in rows else column[i] for name, column in self.batch.items()}
        for name in self._padded:
            values[name] = self._unpadded(name, i)
        return Row(values, frozenset(rows), self._padded)

    @property
    def are_changed(self) -> bool:
        """True if the contents of an accessed row have changed."""
        return any(not _is_same(_contents(row), before) for row, before in self._accessed.values())


def _is_same(now: list[_Content], then: list[_Content]) -> bool:
    return len(now) == len(then) and all(
        a[0] == b[0] and a[1] is b[1] and all(map(_holds_same, a[2], b[2])) for a, b in zip(now, then, strict=True)
    )


def _holds_same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Return True if two tensors have equal values. NaN equals NaN."""
    return a.shape == b.shape and (torch.equal(a, b) or bool(((a == b) | ((a != a) & (b != b))).all()))


def _contents(row: Row) -> list[_Content]:
    """Return each key and value, and copies of tensors that don't share the batch's memory."""
    return [(key, value, _copies(value, key in row.padded)) for key, value in row.items()]


def _copies(value: Any, is_padded: bool) -> list[torch.Tensor]:
    """Return copies of the values of a tensor that is padded in the batch, or sparse."""
    if not isinstance(value, torch.Tensor):
        return []
    if value.layout == torch.sparse_coo:
        whole = value.coalesce()
        return [whole.indices().clone(), whole.values().clone()]
    return [value.clone()] if is_padded else []


def _is_jagged(column: Any) -> bool:
    return isinstance(column, torch.Tensor) and column.layout is torch.jagged


def _collate_rows(rows: Sequence[Row], **_: Any) -> Batch:
    if isinstance(rows, Rows) and not rows.are_changed:
        return rows.batch
    return Batch({key: _collate_values([row[key] for row in rows], key, rows[0]) for key in rows[0]})


def _collate_values(values: list[Any], key: Any, like: Row) -> Any:
    if key in like.jagged:
        return torch.nested.nested_tensor(values, layout=torch.jagged)
    if key in like.padded and all(isinstance(value, torch.Tensor) for value in values):
        return padded(values)
    return values if isinstance(values[0], list) else default_collate(values)


def _collate_batches(batches: Sequence[Any], **_: Any) -> Any:
    """Collate for a DataLoader without `batch_size=None`."""
    if len(batches) > 1:
        raise ValueError(
            f"the dataset yields whole batches, but the DataLoader collates {len(batches)} of them: pass batch_size=… "
            "to the dataset, and batch_size=None to the DataLoader"
        )
    return batches[0]


for _batch_class in (Batch, LabelledBatch, SequenceBatch):
    default_collate_fn_map[_batch_class] = _collate_batches
default_collate_fn_map[Row] = _collate_rows
