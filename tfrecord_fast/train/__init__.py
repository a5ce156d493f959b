"""`tf.train`: the messages in records, and shortcuts to make them.

`Example`, `SequenceExample` and the classes below them are protobuf's, with all its methods. They have a descriptor
pool of their own, so that TensorFlow's messages of the same names can live in the same process. They need the package
protobuf (the extra `protobuf`), which is imported on first use.

>>> import tfrecord_fast as tf
>>> example = tf.train.Example(
...     features=tf.train.Features(
...         feature={"a": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))}
...     )
... )
>>> tf.train.Example.FromString(example.SerializeToString()) == example
True
"""

from typing import Any

from ..base.lazy import lazy_names
from ..examples.messages.build import example, feature, sequence_example

_messages = lazy_names(
    __name__,
    {
        "..examples.messages.protobuf": "BytesList Example Feature FeatureList FeatureLists Features FloatList "
        "Int64List SequenceExample"
    },
)
__dir__ = _messages.dir


def __getattr__(name: str) -> Any:
    return _messages.getattr(name)


__all__ = [
    "BytesList",
    "Example",
    "Feature",
    "FeatureList",
    "FeatureLists",
    "Features",
    "FloatList",
    "Int64List",
    "SequenceExample",
    "example",
    "feature",
    "sequence_example",
]
