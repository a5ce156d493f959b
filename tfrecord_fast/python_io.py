"""`tf.python_io`: reading and writing records, under TensorFlow 1's names."""

from .files.naming.compression import TFRecordCompressionType, TFRecordOptions
from .files.streams.record_iterator import tf_record_iterator
from .files.streams.record_reader import tf_record_random_reader
from .files.writing.writer import TFRecordWriter

__all__ = [
    "TFRecordCompressionType",
    "TFRecordOptions",
    "TFRecordWriter",
    "tf_record_iterator",
    "tf_record_random_reader",
]
