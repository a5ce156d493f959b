"""TFRecord files as PCollections."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from apache_beam import DoFn, ParDo, PCollection, PTransform, Reshuffle
from apache_beam.coders import BytesCoder, Coder
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.iobase import BoundedSource, Read, SDFBoundedSourceReader
from apache_beam.options.value_provider import ValueProvider
from apache_beam.typehints import KV

from ...errors import InvalidArgumentError
from ...examples.infer import DEFAULT_MAX_RECORDS
from ...files.naming.file_part import FilePart
from ...files.naming.numbers import at_least, max_record_size
from ...files.reading.shard_reader import ShardReader
from ...files.reading.tables import TableSource
from ...files.stores.cache import STORE_OPTIONS, settings_of
from ...typing import Features, Key, PathLike, SequenceFeatures
from .access import Access, names_of
from .compression import compression_of
from .elements import Batches, Dicts, Elements, Raw, Rows
from .sources import PatternSource, Reading, source_of

_SPLIT_BYTES = 64 << 20
_STREAM_OPTIONS = {"verify_crc", "max_record_bytes", "on_corrupt", "num_threads", "prefetch_bytes"}
_REFUSED = {  # reader options without a meaning here, and why
    "batch_size": "batch= is the number of records in an element",
    "block_length": "tasks read side by side",
    "cycle_length": "tasks read side by side",
    "deterministic": "Beam's collections have no order",
    "drop_remainder": "it would drop records of each task",
    "equal_shards": "Beam divides the files",
    "global_shuffle": "Beam's collections have no order",
    "groups": "use a Map to join values of a dict",
    "index_cache": "nothing is counted",
    "label_key": "use a Map to take the label out of a dict",
    "num_epochs": "a pipeline reads the files once",
    "seed": "Beam's collections have no order",
    "shard": "Beam divides the files",
    "shard_by": "Beam divides the files",
    "shuffle_buffer": "Beam's collections have no order",
    "shuffle_files": "Beam's collections have no order",
}


class ReadFromTFRecord(PTransform):
    """The records of files, as bytes, dicts, or Arrow batches.

    Args:
      file_pattern: a path, a URL, a pattern or a folder, a list of them, or Beam's ValueProvider of one. All workers
        must reach the files.
      features: None for serialized records; or the features to parse: a dict, a pair of dicts for SequenceExamples, or
        "infer", which reads some records when the pipeline is made, once for all workers.
      batch: the number of records in an element. None: one record, as a dict by the names of features: numbers, bytes,
        arrays (read-only) for shapes and lists of numbers, lists of bytes, None for a missing value. A number: up to
        `batch` records, as a pyarrow.RecordBatch with the schema of `tfrecord_fast.read_table`.
      as_rows: elements are Beam's rows, with a schema, for its dataframes and SQL.
      columns, infer_records: as for `tfrecord_fast.read_table`.
      coder: decodes serialized records.
      compression_type: one of Beam's CompressionTypes, or as for ShardReader. By default it is detected from the
        content of each file.
      validate: check, when the pipeline is made, that the files exist and the first records fit the features.
      with_filename: elements are pairs (name of the file, element).
      reader_options: those of ShardReader about reading a file: `verify_crc`, `on_corrupt`, `max_record_bytes`,
        `prefetch_bytes`, `num_threads` (by default one per task). With `storage_options`, `max_requests` or
        `cache_dir`, URLs are read through this package's stores instead of Beam's file systems.

    Attributes:
      schema: the pyarrow.Schema of parsed records; None for serialized ones.

    Raises:
      FileNotFoundError, OSError, errors.InvalidArgumentError: here, with the file's name; or, in Beam's error, when the
        pipeline runs. OSError (ESTALE): a file has changed since it was divided.
      TypeError: an option that Beam replaces, such as `shard`.
    """

    def __init__(
        self,
        file_pattern: PathLike | Sequence[PathLike] | ValueProvider,
        features: Features | SequenceFeatures | Literal["infer"] | None = None,
        *,
        batch: int | None = None,
        as_rows: bool = False,
        columns: Sequence[Key] | None = None,
        infer_records: int | None = DEFAULT_MAX_RECORDS,
        coder: Coder | None = None,
        compression_type: str | None = CompressionTypes.AUTO,
        validate: bool = True,
        with_filename: bool = False,
        **reader_options: Any,
    ) -> None:
        super().__init__()
        access = _access("ReadFromTFRecord", compression_type, reader_options)
        is_later = isinstance(file_pattern, ValueProvider) and not file_pattern.is_accessible()
        names = file_pattern if isinstance(file_pattern, ValueProvider) else names_of(file_pattern)
        table = None
        if features is not None:
            _check_coder(features, coder)
            files: list[FilePart] = []
            if features == "infer":
                if is_later or not validate:
                    raise InvalidArgumentError('features="infer" reads files: it needs known names and validate=True')
                files = access.listed(names_of(names))
            table = _table(access, files, features, columns, infer_records)
        elements = _elements(table, coder, columns, batch, as_rows)
        self.schema = None if table is None else table.schema
        reading = Reading(access, elements, with_filename)
        self._source = PatternSource(reading, names)
        if validate and not is_later:
            listed = self._source.files()
            if table is not None:
                _check_fit(reading, listed)
        self._type = KV[str, elements.type] if with_filename else elements.type

    def expand(self, pbegin: Any) -> PCollection:
        return pbegin.pipeline | Read(self._source).with_output_types(self._type)

    def display_data(self) -> dict[str, Any]:
        return {"source_dd": self._source}


class ReadAllFromTFRecord(PTransform):
    """The records of the files in a PCollection of paths, URLs, patterns or Beam's FileMetadata.

    A pattern that matches no file has no records; a path without a file raises FileNotFoundError.

    Args:
      features, batch, as_rows, columns, coder, compression_type, with_filename, reader_options: as for
        ReadFromTFRecord; `features` can't be inferred, since no file is known when the pipeline is made.
      split_bytes: the approximate number of bytes that a task reads.
    """

    def __init__(
        self,
        features: Features | SequenceFeatures | None = None,
        *,
        batch: int | None = None,
        as_rows: bool = False,
        columns: Sequence[Key] | None = None,
        coder: Coder | None = None,
        compression_type: str | None = CompressionTypes.AUTO,
        with_filename: bool = False,
        split_bytes: int = _SPLIT_BYTES,
        **reader_options: Any,
    ) -> None:
        super().__init__()
        access = _access("ReadAllFromTFRecord", compression_type, reader_options)
        table = None
        if features is not None:
            _check_coder(features, coder)
            if isinstance(features, str):
                raise InvalidArgumentError(
                    f"features={features!r}: no file is known yet; pass features, such as infer_features(files)"
                )
            table = _table(access, [], features, columns, None)
        elements = _elements(table, coder, columns, batch, as_rows)
        self.schema = None if table is None else table.schema
        self._reading = Reading(access, elements, with_filename)
        self._split_bytes = at_least(1, "split_bytes", split_bytes)
        self._type = KV[str, elements.type] if with_filename else elements.type

    def expand(self, pcoll: PCollection) -> PCollection:
        return (
            pcoll
            | "List" >> ParDo(_List(self._reading.access, self._split_bytes))
            | "SpreadFiles" >> Reshuffle()
            | "Divide" >> ParDo(_Divide(self._reading, self._split_bytes)).with_output_types(BoundedSource)
            | "SpreadParts" >> Reshuffle()
            | "Read" >> SDFBoundedSourceReader().with_output_types(self._type)
        )


class _List(DoFn):
    """Convert names to lists of files, which the next step divides. Large files are alone, since it opens them."""

    def __init__(self, access: Access, split_bytes: int) -> None:
        self._access, self._split_bytes = access, split_bytes

    def process(self, element: Any) -> Iterator[list[FilePart]]:
        for name in names_of(element):
            try:
                files = self._access.listed([name])
            except FileNotFoundError:
                if not any(c in name for c in "*?["):
                    raise
                continue
            for split in self._access.grouped(files, self._split_bytes):
                yield list(split.parts)


class _Divide(DoFn):
    def __init__(self, reading: Reading, split_bytes: int) -> None:
        self._reading, self._split_bytes = reading, split_bytes

    def process(self, element: list[FilePart]) -> Iterator[BoundedSource]:
        for split in self._reading.access.planned(element, self._split_bytes):
            yield source_of(self._reading, split).source


def _access(transform: str, compression_type: str | None, options: dict[str, Any]) -> Access:
    """Check the options. Raises TypeError: an unknown option, or one that Beam replaces."""
    for name in sorted(_REFUSED.keys() & options.keys()):
        raise TypeError(f"{transform} has no {name}: {_REFUSED[name]}")
    for name in sorted(options.keys() - STORE_OPTIONS - _STREAM_OPTIONS):
        raise TypeError(f"{transform} has no argument {name!r}")
    streams = {"num_threads": 1, **{name: options[name] for name in _STREAM_OPTIONS & options.keys()}}
    ShardReader([], None, allow_empty=True, **streams)  # checks them
    streams["max_record_bytes"] = max_record_size(streams.get("max_record_bytes"))
    settings = settings_of(options) if STORE_OPTIONS & options.keys() else None
    return Access(compression_of(compression_type), settings, streams)


def _check_coder(features: object, coder: Coder | None) -> None:
    if isinstance(features, Coder):
        raise TypeError("the second argument is features; pass the coder as coder=…")
    if coder is not None and not isinstance(coder, BytesCoder):
        raise TypeError("a coder decodes serialized records, and features parse them: pass one of the two")


def _table(
    access: Access,
    files: list[FilePart],
    features: Any,
    columns: Sequence[Key] | None,
    infer_records: int | None,
) -> TableSource:
    table = TableSource(
        access.sampled(files),
        features,
        columns=columns,
        infer_records=infer_records,
        batch_size=1,
        compression=access.compression.ours,
        allow_empty=True,
        **access.options,
    )
    return table.over([])


def _elements(
    table: TableSource | None, coder: Coder | None, columns: object, batch: int | None, as_rows: bool
) -> Elements:
    if table is None:
        for name, value in {"batch": batch, "columns": columns, "as_rows": as_rows or None}.items():
            if value is not None:
                raise InvalidArgumentError(f"{name} needs features")
        return Raw(None if coder is None or isinstance(coder, BytesCoder) else coder)
    if as_rows:
        if batch is not None:
            raise InvalidArgumentError("as_rows=True makes single rows, and batch= batches: pass one of the two")
        return Rows(table)
    return Dicts(table) if batch is None else Batches(table, at_least(1, "batch", batch))


def _check_fit(reading: Reading, files: Iterable[FilePart]) -> None:
    """Parse the first records, so that features that don't fit raise an error early."""
    for file in files:
        if file.bytes:
            _, batches = reading.access.batches(file, 1)
            for records in batches:
                reading.elements.of(records)
                return
