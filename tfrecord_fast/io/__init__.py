"""`tf.io`: writing records, and parsing them."""

from typing import TYPE_CHECKING

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
    from .infer import describe_features, infer_features, infer_sequence_features
    from .parsing import (
        decode_raw,
        parse_example,
        parse_sequence_example,
        parse_single_example,
        parse_single_sequence_example,
    )

__getattr__ = lazy_names(
    __name__,
    {
        "decode_raw": ".parsing",
        "describe_features": ".infer",
        "infer_features": ".infer",
        "infer_sequence_features": ".infer",
        "parse_example": ".parsing",
        "parse_sequence_example": ".parsing",
        "parse_single_example": ".parsing",
        "parse_single_sequence_example": ".parsing",
    },
)

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "SparseFeature",
    "TFRecordCompressionType",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "decode_raw",
    "describe_features",
    "infer_features",
    "infer_sequence_features",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
]
