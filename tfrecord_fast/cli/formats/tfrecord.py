"""TFRecord files as input and output of `convert`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from ... import _core
from ...base.threads import default_threads
from ...files.naming.compression import TFRecordOptions
from ...files.writing.example_writer import ExampleWriter
from ...files.writing.output_files import WrittenFile
from ...files.writing.writer import TFRecordWriter
from ..files import batches, open_input
from .base import STANDARD_OUTPUT, Source, Unsuitable, target_of


class TFRecordSource(Source):
    typed = False

    def batches(self) -> Iterator[_core.RecordBatch]:
        threads = self.num_threads or default_threads()
        for file in self.files:
            yield from batches(open_input(file, "auto", self.advance), max(0, threads - 1), self.advance)


class TFRecordSink:
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
        self.written: list[WrittenFile] = []  # after the end; empty for standard output

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Open the files, which appear at the end unless there is an exception."""
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
        assert self._writer is not None
        with self._named():
            self._writer.write_batch(records)

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        """Add a name to errors of standard output."""
        try:
            yield
        except OSError as error:
            if error.filename is None and self._path == STANDARD_OUTPUT:
                error.filename = "standard output"
            raise
