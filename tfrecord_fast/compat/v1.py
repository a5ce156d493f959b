"""`tf.compat.v1`: TensorFlow 1's names that scripts with records use.

Graphs and sessions are not supported: values are NumPy's immediately, as after `enable_eager_execution()`.
"""

from __future__ import annotations

from .. import data, gfile, image, python_io, sparse, train
from ..dtypes import bool, float32, float64, int32, int64, string, uint8
from ..examples.features import FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, SparseFeature, VarLenFeature
from ..examples.messages.tensors import decode_json_example, parse_tensor, serialize_tensor
from ..files.system.file_system import matching_files, read_file, write_file
from ..io import parse_sequence_example, parse_single_sequence_example
from ..values.plain_ops import cast, concat, constant, one_hot, reshape, stack
from . import io
from .io import decode_raw, parse_example, parse_single_example

__all__ = [
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "RaggedFeature",
    "SparseFeature",
    "VarLenFeature",
    "bool",
    "cast",
    "concat",
    "constant",
    "data",
    "decode_json_example",
    "decode_raw",
    "enable_eager_execution",
    "float32",
    "float64",
    "gfile",
    "image",
    "int32",
    "int64",
    "io",
    "matching_files",
    "one_hot",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "parse_tensor",
    "python_io",
    "read_file",
    "reshape",
    "serialize_tensor",
    "sparse",
    "stack",
    "string",
    "train",
    "uint8",
    "write_file",
]


def enable_eager_execution(*args: object, **kwargs: object) -> None:
    """Do nothing: everything is eager."""
