"""`tf.data`: datasets whose elements are tensors."""

from ...data import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Options, ThreadingOptions
from ..modules import module_lazy_names
from ..tensors.tensor_specs import DatasetSpec
from . import experimental
from .datasets import Dataset, FixedLengthRecordDataset, Iterator, TextLineDataset, TFRecordDataset

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "DatasetSpec",
    "FixedLengthRecordDataset",
    "Iterator",
    "Options",
    "TFRecordDataset",
    "TextLineDataset",
    "ThreadingOptions",
    "experimental",
]
_names = module_lazy_names(__name__, {}, "tf.data")
__getattr__ = _names.getattr
__dir__ = _names.dir
