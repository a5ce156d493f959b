"""`from tensorflow.core.example import example_pb2, feature_pb2`: the messages of `tf.train`."""

from . import example_pb2, feature_pb2

__all__ = ["example_pb2", "feature_pb2"]
