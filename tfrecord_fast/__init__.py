"""Fast TFRecord reading and writing: TensorFlow's names, NumPy's values, none of TensorFlow's weight.

import tfrecord_fast as tf

with tf.io.TFRecordWriter("words.tfrecord") as writer:
    for word in [b"one", b"two"]:
        writer.write(word)
for record in tf.data.TFRecordDataset("words.tfrecord"):
    print(record)
"""

import sys as _sys

from .base.handlers import delayed_interrupts as _delayed_interrupts
from .base.lazy import lazy_names as _lazy_names
from .base.version import __version__ as __version__

if _sys.platform == "win32":
    raise ImportError("tfrecord_fast does not run on Windows: use WSL, the Windows Subsystem for Linux")
if getattr(_sys.flags, "gil", None) == 0:
    raise ImportError("tfrecord_fast is not safe without the GIL: start Python without PYTHON_GIL=0 and -X gil=0")

try:
    with _delayed_interrupts():
        import numpy as _np  # noqa: F401 - before the core, whose error does not name NumPy

        from . import _core as _core  # at once, so that importing a package that was not built fails
except ImportError as error:
    if error.name == __name__:  # the file of the core is missing
        raise ImportError(
            f"{__path__[0]} has the sources of tfrecord_fast, but not its core: leave this folder to import the "
            "installed package, or build the core here with `pip install -e .`"
        ) from None
    raise

# The module of each name, which is imported on first use. __init__.pyi lists the same names for type checkers.
_names = _lazy_names(
    __name__,
    {
        ".": "compat data dtypes errors gfile image io python_io random sparse train typing",
        "._core": "RecordBatch",
        ".base.build_info": "build_info",
        ".data": "TFRecordDataset TensorSpec",
        ".dtypes": "DType as_dtype bfloat16 bool complex128 complex64 float16 float32 float64 int16 int32 int64 int8 "
        "string uint16 uint32 uint64 uint8",
        ".errors": "DataLossError",
        ".examples.encoding.encode": "encode_examples encode_sequence_examples",
        ".examples.features": "FixedLenFeature FixedLenSequenceFeature ImageFeature RaggedFeature RawFeature "
        "SparseFeature VarLenFeature",
        ".examples.parsing.parse": "decode_raw parse_example parse_sequence_example parse_single_example "
        "parse_single_sequence_example",
        ".files.writing.example_writer": "ExampleWriter",
        ".files.indexing.index": "RecordIndex",
        ".files.indexing.indexed_reader": "IndexedReader",
        ".files.streams.infer": "infer_features",
        ".files.naming.compression": "TFRecordOptions",
        ".files.streams.shard_lists": "ShardList",
        ".files.reading.shard_reader": "ShardReader",
        ".files.stores.cache": "ObjectCache",
        ".files.reading.tables": "read_batches read_table",
        ".files.writing.writer": "TFRecordWriter",
        ".train": "Example SequenceExample",
        ".values.columns.bytes_array": "BytesArray",
        ".values.plain_ops": "cast concat constant convert_to_tensor expand_dims numpy_function one_hot py_function "
        "reshape shape squeeze stack transpose",
        ".values.columns.ragged": "RaggedTensor",
        ".values.columns.sparse": "SparseTensor",
    },
    hidden=".values.plain_ops",  # of scripts, which find them in tfrecord_fast.tensorflow, too
)
__getattr__ = _names.getattr
__dir__ = _names.dir
__all__ = sorted([*_names.names, "__version__"])
