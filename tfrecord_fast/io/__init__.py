"""`tf.io`: writing records."""

from .writer import TFRecordCompressionType, TFRecordOptions, TFRecordWriter

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter"]
