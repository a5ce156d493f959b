"""Writing records to TFRecord files."""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, ClassVar

import numpy as np

from .. import _core
from .._convert import encoded
from .._files import CODECS, COMPRESSION_TYPES, is_url, open_url
from .._threads import thread_count

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter"]


class TFRecordCompressionType:
    """TensorFlow 1's names for the kinds of compression."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


_NAMES = {
    None: "",
    TFRecordCompressionType.NONE: "",
    TFRecordCompressionType.ZLIB: "ZLIB",
    TFRecordCompressionType.GZIP: "GZIP",
}


class TFRecordOptions:
    """How records are compressed.

    Args:
      compression_type: None or "" (not at all), "GZIP", "ZLIB", "ZSTD", "SNAPPY", a TFRecordCompressionType, or other
        options.
      flush_mode, input_buffer_size, output_buffer_size, window_bits, compression_level, compression_method,
      mem_level, compression_strategy: zlib's parameters, each None for the default, which is TensorFlow's: level
        -1 (that is 6), window_bits 15 (31 with "GZIP"), method 8, mem_level 9, strategy 0, flush_mode 0. They are
        handed to zlib as they are: window_bits decides between ZLIB (9 to 15), GZIP (25 to 31) and raw deflate
        (-8 to -15). With "ZSTD" only compression_level counts (-131072 to 22, default 3). "SNAPPY" has no levels, so
        that a writer refuses compression_level. The buffer sizes are accepted and not used.

    Raises:
      ValueError: no such compression_type.
    """

    compression_type_map: ClassVar[dict[int | None, str]] = dict(_NAMES)

    def __init__(
        self,
        compression_type: str | int | TFRecordOptions | None = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type
        self.flush_mode = flush_mode
        self.input_buffer_size = input_buffer_size
        self.output_buffer_size = output_buffer_size
        self.window_bits = window_bits
        self.compression_level = compression_level
        self.compression_method = compression_method
        self.mem_level = mem_level
        self.compression_strategy = compression_strategy

    @classmethod
    def get_compression_type_string(cls, options: str | int | TFRecordOptions | None) -> str:
        """The compression type as a string: "", "GZIP", "ZLIB", "ZSTD" or "SNAPPY".

        >>> TFRecordOptions.get_compression_type_string(TFRecordCompressionType.GZIP)
        'GZIP'
        """
        # TensorFlow's own options have the same attribute.
        while options is not None and hasattr(options, "compression_type"):
            options = options.compression_type
        if isinstance(options, str) and options in COMPRESSION_TYPES:
            return options
        if options is None or (isinstance(options, int) and options in _NAMES):
            return _NAMES[options]
        raise ValueError(f"Not a valid compression_type: {options!r}; expected one of {COMPRESSION_TYPES}")

    def _core_options(self) -> tuple[int | None, ...]:
        return (
            self.compression_level,
            self.window_bits,
            self.compression_method,
            self.mem_level,
            self.compression_strategy,
            self.flush_mode,
        )

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in vars(self).items() if value is not None)
        return f"TFRecordOptions({given})"


class TFRecordWriter(_core.RecordWriter):
    """Writes records to a TFRecord file.

    Args:
      path: str, bytes or PathLike; a URL that fsspec opens (`s3://…`, `gs://…`, extra `fsspec`); or a writable
        binary file object, which is flushed but not closed by `close`. An existing file is cut to nothing.
      options: None or "" (uncompressed), "GZIP", "ZLIB", "ZSTD", "SNAPPY", or TFRecordOptions. All but "ZLIB" are
        written in blocks of about 1 MiB, each a member (frame) of its own, compressed on several threads; so is "GZIP"
        with a compression_level, but not with any other of zlib's parameters: those mean one stream by zlib itself.
      append: append to an existing file, which is read through and checked first. Paths only, and
        not "ZLIB": TensorFlow reads only the first stream of such a file.
      num_threads: how many threads compress blocks; None for as many as the process may use.

    `write(record)` takes any bytes-like object, or str as UTF-8; `write_batch(records)` a RecordBatch or a sequence.
    Records reach the file when a buffer is full, at `flush()` and at `close()`. A context manager. Safe to use from
    several threads.

    Raises:
      OSError: the file can't be created or written (errno and filename are set); any later call raises it again.
      ValueError: unknown compression, or parameters that it refuses.
      errors.DataLossError: the file to append to is damaged, or otherwise compressed. It is left as it is.
      errors.FailedPreconditionError: `write` or `flush` after `close`.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with TFRecordWriter(path, "GZIP") as writer:
    ...     writer.write(b"one")
    ...     writer.write_batch([b"two", b"three"])
    >>> writer.records_written
    3
    """

    def __init__(
        self,
        path: Any,
        options: str | TFRecordOptions | None = None,
        *,
        append: bool = False,
        num_threads: int | None = None,
    ) -> None:
        threads = thread_count(num_threads)
        compression = TFRecordOptions.get_compression_type_string(options)
        unset = TFRecordOptions()
        core_options = TFRecordOptions._core_options(options if hasattr(options, "mem_level") else unset)  # type: ignore[arg-type]
        target, close_file = _target(path)
        if append:
            # A file without records is started again: TensorFlow reads nothing after an empty GZIP member.
            append = _holds_records(target, compression)
        _core._open_writer(self, target, compression, core_options, close_file, append, threads)

    def write_batch(self, records: Any) -> None:
        """Appends all records of a RecordBatch or a sequence of bytes-like objects and str, in one call."""
        if isinstance(records, np.ndarray) and records.dtype.kind == "U":  # whose buffer is UTF-32
            records = records.tolist()
        try:
            super().write_batch(records)
        except TypeError:  # nothing was written: all are looked at first
            texts = encoded(records)
            if texts is None:
                raise
            super().write_batch(texts)

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
            return
        try:
            self.close()
        except OSError:
            # What is on its way is most likely the same failure, and came first.
            pass


def _holds_records(target: Any, compression: str) -> bool:
    """Reads the file through, so that what is appended can be read: it must end where a record ends."""
    if not isinstance(target, bytes):
        raise ValueError("append=True needs the path of a file")
    if compression and not CODECS[compression].appends:
        raise ValueError(f'append=True is not for "{compression}": TensorFlow reads only the first stream of a file')
    if not os.path.exists(target) or os.path.getsize(target) == 0:
        return False
    from ..shard_reader import ShardReader  # imports more than writing needs

    return sum(len(batch) for batch in ShardReader(target, compression_type=compression)) > 0


def _target(path: Any) -> tuple[Any, bool]:
    """What the core writes to, and whether a file object is to be closed with the writer."""
    if hasattr(path, "write"):
        return path, False
    name = os.fspath(path)
    if isinstance(name, bytes):
        return name, True
    if name.startswith("file://"):
        name = name[len("file://") :]
    if is_url(name):
        return open_url(name, "wb"), True
    return os.fsencode(name), True
