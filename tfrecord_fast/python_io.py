"""TensorFlow 1's names: `tf.python_io`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .data import TFRecordDataset
from .io import TFRecordCompressionType, TFRecordOptions, TFRecordWriter

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]


def tf_record_iterator(path: Any, options: str | TFRecordOptions | None = None) -> Iterator[bytes]:
    """Iterates over the records of one file, as bytes.

    Args:
      path: as for TFRecordDataset.
      options: compression type or TFRecordOptions; None detects.

    Raises:
      FileNotFoundError, errors.DataLossError: as TFRecordDataset, at the record concerned.
    """
    compression = None if options is None else TFRecordOptions.get_compression_type_string(options)
    return iter(TFRecordDataset(path, compression))
