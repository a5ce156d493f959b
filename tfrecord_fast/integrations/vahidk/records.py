"""The records of one file, or of a part of it, in batches."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..._core import RecordBatch, RecordStream
from ...errors import DataLossError, InvalidArgumentError
from ...files.indexing.index import RecordIndex
from ...files.naming.location import location_of
from ...files.reading.state import begin_of_epoch
from ...files.streams.records import record_stream
from ...typing import PathLike

__all__ = ["Place", "record_batches"]

_FRAMING = 8 + 4 + 4  # bytes of a record's frame besides its data
_COMPRESSIONS = {None: None, "gzip": "GZIP"}


class Place(NamedTuple):
    """What to read: the arguments that all loaders share."""

    data_path: PathLike
    index_path: PathLike | None
    shard: tuple[int, int] | None
    compression_type: str | None


def record_batches(place: Place) -> Iterator[RecordBatch]:
    """The records, as many at once as were read.

    Without an index, the whole file in order or, with a shard (i, n), its records i, i + n, i + 2n, …. With an index,
    the i-th of n ranges of records or, without a shard, all records from a random one on, and then those before it.

    Raises:
      ValueError: another compression_type than None and "gzip"; a shard that there is not.
      errors.DataLossError: the file is damaged.
      errors.InvalidArgumentError: the index is of another file.
    """
    if place.compression_type not in _COMPRESSIONS:
        raise ValueError(f"compression_type should be either 'gzip' or None, got {place.compression_type!r}")
    if place.shard is not None and not 0 <= place.shard[0] < place.shard[1]:
        raise InvalidArgumentError(f"shard is (index, count) with 0 <= index < count, got {place.shard}")
    if place.index_path is None:
        yield from _stream(place, {} if place.shard is None else {"record_shard": list(place.shard)}).batches()
        return
    offsets = RecordIndex.load(place.index_path).offsets
    if not len(offsets):
        _check_no_records(place)
        return
    if place.shard is None:
        start = int(np.searchsorted(offsets, np.random.choice(offsets)))
        yield from _between(place, offsets, start, len(offsets))
        yield from _between(place, offsets, 0, start)
    else:
        index, count = place.shard
        yield from _between(place, offsets, len(offsets) * index // count, len(offsets) * (index + 1) // count)


def _stream(place: Place, options: dict[str, Any]) -> RecordStream:
    return record_stream(
        [location_of(place.data_path)], compression_type=_COMPRESSIONS[place.compression_type], **options
    )


def _check_no_records(place: Place) -> None:
    for _ in _stream(place, {}).batches():
        raise InvalidArgumentError(
            f"{os.fsdecode(place.index_path or '')}: no line, but {os.fsdecode(place.data_path)} has records"
        )


def _between(place: Place, offsets: npt.NDArray[np.int64], first: int, last: int) -> Iterator[RecordBatch]:
    """The records from number `first` up to `last`, or up to the end of the file if the index ends there."""
    if first == last:
        return
    position = int(offsets[first])
    end = int(offsets[last]) if last < len(offsets) else None
    state = {**(begin_of_epoch(1) or {}), "epoch": 0, "next_file": 1, "slots": [[0, position, first]]}
    batches = _stream(place, {"state": state}).batches()
    begun = False
    while True:
        try:
            batch = next(batches)
        except StopIteration:
            break
        except DataLossError as error:
            if not begun and error.offset == position:
                raise _stale(place, position) from error
            raise
        begun = True
        ends = position + np.cumsum(batch.sizes + _FRAMING)
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
                raise _stale(place, end)
            return
    if end is not None or not begun:
        raise _stale(place, position if end is None else end)


def _stale(place: Place, offset: int) -> InvalidArgumentError:
    index, data = os.fsdecode(place.index_path or ""), os.fsdecode(place.data_path)
    return InvalidArgumentError(
        f"{index}: no index of {data}: expected a record at byte {offset}, found none there; make the index again"
    )
