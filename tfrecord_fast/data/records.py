"""TFRecordDataset: the records of files, through the native reader."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .. import _core
from .._files import check_compression_type, flatten, stream_files
from .._threads import available_cpus
from ..errors import InvalidArgumentError
from .dataset import AUTOTUNE, Dataset

if TYPE_CHECKING:
    from ._plan import RecordPlan

__all__ = ["TFRecordDataset", "joined"]

_PREFETCH_BYTES = 8 << 20
_MAX_THREADS = 8


class TFRecordDataset(Dataset[bytes]):
    """The records of TFRecord files, as bytes.

    Args:
      filenames: a path (str, bytes, PathLike), a glob pattern, a URL that fsspec opens, a readable binary file object,
        a bytearray or memoryview that holds a file; nested lists, tuples or an array of these; a Dataset of paths. A
        file object is read from where it stands now, each time; one that can't seek can be read once.
      compression_type: None detects (a record header whose own CRC holds decides; else the magic bytes of GZIP, ZLIB
        and ZSTD; else a first SNAPPY block that holds such a header); "" means uncompressed, strictly; "GZIP", "ZLIB",
        "ZSTD", "SNAPPY".
      buffer_size: bytes to read ahead, None or -1 for the default.
      num_parallel_reads: how many files to interleave, one record each in turn (TensorFlow's deterministic order);
        None or AUTOTUNE reads them one after the other. Threads read ahead in any case.
      name: accepted and not used.

    Iterating yields bytes, one a record; `batch(n)` yields RecordBatch.

    Raises:
      ValueError: unknown compression_type, or an argument out of range; when iterated again, a file object that can't
        seek.
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
        if num_parallel_reads is not None and num_parallel_reads >= 1 << 63:
            raise InvalidArgumentError(f"`num_parallel_reads` must be below 2**63, got {num_parallel_reads}")
        self._files = filenames if isinstance(filenames, Dataset) else flatten(filenames)
        self._buffer_size = buffer_size
        self._cycle_length = 1 if num_parallel_reads in (None, AUTOTUNE) else num_parallel_reads
        self._block_length = 1

    def __iter__(self) -> Iterator[bytes]:
        return self._stream().records()

    def _plan(self) -> RecordPlan | None:
        from ._plan import RecordPlan

        return RecordPlan(self)

    def _describe(self) -> str:
        if isinstance(self._files, Dataset):
            return f"TFRecordDataset({self._files._describe()})"
        return (
            f"TFRecordDataset({self._files[0]!r})"
            if len(self._files) == 1
            else f"TFRecordDataset({len(self._files)} files)"
        )

    @property
    def element_spec(self) -> Any:
        from .. import dtypes
        from ._structure import TensorSpec

        return TensorSpec((), dtypes.string)

    def _stream(self, **options: Any) -> _core.RecordStream:
        files = flatten(list(self._files)) if isinstance(self._files, Dataset) else self._files
        return _core.RecordStream(
            stream_files(files),
            compression_type=self._compression_type,
            cycle_length=self._cycle_length,
            block_length=self._block_length,
            num_threads=max(1, min(available_cpus(), _MAX_THREADS) - 1),
            prefetch_bytes=max(_PREFETCH_BYTES, self._buffer_size or 0),
            **options,
        )


def joined(datasets: list[Any], cycle_length: int, block_length: int) -> TFRecordDataset | None:
    """One dataset that interleaves these, where each is of one file and all are read alike; else None."""
    for dataset in datasets:
        if type(dataset) is not TFRecordDataset or dataset._cycle_length != 1 or not _names_one_file(dataset._files):
            return None
    if len({dataset._compression_type for dataset in datasets}) > 1:
        return None
    files = [dataset._files[0] for dataset in datasets]
    source = TFRecordDataset(files, datasets[0]._compression_type if datasets else None)
    source._cycle_length, source._block_length = cycle_length, block_length
    return source


def _names_one_file(files: Any) -> bool:
    if not isinstance(files, list) or len(files) != 1:
        return False
    return isinstance(files[0], str | bytes) and not set(os.fsdecode(files[0])) & set("*?[")
