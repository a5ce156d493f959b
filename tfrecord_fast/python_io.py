"""TensorFlow 1's names: `tf.python_io`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from .data import TFRecordDataset
from .io import TFRecordCompressionType, TFRecordOptions, TFRecordWriter

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]


class _RecordIterator:
    """Goes on where it stopped: a file that grew since gives its new records."""

    def __init__(self, dataset: TFRecordDataset) -> None:
        self._dataset: TFRecordDataset | None = dataset
        self._records: Iterator[bytes] | None = None
        self._given = 0

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._records is None:
            if self._dataset is None:
                raise StopIteration
            self._records = itertools.islice(self._dataset, self._given, None)
        try:
            record = next(self._records)
        except BaseException:
            self._records = None
            raise
        self._given += 1
        return record

    def close(self) -> None:
        """Closes the file; there are no more records."""
        self._dataset = self._records = None

    def reopen(self) -> None:
        """Opens the file again on the next `next()`, behind the last record given."""
        self._records = None


def tf_record_iterator(path: Any, options: str | TFRecordOptions | None = None) -> _RecordIterator:
    """Iterates over the records of one file, as bytes.

    Args:
      path: as for TFRecordDataset.
      options: compression type or TFRecordOptions; None detects.

    Returns:
      An iterator with `close()` and `reopen()`. After the end, or after the error of a truncated file, `next()` tries
      again behind the last record given, as TensorFlow's does: a file that has grown since goes on.

    Raises:
      FileNotFoundError, errors.DataLossError: as TFRecordDataset, at the record concerned.
    """
    compression = None if options is None else TFRecordOptions.get_compression_type_string(options)
    return _RecordIterator(TFRecordDataset(path, compression))
