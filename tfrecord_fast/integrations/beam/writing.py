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

__all__ = ["WriteToTFRecord"]

_MIME = "application/octet-stream"


class WriteToTFRecord(PTransform):
    """Writes a PCollection to shards, whose names it gives.

    An element is a serialized record (bytes-like), or becomes an Example: a dict or a row of Beam; or one Example for
    each of its rows: a pyarrow.RecordBatch or Table, or a data frame, as `encode_examples` takes it. A RecordBatch of
    this package is written as it is.

    Args:
      file_path_prefix, file_name_suffix, num_shards, shard_name_template, triggering_frequency: as for
        `beam.io.WriteToTFRecord`: shards are called `PREFIX-00000-of-00003SUFFIX`; num_shards=0 leaves their number to
        the runner.
      coder: encodes elements that are none of those.
      compression_type: one of Beam's CompressionTypes, or as for TFRecordWriter. By default the suffix says it.
      options: as for TFRecordWriter, such as TFRecordOptions with a level; in place of compression_type.

    Shards get their names when all are complete; see docs/integrations/beam.md for what is guaranteed.

    Raises:
      TypeError, ValueError, errors.InvalidArgumentError: an argument that can't be.
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
            raise InvalidArgumentError("options= say the compression too: give them or compression_type")
        self._named: dict[str, Any] = {
            "file_path_prefix": file_path_prefix,
            "file_name_suffix": file_name_suffix,
            "num_shards": num_shards,
            "triggering_frequency": triggering_frequency,
        }
        self._template = shard_name_template
        self._how = coder, compression_type, options
        self._sink = _Sink(*self._how, shard_name_template=shard_name_template, **self._named)

    def expand(self, pcoll: PCollection) -> PCollection:
        sink = self._sink
        if not pcoll.is_bounded and self._template is None:
            template = DEFAULT_WINDOW_SHARD_NAME_TEMPLATE
            sink = _Sink(*self._how, shard_name_template=template, **self._named)
        return pcoll | Write(sink)

    def display_data(self) -> dict[str, Any]:
        return {"sink_dd": self._sink}


class _Opened(NamedTuple):
    """A shard that is written: into `file`, if it goes through Beam's file system."""

    writer: TFRecordWriter
    file: Any
    bytes: list[int]  # of records


class _Written:
    """A file of Beam's file system, to write to: those that compress can be flushed only once, by closing."""

    def __init__(self, file: Any) -> None:
        self.write = file.write


class _Sink(FileBasedSink):
    def __init__(
        self,
        coder: Coder | None,
        compression_type: str | None,
        options: str | TFRecordOptions | None,
        **named: Any,
    ) -> None:
        super().__init__(coder=coder or BytesCoder(), **named)
        self._encodes = coder is not None and not isinstance(coder, BytesCoder)
        self._options = options
        self._compression = compression_of(compression_type)
        TFRecordOptions.get_compression_type_string(options)  # says what is wrong

    def _create_temp_dir(self, file_path_prefix: str) -> str:
        """A hidden folder: one that a killed pipeline leaves is not taken for data by readers of the folder above."""
        folder, name = FileSystems.split(super()._create_temp_dir(file_path_prefix))
        hidden: str = FileSystems.join(folder, "." + name)
        return hidden

    def open(self, temp_path: str) -> _Opened:
        compression = self._compression.of_file(temp_path, written=True)
        file = None
        if self._options is not None:
            options: Any = self._options
            is_plain = not location_of(temp_path).is_url
        else:
            options = compression.ours
            is_plain = not location_of(temp_path).is_url and not compression.is_of_beam
        if is_plain:
            return _Opened(TFRecordWriter(temp_path, options, num_threads=1), None, [])
        beam = CompressionTypes.UNCOMPRESSED if self._options is not None else compression.beam
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
    """One serialized record, or a RecordBatch."""
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
