"""What the datasets give: batches that go from process to process as one piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch.utils.data import default_collate
from torch.utils.data._utils.collate import default_collate_fn_map

from .tensors import padded

__all__ = ["Batch", "LabelledBatch", "Row", "Rows", "SequenceBatch"]


class Batch(dict[Any, Any]):
    """The columns of a batch: a dict of tensors, and of lists of bytes.

    A DataLoader's worker sends it as one block of shared memory, of which the tensors on the other side are views. A
    dict that a `collate_fn` or a dataset of one's own makes is sent in the same way once it is a Batch:
    `Batch({"x": x, "y": y})`. Values may be nests of tensors. Use it as any dict.

    >>> import torch
    >>> Batch(x=torch.zeros(2))["x"]
    tensor([0., 0.])
    """

    __slots__ = ()

    def __copy__(self) -> Batch:
        return Batch(self)


class LabelledBatch(NamedTuple):
    """What a dataset with a `label_key` gives: (columns, label). It travels as one block, too."""

    columns: Any
    label: Any


class SequenceBatch(NamedTuple):
    """What a dataset of SequenceExamples gives: (context, sequences, lengths). It travels as one block, too."""

    context: Any
    sequences: Any
    lengths: Any


class Row(dict[Any, Any]):
    """The values of one record: tensors, bytes and lists of bytes.

    `jagged` and `padded` have the keys of values whose length differs from record to record; a batch has jagged or
    padded tensors of them.
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
    """The rows of a batch, each made when asked for; `default_collate` makes the batch of them again, at no cost unless
    rows were changed.

    Args:
      alone: gives the value of a padded column in a row, as it is without the others.
      padded: the keys of these columns.
    """

    def __init__(
        self, batch: Batch, count: int, alone: Callable[[Any, int], Any], padded: frozenset[Any] = frozenset()
    ) -> None:
        self.batch = batch
        self._count = count
        self._alone, self._padded = alone, padded
        self._jagged: dict[Any, Sequence[torch.Tensor]] | None = None  # the rows of jagged columns
        self._given: dict[int, tuple[Row, list[_Content]]] = {}  # by number, with what was in them

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return [self[i] for i in range(*key.indices(self._count))]
        i = range(self._count)[key]
        if i not in self._given:
            row = self._made(i)
            self._given[i] = row, _contents(row)
        return self._given[i][0]

    def _made(self, i: int) -> Row:
        if self._jagged is None:
            self._jagged = {name: column.unbind() for name, column in self.batch.items() if _is_jagged(column)}
        rows = self._jagged
        values = {name: rows[name][i] if name in rows else column[i] for name, column in self.batch.items()}
        for name in self._padded:
            values[name] = self._alone(name, i)
        return Row(values, frozenset(rows), self._padded)

    @property
    def are_changed(self) -> bool:
        """Whether a row that was given holds something else now."""
        return any(not _is_same(_contents(row), before) for row, before in self._given.values())


def _is_same(now: list[_Content], then: list[_Content]) -> bool:
    return len(now) == len(then) and all(
        a[0] == b[0] and a[1] is b[1] and all(map(_holds_same, a[2], b[2])) for a, b in zip(now, then, strict=True)
    )


def _holds_same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors have the same values, NaN where the other has NaN."""
    return a.shape == b.shape and (torch.equal(a, b) or bool(((a == b) | ((a != a) & (b != b))).all()))


def _contents(row: Row) -> list[_Content]:
    """Each key and value, and what was in it if that is a copy of what the batch has."""
    return [(key, value, _held(value, key in row.padded)) for key, value in row.items()]


def _held(value: Any, is_padded: bool) -> list[torch.Tensor]:
    """The values of a tensor that is padded in the batch, or is sparse."""
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
    """What a DataLoader does that was not told `batch_size=None`."""
    if len(batches) > 1:
        raise ValueError(
            f"the dataset gives whole batches, and the DataLoader was to make one of {len(batches)} of them: give "
            "batch_size=… to the dataset, and batch_size=None to the DataLoader"
        )
    return batches[0]


for _kind in (Batch, LabelledBatch, SequenceBatch):
    default_collate_fn_map[_kind] = _collate_batches
default_collate_fn_map[Row] = _collate_rows
