"""TFRecordPyDataset: a Keras dataset over files, a ShardReader or a `data.Dataset`."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import keras

from ...data.dataset import Dataset
from ...data.functions import guarded
from ...errors import InvalidArgumentError
from ...files.naming.numbers import at_least
from ...files.reading.shard_reader import ShardReader
from ...typing import Features, Files, Groups, Key, ReaderOptions, SequenceFeatures
from .ahead import Ahead
from .leaves import Leaves, Ragged
from .passes import Passes, asker_of_a_look, asking, is_iterating
from .sources import DatasetSource, ReaderSource, Source

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["TFRecordPyDataset"]


class TFRecordPyDataset(keras.utils.PyDataset):
    """Batches from any number of files, read and parsed on native threads, for `fit`, `evaluate` and `predict`.

    Args:
      files, features, label_key, columns, groups: as for ShardReader. Instead of files, a ShardReader or a
        `data.Dataset` of batches; then there are none of the others, and no options.
      transform: called with each batch as the ShardReader or Dataset gives it; what it returns goes to Keras instead:
        `x`, `(x, y)` or `(x, y, sample_weight)`.
      ragged: what becomes of VarLenFeature and RaggedFeature. "ragged": `tf.RaggedTensor` if TensorFlow is Keras'
        backend, an error elsewhere; "padded": dense arrays as long as the batch's longest row, with zeros after shorter
        ones; a number: of that length in all batches, and an error if a row is longer.
      num_batches: how many batches an epoch has, where it can't be known before they are read, such as after
        `Dataset.filter`. An epoch ends after so many.
      workers: with 2 or more, batches are made ahead, and `transform` is called, on so many threads. They come in the
        same order.
      max_queue_size: how many batches are made ahead by these.
      use_multiprocessing: False; see below.
      options: ShardReader's: `batch_size`, `shuffle_buffer`, `seed`, `shard` and so on.

    A batch is what ShardReader gives: a dict of columns or, with `label_key`, `(columns, label)`. Arrays are given to
    Keras as they are. Strings become `tf.string` tensors, on TensorFlow only, and SparseFeatures `tf.SparseTensor` or
    JAX's BCOO. Where Keras has nothing for a column on its backend, the error names the feature.

    Each time through the data is an iteration of the reader, and the next epoch: `fit(dataset, epochs=3)` sees all of
    it three times, in an order of its own each time if the reader shuffles. The order is the reader's: Keras asks for
    batches by number, in an order that `fit(shuffle=True)` draws, but the k-th one that is asked for is the reader's
    k-th. Every iteration of Keras' has one of its own, so the same dataset may be used for training and for validation,
    and by a `fit` in which an `evaluate` runs; what `steps_per_epoch` leaves, the next epoch continues with; after an
    iteration that was left in the middle, the next one begins anew. Of more than four at once, the oldest is given up,
    and raises an error if it goes on.

    By others than Keras, `dataset[i]` is batch i of the epoch to come, the same as often as it is asked for; it counts
    as no epoch, and leaves the source as it is. If a state was loaded into the ShardReader, batch 0 is the first one
    from there; only an iteration uses the state up. A number below the one before lets the files be read from the
    beginning again. Iterating gives an epoch, and counts.

    The length is counted from the files' headers, as `len` of a ShardReader is. An endless reader has none, and
    `steps_per_epoch` says when an epoch ends.

    `use_multiprocessing=True` is refused, since each process would read everything for itself; `workers` always reads
    as 1, so that Keras makes no threads of its own, in which numbers arrive in any order.

    Pickles; a copy begins with the next epoch.

    Raises:
      errors.InvalidArgumentError: an argument out of range. When Keras asks: there are no records; the length is not
        known; Keras can't take a column; Keras divides batches among processes (see docs/integrations/keras.md).
      OSError, errors.DataLossError: when iterated. On TensorFlow Keras reads through `tf.data`, which makes an error of
        `tf.errors` of each, with the same text.

    >>> import tempfile, os, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tf.io.ExampleWriter(path) as writer:
    ...     writer.write({"x": [1, 2, 3], "y": [0, 1, 0]})
    >>> features = {key: tf.FixedLenFeature([], tf.int64) for key in "xy"}
    >>> dataset = TFRecordPyDataset(path, features, label_key="y", batch_size=2)
    >>> len(dataset), dataset[1]
    (2, ({'x': array([3])}, array([0])))
    """

    def __init__(
        self,
        files: Files | ShardReader[Any] | Dataset[Any],
        features: Features | SequenceFeatures | Literal["infer"] | None = None,
        *,
        label_key: Key | None = None,
        columns: Sequence[Key] | None = None,
        groups: Groups | None = None,
        transform: Callable[[Any], Any] | None = None,
        ragged: Ragged = "ragged",
        num_batches: int | None = None,
        workers: int = 1,
        use_multiprocessing: bool = False,
        max_queue_size: int = 10,
        **options: Unpack[ReaderOptions],
    ) -> None:
        super().__init__(max_queue_size=max_queue_size)
        self.workers = workers
        self.use_multiprocessing = use_multiprocessing
        self._transform = transform
        self._num_batches = None if num_batches is None else at_least(1, "num_batches", num_batches)
        self._reads: Source
        if isinstance(files, ShardReader | Dataset):
            if options or any(given is not None for given in (features, label_key, columns, groups)):
                given = "a ShardReader" if isinstance(files, ShardReader) else "a Dataset"
                raise InvalidArgumentError(f"{given} has its features and options already: give it alone")
            self._reads = ReaderSource(files) if isinstance(files, ShardReader) else DatasetSource(files)
        else:
            if isinstance(features, tuple | list) and transform is None:
                raise _sequences()
            make: Any = ShardReader
            reader = make(files, features, label_key=label_key, columns=columns, groups=groups, **options)
            self._reads = ReaderSource(reader)
        self._is_endless = False  # as far as Keras has asked
        self._leaves = Leaves(ragged, features, label_key)
        self._passes = Passes(self._reads, self._begun)

    @property
    def source(self) -> Any:
        """The ShardReader that reads, or the `data.Dataset`."""
        return self._reads.given

    @property
    def epoch(self) -> int:
        """The number of the epoch that comes next. One of which Keras has seen two batches or fewer is still next."""
        return self._reads.epoch

    def set_epoch(self, epoch: int) -> None:
        """Lets the next iteration begin with that epoch; one that is running goes on as before."""
        self._passes.set_epoch(epoch)

    @property
    def workers(self) -> int:
        """1, for Keras; set it to say how many threads make batches."""
        return 1

    @workers.setter
    def workers(self, value: int) -> None:
        self._threads = at_least(0, "workers", value)

    @property
    def use_multiprocessing(self) -> bool:
        """False; it can't be set to True."""
        return False

    @use_multiprocessing.setter
    def use_multiprocessing(self, value: bool) -> None:
        if value:
            raise InvalidArgumentError(
                "use_multiprocessing=True would let each process read all files for itself. Records are read and "
                "parsed on native threads (num_threads=…), and workers=… threads call the transform"
            )

    def __len__(self) -> int:
        """The number of batches of an epoch.

        Raises:
          TypeError: there is none: it is endless, or that is not known.
          OSError, errors.DataLossError: a file can't be counted.
        """
        count = self._count()
        if count is None:
            raise TypeError("endless batches have no number")
        return count

    def __bool__(self) -> bool:
        return True

    @property
    def num_batches(self) -> int | None:
        """The number of batches of an epoch, for Keras; None: endless.

        Raises:
          errors.InvalidArgumentError: there are none, or their number is not known.
        """
        try:
            count = self._count()
        except TypeError as error:
            raise InvalidArgumentError(str(error)) from None
        if count == 0:
            raise InvalidArgumentError(f"{self.source!r} gives no batches, and Keras needs some")
        frame = asking(self)
        if frame is not None and is_iterating(frame):
            _refuse_to_divide()
            self._passes.start(frame, count)
        self._is_endless = count is None
        return count

    def _count(self) -> int | None:
        return self._reads.batches() if self._num_batches is None else self._num_batches

    def __getitem__(self, index: int) -> Any:
        """A batch: for Keras, the next one of its iteration; for others, number `index` of the epoch to come.

        Raises:
          IndexError: there is no such batch.
          Whatever reading raises.
        """
        frame = asking(self)
        if frame is not None and is_iterating(frame):
            # Endless generators count from 0, and don't ask how far.
            if (self._is_endless and index == 0) or not self._passes.knows(frame):
                self._passes.start(frame, self._count())
            return self._passes.next(frame)
        number = operator.index(index)
        number += len(self) if number < 0 else 0
        try:
            if number < 0 or (self._num_batches is not None and number >= self._num_batches):
                raise StopIteration
            return self._passes.look(number, is_keras=frame is not None)
        except StopIteration:
            raise IndexError(f"there is no batch {index}") from None

    def on_epoch_end(self) -> None:
        """Called by Keras after an epoch, and after it has looked at the first batches to build the model.

        A subclass that has its own calls this one.
        """
        self._passes.ended(asker_of_a_look(self))

    def __iter__(self) -> Iterator[Any]:
        return itertools.islice(self._begun(iter(self._reads)), self._num_batches)

    def _begun(self, elements: Iterator[Any]) -> Iterator[Any]:
        if self._threads < 2:
            return map(self._made, elements)
        return Ahead(elements, self._made, self._threads, self.max_queue_size)

    def _made(self, batch: Any) -> Any:
        """What Keras is given for a batch of the source."""
        if self._transform is not None:
            batch = guarded(self._transform)(batch)
        elif isinstance(self._reads, ReaderSource) and isinstance(batch, tuple) and len(batch) == 3:
            raise _sequences()
        return self._leaves(batch)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_passes"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._passes = Passes(self._reads, self._begun)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r})"


def _sequences() -> InvalidArgumentError:
    return InvalidArgumentError(
        "Keras would take the (context, sequences, lengths) of SequenceExamples for (x, y, sample_weight): give a "
        "transform that makes those of them"
    )


def _refuse_to_divide() -> None:
    distribution = keras.distribution.distribution()
    if getattr(distribution, "auto_shard_dataset", False) and getattr(distribution, "num_data_shards", 1) > 1:
        raise InvalidArgumentError(
            "Keras' distribution would divide the batches of each process once more: give the dataset shard='auto' and "
            "equal_shards, and set distribution.auto_shard_dataset = False"
        )
