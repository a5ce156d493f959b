"""TFRecordMapDataset: records by number."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
import torch
from torch.utils.data import Dataset, default_collate

from ...data.functions import guarded
from ...errors import InvalidArgumentError
from ...files.indexing.indexed_reader import IndexedOptions, IndexedReader
from ...typing import Features, Files, Unpack
from .batches import Batch, Row, Rows
from .iterable import Conversion, as_transform, sparse_keys
from .tensors import Choices, Ragged, Strings, padded_keys, row_of


class TFRecordMapDataset(Dataset[Any]):
    """The records of files by number, as tensors: `DataLoader(dataset, batch_size=1024, shuffle=True)`.

    The records of a batch are read and parsed together, and the DataLoader's default collation passes the batch on, so
    no Python code runs per record. Works with any sampler, with DistributedSampler and with `Subset`.

    Args:
      files, features: as for IndexedReader; instead of files, an IndexedReader, without features and options.
      strings, ragged: as for TFRecordIterableDataset.
      transform: called with each record; its result replaces the record.
      options: other options of IndexedReader: `indexes`, `verify_crc`, `storage_options` and so on; None: its default.

    `dataset[i]` is one record: a dict of tensors, `bytes` and lists of them, or, with `features=None`, bytes.
    `dataset[a:b]` and `dataset[[3, 1, 2]]` return a Batch, like TFRecordIterableDataset, or a list of bytes.

    Raises:
      errors.InvalidArgumentError, TypeError, ValueError: as for IndexedReader; torch has no tensor for a feature; an
        IndexedReader is passed with other options.
      IndexError: a number is out of range.

    >>> import tempfile, os, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tf.io.ExampleWriter(path) as writer:
    ...     writer.write({"x": [1, 2, 3]})
    >>> dataset = TFRecordMapDataset(path, {"x": tf.FixedLenFeature([], tf.int64)})
    >>> len(dataset), dataset[2], dataset[[2, 0]]
    (3, {'x': tensor(3)}, {'x': tensor([3, 1])})
    """

    def __init__(
        self,
        files: Files | IndexedReader[Any, Any],
        features: Features | Literal["infer"] | None = None,
        *,
        strings: Strings = "list",
        ragged: Ragged = "jagged",
        transform: Callable[[Any], Any] | None = None,
        **options: Unpack[IndexedOptions],
    ) -> None:
        choices = Choices.checked(strings, ragged)
        chosen = {name: value for name, value in options.items() if value is not None}
        if isinstance(files, IndexedReader):
            if features is not None or chosen:
                raise InvalidArgumentError("an IndexedReader has its own features and options: pass it alone")
            self.reader = files
        else:
            choices = choices._replace(sparse=sparse_keys(features))
            any_reader: Any = IndexedReader
            self.reader = any_reader(files, features, **chosen)
        self._conversion = Conversion(choices)
        self._transform = as_transform(transform)

    def __len__(self) -> int:
        return len(self.reader)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            key = range(*key.indices(len(self)))
        if isinstance(key, Sequence | np.ndarray | torch.Tensor) and np.ndim(key):
            taken = self.reader.take(np.asarray(key, np.int64 if len(key) == 0 else None))
            if self._transform is None:
                return self._conversion(taken)
            return default_collate(list(self._rows(taken, len(key))))
        i = operator.index(key)
        if not -len(self) <= i < len(self):
            raise IndexError(f"record {i} of {len(self)} records")
        return self._rows(self.reader.take([i]), 1)[0]

    def __getitems__(self, indices: Sequence[int]) -> Sequence[Any]:
        """Return the records with these numbers, read together; called by a DataLoader."""
        return self._rows(self.reader.take(np.asarray(indices)), len(indices))

    def _rows(self, taken: Any, count: int) -> Sequence[Any]:
        batch, choices = self._conversion(taken), self._conversion.choices
        rows: Sequence[Any]
        if isinstance(batch, Batch):
            rows = Rows(batch, count, partial(row_of, taken, choices), padded_keys(taken, choices))
        else:
            rows = list(batch)
        if self._transform is None:
            return rows
        transform = guarded(self._transform)
        return [_as_row(transform(row), row) for row in rows]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.reader!r})"


def _as_row(result: Any, row: Any) -> Any:
    """Convert the result of a function of a row to a Row, whose padded columns are padded in a batch."""
    return Row(result, padded=row.padded & result.keys()) if type(result) is dict and isinstance(row, Row) else result
