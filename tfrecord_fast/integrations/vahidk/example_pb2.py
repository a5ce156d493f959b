"""`tfrecord.example_pb2`: the messages in records. They are `tfrecord_fast.train`'s, which need protobuf."""

from ...base.lazy import lazy_names

_messages = lazy_names(
    __name__,
    {
        "....examples.messages.protobuf": "BytesList Example Feature FeatureList FeatureLists Features FloatList "
        "Int64List SequenceExample"
    },
)
__getattr__ = _messages.getattr
__dir__ = _messages.dir
__all__ = list(_messages.names)
