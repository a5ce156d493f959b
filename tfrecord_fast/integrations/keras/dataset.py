"""TFRecordPyDataset: a Keras dataset over files, a ShardReader or a `data.Dataset`."""

from __future__ import annotations

import contextlib
import itertools
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import keras

from ...data.dataset import Dataset
from ...data.functions import guarded
from ...data.nodes.ahead.mapped import Mapped
from ...data.nodes.ahead.prefetch import Prefetched
from ...errors import InvalidArgumentError
from ...examples.features import ImageFeature
from ...files.naming.numbers import at_least
from ...files.reading.shard_reader import ShardReader
from ...typing import Features, Files, Groups, Key, ReaderOptions, SequenceFeatures, Unpack
from .iterations import Iterations
from .leaves import Leaves, Ragged
from .sources import DatasetSource, ReaderSource, Source


class TFRecordPyDataset(keras.utils.PyDataset):
    """Batches from any number of files, read and parsed on native threads, for `fit`, `evaluate` and `predict`.

    Args:
      files, features, label_key, columns, groups: as for ShardReader. Instead of files, a ShardReader or a
        `data.Dataset` of batches, without the other four arguments and without options.
      transform: called with each batch of the ShardReader or Dataset. Keras gets its result instead of the batch: `x`,
        `(x, y)` or `(x, y, sample_weight)`.
      ragged: the form of VarLenFeature and RaggedFeature. "ragged": `tf.RaggedTensor`, if TensorFlow is Keras' backend,
        and an error elsewhere; "padded": dense arrays as long as the batch's longest row, with zeros after shorter
        rows; a number: dense arrays of that length, and an error if a row is longer.
      num_batches: the number of batches in an epoch. An epoch ends after `num_batches` batches.
      workers: the number of threads that call `transform`. With 2 or more, batches are made ahead, in the same order.
      max_queue_size: the number of batches that these threads make ahead.
      use_multiprocessing: False; True raises an error, since each process would read everything for itself.
      options: ShardReader's: `batch_size`, `shuffle_buffer`, `seed`, `shard` and so on.

    A batch is that of ShardReader: a dict of columns or, with `label_key`, `(columns, label)`. Keras gets arrays
    without a copy. Strings become `tf.string` tensors, on TensorFlow only, and SparseFeatures `tf.SparseTensor` or
    JAX's BCOO. If Keras can't take a column on its backend, the error names the feature.

    Use one dataset object for training and another for validation: an object has one iteration at a time, and a new one
    ends the one before. Each is an iteration of the reader, and the next epoch: `fit(dataset, epochs=3)` reads all
    records three times, in another order each time if the reader shuffles. `fit(shuffle=True)` changes nothing: Keras
    draws the numbers of the batches, and gets the reader's batches in the reader's order. With `steps_per_epoch`, the
    next epoch continues the iteration. An iteration that was interrupted begins anew.

    Outside `fit`, `evaluate` and `predict`, `dataset[i]` is batch i of the next epoch, and changes nothing. If a state
    was loaded into the ShardReader, batch 0 is the first one from there. Ask in ascending order: a lower number reads
    from the beginning again. Iterating over the dataset yields an epoch, and counts as one.

    The length is counted from the files' headers, as `len` of a ShardReader is. An endless reader has no length, and
    needs `steps_per_epoch`. A `data.Dataset` of files has no length either: Keras reads until the data ends, and its
    progress bar shows the number of batches from the second epoch on.

    `workers` always reads as 1, so that Keras starts no threads of its own, which would mix up the order.

    A pickled copy begins with the next epoch.

    Raises:
      errors.InvalidArgumentError: an argument out of range. In Keras: there are no records; Keras can't take a column;
        Keras divides batches among processes (see docs/integrations/keras.md); two iterations share the dataset.
      OSError, errors.DataLossError: when iterated. On TensorFlow, Keras reads through `tf.data`, which raises an error
        of `tf.errors` instead, with the same text.

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
        self._source: Source
        if isinstance(files, ShardReader | Dataset):
            if options or any(argument is not None for argument in (features, label_key, columns, groups)):
                source = "a ShardReader" if isinstance(files, ShardReader) else "a Dataset"
                raise InvalidArgumentError(f"{source} has its own features and options: pass it alone")
            self._source = ReaderSource(files) if isinstance(files, ShardReader) else DatasetSource(files)
        else:
            if isinstance(features, tuple | list) and transform is None:
                raise _sequences()
            if transform is None:
                _check_images(features)
            any_reader: Any = ShardReader
            reader = any_reader(files, features, label_key=label_key, columns=columns, groups=groups, **options)
            self._source = ReaderSource(reader)
        self._leaves = Leaves(ragged, features, label_key)
        self._iterations = Iterations(self._source, self._batches, self._count)

    @property
    def source(self) -> Any:
        """The ShardReader that reads, or the `data.Dataset`."""
        return self._source.wrapped

    @property
    def epoch(self) -> int:
        """The number of the next epoch. What Keras reads to build the model counts only if it is a whole epoch."""
        return self._source.epoch

    def set_epoch(self, epoch: int) -> None:
        """Let the next iteration begin with `epoch`; a running iteration continues as before."""
        self._iterations.set_epoch(epoch)

    @property
    def workers(self) -> int:
        """1, for Keras; set it to change the number of threads that call `transform`."""
        return 1

    @workers.setter
    def workers(self, value: int) -> None:
        self._threads = at_least(0, "workers", value)

    @property
    def use_multiprocessing(self) -> bool:
        """False; setting True raises an error."""
        return False

    @use_multiprocessing.setter
    def use_multiprocessing(self, value: bool) -> None:
        if value:
            raise InvalidArgumentError(
                "use_multiprocessing=True would make each process read all files. Records are read and parsed on "
                "native threads (num_threads=…), and workers=… sets the number of threads that call the transform"
            )

    def __len__(self) -> int:
        """The number of batches of an epoch.

        Raises:
          TypeError: the epoch is endless, or its length is not known before it is read.
          OSError, errors.DataLossError: a file can't be counted.
        """
        count = self._count()
        if count is None:
            raise TypeError("the dataset has no length: it is endless, or its end is not known before it is read")
        return count

    def __bool__(self) -> bool:
        return True

    @property
    def num_batches(self) -> int | None:
        """The number of batches of an epoch, or None if it is endless or not known.

        For Keras, which reads it before each iteration; use `len` elsewhere.

        Raises:
          errors.InvalidArgumentError: there are no batches.
        """
        count = self._count()
        if count == 0:
            raise InvalidArgumentError(f"{self.source!r} has no batches, and Keras needs at least one")
        self._iterations.request_length()
        return count

    def _count(self) -> int | None:
        return self._source.batches() if self._num_batches is None else self._num_batches

    def __getitem__(self, index: int) -> Any:
        """Return batch `index` of the next epoch; in `fit`, `evaluate` and `predict`, the next batch of the iteration.

        Raises:
          IndexError: the next epoch has fewer batches.
          errors.InvalidArgumentError: the running iteration has no more batches.
          OSError, errors.DataLossError: reading fails.
        """
        number = operator.index(index)
        number += len(self) if number < 0 else 0
        if number >= 0 and (self._num_batches is None or number < self._num_batches):
            with contextlib.suppress(StopIteration):
                return self._iterations.batch(number)
        raise IndexError(f"there is no batch {index}")

    def on_epoch_begin(self) -> None:
        """Begin an epoch; for Keras. A subclass with a method of its own must call this one."""
        _refuse_to_divide()
        self._iterations.begin_epoch()

    def on_epoch_end(self) -> None:
        """End an epoch; for Keras. A subclass with a method of its own must call this one."""
        self._iterations.end_epoch()

    def __iter__(self) -> Iterator[Any]:
        return itertools.islice(self._batches(iter(self._source)), self._num_batches)

    def _batches(self, elements: Iterator[Any]) -> Iterator[Any]:
        if self._threads < 2:
            return map(self._converted, elements)
        mapped = partial(Mapped, elements, self._converted, self._threads)
        return Prefetched(mapped, max(self.max_queue_size, 1))

    def _converted(self, batch: Any) -> Any:
        """Convert a batch of the source to the batch that Keras gets."""
        if self._transform is not None:
            batch = guarded(self._transform)(batch)
        elif isinstance(self._source, ReaderSource) and isinstance(batch, tuple) and len(batch) == 3:
            raise _sequences()
        return self._leaves(batch)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_iterations"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._iterations = Iterations(self._source, self._batches, self._count)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.source!r})"


def _sequences() -> InvalidArgumentError:
    return InvalidArgumentError(
        "Keras would mistake the (context, sequences, lengths) of SequenceExamples for (x, y, sample_weight): pass a "
        "transform that converts them"
    )


def _check_images(features: Any) -> None:
    """Raise InvalidArgumentError for a column that is a list of images, which Keras would take for several inputs."""
    for key, feature in features.items() if isinstance(features, Mapping) else ():
        if isinstance(feature, ImageFeature) and feature.size is None:
            raise InvalidArgumentError(f"feature {key!r}: Keras takes images of one size: use ImageFeature(size, …)")


def _refuse_to_divide() -> None:
    distribution = keras.distribution.distribution()
    if getattr(distribution, "auto_shard_dataset", False) and getattr(distribution, "num_data_shards", 1) > 1:
        raise InvalidArgumentError(
            "Keras' distribution would divide the batches of each process again: pass shard='auto' and equal_shards to "
            "the dataset, and set distribution.auto_shard_dataset = False"
        )
