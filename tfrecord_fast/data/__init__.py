"""`tf.data`: datasets of records."""

from .dataset import AUTOTUNE, Dataset, TFRecordDataset

__all__ = ["AUTOTUNE", "Dataset", "TFRecordDataset"]
