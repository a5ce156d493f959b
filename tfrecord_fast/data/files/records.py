"""TFRecordDataset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import InvalidArgumentError
from ...files.naming.compression import check_compression_type
from ...files.naming.numbers import max_record_size
from ...files.stores.cache import store_settings
from ...files.streams.core_files import flatten
from ...typing import PathLike
from ..dataset import Dataset
from ..handle import node_of
from ..nodes.base.node import Node
from ..nodes.native.running import check_names
from ..nodes.sources.records import Records
from ..numbers import files_at_once


class TFRecordDataset(Dataset[bytes]):
    """The records of TFRecord files, as bytes.

    Args:
      filenames: a path (str, bytes, PathLike), a folder, a glob pattern, a URL, a readable binary file object,
        a bytearray or memoryview with the contents of a file; nested lists, tuples or an array of these; a Dataset of
        paths. A file object is read from its current position, each time; one that can't seek can be read once.
      compression_type: None detects it (by a record header with a valid CRC; else by the magic bytes of GZIP, ZLIB
        and ZSTD; else by a first SNAPPY block with such a header); "" means uncompressed, strictly; "GZIP", "ZLIB",
        "ZSTD", "SNAPPY".
      buffer_size: bytes to read ahead, None or -1 for the default.
      num_parallel_reads: the number of files to interleave, one record each in turn (TensorFlow's deterministic
        order); None or AUTOTUNE reads them one after the other. Threads read ahead in any case.
      name: accepted and not used.
      compression: the same as `compression_type`.
      max_record_bytes: a header that claims more is damage; None: the limit of the format, 2**62 bytes.
      storage_options, max_requests, cache_dir: for URLs, as for ShardReader.

    Iterating yields bytes, one per record; `batch(n)` yields RecordBatch.

    Raises:
      ValueError: unknown compression_type, or an argument out of range; when iterated again, a file object that can't
        seek.
      TypeError: not a file.
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
        *,
        compression: str | None = None,
        max_record_bytes: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
        max_requests: int = 16,
        cache_dir: PathLike | None = None,
    ) -> None:
        settings = store_settings(storage_options, max_requests, cache_dir)
        if compression_type is not None and compression is not None:
            raise TypeError("compression and compression_type are two spellings of one argument; pass one of the two")
        compression_type = check_compression_type(compression_type if compression is None else compression)
        if buffer_size is not None and buffer_size < -1:
            raise InvalidArgumentError(f"`buffer_size` must be >= 0 (0 == no buffering), got {buffer_size}")
        files = node_of(filenames) if isinstance(filenames, Dataset) else flatten(filenames)
        if isinstance(files, Node):
            check_names(files)
        cycle_length = files_at_once(num_parallel_reads)
        most = max_record_size(max_record_bytes)
        super().__init__(
            Records(files, compression_type, buffer_size or 0, cycle_length, max_record_bytes=most, settings=settings)
        )
