"""`tf.io`: writing records."""

from ..encode import encode_examples, encode_sequence_examples
from .writer import TFRecordCompressionType, TFRecordOptions, TFRecordWriter

__all__ = [
    "TFRecordCompressionType",
    "TFRecordOptions",
    "TFRecordWriter",
    "encode_examples",
    "encode_sequence_examples",
]
