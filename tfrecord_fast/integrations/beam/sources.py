"""Files and byte ranges of files as Beam's bounded sources.

Positions in a file are byte offsets. A record belongs to the range in which it begins. Records are found by following
the headers from a known record on, so data that look like records can't be mistaken for them.
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
from ...base.record_format import FRAME_BYTES
from ...files.naming.addresses import public_url
from ...files.naming.file_part import FilePart
from ...files.reading.task_splits import SPLIT_BYTES, Split
from .access import Access, names_of
from .elements import Elements

NAMESPACE = "tfrecord_fast"  # of counters
_LOT = 16  # records that the core returns at a time; they are joined up to _LOT_BYTES
_LOT_BYTES = 8 << 20
_LARGEST = 1 << 62

_log = logging.getLogger(__name__)

_Claiming = Generator[Any, None, bool]  # yields elements, and returns True after the last one


@dataclass(frozen=True)
class Reading:
    """Access to files, and conversion of their records. Pickles."""

    access: Access
    elements: Elements
    with_filename: bool = False  # elements are pairs (name of the file, element)


class PatternSource(BoundedSource):
    """All files of names and patterns, listed on the machine that splits or reads the source."""

    def __init__(self, reading: Reading, names: Sequence[str] | ValueProvider) -> None:
        self._reading, self._names = reading, names
        self._files: list[FilePart] | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_files": None}  # the list may be very long

    def files(self) -> list[FilePart]:
        """List the files. Raises FileNotFoundError: a name matches no file."""
        if self._files is None:
            self._files = self._reading.access.listed(names_of(self._names))
        return self._files

    def estimate_size(self) -> int:
        """Return the stored bytes of the files."""
        return sum(file.bytes for file in self.files())

    def split(
        self, desired_bundle_size: float | None = None, start_position: object = None, stop_position: object = None
    ) -> Iterator[SourceBundle]:
        share = int(min(max(desired_bundle_size or SPLIT_BYTES, 1), _LARGEST))
        for split in self._reading.access.planned(self.files(), share):
            yield source_of(self._reading, split)

    def get_range_tracker(self, start_position: object, stop_position: object) -> RangeTracker:
        """Return a tracker of the whole source, which only `split` divides. Lists no files."""
        return UnsplittableRangeTracker(OffsetRangeTracker(0, OffsetRangeTracker.OFFSET_INFINITY))

    def read(self, range_tracker: RangeTracker) -> Iterator[Any]:
        if range_tracker.try_claim(0):
            for bundle in self.split(_LARGEST):
                yield from bundle.source.read(bundle.source.get_range_tracker(None, None))

    def display_data(self) -> dict[str, Any]:
        later = isinstance(self._names, ValueProvider)
        return {"file_pattern": str(self._names if later else [*map(public_url, self._names)])}


class FilesSource(ConcatSource):
    """Several files, read one after the other by one task, unless Beam divides them later."""

    def split(
        self, desired_bundle_size: float | None = None, start_position: Any = None, stop_position: Any = None
    ) -> Iterator[SourceBundle]:
        yield SourceBundle(self.estimate_size(), self, start_position, stop_position)


class PartSource(BoundedSource):
    """A file, or a byte range of a file. Beam may divide an uncompressed one further, at any byte."""

    def __init__(self, reading: Reading, file_range: FilePart) -> None:
        self._reading, self._range = reading, file_range

    def estimate_size(self) -> int:
        return self._range.part_bytes

    def split(
        self, desired_bundle_size: float | None = None, start_position: Any = None, stop_position: Any = None
    ) -> Iterator[SourceBundle]:
        """Return the source itself: the file has already been divided."""
        yield SourceBundle(self.estimate_size(), self, start_position, stop_position)

    def get_range_tracker(self, start_position: int | None, stop_position: int | None) -> RangeTracker:
        file_range = self._range = self._reading.access.inspected(self._range)
        if file_range.end is None:  # positions are numbers of records
            return UnsplittableRangeTracker(OffsetRangeTracker(0, OffsetRangeTracker.OFFSET_INFINITY))
        begin = file_range.begin if start_position is None else start_position
        return OffsetRangeTracker(begin, file_range.end if stop_position is None else stop_position)

    def read(self, range_tracker: RangeTracker) -> Iterator[Any]:
        file_range: FilePart | None = self._range  # the same as when the tracker was made
        assert file_range is not None
        start = range_tracker.start_position()
        if file_range.end is not None and start > file_range.begin:
            file_range = self._reading.access.range_from(file_range, start)
        if file_range is None or file_range.bytes == 0:
            return
        claim = self._one_by_one if self._reading.elements.by_record else self._all_at_once
        with self._reading.access.errors_of(file_range):
            for records, positions in self._lots(file_range):
                ended = yield from claim(records, positions, range_tracker)
                if ended:
                    return

    def _lots(self, file_range: FilePart) -> Iterator[tuple[_core.RecordBatch, list[int]]]:
        """Yield records to convert together, and their positions."""
        most = self._reading.elements.records
        stream, batches = self._reading.access.batches(file_range, min(_LOT, most))
        position = 0 if file_range.end is None else file_range.begin
        for records in _joined(batches, most):
            steps = np.ones(len(records), np.int64) if file_range.end is None else records.sizes + FRAME_BYTES
            ends = position + np.cumsum(steps)
            yield records, (ends - steps).tolist()
            position = int(ends[-1])
            self._count_damage(stream)
        self._count_damage(stream)

    def _one_by_one(self, records: _core.RecordBatch, positions: list[int], tracker: RangeTracker) -> _Claiming:
        """Claim each record. Return True after the last record of the range."""
        claimed = 0
        try:
            for position, element in zip(positions, self._reading.elements.of(records), strict=True):
                if not tracker.try_claim(position):
                    return True
                claimed += 1
                yield self._named(element)
        finally:
            _count(records[:claimed])
        return False

    def _all_at_once(self, records: _core.RecordBatch, positions: list[int], tracker: RangeTracker) -> _Claiming:
        """Claim all records left in the range. Return True after the last record of the range."""
        if not tracker.try_claim(positions[0]):
            return True
        left = len(positions)
        if left > 1:
            # From here on, Beam can't divide the range before the last record; it may have done so earlier.
            tracker.set_current_position(positions[-1])
            left = bisect_left(positions, tracker.stop_position())
        taken = records[:left]
        for element in self._reading.elements.of(taken):
            yield self._named(element)
        _count(taken)
        return left < len(positions)

    def _named(self, element: Any) -> Any:
        return (self._range.file, element) if self._reading.with_filename else element

    def _count_damage(self, stream: _core.RecordStream) -> None:
        for stretch in stream.take_skipped():
            Metrics.counter(NAMESPACE, "damaged_stretches").inc()
            Metrics.counter(NAMESPACE, "damaged_bytes").inc(stretch.bytes or 0)
            _log.warning(
                "%s: skipped %s bytes at byte %d: %s", stretch.path, stretch.bytes, stretch.offset, stretch.reason
            )


def source_of(reading: Reading, split: Split) -> SourceBundle:
    """Return the source for one task, with its weight."""
    sources = [PartSource(reading, file_range) for file_range in split.parts]
    size = sum(file_range.part_bytes for file_range in split.parts)
    if len(sources) == 1:
        return SourceBundle(size, sources[0], None, None)
    bundles = [SourceBundle(max(source.estimate_size(), 1), source, None, None) for source in sources]
    return SourceBundle(size, FilesSource(bundles), None, None)


def _joined(batches: Iterator[_core.RecordBatch], most: int) -> Iterator[_core.RecordBatch]:
    """Join batches to `most` records, or fewer if they are large, without copies."""
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
