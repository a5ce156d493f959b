"""What arrives in a training loop, in the plain form of data/columns.py, and records in the form in which formats of
arrays hold them. It needs NumPy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.contenders.kit.importing import importable
from benchmarks.contenders.kit.job import CannotError, Job
from benchmarks.contenders.kit.parsing import Parsing
from benchmarks.contenders.kit.reading import Source
from benchmarks.data.columns import DTYPES, Batch, Column, fixed
from benchmarks.data.dataset import Dataset
from benchmarks.data.reference import batches_of
from benchmarks.data.tasks import SHUFFLE

BUFFER_BYTES = 100_000_000  # a shuffle buffer has fewer records than SHUFFLE where they would take more than that
Row = dict[str, Any]  # a record: an array [k] for each dtype, bytes for each string


def buffer_of(job: Job) -> int:
    """How many records a shuffle buffer has."""
    mean = job.dataset.file_bytes / max(1, job.dataset.records)
    return max(1, min(SHUFFLE, round(BUFFER_BYTES / mean)))


def needs(*modules: str) -> None:
    """Raises CannotError where a module is not installed beside the contender."""
    lacking = [module for module in modules if not importable(module)]
    if lacking:
        raise CannotError(f"not installed beside it: {', '.join(lacking)}")


class Feeding(Parsing):
    """Like Parsing, of shuffled batches that are dicts."""

    def __init__(self, label: str, source: Source, columns: Callable[[Any], Batch], row: str = "") -> None:
        super().__init__(label, source, columns, count_of, row, "shuffled")


def count_of(batch: Mapping[str, Any]) -> int:
    """The number of records of a batch."""
    first = next(iter(batch.values()))
    return len(first) if isinstance(first, list) else int(first.shape[0])


def of_tensors(batch: Mapping[str, Any]) -> Batch:
    """The columns of a batch that has a tensor, an array or a list of bytes for each feature, of one value a record."""
    return {name: of_tensor(value) for name, value in batch.items()}


def of_tensor(value: Any) -> Column:
    if getattr(value, "is_nested", False):  # the bytes of strings, of several lengths
        value = [row.numpy().tobytes() for row in value.unbind()]
    if isinstance(value, list):
        return Column(value, np.ones(len(value), np.int64))
    return fixed(value.numpy() if hasattr(value, "numpy") else value)


class SideBySide:
    """Records of scalar features as a format of arrays holds them: the values of one dtype side by side in one array,
    so that there are as few arrays as can be. Each string is on its own.

    Raises:
      CannotError: there are other features than scalars.
    """

    def __init__(self, dataset: Dataset) -> None:
        features = dataset.features
        if dataset.sequences or not features or any(kind != "fixed" or shape for kind, _, shape in features.values()):
            raise CannotError("not measured: features other than scalars")
        self.dataset = dataset
        self.strings = [name for name, (_, dtype, _) in features.items() if dtype == "string"]
        self.numbers = {
            dtype: names
            for dtype in DTYPES
            if (names := [name for name, (_, given, _) in features.items() if given == dtype])
        }

    def rows(self) -> Iterator[Iterator[Row]]:
        """The records of each file."""
        for path in self.dataset.files:
            yield self.rows_of(batches_of(replace(self.dataset, files=[path]), check=False))

    def rows_of(self, batches: Iterable[Batch]) -> Iterator[Row]:
        for batch in batches:
            beside = {
                dtype: np.stack([np.asarray(batch[name].values) for name in names], 1)
                for dtype, names in self.numbers.items()
            }
            whole = beside | {name: batch[name].values for name in self.strings}
            yield from (dict(zip(whole, row, strict=True)) for row in zip(*whole.values(), strict=True))

    def columns(self, batch: Mapping[str, Any]) -> Batch:
        """The columns of a batch: for each dtype an array [n, k] or a tensor, for each string a list of bytes."""
        found = {name: of_tensor(batch[name]) for name in self.strings}
        for dtype, names in self.numbers.items():
            array = np.asarray(batch[dtype])
            found |= {name: fixed(np.ascontiguousarray(array[:, i])) for i, name in enumerate(names)}
        return found

    def packed(self, row: Row) -> bytes:
        """A record as bytes: the arrays, then the string, of which there may be one."""
        if len(self.strings) > 1:
            raise CannotError("not measured: more than one string")
        return b"".join(value if isinstance(value, bytes) else value.tobytes() for value in row.values())

    def unpacked(self, data: bytes) -> Row:
        row, at = {}, 0
        for dtype, names in self.numbers.items():
            row[dtype] = np.frombuffer(data, DTYPES[dtype], len(names), at)
            at += row[dtype].nbytes
        return row | {name: data[at:] for name in self.strings}

    def collated(self, rows: list[Row]) -> dict[str, Any]:
        """A batch of records: arrays [n, k], and lists of bytes."""
        return {
            key: np.stack([row[key] for row in rows]) if key in self.numbers else [row[key] for row in rows]
            for key in rows[0]
        }
