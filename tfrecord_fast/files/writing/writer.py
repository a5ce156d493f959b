"""Writing records to TFRecord files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from ... import _core
from ...base.record_format import DETECTION_BYTES
from ...base.threads import thread_count
from ...errors import DataLossError, InvalidArgumentError
from ...typing import PathLike, Records, WritableFile
from ..naming.addresses import public_url
from ..naming.compression import CODECS, TFRecordOptions, core_options, window_bits_of
from ..naming.location import location_of
from ..streams.records import record_stream
from ..system.url_writer import UrlWriter

__all__ = ["TFRecordWriter"]

_ZLIB_BITS = 15  # and above, by 16 more, GZIP


class TFRecordWriter(_core.RecordWriter):
    """Writes records to a TFRecord file.

    Args:
      path: of the file, which is replaced if it exists; a URL (`s3://…`, `gs://…`, `az://…`, extra `cloud`; others that
        fsspec opens, extra `fsspec`); or a binary file object, which `close` flushes but does not close.
      options: None or "" (uncompressed), "GZIP", "ZLIB", "ZSTD", "SNAPPY", or TFRecordOptions. "GZIP" and "ZSTD" are
        written in blocks of about 1 MiB, each a member (frame) of its own, "SNAPPY" in its own smaller blocks; several
        threads compress them. So is "GZIP" with a compression_level, but not with any other of zlib's parameters:
        those mean one stream by zlib itself.
      append: add to the records of an existing file, which is first read through and checked. Paths only, since an
        object behind a URL is written as a whole. Not "ZLIB": TensorFlow reads only the first stream of such a file.
        Nor "GZIP" with window_bits that write something else than GZIP.
      num_threads: how many compress blocks; None for as many as the process may use.
      overwrite: False raises FileExistsError if the file exists; of a URL, at the latest by `close`.
      storage_options: of a URL's store: credentials, an endpoint, `anon`. None: the environment says them.

    `write(record)` takes any bytes-like object, or str as UTF-8; `write_batch(records)` a RecordBatch or a sequence.
    Records reach the file when a buffer is full, at `flush()` and at `close()`. A context manager. Safe to use from
    several threads.

    After an exception in a context manager, a local file keeps the records written so far, as with TensorFlow's writer;
    `ExampleWriter` leaves no such parts. A URL is sent in parts while it is written, and appears when the writer is
    closed: after an exception, and if it is never closed, nothing appears there, and what was there stays.

    Raises:
      OSError: the file can't be created or written (errno and filename are set); any later call raises it again.
      FileExistsError: it exists, and `overwrite` is False.
      ValueError: unknown compression, or parameters that it rejects; append=True and a URL.
      errors.DataLossError: the file to append to is damaged or compressed in another way. It stays as it is.
      errors.InvalidArgumentError: what would be appended is compressed in another way, by its window_bits.
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

    def __init__(
        self,
        path: PathLike | WritableFile,
        options: str | TFRecordOptions | None = None,
        *,
        append: bool = False,
        num_threads: int | None = None,
        overwrite: bool = True,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        threads = thread_count(num_threads)
        compression = TFRecordOptions.get_compression_type_string(options)
        target = _target(path)
        if append:
            # A file without records is started over: TensorFlow reads nothing after an empty GZIP member.
            append = _holds_records(target, compression)
        settings = core_options(options)
        if append:
            _check_members(target, window_bits_of(options))
        made = False
        if isinstance(target, str):
            target = self._url = UrlWriter(target, "wb" if overwrite else "xb", storage_options)
        elif isinstance(target, bytes) and not overwrite and not append:
            os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666))
            made = True
        try:
            _core.open_writer(self, target, compression, settings, False, append, threads)
        except BaseException:
            if self._url is not None:
                self._url.discard()
            if made:
                os.unlink(target)  # type: ignore[arg-type]
            raise

    def write_batch(self, records: Records) -> None:  # type: ignore[override]
        """Appends all the records in one call."""
        super().write_batch(records)

    def close(self) -> None:
        """Flushes and closes the file; a URL appears now. Later calls do nothing."""
        try:
            super().close()
        except BaseException:
            if self._url is not None:
                self._url.discard()
            raise
        if self._url is not None:
            self._url.close()

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
        if self._url is not None:
            self._url.discard()
        # The exception of the body came first, and is most likely the reason why closing fails too.
        with contextlib.suppress(Exception):
            self.close()

    def __del__(self) -> None:
        if self._url is not None:
            self._url.drop()
        super().__del__()


def _holds_records(target: object, compression: str) -> bool:
    """Reads the file through, so that what is appended can be read: it must end where a record ends."""
    if isinstance(target, str):
        raise ValueError(
            f"{public_url(target)}: append=True needs the path of a file. An object behind a URL is written as a "
            "whole; write another one beside it"
        )
    if not isinstance(target, bytes):
        raise ValueError("append=True needs the path of a file")
    if compression and not CODECS[compression].appends:
        raise ValueError(f'append=True is not for "{compression}": TensorFlow reads only the first stream of a file')
    try:
        if os.path.getsize(target) == 0:
            return False
    except FileNotFoundError:  # any other error must not look like this one: what is in the file would be replaced
        return False
    try:
        return (
            sum(len(batch) for batch in record_stream([location_of(target)], compression_type=compression).batches())
            > 0
        )
    except DataLossError as error:
        raise _of_its_compression(error, target, compression) from None


def _of_its_compression(error: DataLossError, target: bytes, compression: str) -> DataLossError:
    """The error, which says how the file is compressed if that is what is wrong."""
    with open(target, "rb") as file:
        found = _core.detect_compression(file.read(DETECTION_BYTES))
    if error.record_index or found == compression:
        return error
    kind, given = (f'compressed as "{one}"' if one else "uncompressed" for one in (found, compression))
    reason = f"{error.reason}; the file seems to be {kind}, and what is appended would be {given}: see `options`"
    return DataLossError(error.path, error.offset, error.record_index, reason)


def _check_members(target: object, window_bits: int | None) -> None:
    """A file is read as members of one kind, and window_bits may say ZLIB (up to 15) or raw deflate (below 0)."""
    if window_bits is not None and window_bits <= _ZLIB_BITS:
        name = os.fsdecode(target) if isinstance(target, bytes) else target
        kind = "raw deflate" if window_bits < 0 else "ZLIB"
        raise InvalidArgumentError(
            f"{name}: append=True: window_bits {window_bits} writes {kind}, which can't be read after the GZIP that "
            "is there: expected None, or 25 to 31"
        )


def _target(path: PathLike | WritableFile) -> object:
    """What to write to: a local path as bytes, a URL as str, or a file object."""
    if hasattr(path, "write"):
        return path
    name, is_url = location_of(path)
    return name if is_url else os.fsencode(name)
