"""TFRecordWriter: records to one file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ... import _core
from ...base.record_format import DETECTION_BYTES
from ...base.threads import thread_count
from ...errors import DataLossError, InvalidArgumentError
from ...typing import PathLike, Record, Records, WritableFile
from ..naming.addresses import public_url
from ..naming.compression import CODECS, TFRecordOptions, as_options, core_options, window_bits_of
from ..naming.location import location_of, shown_name
from ..streams.records import record_stream
from ..system.drafts import check_folder
from ..system.url_writer import UrlWriter

_ZLIB_BITS = 15  # the most for ZLIB; GZIP has 16 more


class TFRecordWriter(_core.RecordWriter):
    """Writes records to a TFRecord file.

    Args:
      path: the path of the file, which is replaced if it exists; a URL (`s3://…`, `gs://…`, `az://…`, extra `cloud`;
        others that fsspec opens, extra `fsspec`); or a binary file object, which `close` flushes but does not close.
      options: None or "" (uncompressed), "GZIP", "ZLIB", "ZSTD", "SNAPPY", or TFRecordOptions. "GZIP" and "ZSTD" are
        written in blocks of about 1 MiB, each a separate member (frame), "SNAPPY" in its own smaller blocks; several
        threads compress them. A compression_level does not change that. With any other of zlib's parameters, "GZIP"
        means one stream, compressed by zlib itself.
      compression: the same as `options`, in any case, such as "zstd"; "none".
      append: add to the records of an existing file, which is first read through and checked. Paths only, since an
        object behind a URL is written as a whole. Not for "ZLIB": TensorFlow reads only the first stream of such a
        file. Not for "GZIP" with window_bits that mean another format.
      num_threads: number of threads that compress blocks; None: as many as the process may use.
      overwrite: False raises FileExistsError if the file exists; for a URL, at the latest in `close`.
      storage_options: credentials, an endpoint, `anon`, … for a URL's store. None: taken from the environment.

    `write(record)` takes any bytes-like object, or str as UTF-8; `write_batch(records)` a RecordBatch or a sequence.
    Records reach the file when a buffer is full, at `flush()` and at `close()`. A context manager. Safe to use from
    several threads.

    After an exception in a context manager, a local file keeps the records written so far, as with TensorFlow's writer;
    `ExampleWriter` removes its files. An object is uploaded while it is written, and appears when the writer is closed.
    After an exception, or if the writer is never closed, nothing appears, and an older object stays.

    Raises:
      OSError: the file can't be created or written (errno and filename are set). Later calls raise it again.
      FileExistsError: the file exists, and `overwrite` is False.
      ValueError: unknown compression, or parameters that it rejects; append=True with a URL.
      errors.DataLossError: the file to append to is damaged, or its compression is another. It stays unchanged.
      errors.InvalidArgumentError: append=True with window_bits that mean another format than the file's.
      errors.FailedPreconditionError: `write` or `flush` after `close`.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with TFRecordWriter(path, "GZIP") as writer:
    ...     writer.write(b"one")
    ...     writer.write_batch([b"two", b"three"])
    >>> writer.records_written
    3
    """

    _url: UrlWriter | None = None
    _name, _codec = "", ""

    def __init__(
        self,
        path: PathLike | WritableFile,
        options: str | TFRecordOptions | None = None,
        *,
        compression: str | TFRecordOptions | None = None,
        append: bool = False,
        num_threads: int | None = None,
        overwrite: bool = True,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        threads = thread_count(num_threads)
        if options is not None and compression is not None:
            raise TypeError("options and compression are two spellings of one argument; pass one of the two")
        options = as_options(compression) if options is None else options
        codec = TFRecordOptions.get_compression_type_string(options)
        target = _target(path)
        self._name, self._codec = shown_name(path), codec
        if append:
            # A file without records is replaced: TensorFlow reads nothing after an empty GZIP member.
            append = _holds_records(target, codec)
        settings = core_options(options)
        if isinstance(target, bytes):
            check_folder(target)
        if append:
            _check_members(target, window_bits_of(options))
        is_new = False
        if isinstance(target, str):
            target = self._url = UrlWriter(target, "wb" if overwrite else "xb", storage_options)
        elif isinstance(target, bytes) and not overwrite and not append:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
            is_new = True
        try:
            _core.open_writer(self, target, codec, settings, False, append, threads)
        except BaseException:
            if self._url is not None:
                self._url.discard()
            if is_new:
                os.unlink(target)  # type: ignore[arg-type]
            raise

    if TYPE_CHECKING:

        def write(self, record: Record, /) -> None: ...  # type: ignore[override]

    def write_batch(self, records: Records) -> None:  # type: ignore[override]
        """Append all records in one call."""
        super().write_batch(records)

    def close(self) -> None:
        """Flush and close the file; an object appears now. Later calls do nothing."""
        try:
            super().close()
        except BaseException:
            if self._url is not None:
                self._url.discard()
            raise
        if self._url is not None:
            self._url.close()

    def __repr__(self) -> str:
        return writer_text(self, [self._name], self._codec, self.records_written)

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, error_type: type[BaseException] | None, *error: object) -> None:
        if error_type is None:
            self.close()
            return
        if self._url is not None:
            self._url.discard()
        # The exception of the body came first, and probably caused an error of `close`.
        with contextlib.suppress(Exception):
            self.close()

    def __del__(self) -> None:
        if self._url is not None:
            self._url.drop()
        super().__del__()


def writer_text(writer: Any, paths: Sequence[Any], codec: str, records: int) -> str:
    """Return a writer's `repr`."""
    files = repr(paths[0]) if len(paths) == 1 else f"{paths[0]!r} and {len(paths) - 1} more files"
    state = "closed" if writer.closed else "open"
    return f"<{type(writer).__name__} of {files}, {codec or 'uncompressed'}, {records} records, {state}>"


def _holds_records(target: object, compression: str) -> bool:
    """Return True if the file has records. Reads it through: it must end where a record ends."""
    if isinstance(target, str):
        raise ValueError(
            f"{public_url(target)}: append=True needs a local path: an object behind a URL is written as a whole. "
            "Write another object instead"
        )
    if not isinstance(target, bytes):
        raise ValueError("append=True needs a local path, not a file object")
    if compression and not CODECS[compression].appends:
        raise ValueError(
            f'append=True is not supported for "{compression}": TensorFlow reads only the first stream of a file'
        )
    try:
        if os.path.getsize(target) == 0:
            return False
    except FileNotFoundError:  # only this error: after any other, an existing file would be replaced
        return False
    try:
        batches = record_stream([location_of(target)], compression_type=compression).batches()
        return sum(len(batch) for batch in batches) > 0
    except DataLossError as error:
        raise _compression_error(error, target, compression) from None


def _compression_error(error: DataLossError, target: bytes, compression: str) -> DataLossError:
    """Return the error, with the file's compression if that is the likely cause."""
    with open(target, "rb") as file:
        detected = _core.detect_compression(file.read(DETECTION_BYTES))
    if error.record_index or detected == compression:
        return error
    actual, expected = (f'compressed as "{name}"' if name else "uncompressed" for name in (detected, compression))
    reason = f"{error.reason}; the file seems to be {actual}, but the new records would be {expected}: see `options`"
    return DataLossError(error.path, error.offset, error.record_index, reason)


def _check_members(target: object, window_bits: int | None) -> None:
    """Reject window_bits that mean ZLIB (up to 15) or raw deflate (below 0): all members must have one format."""
    if window_bits is not None and window_bits <= _ZLIB_BITS:
        name = os.fsdecode(target) if isinstance(target, bytes) else target
        member_format = "raw deflate" if window_bits < 0 else "ZLIB"
        raise InvalidArgumentError(
            f"{name}: append=True: window_bits {window_bits} means {member_format}, which can't follow the file's "
            "GZIP: expected None, or 25 to 31"
        )


def _target(path: PathLike | WritableFile) -> object:
    """Return a local path as bytes, a URL as str, or a file object."""
    if hasattr(path, "write"):
        return path
    name, is_url = location_of(path)
    return name if is_url else os.fsencode(name)
