"""Keras 3: `TFRecordPyDataset`, a PyDataset for `fit`, `evaluate` and `predict` (docs/integrations/keras.md)."""

from .adapter import end_iterations
from .dataset import TFRecordPyDataset

__all__ = ["TFRecordPyDataset"]

end_iterations()
