"""Folders that TensorFlow Datasets (TFDS) has prepared, read without TensorFlow.

    from tfrecord_fast.integrations import tfds

    for example in tfds.load("~/tensorflow_datasets/mnist", split="train[:80%]"):
        example["image"], example["label"]  # uint8 [28, 28, 1], int64

TFDS itself is not needed. Values are those of `tfds.as_numpy(tfds.load(…))`; see docs/integrations/tfds.md.
"""

from .dataset import Examples
from .folders import DatasetInfo
from .loading import info, load
from .nodes import SkipDecoding, Steps
from .splits import ReadInstruction, Split, SplitInfo, even_splits

__all__ = [
    "DatasetInfo",
    "Examples",
    "ReadInstruction",
    "SkipDecoding",
    "Split",
    "SplitInfo",
    "Steps",
    "even_splits",
    "info",
    "load",
]
