"""`tf.train`: the messages in records, and short ways to make them.

`Example`, `SequenceExample` and the classes below them are protobuf's own, with all of its methods, in a descriptor
pool of this package's own, so that TensorFlow and others with messages of the same names can live in one process.
They need the package protobuf (the extra `protobuf`), which is imported when one is first used.

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
