"""TensorFlow's random reader: the record at a byte offset."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from ... import _core
from ...base.record_format import FRAME_BYTES
from ...errors import DataLossError, FailedPreconditionError, OutOfRangeError
from ...typing import PathLike
from ..naming.numbers import max_record_size
from .core_files import local_path

_LENGTH_BYTES = 8


class _RandomReader:
    def __init__(self, path: str, max_record_bytes: int | None) -> None:
        self._file: Any = open(path, "rb", buffering=0)
        self._path = path
        self._max_record_bytes = max_record_bytes

    def read(self, offset: int) -> tuple[bytes, int]:
        """Return the record at a byte offset, and the offset of the next one.

        Raises:
          errors.OutOfRangeError: `offset` is at or after the end of the file.
          errors.DataLossError: no valid record begins at `offset`.
        """
        if self._file is None:
            raise FailedPreconditionError(f"{self._path}: the reader is closed")
        file, size = self._file.fileno(), os.fstat(self._file.fileno()).st_size
        if offset < 0 or offset >= size:
            raise OutOfRangeError(f"{self._path}: Out of range at reading offset {offset}: the file has {size} bytes")
        length = int.from_bytes(os.pread(file, _LENGTH_BYTES, offset), "little")
        end = offset + FRAME_BYTES + length
        if size - offset < FRAME_BYTES or end > size:
            raise DataLossError(
                self._path, offset, None, f"corrupted record at {offset}: it would end at {end}, the file at {size}"
            )
        index = _core.RecordIndex(np.array([offset]), np.array([end - offset]))
        reader = _core.RandomReader(
            [os.fsencode(self._path)],
            [index],
            verify_crc=True,
            num_threads=1,
            max_record_bytes=self._max_record_bytes,
            max_idle_bytes=0,
        )
        return reader.record(0), end

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def tf_record_random_reader(path: PathLike, *, max_record_bytes: int | None = None) -> _RandomReader:
    """Open an uncompressed local file to read single records by their byte offsets.

    For scripts that store offsets. `IndexedReader` reads records by number, and many at once.

    Returns:
      An object with `read(offset)`, which returns (record, offset of the next one), and `close()`.

    Raises:
      FileNotFoundError: the file does not exist.

    >>> import tfrecord_fast as tf
    >>> with tf.io.TFRecordWriter("/tmp/letters.tfrecord") as writer:
    ...     for letter in "abc":
    ...         writer.write(letter)
    >>> reader = tf.python_io.tf_record_random_reader("/tmp/letters.tfrecord")
    >>> record, following = reader.read(17)
    >>> record, following, reader.read(following)[0]
    (b'b', 34, b'c')
    """
    return _RandomReader(os.fsdecode(local_path(path)), max_record_size(max_record_bytes))
