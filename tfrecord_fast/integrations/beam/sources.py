"""Files and parts of files as Beam's bounded sources.

Positions in a file are offsets of bytes. A record belongs to the range in which it begins. What begins where is told by
the headers from a known record on, so a file that is data of another one's record can't be taken for records.
"""

from __future__ import annotations

import logging
from bisect import bisect_left
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from apache_beam.io.concat_source import ConcatSource
from apache_beam.io.iobase import BoundedSource, RangeTracker, SourceBundle
from apache_beam.io.range_trackers import OffsetRangeTracker, UnsplittableRangeTracker
from apache_beam.metrics import Metrics
from apache_beam.options.value_provider import ValueProvider

from ... import _core
from ...files.naming.byte_range import FilePart
from ...files.reading.byte_ranges import SPLIT_BYTES, Split
from .access import Access, names_of
from .elements import Elements

__all__ = ["NAMESPACE", "FilesSource", "PartSource", "PatternSource", "Reading", "source_of"]

NAMESPACE = "tfrecord_fast"  # of counters
_LOT = 16  # records that the core gives at a time, of which as many are taken together as are not too large
_LOT_BYTES = 8 << 20
_FRAME = 8 + 4 + 4  # of a record, without its data
_LARGEST = 1 << 62

_log = logging.getLogger(__name__)

_Claiming = Generator[Any, None, bool]  # gives elements, and says whether there are no more


@dataclass(frozen=True)
class Reading:
    """How files are read, and what becomes of their records. It pickles.

    Attributes:
      with_filename: elements are pairs (name of the file, element).
    """

    access: Access
    elements: Elements
    with_filename: bool = False


class PatternSource(BoundedSource):
    """All files that names and patterns stand for, which are listed where it is split or read.

    Args:
      names: paths, URLs, patterns, folders; or Beam's ValueProvider of one.
    """

    def __init__(self, reading: Reading, names: Sequence[str] | ValueProvider) -> None:
        self._reading, self._names = reading, names
        self._files: list[FilePart] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_files": None}  # there may be very many

    def files(self) -> list[FilePart]:
        """Raises FileNotFoundError: there is none for one of the names."""
        if self._files is None:
            self._files = self._reading.access.listed(names_of(self._names))
        return self._files

    def estimate_size(self) -> int:
        """The bytes of the files, as they are stored."""
        return sum(file.bytes for file in self.files())

    def split(
        self, desired_bundle_size: float | None = None, start_position: object = None, stop_position: object = None
    ) -> Iterator[SourceBundle]:
        share = int(min(max(desired_bundle_size or SPLIT_BYTES, 1), _LARGEST))
        for split in self._reading.access.planned(self.files(), share):
            yield source_of(self._reading, split)

    def get_range_tracker(self, start_position: object, stop_position: object) -> RangeTracker:
        """Of all, which nobody divides but `split`. Nothing is listed for it."""
        return UnsplittableRangeTracker(OffsetRangeTracker(0, OffsetRangeTracker.OFFSET_INFINITY))

    def read(self, range_tracker: RangeTracker) -> Iterator[Any]:
        if range_tracker.try_claim(0):
            for bundle in self.split(_LARGEST):
                yield from bundle.source.read(bundle.source.get_range_tracker(None, None))

    def display_data(self) -> dict[str, Any]:
        return {"file_pattern": str(self._names)}


class FilesSource(ConcatSource):
    """Several files that are read one after the other, by one task unless Beam divides them later."""

    def split(
        self, desired_bundle_size: float | None = None, start_position: Any = None, stop_position: Any = None
    ) -> Iterator[SourceBundle]:
        yield SourceBundle(self.estimate_size(), self, start_position, stop_position)


class PartSource(BoundedSource):
    """A file, or a part of one, which Beam may divide further at any byte if it is not compressed."""

    def __init__(self, reading: Reading, part: FilePart) -> None:
        self._reading, self._part = reading, part

    def estimate_size(self) -> int:
        return self._part.part_bytes

    def split(
        self, desired_bundle_size: float | None = None, start_position: Any = None, stop_position: Any = None
    ) -> Iterator[SourceBundle]:
        """As it is: the file was divided when it was found."""
        yield SourceBundle(self.estimate_size(), self, start_position, stop_position)

    def get_range_tracker(self, start_position: int | None, stop_position: int | None) -> RangeTracker:
        part = self._part = self._reading.access.looked_at(self._part)
        if part.end is None:  # positions are numbers of records
            return UnsplittableRangeTracker(OffsetRangeTracker(0, OffsetRangeTracker.OFFSET_INFINITY))
        begin = part.begin if start_position is None else start_position
        return OffsetRangeTracker(begin, part.end if stop_position is None else stop_position)

    def read(self, range_tracker: RangeTracker) -> Iterator[Any]:
        part: FilePart | None = self._part  # as it was when the tracker was made
        assert part is not None
        start = range_tracker.start_position()
        if part.end is not None and start > part.begin:
            part = self._reading.access.part_from(part, start)
        if part is None or part.bytes == 0:
            return
        claim = self._one_by_one if self._reading.elements.by_record else self._all_at_once
        with self._reading.access.errors_of(part):
            for records, places in self._lots(part):
                ended = yield from claim(records, places, range_tracker)
                if ended:
                    return

    def _lots(self, part: FilePart) -> Iterator[tuple[_core.RecordBatch, list[int]]]:
        """Records that are taken together, and their positions."""
        most = self._reading.elements.records
        stream, batches = self._reading.access.batches(part, min(_LOT, most))
        place = 0 if part.end is None else part.begin
        for records in _joined(batches, most):
            steps = np.ones(len(records), np.int64) if part.end is None else records.sizes + _FRAME
            ends = place + np.cumsum(steps)
            yield records, (ends - steps).tolist()
            place = int(ends[-1])
            self._count_damage(stream)
        self._count_damage(stream)

    def _one_by_one(self, records: _core.RecordBatch, places: list[int], tracker: RangeTracker) -> _Claiming:
        """Claims each record; True if there are no more."""
        given = 0
        try:
            for place, element in zip(places, self._reading.elements.of(records), strict=True):
                if not tracker.try_claim(place):
                    return True
                given += 1
                yield self._named(element)
        finally:
            _count(records[:given])
        return False

    def _all_at_once(self, records: _core.RecordBatch, places: list[int], tracker: RangeTracker) -> _Claiming:
        """Claims as many as are left; True if there are no more."""
        if not tracker.try_claim(places[0]):
            return True
        left = len(places)
        if left > 1:
            # From here on nobody divides the range before the last of them; before, somebody may have.
            tracker.set_current_position(places[-1])
            left = bisect_left(places, tracker.stop_position())
        taken = records[:left]
        for element in self._reading.elements.of(taken):
            yield self._named(element)
        _count(taken)
        return left < len(places)

    def _named(self, element: Any) -> Any:
        return (self._part.file, element) if self._reading.with_filename else element

    def _count_damage(self, stream: _core.RecordStream) -> None:
        for stretch in stream.take_skipped():
            Metrics.counter(NAMESPACE, "damaged_stretches").inc()
            Metrics.counter(NAMESPACE, "damaged_bytes").inc(stretch.bytes or 0)
            _log.warning(
                "%s: skipped %s bytes at byte %d: %s", stretch.path, stretch.bytes, stretch.offset, stretch.reason
            )


def source_of(reading: Reading, split: Split) -> SourceBundle:
    """The source of what a task reads, with its weight."""
    sources = [PartSource(reading, part) for part in split.parts]
    size = sum(part.part_bytes for part in split.parts)
    if len(sources) == 1:
        return SourceBundle(size, sources[0], None, None)
    return SourceBundle(
        size, FilesSource([SourceBundle(max(one.estimate_size(), 1), one, None, None) for one in sources]), None, None
    )


def _joined(batches: Iterator[_core.RecordBatch], most: int) -> Iterator[_core.RecordBatch]:
    """Batches of `most` records, without copies; of fewer if they are large."""
    lot: list[_core.RecordBatch] = []
    count = size = 0
    for batch in batches:
        while count + len(batch) >= most or size + batch.nbytes >= _LOT_BYTES:
            taken, batch = batch[: most - count], batch[most - count :]
            yield _core.concatenate([*lot, taken])
            lot, count, size = [], 0, 0
            if not len(batch):
                break
        else:
            lot.append(batch)
            count, size = count + len(batch), size + batch.nbytes
    if lot:
        yield _core.concatenate(lot)


def _count(records: _core.RecordBatch) -> None:
    if len(records):
        Metrics.counter(NAMESPACE, "records_read").inc(len(records))
        Metrics.counter(NAMESPACE, "bytes_read").inc(records.nbytes)
