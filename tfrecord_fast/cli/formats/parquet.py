"""Parquet and Arrow IPC: a column of values or lists per feature."""

from __future__ import annotations

import contextlib
import functools
import io
import os
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import numpy as np

from ... import _core
from ...dtypes import as_dtype
from ...examples.features import VarLenFeature
from ...examples.infer import features_of
from ...examples.messages.wire import Value, example_of
from ...examples.parsing.parse import parse_example
from .base import BEYOND_FLOAT32, Malformed, RowSink, Source, arrow, check_keys, check_names, rows_of_batch
from .casts import cast_to_plain, cast_to_schema
from .media import flat_batch, flat_schema

_NULL = b"tfrecord_fast.null"  # key of metadata
_GROUP_ROWS, _GROUP_BYTES = 1 << 17, 32 << 20  # of a row group of Parquet, at most


class ArrowSource(Source):
    """Reader of integers, booleans, floats, text and bytes, and lists of them; with `cast`, also of other types."""

    cast: str | None = None  # one of CASTS

    def check_types(self, path: str, schema: Any) -> None:
        schema = flat_schema(schema)
        check_names(path, schema.names)
        for field in schema:
            _check_type(path, field, self.cast is not None)

    def plain(self, path: str, batch: Any) -> Any:
        return batch if self.cast is None else cast_to_plain(path, batch, self.cast)

    def encode_plain(self, path: str, first: int, batch: Any) -> _core.RecordBatch:
        """Encode one record per row; `first` is the number of the first row in the file."""
        batch = self.plain(path, flat_batch(path, first, batch))
        _check_floats(path, first, batch)
        return self.encode_rows(batch)

    def encode_rows(self, batch: Any) -> _core.RecordBatch:
        """Encode one record per row of a batch in types that features have."""
        fields = zip(batch.schema, batch.columns, strict=True)
        return self.encode({field.name: _with_empty(field, column) for field, column in fields}, batch.num_rows)


class ArrowFileSource(ArrowSource):
    def batches_of(self, path: str) -> Iterator[_core.RecordBatch]:
        pa = arrow("pyarrow")
        with pa.memory_map(path) as file:
            is_file = file.read(6) == b"ARROW1"
            file.seek(0)
            reader = pa.ipc.open_file(file) if is_file else pa.ipc.open_stream(file)
            self.check_types(path, reader.schema)
            first = 0
            record_batches = (reader.get_batch(i) for i in range(reader.num_record_batches)) if is_file else reader
            for whole in record_batches:
                rows = rows_of_batch(whole.nbytes, whole.num_rows)
                for start in range(0, whole.num_rows, rows):
                    batch = whole.slice(start, rows)
                    yield self.encode_plain(path, first, batch)
                    first += batch.num_rows
        self.advance(os.path.getsize(path))


class ParquetSource(ArrowSource):
    def batches_of(self, path: str) -> Iterator[_core.RecordBatch]:
        # Prefetched data would be held until the end of the file.
        with arrow("pyarrow.parquet").ParquetFile(path, pre_buffer=False) as file:
            self.check_types(path, file.schema_arrow)
            size, rows = os.path.getsize(path), max(file.metadata.num_rows, 1)
            groups = (file.metadata.row_group(number) for number in range(file.metadata.num_row_groups))
            batch_rows = rows_of_batch(sum(group.total_byte_size for group in groups), rows)
            first = 0
            for batch in file.iter_batches(batch_size=batch_rows):
                yield self.encode_plain(path, first, batch)
                first += batch.num_rows
                self.advance(size * batch.num_rows // rows)


def _check_type(path: str, field: Any, is_cast: bool) -> None:
    types = arrow("pyarrow.types")
    inner = field.type
    for is_list in (types.is_list, types.is_large_list, types.is_fixed_size_list):
        if is_list(field.type):
            inner = field.type.value_type
    if types.is_dictionary(inner):
        inner = inner.value_type
    plain = (
        types.is_integer, types.is_boolean, types.is_floating, types.is_null, types.is_string, types.is_large_string,
        types.is_binary, types.is_large_binary, types.is_fixed_size_binary,
    )  # fmt: skip
    is_time = types.is_temporal(field.type) and not types.is_interval(field.type)
    can_be_cast = is_time or types.is_decimal(field.type)
    if not (any(is_type(inner) for is_type in plain) or (is_cast and can_be_cast)):
        raise Malformed(
            f"{path}: Examples cannot hold column {field.name!r} of type {field.type}, only integers, floats, text, "
            "bytes and lists of these" + ("; use --cast text or --cast int" if can_be_cast else "")
        )


def _check_floats(path: str, first: int, batch: Any) -> None:
    """Raise Malformed for doubles that would become infinite as float32."""
    pa = arrow("pyarrow")
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        values = getattr(column, "values", column)  # of lists
        values = getattr(values, "dictionary", values)
        if values.type != pa.float64():
            continue
        numbers = values.fill_null(0).to_numpy(zero_copy_only=False)
        with np.errstate(invalid="ignore"):
            beyond = np.flatnonzero(np.isfinite(numbers) & (np.abs(numbers) >= BEYOND_FLOAT32))
        if len(beyond):
            where = f" (row {first + int(beyond[0])})" if values is column else f" (rows from {first})"
            raise Malformed(f"{path}: column {name!r}: {numbers[beyond[0]]} exceeds float32{where}")


class ArrowSink(RowSink):
    """Writer of Arrow columns.

    A feature with at most one value in every record is a column of values, else one of lists. A null is an absent
    feature, and an empty list is one without values. In a column of values, metadata may mark nulls as empty
    lists; if a feature is absent from some records and empty in others, its column has lists. Bytes are text if all of
    them are UTF-8.
    """

    has_metadata = True
    target: Any = None  # the pyarrow.Schema of the file; None: derived from the features

    def __init__(self, path: str, compression: str, level: int | None) -> None:
        super().__init__(path, compression, level)
        self._binary = set[str]()  # features with bytes that are not UTF-8

    def check(self, scanner: _core.FeatureSurvey, records: _core.RecordBatch) -> None:
        """Find the features whose bytes are not UTF-8."""
        check_keys(self.path, [seen.key for seen in scanner.features()])
        candidates = {
            key: VarLenFeature(feature.dtype)
            for key, feature in features_of(scanner).items()
            if self.target is None and as_dtype(feature.dtype).name == "string" and key not in self._binary
        }
        columns: Any = parse_example(records, candidates) if candidates else {}
        for key, column in columns.items():
            try:
                _flat(column.values).cast(arrow("pyarrow").large_string())
            except arrow("pyarrow").ArrowInvalid:
                self._binary.add(key)

    def begin(self, scanner: _core.FeatureSurvey) -> None:
        super().begin(scanner)
        self._rows = scanner.records
        self._kinds = {key: VarLenFeature(feature.dtype) for key, feature in sorted(self.features.items())}
        listed = () if self.target is None else [field.name for field in self.target if _is_list(field.type)]
        self._absent, self._empty, self._scalars = set[str](), set[str](), set[str]()
        for seen in scanner.features():
            key = seen.key.decode()
            if seen.records < scanner.records:
                self._absent.add(key)
            if not seen.fewest:
                self._empty.add(key)
            has_one_null = key not in self._empty or (self.has_metadata and key not in self._absent)
            if seen.most <= 1 and key not in listed and has_one_null:
                self._scalars.add(key)

    def write_batch(self, records: _core.RecordBatch) -> None:
        columns: Any = parse_example(records, self._kinds)
        features = functools.cache(lambda row: example_of(records[row]))
        schema = self._schema()
        arrays = [self._array(key, columns[key], features).cast(schema.field(key).type) for key in self._kinds]
        batch = arrow("pyarrow").RecordBatch.from_arrays(arrays, schema=schema)
        self.write_arrow(batch if self.target is None else cast_to_schema(self.path, batch, self.schema()))

    def write_arrow(self, batch: Any) -> None:
        """Write a pyarrow.RecordBatch of `schema()`."""
        raise NotImplementedError

    def schema(self) -> Any:
        """Return the pyarrow.Schema of the file; its metadata has the meanings of nulls."""
        if self.target is None:
            return self._schema()
        schema = self.target
        for number, field in enumerate(self.target):
            metadata = {key: value for key, value in (field.metadata or {}).items() if key != _NULL}
            metadata |= self._metadata(field.name)
            schema = schema.set(number, field.with_metadata(metadata or None))
        return schema

    def _schema(self) -> Any:
        pa = arrow("pyarrow")
        types = {"int64": pa.int64(), "float32": pa.float32(), "string": pa.large_string()}
        fields = []
        for key, feature in self._kinds.items():
            type = types[as_dtype(feature.dtype).name]
            if type == pa.large_string() and (key in self._binary or self.target is not None):
                type = pa.large_binary()
            type = type if key in self._scalars else pa.large_list(type)
            fields.append(pa.field(key, type, metadata=self._metadata(key) or None))
        return pa.schema(fields)

    def _metadata(self, key: str) -> dict[bytes, bytes]:
        return {_NULL: b"empty"} if key in self._scalars & self._empty else {}

    def _array(self, key: str, column: Any, features: Callable[[int], dict[str, Value]]) -> Any:
        pa = arrow("pyarrow")
        values, splits = _flat(column.values), column.row_splits
        missing = splits[:-1] == splits[1:]
        if key in self._scalars:
            return values.take(pa.array(splits[:-1], mask=missing))
        if key not in self._absent:
            missing[:] = False
        elif key in self._empty:
            for row in np.flatnonzero(missing).tolist():
                value = features(row).get(key)
                missing[row] = value is None or value.kind == "none"
        return pa.LargeListArray.from_arrays(pa.array(splits), values, mask=pa.array(missing))


class ParquetSink(ArrowSink):
    compressions = ("", "GZIP", "ZSTD", "SNAPPY")

    @contextlib.contextmanager
    def writing(self, name: str | int) -> Iterator[None]:
        parquet = arrow("pyarrow.parquet")
        level = self.level if self.compression else None
        compression = self.compression.lower() or "snappy"
        options = {"compression": compression, "compression_level": level}
        self._held: list[Any] = []  # of the next row group
        with open(name, "wb") as raw:
            with parquet.ParquetWriter(_Counted(raw), self.schema(), **options) as self._parquet:
                yield
                self._write_group()

    def write_arrow(self, batch: Any) -> None:
        self._held.append(batch)
        rows, size = (
            sum(batch) for batch in zip(*((batch.num_rows, batch.nbytes) for batch in self._held), strict=True)
        )
        if rows >= _GROUP_ROWS or size >= _GROUP_BYTES:
            self._write_group()

    def _write_group(self) -> None:
        """Write the held batches as one row group: many small groups make files large and slow to read."""
        held, self._held = self._held, []
        if held:
            self._parquet.write_table(arrow("pyarrow").Table.from_batches(held))


class ArrowFileSink(ArrowSink):
    compressions = ("", "ZSTD")

    @contextlib.contextmanager
    def writing(self, name: str | int) -> Iterator[None]:
        pa = arrow("pyarrow")
        codec = pa.Codec("zstd", self.level) if self.compression else None
        options = pa.ipc.IpcWriteOptions(compression=codec)
        with open(name, "wb") as raw, pa.ipc.new_file(_Counted(raw), self.schema(), options=options) as self._writer:
            yield

    def write_arrow(self, batch: Any) -> None:
        self._writer.write_batch(batch)


def _is_list(type: Any) -> bool:
    types = arrow("pyarrow.types")
    return bool(types.is_list(type) or types.is_large_list(type) or types.is_fixed_size_list(type))


def _with_empty(field: Any, column: Any) -> Any:
    """Return lists if nulls are empty lists, according to the metadata of `ArrowSink`."""
    if (field.metadata or {}).get(_NULL) != b"empty":
        return column
    splits = np.concatenate([[0], np.cumsum(np.asarray(column.is_valid()))]).astype(np.int64)
    return arrow("pyarrow").LargeListArray.from_arrays(splits, column.drop_null())


def _flat(values: Any) -> Any:
    pa = arrow("pyarrow")
    array = pa.array(values)
    return array if isinstance(values, np.ndarray) else array.cast(pa.large_binary())


class _Counted(io.RawIOBase):
    """File that counts its position, which the system does not know for a pipe."""

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
