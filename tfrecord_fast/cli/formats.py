"""What `convert` reads and writes. A source gives batches of records (Examples, except from TFRecord) to a sink.

Arrow (pyarrow, the extra `arrow`) reads and writes CSV and Parquet.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import io
import itertools
import json
import os
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import numpy as np

from .. import _core
from ..base.optional import optional
from ..base.threads import available_cpus
from ..dtypes import as_dtype
from ..examples.encode import encode_examples
from ..examples.features import FixedLenFeature
from ..examples.infer import InferredFeature, features_of
from ..examples.parsing import parse_example
from ..files.example_writer import ExampleWriter
from ..files.names import CODECS, CoreFile
from ..files.options import TFRecordOptions
from ..files.temporary import complete_file, local_name
from ..typing import Column, Columns, Table
from .files import batches, open_input

__all__ = ["COMPRESSIONS", "COMPRESSION_OF", "Malformed", "Unsuitable", "format_of", "make_sink", "make_source"]

COMPRESSIONS = tuple(name.lower() for name in CODECS)
COMPRESSION_OF = {codec.extension: name for name, codec in CODECS.items() if codec.extension}

_EXTENSIONS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
}
_ROWS = 4096  # of a batch


class Malformed(Exception):
    """The input is not what its format says."""


class Unsuitable(Exception):
    """What was asked for can't be done, with any input or with this one."""


def format_of(path: str) -> str:
    """By the extension, not counting that of the compression; TFRecord unless it says otherwise."""
    stem, extension = os.path.splitext(path)
    if extension.lower() in COMPRESSION_OF:
        extension = os.path.splitext(stem)[1]
    return _EXTENSIONS.get(extension.lower(), "tfrecord")


def make_source(kind: str, files: list[CoreFile], num_threads: int | None) -> _Source:
    """The records of files of one format."""
    made = {"tfrecord": _TFRecords, "jsonl": _JsonLines, "csv": _Csv, "parquet": _Parquet}[kind](files)
    made.num_threads = num_threads
    return made


def make_sink(
    kind: str, path: str, compression: str, level: int | None, shards: int, num_threads: int | None
) -> _TFRecordSink | _RowSink:
    """A file, or shards, to be written."""
    if kind == "tfrecord":
        options = TFRecordOptions(compression, compression_level=level)
        return _TFRecordSink(path, options, shards, num_threads)
    if shards > 1:
        raise Unsuitable(f"--shards is for TFRecord files, and {path} will be {kind}")
    return {"jsonl": _JsonSink, "csv": _CsvSink, "parquet": _ParquetSink}[kind](path, compression, level)


def _arrow(module: str) -> Any:
    return optional(module, "CSV and Parquet need pyarrow")


# ---- Sources ----


class _Source:
    """`batches` may be called as often as the input can be read; the first call reads it `passes` times."""

    passes = 1
    typed = True  # whether the records are Examples made here
    num_threads: int | None = None

    def __init__(self, files: list[CoreFile]) -> None:
        self.files = files
        self.advance: Callable[[int], None] = lambda read_bytes: None

    def batches(self) -> Iterator[_core.RecordBatch]:
        """All records, in order."""
        for path in self._paths():
            try:
                yield from self._batches_of(path)
            except (TypeError, ValueError) as error:
                raise Malformed(f"{path}: {error}") from None

    def _paths(self) -> list[str]:
        for name, opener in self.files:
            if opener is not None:
                raise Unsuitable(f"{os.fsdecode(name)}: only TFRecord is read from a stream or a URL")
        return [os.fsdecode(name) for name, _ in self.files]

    def _batches_of(self, path: str) -> Iterator[_core.RecordBatch]:
        raise NotImplementedError

    def _encode(self, columns: Table) -> _core.RecordBatch:
        return encode_examples(columns, num_threads=self.num_threads)


class _TFRecords(_Source):
    typed = False

    def batches(self) -> Iterator[_core.RecordBatch]:
        threads = self.num_threads or available_cpus()
        for file in self.files:
            yield from batches(open_input(file, "auto", self.advance), max(0, threads - 1), self.advance)


class _JsonLines(_Source):
    passes = 2
    _kinds: dict[str, type] | None = None

    def batches(self) -> Iterator[_core.RecordBatch]:
        if self._kinds is None:
            kinds: dict[str, type] = {}
            for path in self._paths():
                for number, row in self._rows(path):
                    self._look(path, number, row, kinds)
            self._kinds = kinds
        return super().batches()

    def _batches_of(self, path: str) -> Iterator[_core.RecordBatch]:
        rows: list[dict[str, Any]] = []
        for _, row in self._rows(path):
            rows.append(row)
            if len(rows) == _ROWS:
                yield self._encode_rows(rows)
                rows = []
        if rows:
            yield self._encode_rows(rows)

    def _encode_rows(self, rows: list[dict[str, Any]]) -> _core.RecordBatch:
        assert self._kinds is not None
        columns: dict[str, Any] = {}
        for key, kind in self._kinds.items():
            convert = _bytes_of_json if kind is bytes else kind
            column = (_as_list(row.get(key)) for row in rows)
            columns[key] = [[convert(value) for value in values] or None for values in column]
        return self._encode(columns) if columns else _core.record_batch([b"\n\x00"] * len(rows))

    def _rows(self, path: str) -> Iterator[tuple[int, dict[str, Any]]]:
        with open(path, "rb") as raw, _maybe_gunzip(raw) as file:
            before = 0
            for number, line in enumerate(file, 1):
                if raw.tell() != before:
                    self.advance(raw.tell() - before)
                    before = raw.tell()
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                except ValueError as error:
                    raise Malformed(f"{path}: line {number}: {error}") from None
                if not isinstance(row, dict):
                    raise Malformed(f"{path}: line {number}: expected an object, got {type(row).__name__}")
                yield number, row

    @staticmethod
    def _look(path: str, number: int, row: dict[str, Any], kinds: dict[str, type]) -> None:
        for key, value in row.items():
            place = f"{path}: line {number}: feature {key!r}"
            _check_bytes(key, place)
            for item in _as_list(value):
                kind = _kind_of_json(item)
                if kind is None:
                    raise Malformed(f"{place}: can't be written to an Example: {item!r:.60}")
                if kind is bytes:
                    _check_bytes(item, place)
                known = kinds.setdefault(key, kind)
                if known is not kind:
                    if bytes in (known, kind):
                        found = f"{_NAMES[kind]} here, {_NAMES[known]} before"
                        raise Malformed(f"{place}: conflicting kinds: {found}")
                    kinds[key] = float


_NAMES = {int: "integers", float: "floats", bytes: "text"}


def _maybe_gunzip(file: BinaryIO) -> Any:
    magic = file.read(2)
    file.seek(0)
    return gzip.GzipFile(fileobj=file) if magic == b"\x1f\x8b" else contextlib.nullcontext(file)


def _as_list(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _kind_of_json(value: Any) -> type | None:
    if isinstance(value, dict):
        return bytes if value.keys() == {"base64"} and isinstance(value["base64"], str) else None
    return {bool: int, int: int, float: float, str: bytes}.get(type(value))


def _bytes_of_json(value: Any) -> bytes:
    return value.encode() if isinstance(value, str) else base64.b64decode(value["base64"], validate=True)


def _check_bytes(value: Any, place: str) -> None:
    try:
        _bytes_of_json(value)
    except ValueError as error:
        what = "text that is not UTF-8" if isinstance(value, str) else "bad base64"
        raise Malformed(f"{place}: {what}: {error}") from None


class _Csv(_Source):
    """Holds one file at a time in memory: a column's type is known only at its end."""

    def _batches_of(self, path: str) -> Iterator[_core.RecordBatch]:
        pa = _arrow("pyarrow")
        table = self._read(path, {})
        texts = {field.name: pa.string() for field in table.schema if pa.types.is_temporal(field.type)}
        if texts:
            table = self._read(path, texts)
        self.advance(os.path.getsize(path))
        for batch in table.to_batches(max_chunksize=_ROWS):
            yield self._encode(batch)

    @staticmethod
    def _read(path: str, types: dict[str, Any]) -> Any:
        csv = _arrow("pyarrow.csv")
        # An empty field is a null, "" in quotes an empty text.
        convert = csv.ConvertOptions(
            column_types=types, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        )
        parse = csv.ParseOptions(newlines_in_values=True)
        return csv.read_csv(path, parse_options=parse, convert_options=convert)


class _Parquet(_Source):
    def _batches_of(self, path: str) -> Iterator[_core.RecordBatch]:
        with _arrow("pyarrow.parquet").ParquetFile(path) as file:
            size, rows = os.path.getsize(path), max(file.metadata.num_rows, 1)
            for batch in file.iter_batches(batch_size=_ROWS):
                yield self._encode(batch)
                self.advance(size * batch.num_rows // rows)


# ---- Sinks ----


class _TFRecordSink:
    wants_features = False

    def __init__(self, path: str, options: TFRecordOptions, shards: int, num_threads: int | None) -> None:
        self._arguments = (path, options, shards, num_threads)
        self._writer: ExampleWriter | None = None

    @contextlib.contextmanager
    def opened(self, scanner: _core.FeatureScanner) -> Iterator[None]:
        path, options, shards, num_threads = self._arguments
        try:
            self._writer = ExampleWriter(path, num_shards=shards, options=options, num_threads=num_threads)
        except ValueError as error:
            raise Unsuitable(str(error)) from None
        with self._writer:
            yield

    def write(self, records: _core.RecordBatch) -> None:
        assert self._writer is not None
        self._writer.write_batch(records)


class _RowSink:
    """Columns of features that are known before the first row."""

    wants_features = True

    def __init__(self, path: str, compression: str, level: int | None) -> None:
        if compression not in self.compressions:
            raise Unsuitable(f"{path}: {compression} is not for this format")
        self.path = local_name(path)
        self.compression = compression
        self.level = level
        self.features: dict[str, InferredFeature] = {}
        self.single: set[str] = set()  # those with at most one value

    compressions: tuple[str, ...] = ("", "GZIP")

    @contextlib.contextmanager
    def opened(self, scanner: _core.FeatureScanner) -> Iterator[None]:
        self.features = features_of(scanner)
        single = [seen.key for seen in scanner.features() if seen.most <= 1]
        self.single = {key.decode("utf-8", "surrogateescape") for key in single}
        with complete_file(self.path) as written, self._writing(written):
            yield

    def write(self, records: _core.RecordBatch) -> None:
        if len(records):
            self._write(parse_example(records, self.features) if self.features else {}, len(records))

    @contextlib.contextmanager
    def _writing(self, temporary: str) -> Iterator[None]:
        raise NotImplementedError
        yield

    def _write(self, columns: Columns, rows: int) -> None:
        raise NotImplementedError

    @contextlib.contextmanager
    def _opened_file(self, temporary: str) -> Iterator[Any]:
        with open(temporary, "wb") as raw:
            if self.compression == "GZIP":
                level = 6 if self.level in (None, -1) else self.level
                with gzip.GzipFile("", "wb", level or 0, raw, mtime=0) as file:
                    yield file
            else:
                yield raw


class _JsonSink(_RowSink):
    @contextlib.contextmanager
    def _writing(self, temporary: str) -> Iterator[None]:
        with self._opened_file(temporary) as self._file:
            yield

    def _write(self, columns: Columns, rows: int) -> None:
        made = {key: self._values(key, column) for key, column in sorted(columns.items())}
        for row in range(rows):
            line = {key: values[row] for key, values in made.items() if values[row] is not None}
            text = json.dumps(line, ensure_ascii=False) + "\n"
            self._file.write(text.encode("utf-8", "surrogateescape"))

    def _values(self, key: str, column: Column) -> list[Any]:
        """What each row's line holds; None for nothing."""
        if isinstance(self.features[key], FixedLenFeature):
            return [_json_nested(row) for row in _json_values(column)]
        values, splits = _json_values(column.values), column.row_splits.tolist()
        rows = [values[start:end] or None for start, end in itertools.pairwise(splits)]
        return [row and row[0] for row in rows] if key in self.single else rows


def _json_values(column: Column) -> list[Any]:
    """Numbers as in JSON, float32 with as few digits as identify it; bytes as they are."""
    if isinstance(column, np.ndarray) and column.dtype == np.float32:
        return column.astype("U").astype(np.float64).tolist()  # type: ignore[no-any-return]
    values = column.tolist()
    return [_json_nested(value) for value in values]


def _json_nested(value: Any) -> Any:
    if isinstance(value, list):
        return [_json_nested(item) for item in value]
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


class _ArrowSink(_RowSink):
    def _table(self, columns: Columns) -> Any:
        pa = _arrow("pyarrow")
        arrays = [self._array(key, columns[key] if columns else None) for key in self.features]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema())

    def _schema(self) -> Any:
        pa = _arrow("pyarrow")
        fields = []
        for key, feature in self.features.items():
            type = {"int64": pa.int64(), "float32": pa.float32()}.get(as_dtype(feature.dtype).name) or self._text()
            fields.append(pa.field(key, type if key in self.single else pa.large_list(type)))
        return pa.schema(fields)

    def _text(self) -> Any:
        return _arrow("pyarrow").large_binary()

    def _array(self, key: str, column: Column) -> Any:
        pa = _arrow("pyarrow")
        if isinstance(self.features[key], FixedLenFeature):
            if key in self.single:
                return self._flat(key, column)
            rows, count = column.shape
            return pa.LargeListArray.from_arrays(np.arange(rows + 1) * count, self._flat(key, column.reshape(-1)))
        values, splits = self._flat(key, column.values), column.row_splits
        missing = splits[:-1] == splits[1:]
        if key in self.single:
            return values.take(pa.array(splits[:-1], mask=missing))
        return pa.LargeListArray.from_arrays(pa.array(splits), values, mask=pa.array(missing))

    def _flat(self, key: str, values: Any) -> Any:
        pa = _arrow("pyarrow")
        array = pa.array(values)
        if isinstance(values, np.ndarray):
            return array
        array = array.cast(pa.large_binary())
        try:
            return array.cast(self._text())
        except pa.ArrowInvalid:
            raise Unsuitable(f"{self.path}: feature {key!r} holds bytes that are not UTF-8: CSV is text") from None


class _CsvSink(_ArrowSink):
    @contextlib.contextmanager
    def _writing(self, temporary: str) -> Iterator[None]:
        lists = sorted(set(self.features) - self.single)
        if lists:
            raise Unsuitable(f"{self.path}: feature {lists[0]!r} has several values per row: CSV holds one")
        csv = _arrow("pyarrow.csv")
        with self._opened_file(temporary) as file, csv.CSVWriter(file, self._schema()) as self._csv:
            yield

    def _text(self) -> Any:
        return _arrow("pyarrow").large_string()

    def _write(self, columns: Columns, rows: int) -> None:
        self._csv.write(self._table(columns))


class _Counted(io.RawIOBase):
    """A file that knows its position without asking the system, which can't say it of a pipe."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._position = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._file.write(data)
        self._position += len(data)
        return len(data)

    def tell(self) -> int:
        return self._position


class _ParquetSink(_ArrowSink):
    compressions = ("", "GZIP", "ZSTD", "SNAPPY")

    @contextlib.contextmanager
    def _writing(self, temporary: str) -> Iterator[None]:
        parquet = _arrow("pyarrow.parquet")
        level = self.level if self.compression else None
        compression = self.compression.lower() or "snappy"
        options = {"compression": compression, "compression_level": level}
        with open(temporary, "wb") as raw:
            with parquet.ParquetWriter(_Counted(raw), self._schema(), **options) as self._parquet:
                yield

    def _write(self, columns: Columns, rows: int) -> None:
        self._parquet.write_batch(self._table(columns))
