"""Datasets: what can be iterated, each time anew."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from .. import _core
from .._files import check_compression_type, core_files, flatten
from .._threads import available_cpus
from ..errors import InvalidArgumentError

__all__ = ["AUTOTUNE", "Dataset", "TFRecordDataset"]

AUTOTUNE = -1

T = TypeVar("T")

_PREFETCH_BYTES = 8 << 20
_MAX_THREADS = 8


class Dataset(Generic[T]):
    """Elements that can be iterated any number of times; each iteration starts anew."""

    def __iter__(self) -> Iterator[T]:
        raise TypeError(f"{type(self).__name__} gives no elements by itself")

    def as_numpy_iterator(self) -> Iterator[T]:
        """The same as `iter(dataset)`: elements are NumPy values or bytes already."""
        return iter(self)


class TFRecordDataset(Dataset[bytes]):
    """The records of TFRecord files, as bytes.

    Args:
      filenames: a path (str, bytes, PathLike), a glob pattern, a URL that fsspec opens, a readable binary file object,
        a bytearray or memoryview that holds a file; or nested lists, tuples or an array of these.
      compression_type: None detects (a record header whose own CRC holds decides; else the magic bytes of GZIP, ZLIB
        and ZSTD); "" means uncompressed, strictly; "GZIP", "ZLIB", "ZSTD".
      buffer_size: bytes to read ahead, None or -1 for the default.
      num_parallel_reads: how many files to interleave, one record each in turn (TensorFlow's deterministic order);
        None or AUTOTUNE reads them one after the other. Threads read ahead in any case.
      name: accepted and not used.

    Iterating yields bytes, one a record; `batch(n)` yields RecordBatch.

    Raises:
      ValueError: unknown compression_type, or an argument out of range.
      TypeError: something that can be no file.
      FileNotFoundError, OSError: when iterated.
      errors.DataLossError: when iterated, after the records before the damage; iteration ends there.

    >>> import tempfile, os, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     writer.write_batch([b"one", b"two", b"three"])
    >>> list(TFRecordDataset(path))
    [b'one', b'two', b'three']
    >>> [len(batch) for batch in TFRecordDataset(path).batch(2)]
    [2, 1]
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
    ) -> None:
        self._compression_type = check_compression_type(compression_type)
        if buffer_size is not None and buffer_size < -1:
            raise InvalidArgumentError(f"`buffer_size` must be >= 0 (0 == no buffering), got {buffer_size}")
        if num_parallel_reads is not None and num_parallel_reads < 1 and num_parallel_reads != AUTOTUNE:
            raise InvalidArgumentError(f"`num_parallel_reads` must be > 0, got {num_parallel_reads}")
        self._files = filenames if isinstance(filenames, Dataset) else flatten(filenames)
        self._buffer_size = buffer_size
        self._cycle_length = 1 if num_parallel_reads in (None, AUTOTUNE) else num_parallel_reads

    def __iter__(self) -> Iterator[bytes]:
        return self._stream().records()

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset[_core.RecordBatch]:
        """Batches of `batch_size` records as RecordBatch; the last may be smaller, unless `drop_remainder`.

        An error takes the place of the batch that it falls into. The other arguments are accepted and not used.

        Raises:
          ValueError: batch_size is less than 1.
        """
        if batch_size < 1:
            raise InvalidArgumentError(f"`batch_size` must be > 0, got {batch_size}")
        return _RecordBatches(self, batch_size, drop_remainder)

    def _stream(self, **options: Any) -> _core.RecordStream:
        files = flatten(list(self._files)) if isinstance(self._files, Dataset) else self._files
        return _core.RecordStream(
            core_files(files),
            compression_type=self._compression_type,
            cycle_length=self._cycle_length,
            num_threads=max(1, min(available_cpus(), _MAX_THREADS) - 1),
            prefetch_bytes=max(_PREFETCH_BYTES, self._buffer_size or 0),
            **options,
        )


class _RecordBatches(Dataset[_core.RecordBatch]):
    def __init__(self, records: TFRecordDataset, batch_size: int, drop_remainder: bool) -> None:
        self._records = records
        self._batch_size = batch_size
        self._drop_remainder = drop_remainder

    def __iter__(self) -> Iterator[_core.RecordBatch]:
        return self._records._stream(
            batch_size=self._batch_size, drop_remainder=self._drop_remainder
        ).batches()
