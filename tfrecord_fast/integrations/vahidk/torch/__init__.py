"""`tfrecord.torch`: datasets for PyTorch's DataLoader."""

from . import dataset
from .dataset import MultiTFRecordDataset, TFRecordDataset

__all__ = ["MultiTFRecordDataset", "TFRecordDataset", "dataset"]
