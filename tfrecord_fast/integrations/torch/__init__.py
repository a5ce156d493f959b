"""PyTorch: datasets that give tensors, for `torch.utils.data.DataLoader` (docs/integrations/torch.md).

| name | what |
| --- | --- |
| `TFRecordIterableDataset` | batches from files, a ShardReader or a `data.Dataset`, in that one's order |
| `TFRecordMapDataset` | records by number |
| `Batch`, `LabelledBatch`, `SequenceBatch` | what they give: they leave a worker as one block of shared memory |
"""

from .batches import Batch, LabelledBatch, SequenceBatch
from .crossing import register
from .iterable import TFRecordIterableDataset
from .map import TFRecordMapDataset

__all__ = ["Batch", "LabelledBatch", "SequenceBatch", "TFRecordIterableDataset", "TFRecordMapDataset"]

register()
