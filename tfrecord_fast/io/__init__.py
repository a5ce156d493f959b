"""`tf.io`: writing and parsing of records; files, images and tensors."""

from ..examples.features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    ImageFeature,
    RaggedFeature,
    RawFeature,
    SparseFeature,
    VarLenFeature,
)
from ..examples.infer import describe_features
from ..examples.messages.tensors import decode_json_example, parse_tensor, serialize_tensor
from ..examples.parsing.parse import (
    decode_raw,
    parse_example,
    parse_sequence_example,
    parse_single_example,
    parse_single_sequence_example,
)
from ..files.naming.compression import TFRecordCompressionType, TFRecordOptions
from ..files.streams.infer import infer_features, infer_sequence_features
from ..files.system.file_system import matching_files, read_file, write_file
from ..files.writing.example_writer import ExampleWriter
from ..files.writing.writer import TFRecordWriter
from ..images.decoding import decode_bmp, decode_gif, decode_image, decode_jpeg, decode_png, is_jpeg
from ..images.encoding import encode_images, encode_jpeg, encode_png
from ..values.columns.arrow import arrow_columns
from . import gfile

__all__ = [
    "ExampleWriter",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "ImageFeature",
    "RaggedFeature",
    "RawFeature",
    "SparseFeature",
    "TFRecordCompressionType",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "arrow_columns",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_json_example",
    "decode_png",
    "decode_raw",
    "describe_features",
    "encode_images",
    "encode_jpeg",
    "encode_png",
    "gfile",
    "infer_features",
    "infer_sequence_features",
    "is_jpeg",
    "matching_files",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "parse_tensor",
    "read_file",
    "serialize_tensor",
    "write_file",
]
