"""`tf.data`: datasets of records, and what is made of them."""

import importlib
from typing import TYPE_CHECKING, Any

from .._lazy import lazy_names
from .dataset import AUTOTUNE, INFINITE, UNKNOWN, Dataset
from .records import TFRecordDataset

if TYPE_CHECKING:
    from . import experimental
    from ._structure import TensorSpec
    from .options import Options, ThreadingOptions

_lazy = lazy_names(__name__, {"Options": ".options", "TensorSpec": "._structure", "ThreadingOptions": ".options"})

INFINITE_CARDINALITY = INFINITE
UNKNOWN_CARDINALITY = UNKNOWN


def __getattr__(name: str) -> Any:
    if name == "experimental":
        return importlib.import_module(".experimental", __name__)
    return _lazy(name)


__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Dataset",
    "Options",
    "TFRecordDataset",
    "TensorSpec",
    "ThreadingOptions",
    "experimental",
]
