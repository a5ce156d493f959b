"""`tf.train`: the messages in records, and a short way to make them.

`Example`, `SequenceExample` and the classes below them are protobuf's own, with all of its methods, in a descriptor
pool of this package: TensorFlow and other packages that have messages of these names live in the same process. They
need the package protobuf (the extra `protobuf`), which is imported when one is first used.

>>> import tfrecord_fast as tf
>>> example = tf.train.Example(
...     features=tf.train.Features(
...         feature={"a": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, 2]))}
...     )
... )
>>> tf.train.Example.FromString(example.SerializeToString()) == example
True
"""

from typing import TYPE_CHECKING, Any

from .build import example, feature, sequence_example

if TYPE_CHECKING:
    BytesList: Any
    Example: Any
    Feature: Any
    FeatureList: Any
    FeatureLists: Any
    Features: Any
    FloatList: Any
    Int64List: Any
    SequenceExample: Any

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

_MESSAGES = {name for name in __all__ if name[0].isupper()}


def __getattr__(name: str) -> Any:
    if name not in _MESSAGES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .._messages import message

    globals()[name] = message(name)
    return globals()[name]
