"""Columns in one plain form, and their checksums: what a contender that parses must have seen.

A contender turns what it hands out into `Column`s, in the pass that is not timed; the reference (reference.py) makes
the same from protobuf. Columns that are equal here are equal in every value of every record.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.data.answers import ANY_ORDER, Answer

Batch = dict[str, "Column"]  # by name; a feature list's is `step_name(name)`

DTYPES: dict[str, np.dtype[Any]] = {"int64": np.dtype("<i8"), "float32": np.dtype("<f4")}


class Column(NamedTuple):
    """The values of n records end to end: record i has the next `lengths[i]` of them.

    `values` is int64 or float32, [total] or [total, ...] (a feature list's steps), or a list of bytes.
    """

    values: Any
    lengths: NDArray[np.int64]


def step_name(name: str) -> str:
    """The name of the column of a SequenceExample's feature list, as a context feature may have the list's own name."""
    return f"{name} (steps)"


def fixed(values: Any) -> Column:
    """The column of a dense array [n, ...], of objects if it holds bytes."""
    array = np.asarray(values)
    size = array.size // len(array) if len(array) else 0
    flat = array.ravel()
    return Column(flat.tolist() if array.dtype == object else flat, np.full(len(array), size, np.int64))


def ragged(values: Any, row_splits: Any) -> Column:
    return Column(values, np.diff(np.asarray(row_splits)).astype(np.int64))


def padded(values: Any, lengths: Any) -> Column:
    """The column of an array [n, most steps, ...] that is filled up with zeros or empty strings.

    Raises:
      ValueError: it is filled up with something else.
    """
    array, lengths = np.asarray(values), np.asarray(lengths).astype(np.int64)
    used = np.arange(array.shape[1]) < lengths[:, None]
    filler = array[~used]
    if np.any(filler != (b"" if array.dtype == object else 0)):
        raise ValueError("padding that is not zero")
    kept = array[used]
    return Column(kept.tolist() if array.dtype == object else kept, lengths)


def joined(batches: Iterable[Batch]) -> Batch:
    """The records of all batches in one. There must be at least one batch."""
    first, *others = batches
    found = {}
    for name, column in first.items():
        parts = [column, *(batch[name] for batch in others)]
        values = [part.values for part in parts]
        whole = [one for part in values for one in part] if isinstance(values[0], list) else np.concatenate(values)
        found[name] = Column(whole, np.concatenate([part.lengths for part in parts]))
    return found


def of_arrow(array: Any, dtype: str) -> Column:
    """The column of an Arrow array of lists or of single values. A null is a record without values, not a value."""
    import pyarrow as pa

    kind, there = array.type, array.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        lengths = np.where(there, np.diff(array.offsets.to_numpy()), 0).astype(np.int64)
        array = array.flatten()
        if array.null_count:
            raise ValueError(f"{array.null_count} nulls in lists")
    else:
        lengths, array = there.astype(np.int64), array.drop_null()
    return Column(array.to_pylist() if dtype == "string" else array.to_numpy(zero_copy_only=False), lengths)


def of_lists(rows: Sequence[Any], dtype: str) -> Column:
    """The column of one list (or array) of values per record."""
    lengths = np.array([len(row) for row in rows], np.int64)
    if dtype == "string":
        return Column([value for row in rows for value in row], lengths)
    if np.all(lengths == 1):  # an array for each row would take longest
        return Column(np.array([row[0] for row in rows], DTYPES[dtype]), lengths)
    arrays = [np.asarray(row, DTYPES[dtype]) for row in rows]
    return Column(np.concatenate(arrays) if arrays else np.empty(0, DTYPES[dtype]), lengths)


class Sums:
    """The checksums of one feature, over its values and over how many each record has, whatever the batches were."""

    def __init__(self) -> None:
        self.values = hashlib.sha256()
        self.lengths = hashlib.sha256()
        self.dtype = ""

    def add(self, column: Column) -> None:
        values, lengths = column
        if isinstance(values, list):
            dtype, data = "string", b"".join(map(sized, values))
        else:
            dtype, data = str(values.dtype), values.tobytes()
        if self.dtype not in ("", dtype):
            raise ValueError(f"{self.dtype} in one batch, {dtype} in another")
        self.dtype = dtype
        self.values.update(data)
        self.lengths.update(lengths.astype("<i8").tobytes())

    def hexdigest(self) -> str:
        state = self.dtype.encode() + self.values.digest() + self.lengths.digest()
        return hashlib.sha256(state).hexdigest()


def sized(value: bytes) -> bytes:
    return len(value).to_bytes(8, "little") + value


def digest_of_columns(batches: Iterable[Batch], records: bool = True) -> Answer:
    """The number of records; a checksum of each feature's values in order; and the sum of checksums of whole records,
    each over all its features, which does not depend on the order but shows values that went to another record.
    Without `records` that sum, which takes longest, is left out: where all values are in order it says nothing more.

    Raises:
      ValueError: batches that do not fit together.
    """
    sums: dict[str, Sums] = {}
    count = total = 0
    for batch in batches:
        sizes = {name: len(column.lengths) for name, column in batch.items()}
        if len(set(sizes.values())) != 1 or (count and sizes.keys() != sums.keys()):
            raise ValueError(f"columns that do not fit together: {sizes}")
        for name, column in batch.items():
            sums.setdefault(name, Sums()).add(column)
        count += next(iter(sizes.values()))
        for record in rows(batch) if records else ():
            total += int.from_bytes(hashlib.sha256(record).digest(), "little")
    by_feature = {f"{name} in order": digest.hexdigest() for name, digest in sorted(sums.items())}
    any_order = {ANY_ORDER: f"{total % 2**256:064x}"} if records else {}
    return {"records": count, **by_feature, **any_order}


def lists_of(column: Column) -> list[Any]:
    """The values of each record, as Python lists."""
    values, lengths = column
    plain = values if isinstance(values, list) else values.tolist()
    ends = np.cumsum(lengths).tolist()
    return [plain[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)]


def rows(batch: Batch) -> list[bytes]:
    """Each record as bytes: feature by feature, by name, the number of values and the values."""
    parts: list[list[bytes]] = []
    beside: list[NDArray[np.uint8]] = []  # features with rows of one size, [n, bytes], cut all at once
    for name in sorted(batch):
        column = batch[name]
        values, lengths = column
        if isinstance(values, list) or np.any(lengths != lengths[0]):
            parts += [lines(beside), one_by_one(column)]
            beside = []
        else:
            data = np.ascontiguousarray(values).view(np.uint8).reshape(len(lengths), -1)
            beside += [lengths.astype("<i8").view(np.uint8).reshape(-1, 8), data]
    parts.append(lines(beside))
    return [b"".join(row) for row in zip(*filter(None, parts), strict=True)]


def lines(beside: list[NDArray[np.uint8]]) -> list[bytes]:
    if not beside:
        return []
    matrix = np.hstack(beside)
    flat, width = matrix.tobytes(), matrix.shape[1]
    return [flat[i : i + width] for i in range(0, len(flat), width)]


def one_by_one(column: Column) -> list[bytes]:
    values, lengths = column
    ends = np.cumsum(lengths).tolist()
    cuts = [slice(start, end) for start, end in zip([0, *ends[:-1]], ends, strict=True)]
    if isinstance(values, list):
        cut = [b"".join(map(sized, values[one])) for one in cuts]
    else:
        cut = [values[one].tobytes() for one in cuts]
    return [length.to_bytes(8, "little") + row for length, row in zip(lengths.tolist(), cut, strict=True)]
