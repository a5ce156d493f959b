"""The base classes of sources and sinks, and their errors."""

from __future__ import annotations

import contextlib
import gzip
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

from ... import _core
from ...base.optional import optional
from ...errors import InvalidArgumentError
from ...examples.encoding.encode import encode_examples
from ...examples.infer import InferredFeature, features_of
from ...examples.parsing.parse import parse_example
from ...files.naming.foreign_formats import foreign_format, head_of
from ...files.streams.core_files import CoreFile
from ...files.system.drafts import complete_file, local_name
from ...typing import Columns
from ..console import OutputClosed

ROWS = 4096  # of a batch, at most
BATCH_BYTES = 32 << 20  # of a batch; more in a single row
STANDARD_OUTPUT = "-"
_EMPTY = b"\n\x00"  # an Example without features
BEYOND_FLOAT32 = (2 - 2**-24) * 2.0**127  # the smallest number that rounds to infinity


class Malformed(Exception):
    """The input is malformed, or has values that an Example can't hold."""


class Unsuitable(Exception):
    """The request can't be fulfilled for this input or output."""


def arrow(module: str) -> Any:
    return optional(module, "CSV and Parquet need pyarrow")


def refuse(records: _core.RecordBatch, row: int, why: str) -> NoReturn:
    """Raise Unsuitable with the file and index of a record."""
    try:
        _core.fail_at(records, row, why)
    except InvalidArgumentError as error:
        raise Unsuitable(str(error)) from None


def is_float32(number: int) -> bool:
    """Return True if a float32 can hold an integer exactly."""
    odd = abs(number)
    odd //= (odd & -odd) or 1
    return odd < 2**24 and abs(number) < 2**128


def rows_of_batch(total_bytes: int, rows: int) -> int:
    """Return how many rows a batch has, of rows with this many bytes in all."""
    return max(1, min(ROWS, BATCH_BYTES * max(rows, 1) // max(total_bytes, 1)))


def check_names(path: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise Malformed(f"{path}: several columns are named {name!r}")


@contextlib.contextmanager
def target_of(path: str) -> Iterator[str | int]:
    """Yield a path or descriptor to open for writing: a draft that gets its name at the end, or standard output."""
    if path != STANDARD_OUTPUT:
        with complete_file(path) as written:
            yield written
        return
    try:
        yield os.dup(1)
    except BrokenPipeError:
        raise OutputClosed from None


def _is_regular(name: bytes) -> bool:
    """Return True for regular files, and for missing files, which are reported on opening."""
    try:
        return stat.S_ISREG(os.stat(name).st_mode)
    except OSError:
        return True


def check_keys(path: str, keys: list[bytes]) -> None:
    for key in keys:
        try:
            key.decode()
        except UnicodeDecodeError:
            name = key.decode("utf-8", "surrogateescape")
            raise Unsuitable(f"{path}: the name of feature {name!r} is not UTF-8") from None


class Source:
    """Reader of input files. `batches` may be called repeatedly; the first call reads the files `passes` times."""

    passes = 1
    typed = True  # records are Examples that this source encodes
    num_threads: int | None = None
    allow_rounding = False

    def __init__(self, files: list[CoreFile]) -> None:
        self.files = files
        self.advance: Callable[[int], None] = lambda read_bytes: None

    def batches(self) -> Iterator[_core.RecordBatch]:
        for path in self.paths():
            try:
                yield from self.batches_of(path)
            except (TypeError, ValueError) as error:
                raise Malformed(f"{path}: {error}".replace("allow_rounding=True", "--allow-rounding")) from None

    def paths(self) -> list[str]:
        """Return the paths of the files, which must be local."""
        for file in self.files:
            if not file.is_local or not _is_regular(file.name):
                raise Unsuitable(f"{os.fsdecode(file.name)}: only TFRecord can be read from a stream or a URL")
            foreign = foreign_format(*head_of(os.fsdecode(file.name))) or ""
            if "pointer" in foreign or "download" in foreign:  # despite its extension
                raise Unsuitable(f"{os.fsdecode(file.name)}: the file is {foreign}")
        return [os.fsdecode(file.name) for file in self.files]

    def batches_of(self, path: str) -> Iterator[_core.RecordBatch]:
        """Yield the records of one file."""
        raise NotImplementedError

    def encode(self, columns: Mapping[str, Any], rows: int) -> _core.RecordBatch:
        if not columns:
            return _core.record_batch([_EMPTY] * rows)
        return encode_examples(columns, num_threads=self.num_threads, allow_rounding=self.allow_rounding)

    def encode_table(self, batch: Any) -> _core.RecordBatch:
        """Encode one record per row of an Arrow batch, column by column: Arrow truncates names at a NUL."""
        return self.encode(dict(zip(batch.schema.names, batch.columns, strict=True)), batch.num_rows)


class RowSink:
    """Writer of rows, whose columns are known before the first row."""

    wants_features = True
    looks = False  # needs another pass over all records before the first write
    compressions: tuple[str, ...] = ("", "GZIP")
    needs_columns = True  # rows need at least one column
    takes_lists = False  # accepts SequenceExamples

    def __init__(self, path: str, compression: str, level: int | None) -> None:
        if compression not in self.compressions:
            raise Unsuitable(f"{path}: this format does not support {compression}")
        try:
            self.path = path if path == STANDARD_OUTPUT else local_name(path)
        except InvalidArgumentError as error:
            raise Unsuitable(str(error)) from None
        self.compression = compression
        self.level = level
        self.features: dict[str, InferredFeature] = {}
        self.single: set[str] = set()  # those with at most one value

    def check(self, scanner: _core.FeatureSurvey, records: _core.RecordBatch) -> None:
        """Refuses records that have just been scanned."""

    def look(self, batches: Iterator[_core.RecordBatch]) -> None:
        """Looks at all records, after `begin`."""

    def begin(self, scanner: _core.FeatureSurvey) -> None:
        """Receive the features of all records."""
        self.features = features_of(scanner)
        single = [seen.key for seen in scanner.features() if seen.most <= 1]
        self.single = {key.decode("utf-8", "surrogateescape") for key in single}
        check_keys(self.path, [seen.key for seen in scanner.features()])
        if self.needs_columns and scanner.records and not self.features:
            raise Unsuitable(f"{self.path}: no record has a feature with values, but rows need a column")

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Open the file, which appears at the end unless there is an exception."""
        within: OSError | None = None  # raised by the source or by `write`
        try:
            with target_of(self.path) as written, self.writing(written):
                try:
                    yield
                except OSError as error:
                    within = error
                    raise
        except OSError as error:
            if error is not within:
                self._name(error)
            raise

    def write(self, records: _core.RecordBatch) -> None:
        if len(records):
            try:
                self.write_batch(records)
            except OSError as error:
                self._name(error)
                raise

    def _name(self, error: OSError) -> None:
        """Add the name of the output to an error of Python's or Arrow's files."""
        if error.filename is None:
            error.filename = "standard output" if self.path == STANDARD_OUTPUT else self.path

    @contextlib.contextmanager
    def writing(self, name: str | int) -> Iterator[None]:
        """Keep a file open for writing."""
        raise NotImplementedError
        yield

    def write_batch(self, records: _core.RecordBatch) -> None:
        """Write a batch that is not empty."""
        self.write_rows(records, parse_example(records, self.features) if self.features else {})

    def write_rows(self, records: _core.RecordBatch, columns: Columns) -> None:
        raise NotImplementedError

    @contextlib.contextmanager
    def opened_file(self, name: str | int) -> Iterator[Any]:
        with open(name, "wb") as raw:
            if self.compression == "GZIP":
                level = 6 if self.level in (None, -1) else self.level
                with gzip.GzipFile("", "wb", level or 0, raw, mtime=0) as file:
                    yield file
            else:
                yield raw
