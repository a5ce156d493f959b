"""Fast TFRecord reading and writing: TensorFlow's names, NumPy's values, none of TensorFlow's weight.

    import tfrecord_fast as tf

    with tf.io.TFRecordWriter("words.tfrecord") as writer:
        for word in [b"one", b"two"]:
            writer.write(word)
    for record in tf.data.TFRecordDataset("words.tfrecord"):
        print(record)
"""

from . import data, errors, io, python_io
from ._build_info import build_info
from ._core import RecordBatch
from ._version import __version__
from .data import TFRecordDataset
from .encode import encode_examples, encode_sequence_examples
from .errors import DataLossError
from .io import ExampleWriter, TFRecordOptions, TFRecordWriter
from .shard_reader import ShardReader

__all__ = [
    "DataLossError",
    "ExampleWriter",
    "RecordBatch",
    "ShardReader",
    "TFRecordDataset",
    "TFRecordOptions",
    "TFRecordWriter",
    "__version__",
    "build_info",
    "data",
    "encode_examples",
    "encode_sequence_examples",
    "errors",
    "io",
    "python_io",
]
