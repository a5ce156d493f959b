"""TFRecord files as input and output of `convert`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from ... import _core
from ...base.threads import default_threads
from ...files.naming.compression import TFRecordOptions
from ...files.writing.example_writer import ExampleWriter, WrittenFile
from ...files.writing.writer import TFRecordWriter
from ..files import batches, open_input
from .base import STANDARD_OUTPUT, Source, Unsuitable, target_of

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

    def __init__(
        self,
        path: str,
        options: TFRecordOptions,
        shards: int,
        num_threads: int | None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        self._path = path
        self._arguments: dict[str, Any] = {
            "options": options,
            "num_shards": shards,
            "num_threads": num_threads,
            "storage_options": storage_options,
        }
        self._writer: ExampleWriter | TFRecordWriter | None = None
        self.written: list[WrittenFile] = []  # in the end, the files; none for standard output

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """The files appear at the end, if there is no exception."""
        if self._path == STANDARD_OUTPUT:
            with target_of(self._path) as written:
                file = open(written, "wb")
                try:
                    with TFRecordWriter(file, self._arguments["options"]) as self._writer:
                        yield
                        with self._named():
                            self._writer.close()
                finally:
                    with self._named():
                        file.close()
            return
        try:
            self._writer = ExampleWriter(self._path, **self._arguments)
        except ValueError as error:
            raise Unsuitable(str(error)) from None
        with self._writer:
            yield
        self.written = self._writer.close()

    def write(self, records: _core.RecordBatch) -> None:
        """The records as they are."""
        assert self._writer is not None
        with self._named():
            self._writer.write_batch(records)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Errors of standard output, which has no name, are called after it."""
        try:
            yield
        except OSError as error:
            if error.filename is None and self._path == STANDARD_OUTPUT:
                error.filename = "standard output"
            raise
