"""ORC: a column per feature, which holds values, or lists of them. Its columns have no metadata."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from ... import _core
from .absences import Form
from .base import ROWS, Unsuitable, arrow
from .parquet import ArrowSink, ArrowSource

__all__ = ["OrcSink", "OrcSource"]


class OrcSource(ArrowSource):
    """ORC files."""

    def batches_of(self, path: str) -> Iterator[_core.RecordBatch]:
        """The records of one file."""
        file = arrow("pyarrow.orc").ORCFile(path)
        self.check_types(path, file.schema)
        first = 0
        for stripe in range(file.nstripes):
            whole = file.read_stripe(stripe)
            for start in range(0, whole.num_rows, ROWS):
                yield self.encode_plain(path, first, whole.slice(start, ROWS))
                first += min(ROWS, whole.num_rows - start)
        self.advance(os.path.getsize(path))


class OrcSink(ArrowSink):
    """An ORC file. Features without values are nulls if they are absent, and else empty lists of their kind."""

    takes_unset = False
    compressions = ("", "ZSTD", "SNAPPY")

    def begin(self, scanner: _core.FeatureScanner) -> None:
        """Takes the features of all records."""
        super().begin(scanner)
        for seen in scanner.features():
            if seen.unset:
                name = seen.key.decode()
                raise Unsuitable(
                    f"{self.path}: feature {name!r} is without a kind in some records, and ORC can't say so"
                )
        empty = [key for key, form in self._forms.items() if form.null == "empty"]
        self._forms = {**self._forms, **{key: Form("", "empty") for key in empty}}
        self._scalars = self._scalars - frozenset(empty)

    @contextlib.contextmanager
    def writing(self, name: str | int) -> Iterator[None]:
        """Writes a file of this name until the end."""
        codec = self.compression.lower() or "uncompressed"
        with open(name, "wb") as raw, arrow("pyarrow.orc").ORCWriter(raw, compression=codec) as self._writer:
            if not self._rows:
                self._writer.write(self.schema().empty_table())
            yield

    def write_arrow(self, batch: Any) -> None:
        """Writes a pyarrow.RecordBatch."""
        self._writer.write(arrow("pyarrow").Table.from_batches([batch]))
