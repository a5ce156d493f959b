"""Datasets of records, written to TFRecord files."""

from __future__ import annotations

from typing import Any

from ...files.writing.writer import TFRecordWriter as RecordWriter
from ..handle import Handle, node_of
from ..nodes.native.running import run


class TFRecordWriter:
    """Writer of a dataset of strings into one file.

    >>> import tfrecord_fast as tf
    >>> strings = tf.data.Dataset.from_tensor_slices(["a", "b"])
    >>> tf.data.experimental.TFRecordWriter("/tmp/strings.tfrecord").write(strings)
    >>> list(tf.data.TFRecordDataset("/tmp/strings.tfrecord"))
    [b'a', b'b']
    """

    def __init__(self, filename: Any, compression_type: str | None = None) -> None:
        self._filename, self._compression_type = filename, compression_type

    def write(self, dataset: Any) -> None:
        """Write all elements.

        Raises:
          TypeError: an element is not a scalar string.
        """
        if not isinstance(dataset, Handle):
            raise TypeError(f"`dataset` must be a dataset, got {type(dataset).__name__}")
        with RecordWriter(self._filename, options=self._compression_type or "") as writer:
            for record in run(node_of(dataset)):
                if not isinstance(record, bytes):
                    raise TypeError(f"`dataset` must produce scalar strings, got {type(record).__name__}")
                writer.write(record)
