"""`tf.data`: datasets of records, and their transformations."""

from ..values.elements.specs import TensorSpec
from . import experimental
from .dataset import Dataset
from .files.other_files import FixedLengthRecordDataset, TextLineDataset
from .files.records import TFRecordDataset
from .numbers import AUTOTUNE, INFINITE, UNKNOWN
from .options import Options, ThreadingOptions

INFINITE_CARDINALITY = INFINITE
UNKNOWN_CARDINALITY = UNKNOWN

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "FixedLengthRecordDataset",
    "Options",
    "TFRecordDataset",
    "TensorSpec",
    "TextLineDataset",
    "ThreadingOptions",
    "experimental",
]
