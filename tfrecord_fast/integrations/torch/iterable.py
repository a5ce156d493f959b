"""TFRecordIterableDataset: batches of tensors, in the order of a ShardReader."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

from torch.utils.data import IterableDataset

from ..._core import RecordBatch
from ...base.ranks import worker_info
from ...data.dataset import Dataset
from ...data.functions import guarded
from ...errors import InvalidArgumentError
from ...files.naming.numbers import at_least
from ...files.reading.shard_reader import ShardReader, batches_of_workers, converted
from ...typing import Features, Files, Groups, Key, ReaderOptions, SequenceFeatures
from ...values.columns.bytes_array import BytesArray
from .batches import Batch, LabelledBatch, SequenceBatch
from .elements import Elements
from .tensors import Choices, Ragged, Strings, tensor_of, tensors_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Conversion", "TFRecordIterableDataset", "as_one_piece", "sparse_keys"]


class TFRecordIterableDataset(IterableDataset[Any]):
    """Batches of tensors from any number of files, read and parsed on native threads.

    It gives whole batches, so `DataLoader(dataset, batch_size=None)` goes with it.

    Args:
      files, features, label_key, groups: as for ShardReader. Instead of files, a ShardReader or a `data.Dataset` whose
        elements are to be given; then there are no other arguments than the following four.
      strings: what becomes of strings. "list": lists of bytes; "uint8": tensors of their bytes, as `ragged` says.
      ragged: what becomes of VarLenFeature and RaggedFeature. "jagged": `torch.nested` tensors with layout
        `torch.jagged`; "padded": dense tensors as long as the batch's longest row, with zeros after shorter ones.
      transform: called with each batch, in the worker if there are any; what it returns is given instead.
      num_workers: the DataLoader's, for `len`: each worker makes batches of its own records, so their number depends on
        it, and the DataLoader doesn't tell.
      options: ShardReader's: `batch_size`, `shuffle_buffer`, `seed`, `num_epochs`, `shard` and so on.

    A batch is a `Batch`, a dict of: for FixedLenFeature a tensor of its dtype `[n, *shape]` over the column's own
    memory, and for a group of k of them one tensor `[n, k]`; for SparseFeature a tensor with layout `torch.sparse_coo`;
    for the others what is said above. With `label_key` it is a LabelledBatch, (columns, label); for SequenceExamples a
    SequenceBatch, (context, sequences, lengths); with `features=None` a list of bytes (or a tensor, with
    `strings="uint8"`). Elements of a `data.Dataset` keep their structure; pairs become LabelledBatches. Tensors may be
    written to.

    Each iteration is an epoch with an order of its own, see `epoch` and `set_epoch`; the workers of a DataLoader divide
    the records and agree on the epoch (docs/design.md). With torchdata's StatefulDataLoader, the position is saved and
    resumed exactly: `state_dict` is ShardReader's. A `data.Dataset` is divided by elements, and every worker runs it up
    to its last functions, so what it draws at random, other than by shuffles, has to be the same in all workers.

    Raises:
      errors.InvalidArgumentError: an argument out of range; torch has no tensor for a feature, such as a jagged one for
        lists of strings.

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
                given = "a ShardReader" if isinstance(files, ShardReader) else "a Dataset"
                raise InvalidArgumentError(f"{given} has its features and options already: give it alone")
            self._source = files if isinstance(files, ShardReader) else Elements(files)
        else:
            choices = choices._replace(sparse=sparse_keys(features))
            make: Any = ShardReader
            self._source = make(files, features, label_key=label_key, groups=groups, **options)
        self._conversion = Conversion(choices, transform)

    @property
    def source(self) -> Any:
        """The ShardReader that reads, or the `data.Dataset`."""
        return self._source.dataset if isinstance(self._source, Elements) else self._source

    def __iter__(self) -> Iterator[Any]:
        self._check_workers()
        if isinstance(self._source, ShardReader):
            return converted(self._source, self._conversion)
        return self._source.converted(self._conversion)

    def _check_workers(self) -> None:
        """Refuses what would have made `len` wrong, by which trainers stop."""
        info = worker_info()
        workers = 0 if info is None else info.num_workers
        if self._num_workers not in (None, workers):
            raise InvalidArgumentError(
                f"the dataset was made with num_workers={self._num_workers}, and is read with {workers}: give it what "
                "the DataLoader is given"
            )

    def __len__(self) -> int:
        """The number of batches that a DataLoader with `num_workers` gives; in a worker, of this worker's.

        Raises:
          TypeError: it is not known: batches of files without `num_workers`, or endless ones.
          FileNotFoundError, OSError, errors.DataLossError: a file can't be counted.
        """
        source: Any = self._source
        if isinstance(source, Elements) or worker_info() is not None:
            return len(source)
        if self._num_workers is None:
            raise TypeError(
                "how many batches there are depends on the DataLoader's workers: give num_workers=… to the "
                "dataset, too, 0 if there are none"
            )
        return batches_of_workers(source, max(1, self._num_workers))

    def __bool__(self) -> bool:
        return True

    @property
    def epoch(self) -> int:
        """The number of the epoch that the next iteration begins with."""
        return self._source.epoch

    def set_epoch(self, epoch: int) -> None:
        """Lets the next iteration begin with that epoch; workers follow, persistent ones too."""
        self._source.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the iteration that began last stands, in this process; JSON takes it."""
        return self._source.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Lets the next iteration begin where `state_dict` stood.

        Raises:
          TypeError, ValueError: it is not the state of such a dataset.
        """
        self._source.load_state_dict(state_dict)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r})"


class Conversion:
    """From what a reader or dataset gives to what torch is given."""

    def __init__(self, choices: Choices, transform: Callable[[Any], Any] | None = None) -> None:
        self.choices = choices
        self.transform = transform

    def __call__(self, element: Any) -> Any:
        made = self._converted(element)
        return made if self.transform is None else as_one_piece(guarded(self.transform)(made))

    def _converted(self, element: Any, key: object = None) -> Any:
        if isinstance(element, Mapping):
            return Batch(tensors_of(element, self.choices))
        if isinstance(element, RecordBatch):
            return self._records(element)
        if isinstance(element, tuple) and not hasattr(element, "_fields"):
            parts = [self._converted(part, i) for i, part in enumerate(element)]
            if len(parts) == 3 and all(isinstance(part, Mapping) for part in parts):
                return SequenceBatch(*parts)
            return as_one_piece(tuple(parts))
        return tensor_of(element, self.choices, key)

    def _records(self, records: RecordBatch) -> Any:
        if self.choices.strings == "list":
            return records.tolist()
        return tensor_of(BytesArray([records.view(i) for i in range(len(records))]), self.choices, "records")


def as_one_piece(made: Any) -> Any:
    """What a function made, as what travels in one block."""
    if type(made) is dict:
        return Batch(made)
    if type(made) is tuple and len(made) == 2:
        return LabelledBatch(*made)
    return made


def sparse_keys(features: Any) -> frozenset[Any]:
    """The keys of the SparseFeatures, which are columns of a type of their own; SequenceExamples have none."""
    if not isinstance(features, Mapping):
        return frozenset()
    return frozenset(key for key, feature in features.items() if "index_key" in getattr(feature, "_fields", ()))
