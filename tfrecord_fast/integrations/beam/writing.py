"""PCollections as TFRecord files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from apache_beam import PCollection, PTransform, Row
from apache_beam.coders import BytesCoder, Coder
from apache_beam.io.filebasedsink import DEFAULT_WINDOW_SHARD_NAME_TEMPLATE, FileBasedSink
from apache_beam.io.filesystem import CompressionTypes
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.iobase import Write
from apache_beam.metrics import Metrics
from apache_beam.options.value_provider import ValueProvider

from ... import _core
from ...errors import InvalidArgumentError
from ...examples.encoding.encode import encode_example, encode_examples, encode_plain
from ...files.naming.compression import TFRecordOptions
from ...files.naming.location import location_of
from ...files.writing.writer import TFRecordWriter
from .compression import compression_of
from .sources import NAMESPACE

_MIME = "application/octet-stream"


class WriteToTFRecord(PTransform):
    """Write a PCollection to shards; the result is their names.

    An element is a serialized record (bytes-like); a dict or a row of Beam, which becomes an Example; a
    pyarrow.RecordBatch, Table or data frame for `encode_examples`, whose rows become Examples; or a RecordBatch of this
    package, whose records are written unchanged.

    Args:
      file_path_prefix, file_name_suffix, num_shards, shard_name_template, triggering_frequency: as for
        `beam.io.WriteToTFRecord`: shards are called `PREFIX-00000-of-00003SUFFIX`; num_shards=0 lets the runner choose
        their number.
      coder: encodes elements of other types.
      compression_type: one of Beam's CompressionTypes, or as for TFRecordWriter. By default it depends on the suffix.
      options: as for TFRecordWriter, such as TFRecordOptions with a level; instead of compression_type.

    Shards get their names when all are complete; docs/integrations/beam.md describes the guarantees.

    Raises:
      TypeError, ValueError, errors.InvalidArgumentError: an argument has the wrong type or value.
    """

    def __init__(
        self,
        file_path_prefix: str | ValueProvider,
        coder: Coder | None = None,
        file_name_suffix: str | ValueProvider = "",
        num_shards: int = 0,
        shard_name_template: str | None = None,
        compression_type: str | None = CompressionTypes.AUTO,
        triggering_frequency: int | None = None,
        *,
        options: str | TFRecordOptions | None = None,
    ) -> None:
        super().__init__()
        if options is not None and compression_type not in (None, CompressionTypes.AUTO):
            raise InvalidArgumentError("options= include the compression: pass options or compression_type")
        self._arguments: dict[str, Any] = {
            "file_path_prefix": file_path_prefix,
            "file_name_suffix": file_name_suffix,
            "num_shards": num_shards,
            "triggering_frequency": triggering_frequency,
        }
        self._template = shard_name_template
        self._encoding = coder, compression_type, options
        self._sink = _Sink(*self._encoding, shard_name_template=shard_name_template, **self._arguments)

    def expand(self, pcoll: PCollection) -> PCollection:
        sink = self._sink
        if not pcoll.is_bounded and self._template is None:
            template = DEFAULT_WINDOW_SHARD_NAME_TEMPLATE
            sink = _Sink(*self._encoding, shard_name_template=template, **self._arguments)
        return pcoll | Write(sink)

    def display_data(self) -> dict[str, Any]:
        return {"sink_dd": self._sink}


class _Opened(NamedTuple):
    """A shard being written; `file` is a file of Beam's file system, or None."""

    writer: TFRecordWriter
    file: Any
    bytes: list[int]  # of records


class _Written:
    """A file of Beam's file system without `flush`: compressing files can only be flushed by closing them."""

    def __init__(self, file: Any) -> None:
        self.write = file.write


class _Sink(FileBasedSink):
    def __init__(
        self,
        coder: Coder | None,
        compression_type: str | None,
        options: str | TFRecordOptions | None,
        **arguments: Any,
    ) -> None:
        super().__init__(coder=coder or BytesCoder(), **arguments)
        self._encodes = coder is not None and not isinstance(coder, BytesCoder)
        self._options = options
        self._compression = compression_of(compression_type)
        TFRecordOptions.get_compression_type_string(options)  # checks them

    def _create_temp_dir(self, file_path_prefix: str) -> str:
        """Create a hidden folder, so that readers of the folder above ignore the rest of a killed pipeline."""
        folder, name = FileSystems.split(super()._create_temp_dir(file_path_prefix))
        hidden: str = FileSystems.join(folder, "." + name)
        return hidden

    def open(self, temp_path: str) -> _Opened:
        compression = self._compression.of_file(temp_path, written=True)
        options: Any = self._options
        beam = CompressionTypes.UNCOMPRESSED
        if options is None:
            options, beam = compression.ours, compression.beam
        if not location_of(temp_path).is_url and beam == CompressionTypes.UNCOMPRESSED:
            return _Opened(TFRecordWriter(temp_path, options, num_threads=1), None, [])
        file = FileSystems.create(temp_path, _MIME, compression_type=beam)
        return _Opened(TFRecordWriter(_Written(file), options, num_threads=1), file, [])

    def write_record(self, file_handle: _Opened, value: Any) -> None:
        if self._encodes:
            value = self.coder.encode(value)
        record = value if isinstance(value, bytes) else _records_of(value)
        if isinstance(record, _core.RecordBatch):
            file_handle.writer.write_batch(record)
            file_handle.bytes.append(record.nbytes)
        else:
            file_handle.writer.write(record)
            file_handle.bytes.append(len(record))

    def close(self, file_handle: _Opened) -> None:
        file_handle.writer.close()
        if file_handle.file is not None:
            file_handle.file.close()
        Metrics.counter(NAMESPACE, "records_written").inc(file_handle.writer.records_written)
        Metrics.counter(NAMESPACE, "bytes_written").inc(sum(file_handle.bytes))

    def display_data(self) -> dict[str, Any]:
        shown: dict[str, Any] = super().display_data()
        return {**shown, "compression": str(self._compression.ours)}


def _records_of(value: Any) -> Any:
    """Return a serialized record, or a RecordBatch."""
    if isinstance(value, _core.RecordBatch):
        return value
    if isinstance(value, Row):
        value = value.as_dict()
    elif isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        plain = encode_plain(value)
        return encode_example(value) if plain is None else plain
    if hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__"):
        return encode_examples(value, num_threads=1)
    return _core.as_bytes(value, "an element")
