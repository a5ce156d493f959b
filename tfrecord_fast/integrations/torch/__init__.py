"""PyTorch: datasets of tensors, for `torch.utils.data.DataLoader` (docs/integrations/torch.md).

| name | contents |
| --- | --- |
| `TFRecordIterableDataset` | batches from files, a ShardReader or a `data.Dataset`, in their order |
| `TFRecordMapDataset` | records by number |
| `Batch`, `LabelledBatch`, `SequenceBatch` | their batches, which leave a worker as one block of shared memory |
"""

from ...base.optional import extra_named

with extra_named("torch"):
    from .batches import Batch, LabelledBatch, SequenceBatch
    from .crossing import register
    from .iterable import TFRecordIterableDataset
    from .map import TFRecordMapDataset

__all__ = ["Batch", "LabelledBatch", "SequenceBatch", "TFRecordIterableDataset", "TFRecordMapDataset"]

register()
