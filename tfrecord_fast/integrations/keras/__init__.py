"""Keras 3: `TFRecordPyDataset`, a PyDataset for `fit`, `evaluate` and `predict` (docs/integrations/keras.md)."""

from ...base.optional import extra_named

with extra_named("keras"):
    from .adapter import end_iterations
    from .dataset import TFRecordPyDataset

__all__ = ["TFRecordPyDataset"]

end_iterations()
