"""What repr says of datasets: what TensorFlow's says."""

from __future__ import annotations

from typing import Any

from ..data.handle import node_of
from ..data.nodes.maps import Map
from ..data.nodes.sources import Specified

__all__ = ["name_of_dataset", "spec_shown"]

# By the first word of what the package calls a dataset; others are named after that word.
_NAMES = {
    "cache": "CacheDataset",
    "choose_from_datasets": "_DirectedInterleaveDataset",
    "enumerate": "_ZipDataset",
    "from_generator": "_FlatMapDataset",
    "from_tensor_slices": "_TensorSliceDataset",
    "from_tensors": "_TensorDataset",
    "part": "_ShardDataset",
    "ragged_batch": "_BatchDataset",
    "sample_from_datasets": "_DirectedInterleaveDataset",
    "snapshot": "_MapDataset",
    "sparse_batch": "_DenseToSparseBatchDataset",
    "": "_OptionsDataset",
}
_FILES = ("CsvDataset", "FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset")


def name_of_dataset(dataset: Any) -> str:
    """TensorFlow's name of the class of such a dataset."""
    if type(dataset).__name__ in _FILES:
        return f"{type(dataset).__name__}V2"
    node = node_of(dataset)
    while isinstance(node, Specified):
        node = node.input
    word = node.label().partition("(")[0]
    if word in _NAMES:
        return _NAMES[word]
    if word in _FILES:
        return f"{word}V2"
    parallel = "Parallel" if isinstance(node, Map) and node.threads else ""
    return f"_{parallel}{''.join(part.capitalize() for part in word.split('_'))}Dataset"


def spec_shown(dataset: Any) -> str:
    """Its element_spec, or what keeps it from being known: repr does not raise."""
    try:
        return repr(dataset.element_spec)
    except Exception as error:
        return f"<unknown: {type(error).__name__}>"
