"""`tf.io`: writing records."""

from ..encode import encode_examples, encode_sequence_examples
from .example_writer import ExampleWriter, WrittenFile
from .writer import TFRecordCompressionType, TFRecordOptions, TFRecordWriter

__all__ = [
    "ExampleWriter",
    "TFRecordCompressionType",
    "TFRecordOptions",
    "TFRecordWriter",
    "WrittenFile",
    "encode_examples",
    "encode_sequence_examples",
]
