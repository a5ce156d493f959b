"""The names of the package `tfrecord` (vahidk/tfrecord), for scripts that were written for it.

    import tfrecord_fast.integrations.vahidk as tfrecord

    writer = tfrecord.TFRecordWriter("data.tfrecord")
    writer.write({"length": (3, "int"), "name": (b"one", "byte")})
    writer.close()
    for record in tfrecord.tfrecord_loader("data.tfrecord", None, {"length": "int"}):
        print(record["length"])

Arguments, defaults and results are those of version 1.14.6; docs/integrations/vahidk.md lists the differences.
`tfrecord.torch` imports PyTorch when it is first used, and `tfrecord.example_pb2` protobuf.
"""

from ...base.lazy import lazy_names
from . import example_pb2, iterator_utils, reader, tools, writer
from .iterator_utils import cycle, sample_iterators, shuffle_iterator
from .reader import (
    example_loader,
    extract_feature_dict,
    multi_tfrecord_loader,
    process_feature,
    sequence_loader,
    tfrecord_iterator,
    tfrecord_loader,
)
from .writer import TFRecordWriter

_names = lazy_names(__name__, {".": "torch"})
__getattr__ = _names.getattr
__dir__ = _names.dir

__all__ = [
    "TFRecordWriter",
    "cycle",
    "example_loader",
    "example_pb2",
    "extract_feature_dict",
    "iterator_utils",
    "multi_tfrecord_loader",
    "process_feature",
    "reader",
    "sample_iterators",
    "sequence_loader",
    "shuffle_iterator",
    "tfrecord_iterator",
    "tfrecord_loader",
    "tools",
    "writer",
]
