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
    from . import sparse
    from .index import IndexedReader, RecordIndex
    from .io import (
        infer_features,
        parse_example,
        parse_sequence_example,
        parse_single_example,
        parse_single_sequence_example,
    )
    from .ragged import RaggedTensor
    from .shard_reader import ShardReader
    from .sparse import SparseTensor

_lazy = lazy_names(
    __name__,
    {
        "IndexedReader": ".index",
        "RaggedTensor": ".ragged",
        "RecordIndex": ".index",
        "ShardReader": ".shard_reader",
        "SparseTensor": ".sparse",
        "infer_features": ".io",
        "parse_example": ".io",
        "parse_sequence_example": ".io",
        "parse_single_example": ".io",
        "parse_single_sequence_example": ".io",
    },
)


def __getattr__(name: str) -> object:
    if name == "sparse":
        import importlib

        return importlib.import_module(".sparse", __name__)
    return _lazy(name)


__all__ = [  # noqa: RUF022 (plain order: int16 before int8)
    "BytesArray",
    "DType",
    "DataLossError",
    "FixedLenFeature",
    "FixedLenSequenceFeature",
    "IndexedReader",
    "RaggedFeature",
    "RaggedTensor",
    "RecordBatch",
    "RecordIndex",
    "ShardReader",
    "SparseFeature",
    "SparseTensor",
    "TFRecordDataset",
    "TFRecordOptions",
    "TFRecordWriter",
    "VarLenFeature",
    "__version__",
    "as_dtype",
    "bfloat16",
    "bool",
    "build_info",
    "data",
    "dtypes",
    "errors",
    "float16",
    "float32",
    "float64",
    "infer_features",
    "int16",
    "int32",
    "int64",
    "int8",
    "io",
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
    "python_io",
    "sparse",
    "string",
    "uint16",
    "uint32",
    "uint64",
    "uint8",
]
