"""The records of a file, or of a shard of it, in batches."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..._core import RecordBatch, RecordStream
from ...base.record_format import FRAME_BYTES
from ...errors import DataLossError, InvalidArgumentError
from ...files.indexing.index import RecordIndex
from ...files.naming.location import location_of
from ...files.reading.state import begin_of_epoch
from ...files.streams.records import record_stream
from ...typing import PathLike

_COMPRESSIONS = {None: None, "gzip": "GZIP"}


class Source(NamedTuple):
    """The arguments that all loaders share."""

    data_path: PathLike
    index_path: PathLike | None
    shard: tuple[int, int] | None
    compression_type: str | None


def record_batches(source: Source) -> Iterator[RecordBatch]:
    """Yield the records, in batches of any size.

    Without an index: the whole file in order or, with a shard (i, n), its records i, i + n, i + 2n, …. With an index:
    the i-th of n ranges of records or, without a shard, the records from a random one to the end, and then those before
    it.
    """
    if source.compression_type not in _COMPRESSIONS:
        raise ValueError(f"compression_type should be either 'gzip' or None, got {source.compression_type!r}")
    if source.shard is not None and not 0 <= source.shard[0] < source.shard[1]:
        raise InvalidArgumentError(f"shard must be (index, count) with 0 <= index < count, got {source.shard}")
    if source.index_path is None:
        yield from _stream(source, {} if source.shard is None else {"record_shard": list(source.shard)}).batches()
        return
    offsets = RecordIndex.load(source.index_path).offsets
    if not len(offsets):
        _check_no_records(source)
        return
    if source.shard is None:
        start = int(np.searchsorted(offsets, np.random.choice(offsets)))
        yield from _between(source, offsets, start, len(offsets))
        yield from _between(source, offsets, 0, start)
    else:
        index, count = source.shard
        yield from _between(source, offsets, len(offsets) * index // count, len(offsets) * (index + 1) // count)


def _stream(source: Source, options: dict[str, Any]) -> RecordStream:
    compression = _COMPRESSIONS[source.compression_type]
    return record_stream([location_of(source.data_path)], compression_type=compression, **options)


def _check_no_records(source: Source) -> None:
    for _ in _stream(source, {}).batches():
        raise InvalidArgumentError(
            f"{os.fsdecode(source.index_path or '')}: empty index, but {os.fsdecode(source.data_path)} has records"
        )


def _between(source: Source, offsets: npt.NDArray[np.int64], first: int, last: int) -> Iterator[RecordBatch]:
    """Yield the records from number `first` to `last`, or to the end of the file if the index ends there."""
    if first == last:
        return
    position = int(offsets[first])
    end = int(offsets[last]) if last < len(offsets) else None
    state = {**(begin_of_epoch(1) or {}), "epoch": 0, "next_file": 1, "slots": [[0, position, first]]}
    batches = _stream(source, {"state": state}).batches()
    has_begun = False
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            break
        except DataLossError as error:
            if not has_begun and error.offset == position:
                raise _stale(source, position) from error
            raise
        has_begun = True
        ends = position + np.cumsum(batch.sizes + FRAME_BYTES)
        if end is None or ends[-1] <= end:
            position = int(ends[-1])
            yield batch
            if position == end:
                return
        else:
            kept = int(np.searchsorted(ends, end, side="right"))
            if kept:
                yield batch[:kept]
            if kept == 0 or ends[kept - 1] != end:
                raise _stale(source, end)
            return
    if end is not None or not has_begun:
        raise _stale(source, position if end is None else end)


def _stale(source: Source, offset: int) -> InvalidArgumentError:
    index, data = os.fsdecode(source.index_path or ""), os.fsdecode(source.data_path)
    return InvalidArgumentError(
        f"{index} is not the index of {data}: no record begins at byte {offset}; create the index again"
    )
