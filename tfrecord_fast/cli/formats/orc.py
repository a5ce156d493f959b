"""ORC: a column of values or lists per feature. Columns have no metadata."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from ... import _core
from .base import arrow, rows_of_batch
from .parquet import ArrowSink, ArrowSource


class OrcSource(ArrowSource):
    def batches_of(self, path: str) -> Iterator[_core.RecordBatch]:
        file = arrow("pyarrow.orc").ORCFile(path)
        self.check_types(path, file.schema)
        first = 0
        for stripe in range(file.nstripes):
            whole = file.read_stripe(stripe)
            rows = rows_of_batch(whole.nbytes, whole.num_rows)
            for start in range(0, whole.num_rows, rows):
                yield self.encode_plain(path, first, whole.slice(start, rows))
                first += min(rows, whole.num_rows - start)
        self.advance(os.path.getsize(path))


class OrcSink(ArrowSink):
    """An ORC file. Absent features are nulls; empty ones are empty lists."""

    has_metadata = False
    compressions = ("", "ZSTD", "SNAPPY")

    @contextlib.contextmanager
    def writing(self, name: str | int) -> Iterator[None]:
        codec = self.compression.lower() or "uncompressed"
        with open(name, "wb") as raw:
            self._out = _Patient(raw)
            with arrow("pyarrow.orc").ORCWriter(self._out, compression=codec) as self._writer:
                if not self._rows:
                    self._writer.write(self.schema().empty_table())
                yield
            self._out.check()

    def write_arrow(self, batch: Any) -> None:
        self._writer.write(arrow("pyarrow").Table.from_batches([batch]))
        self._out.check()


class _Patient:
    """File that defers its errors to `check`: the ORC writer aborts the process if a second write fails."""

    closed = False

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._fault: BaseException | None = None

    def write(self, data: Any) -> int:
        """Write bytes, unless an earlier call has failed; always report success."""
        self._try(lambda: self._file.write(data))
        return len(data)

    def flush(self) -> None:
        self._try(self._file.flush)

    def close(self) -> None:
        """Do nothing: the owner closes the file."""

    def check(self) -> None:
        if self._fault is not None:
            raise self._fault

    def _try(self, work: Callable[[], object]) -> None:
        if self._fault is None:
            try:
                work()
            except BaseException as fault:  # also an interrupt
                self._fault = fault
