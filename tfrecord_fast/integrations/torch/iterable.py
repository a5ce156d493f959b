"""TFRecordIterableDataset: batches of tensors, in the order of a ShardReader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

from torch.utils.data import IterableDataset

from ..._core import RecordBatch
from ...base.ranks import worker_info
from ...data.dataset import Dataset
from ...data.functions import guarded
from ...errors import InvalidArgumentError
from ...files.naming.numbers import at_least
from ...files.reading.shard_reader import ShardReader, batches_of_workers, converted
from ...typing import Features, Files, Groups, Key, ReaderOptions, SequenceFeatures, Unpack
from ...values.columns.bytes_array import BytesArray
from .batches import Batch, LabelledBatch, SequenceBatch
from .elements import Elements
from .tensors import Choices, Ragged, Strings, tensor_of, tensors_of


class TFRecordIterableDataset(IterableDataset[Any]):
    """Batches of tensors from any number of files, read and parsed on native threads.

    It yields whole batches: use it with `DataLoader(dataset, batch_size=None)`.

    Args:
      files, features, label_key, groups: as for ShardReader. Instead of files, a ShardReader or a `data.Dataset`, with
        no arguments except the following four.
      strings: the form of strings. "list": lists of bytes; "uint8": tensors of their bytes, jagged or padded.
      ragged: the form of VarLenFeature and RaggedFeature. "jagged": `torch.nested` tensors with layout `torch.jagged`;
        "padded": dense tensors as long as the batch's longest row, with zeros after shorter ones.
      transform: called with each batch, in the DataLoader's worker if it has workers; its result replaces the batch.
      num_workers: the DataLoader's. `len` needs it, since each worker makes batches of its own records.
      options: ShardReader's: `batch_size`, `shuffle_buffer`, `seed`, `num_epochs`, `shard` and so on.

    A batch is a `Batch`, a dict. A FixedLenFeature is a tensor of its dtype `[n, *shape]`, which shares the column's
    memory; a group of k of them is one tensor `[n, k]`. A SparseFeature is a tensor with layout `torch.sparse_coo`.
    With `label_key`, a batch is a LabelledBatch, (columns, label); of SequenceExamples, a SequenceBatch, (context,
    sequences, lengths); with `features=None`, a list of bytes (or a tensor, with `strings="uint8"`). Elements of a
    `data.Dataset` keep their structure; pairs become LabelledBatches. Tensors are writable.

    Each iteration is an epoch with its own order, see `epoch` and `set_epoch`. The workers of a DataLoader divide the
    records and agree on the epoch (docs/design.md). torchdata's StatefulDataLoader saves and resumes the exact
    position: `state_dict` is ShardReader's. The elements of a `data.Dataset` are divided among the workers, and each
    worker runs it up to its last functions. So random functions in it, except shuffles, must draw the same in all
    workers.

    Raises:
      errors.InvalidArgumentError: an argument is out of range; torch has no tensor for a feature, such as lists of
        strings as a jagged tensor.

    >>> import tempfile, os, torch, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tf.io.ExampleWriter(path) as writer:
    ...     writer.write({"x": [1, 2, 3]})
    >>> dataset = TFRecordIterableDataset(path, {"x": tf.FixedLenFeature([], tf.int64)}, batch_size=2)
    >>> for batch in torch.utils.data.DataLoader(dataset, batch_size=None):
    ...     print(batch)
    {'x': tensor([1, 2])}
    {'x': tensor([3])}
    """

    def __init__(
        self,
        files: Files | ShardReader[Any] | Dataset[Any],
        features: Features | SequenceFeatures | Literal["infer"] | None = None,
        *,
        label_key: Key | None = None,
        groups: Groups | None = None,
        strings: Strings = "list",
        ragged: Ragged = "jagged",
        transform: Callable[[Any], Any] | None = None,
        num_workers: int | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        super().__init__()
        self._num_workers = None if num_workers is None else at_least(0, "num_workers", num_workers)
        choices = Choices.checked(strings, ragged)
        self._source: ShardReader[Any] | Elements
        if isinstance(files, ShardReader | Dataset):
            if features is not None or label_key is not None or groups is not None or options:
                source = "a ShardReader" if isinstance(files, ShardReader) else "a Dataset"
                raise InvalidArgumentError(f"{source} has its own features and options: pass it alone")
            self._source = files if isinstance(files, ShardReader) else Elements(files)
        else:
            choices = choices._replace(sparse=sparse_keys(features))
            any_reader: Any = ShardReader
            self._source = any_reader(files, features, label_key=label_key, groups=groups, **options)
        self._conversion = Conversion(choices, transform)
        self._has_position = False  # in this process

    @property
    def source(self) -> Any:
        """The ShardReader that reads, or the `data.Dataset`."""
        return self._source.dataset if isinstance(self._source, Elements) else self._source

    def __iter__(self) -> Iterator[Any]:
        self._check_workers()
        self._has_position = True
        if isinstance(self._source, ShardReader):
            return converted(self._source, self._conversion)
        return self._source.converted(self._conversion)

    def _check_workers(self) -> None:
        """Check `num_workers`: trainers stop after `len`, so it must be right."""
        info = worker_info()
        workers = 0 if info is None else info.num_workers
        if self._num_workers not in (None, workers):
            raise InvalidArgumentError(
                f"the dataset has num_workers={self._num_workers}, but the DataLoader has {workers}: pass the same "
                "number to both"
            )

    def __len__(self) -> int:
        """The number of batches of a DataLoader with `num_workers`; in a worker, of this worker's batches.

        Raises:
          TypeError: the number is not known: `num_workers` is missing, or the dataset is endless.
          FileNotFoundError, OSError, errors.DataLossError: a file can't be counted.
        """
        source: Any = self._source
        if isinstance(source, Elements) or worker_info() is not None:
            return len(source)
        if self._num_workers is None:
            raise TypeError(
                "the number of batches depends on the DataLoader's workers: pass num_workers=… to the dataset too, "
                "or 0 without workers"
            )
        return batches_of_workers(source, max(1, self._num_workers))

    def __bool__(self) -> bool:
        return True

    @property
    def epoch(self) -> int:
        """The number of the epoch that the next iteration begins with."""
        return self._source.epoch

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration begin with `epoch`, in all workers, even persistent ones."""
        self._source.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Return the position of the latest iteration in this process, as a dict for JSON.

        Raises:
          RuntimeError: there was none. Workers iterate over copies, and StatefulDataLoader knows their positions.
        """
        if not self._has_position and worker_info() is None:
            raise RuntimeError(
                "this process has not iterated over the dataset: a DataLoader's workers have, over copies whose "
                "position only torchdata's StatefulDataLoader knows; use its state_dict()"
            )
        return self._source.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Let the next iteration begin at the position of `state_dict`.

        Raises:
          TypeError, ValueError: `state_dict` is not the state of such a dataset.
        """
        self._source.load_state_dict(state_dict)
        self._has_position = True

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r})"


def as_transform(transform: Callable[[Any], Any] | None) -> Callable[[Any], Any] | None:
    if transform is not None and not callable(transform):
        raise TypeError(f"transform must be a function, got {type(transform).__name__}")
    return transform


class Conversion:
    def __init__(self, choices: Choices, transform: Callable[[Any], Any] | None = None) -> None:
        self.choices = choices
        self.transform = as_transform(transform)

    def __call__(self, element: Any) -> Any:
        tensors = self._converted(element)
        return tensors if self.transform is None else as_one_piece(guarded(self.transform)(tensors))

    def _converted(self, element: Any, key: object = None) -> Any:
        if isinstance(element, Mapping):
            return Batch(tensors_of(element, self.choices))
        if isinstance(element, RecordBatch) and self.choices.strings == "list":
            return element.tolist()
        if isinstance(element, RecordBatch):
            return tensor_of(BytesArray([element.view(i) for i in range(len(element))]), self.choices, "records")
        if isinstance(element, tuple) and not hasattr(element, "_fields"):
            items = [self._converted(item, i) for i, item in enumerate(element)]
            if len(items) == 3 and all(isinstance(item, Mapping) for item in items):
                return SequenceBatch(*items)
            return as_one_piece(tuple(items))
        return tensor_of(element, self.choices, key)


def as_one_piece(batch: Any) -> Any:
    """Convert a dict or a pair to the class that is sent as one block."""
    if type(batch) is dict:
        return Batch(batch)
    if type(batch) is tuple and len(batch) == 2:
        return LabelledBatch(*batch)
    return batch


def sparse_keys(features: Any) -> frozenset[Any]:
    """Return the keys of the SparseFeatures, whose columns have their own type. SequenceExamples have none."""
    if not isinstance(features, Mapping):
        return frozenset()
    return frozenset(key for key, feature in features.items() if "index_key" in getattr(feature, "_fields", ()))
