"""`tf.data` of the face."""

from ..data import AUTOTUNE, INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Options, ThreadingOptions
from . import experimental
from .datasets import Dataset, Elements, FixedLengthRecordDataset, TextLineDataset, TFRecordDataset
from .fallback import face_names
from .specs import DatasetSpec, spec_of

Iterator = Elements
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
    "spec_of",
]
_names = face_names(__name__, "tf.data")
__getattr__ = _names.getattr
__dir__ = _names.dir
