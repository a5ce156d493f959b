"""`tf.io`: writing records, and parsing them; files, images and tensors around them."""

import importlib
from typing import TYPE_CHECKING, Any

from .._lazy import lazy_names
from ..features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from .writer import TFRecordCompressionType, TFRecordOptions, TFRecordWriter

if TYPE_CHECKING:
    from .._arrow import arrow_columns
    from . import gfile
    from .example_writer import ExampleWriter
    from .files import matching_files, read_file, write_file
    from .images import (
        decode_bmp,
        decode_gif,
        decode_image,
        decode_jpeg,
        decode_png,
        encode_jpeg,
        encode_png,
        is_jpeg,
    )
    from .infer import describe_features, infer_features, infer_sequence_features
    from .parsing import (
        decode_raw,
        parse_example,
        parse_sequence_example,
        parse_single_example,
        parse_single_sequence_example,
    )
    from .tensors import decode_json_example, parse_tensor, serialize_tensor

_lazy = lazy_names(
    __name__,
    {
        "ExampleWriter": ".example_writer",
        "arrow_columns": ".._arrow",
        "decode_bmp": ".images",
        "decode_gif": ".images",
        "decode_image": ".images",
        "decode_jpeg": ".images",
        "decode_json_example": ".tensors",
        "decode_png": ".images",
        "decode_raw": ".parsing",
        "describe_features": ".infer",
        "encode_jpeg": ".images",
        "encode_png": ".images",
        "infer_features": ".infer",
        "infer_sequence_features": ".infer",
        "is_jpeg": ".images",
        "matching_files": ".files",
        "parse_example": ".parsing",
        "parse_sequence_example": ".parsing",
        "parse_single_example": ".parsing",
        "parse_single_sequence_example": ".parsing",
        "parse_tensor": ".tensors",
        "read_file": ".files",
        "serialize_tensor": ".tensors",
        "write_file": ".files",
    },
)


def __getattr__(name: str) -> Any:
    if name == "gfile":
        return importlib.import_module(".gfile", __name__)
    return _lazy(name)


__all__ = [
    "ExampleWriter",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
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
