"""`tfrecord.torch.dataset`: files as PyTorch's IterableDataset.

In a worker of a DataLoader, a dataset yields that worker's shard: with an index a range of the records, without one
every n-th record. The worker's seed is that of `numpy.random`, which shuffling and sampling draw from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import torch.utils.data

from ....base.ranks import refuse_to_divide_again
from ....typing import PathLike
from .. import iterator_utils, reader
from ..decoding import Description

__all__ = ["MultiTFRecordDataset", "TFRecordDataset"]

_MOST_SEED = (1 << 32) - 1


class TFRecordDataset(torch.utils.data.IterableDataset[Any]):
    """The Examples of a file, or its SequenceExamples if `sequence_description` is not None.

    Args:
      data_path, index_path, description, sequence_description, compression_type: as for `reader.tfrecord_loader`.
      shuffle_queue_size: the number of records to draw from; None or 0: no shuffle.
      transform: a function of an element, whose result replaces the element.
    """

    def __init__(
        self,
        data_path: PathLike,
        index_path: PathLike | None,
        description: Description = None,
        shuffle_queue_size: int | None = None,
        transform: Callable[[Any], Any] | None = None,
        sequence_description: Description = None,
        compression_type: str | None = None,
    ) -> None:
        super().__init__()
        self.data_path = data_path
        self.index_path = index_path
        self.description = description
        self.sequence_description = sequence_description
        self.shuffle_queue_size = shuffle_queue_size
        self.transform = transform or _identity
        self.compression_type = compression_type

    def __iter__(self) -> Iterator[Any]:
        elements = reader.tfrecord_loader(
            data_path=self.data_path,
            index_path=self.index_path,
            description=self.description,
            shard=_worker_shard(),
            sequence_description=self.sequence_description,
            compression_type=self.compression_type,
        )
        return _prepared(elements, self.shuffle_queue_size, self.transform)


class MultiTFRecordDataset(torch.utils.data.IterableDataset[Any]):
    """The Examples or SequenceExamples of several files, drawn from them at random.

    Args:
      data_pattern, index_pattern, splits, infinite: as for `reader.multi_tfrecord_loader`.
      description, shuffle_queue_size, transform, sequence_description, compression_type: as for `TFRecordDataset`.
    """

    def __init__(
        self,
        data_pattern: str,
        index_pattern: str | None,
        splits: Mapping[str, float],
        description: Description = None,
        shuffle_queue_size: int | None = None,
        transform: Callable[[Any], Any] | None = None,
        sequence_description: Description = None,
        compression_type: str | None = None,
        infinite: bool = True,
    ) -> None:
        super().__init__()
        self.data_pattern = data_pattern
        self.index_pattern = index_pattern
        self.splits = splits
        self.description = description
        self.sequence_description = sequence_description
        self.shuffle_queue_size = shuffle_queue_size
        self.transform = transform or _identity
        self.compression_type = compression_type
        self.infinite = infinite

    def __iter__(self) -> Iterator[Any]:
        elements = reader.multi_tfrecord_loader(
            data_pattern=self.data_pattern,
            index_pattern=self.index_pattern,
            splits=self.splits,
            description=self.description,
            sequence_description=self.sequence_description,
            compression_type=self.compression_type,
            infinite=self.infinite,
            shard=_worker_shard(),
        )
        return _prepared(elements, self.shuffle_queue_size, self.transform)


def _identity(element: Any) -> Any:
    return element


def _worker_shard() -> tuple[int, int] | None:
    """Return the worker's shard, and seed NumPy; None outside workers."""
    worker = torch.utils.data.get_worker_info()
    if worker is None:
        return None
    refuse_to_divide_again("TFRecordDataset of vahidk's package")
    np.random.seed(worker.seed % _MOST_SEED)
    return worker.id, worker.num_workers


def _prepared(
    elements: Iterator[Any], shuffle_queue_size: int | None, transform: Callable[[Any], Any]
) -> Iterator[Any]:
    if shuffle_queue_size:
        elements = iterator_utils.shuffle_iterator(elements, shuffle_queue_size)
    return map(transform, elements)
