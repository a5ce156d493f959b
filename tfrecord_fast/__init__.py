"""Fast TFRecord reading and writing: TensorFlow's names, NumPy's values, none of TensorFlow's weight.

    import tfrecord_fast as tf

    with tf.io.TFRecordWriter("words.tfrecord") as writer:
        for word in [b"one", b"two"]:
            writer.write(word)
    for record in tf.data.TFRecordDataset("words.tfrecord"):
        print(record)
"""

from typing import TYPE_CHECKING

from . import data, dtypes, errors, io, python_io
from ._build_info import build_info
from ._core import RecordBatch
from ._lazy import lazy_names
from ._version import __version__
from .bytes_array import BytesArray
from .data import TFRecordDataset
from .dtypes import (
    DType,
    as_dtype,
    bfloat16,
    bool,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .errors import DataLossError
from .features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    VarLenFeature,
)
from .io import TFRecordOptions, TFRecordWriter

if TYPE_CHECKING:
    from . import compat, gfile, image, random, sparse, train
    from ._values import (
        cast,
        concat,
        constant,
        convert_to_tensor,
        expand_dims,
        numpy_function,
        one_hot,
        py_function,
        reshape,
        shape,
        squeeze,
        stack,
        transpose,
    )
    from .data import TensorSpec
    from .encode import encode_examples, encode_sequence_examples
    from .index import IndexedReader, RecordIndex
    from .io import (
        ExampleWriter,
        decode_raw,
        infer_features,
        parse_example,
        parse_sequence_example,
        parse_single_example,
        parse_single_sequence_example,
    )
    from .ragged import RaggedTensor
    from .shard_reader import ShardReader
    from .sparse import SparseTensor
    from .train import Example, SequenceExample

_modules = {"compat", "gfile", "image", "random", "sparse", "train"}
_lazy = lazy_names(
    __name__,
    {
        "Example": ".train",
        "ExampleWriter": ".io",
        "IndexedReader": ".index",
        "RaggedTensor": ".ragged",
        "RecordIndex": ".index",
        "SequenceExample": ".train",
        "ShardReader": ".shard_reader",
        "SparseTensor": ".sparse",
        "TensorSpec": ".data",
        "cast": "._values",
        "concat": "._values",
        "constant": "._values",
        "convert_to_tensor": "._values",
        "decode_raw": ".io",
        "encode_examples": ".encode",
        "encode_sequence_examples": ".encode",
        "expand_dims": "._values",
        "infer_features": ".io",
        "numpy_function": "._values",
        "one_hot": "._values",
        "parse_example": ".io",
        "parse_sequence_example": ".io",
        "parse_single_example": ".io",
        "parse_single_sequence_example": ".io",
        "py_function": "._values",
        "reshape": "._values",
        "shape": "._values",
        "squeeze": "._values",
        "stack": "._values",
        "transpose": "._values",
    },
)


def __getattr__(name: str) -> object:
    if name in _modules:
        import importlib

        return importlib.import_module(f".{name}", __name__)
    return _lazy(name)


__all__ = [  # noqa: RUF022 (plain order: int16 before int8)
    "BytesArray",
    "DType",
    "DataLossError",
    "Example",
    "ExampleWriter",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "IndexedReader",
    "RaggedFeature",
    "RaggedTensor",
    "RecordBatch",
    "RecordIndex",
    "SequenceExample",
    "ShardReader",
    "SparseFeature",
    "SparseTensor",
    "TFRecordDataset",
    "TFRecordOptions",
    "TFRecordWriter",
    "TensorSpec",
    "VarLenFeature",
    "__version__",
    "as_dtype",
    "bfloat16",
    "bool",
    "build_info",
    "cast",
    "compat",
    "complex128",
    "complex64",
    "concat",
    "constant",
    "convert_to_tensor",
    "data",
    "decode_raw",
    "dtypes",
    "encode_examples",
    "encode_sequence_examples",
    "errors",
    "expand_dims",
    "float16",
    "float32",
    "float64",
    "gfile",
    "image",
    "infer_features",
    "int16",
    "int32",
    "int64",
    "int8",
    "io",
    "numpy_function",
    "one_hot",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "py_function",
    "python_io",
    "random",
    "reshape",
    "shape",
    "sparse",
    "squeeze",
    "stack",
    "string",
    "train",
    "transpose",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]
