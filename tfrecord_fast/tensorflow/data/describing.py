"""`repr` of datasets, as TensorFlow has it."""

from __future__ import annotations

from typing import Any

from ...data.handle import node_of
from ...data.nodes.elements.maps import Map
from ...data.nodes.sources.values import Specified

# Names by the first word of a dataset's label; other classes are named after that word.
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
_FILES = ("FixedLengthRecordDataset", "TFRecordDataset", "TextLineDataset")


def dataset_name(dataset: Any) -> str:
    """Return the name of TensorFlow's class for such a dataset."""
    if type(dataset).__name__ in _FILES:
        return f"{type(dataset).__name__}V2"
    node = node_of(dataset)
    while isinstance(node, Specified):
        node = node.input
    label = node.label().partition("(")[0]
    if label in _NAMES:
        return _NAMES[label]
    if label in _FILES:
        return f"{label}V2"
    parallel = "Parallel" if isinstance(node, Map) and node.threads else ""
    return f"_{parallel}{''.join(word.capitalize() for word in label.split('_'))}Dataset"


def spec_text(dataset: Any) -> str:
    """Return the text of a dataset's element_spec, or the class of the error that hides it: `repr` does not raise."""
    try:
        return repr(dataset.element_spec)
    except Exception as error:
        return f"<unknown: {type(error).__name__}>"
