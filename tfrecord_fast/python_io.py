"""`tf.python_io`: reading and writing records, under TensorFlow 1's names."""

from .files.options import TFRecordCompressionType, TFRecordOptions
from .files.record_iterator import tf_record_iterator
from .files.record_reader import tf_record_random_reader
from .files.writer import TFRecordWriter

__all__ = [
    "TFRecordCompressionType",
    "TFRecordOptions",
    "TFRecordWriter",
    "tf_record_iterator",
    "tf_record_random_reader",
]
