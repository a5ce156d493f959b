"""TFRecord files as input and output of `convert`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from ... import _core
from ...base.threads import default_threads
from ...files.example_writer import ExampleWriter
from ...files.options import TFRecordOptions
from ..files import batches, open_input
from .base import Source, Unsuitable

__all__ = ["TFRecordSink", "TFRecordSource"]


class TFRecordSource(Source):
    """Any records, from files, streams and URLs."""

    typed = False

    def batches(self) -> Iterator[_core.RecordBatch]:
        """All records, in order."""
        threads = self.num_threads or default_threads()
        for file in self.files:
            yield from batches(open_input(file, "auto", self.advance), max(0, threads - 1), self.advance)


class TFRecordSink:
    """Any records, to one file or several."""

    wants_features = False
    looks = False

    def __init__(self, path: str, options: TFRecordOptions, shards: int, num_threads: int | None) -> None:
        self._arguments = (path, options, shards, num_threads)
        self._writer: ExampleWriter | None = None

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """The files appear at the end, if there is no exception."""
        path, options, shards, num_threads = self._arguments
        try:
            self._writer = ExampleWriter(path, num_shards=shards, options=options, num_threads=num_threads)
        except ValueError as error:
            raise Unsuitable(str(error)) from None
        with self._writer:
            yield

    def write(self, records: _core.RecordBatch) -> None:
        """The records as they are."""
        assert self._writer is not None
        self._writer.write_batch(records)
