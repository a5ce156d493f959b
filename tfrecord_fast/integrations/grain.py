"""Grain: a data source and a dataset for its pipelines, with its checkpoints (docs/integrations/grain.md).

| name | contents |
| --- | --- |
| `TFRecordDataSource` | records by number, for `grain.MapDataset.source` and `grain.DataLoader` |
| `TFRecordIterDataset` | batches of columns, in the order of a ShardReader |
"""

from __future__ import annotations

import hashlib
import json
import operator
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, SupportsIndex

import numpy as np

from .. import _core
from ..base.handlers import raised_by_handler
from ..base.optional import extra_named
from ..base.threads import default_threads
from ..errors import InvalidArgumentError
from ..examples.features import copied, names_of
from ..examples.parsing.groups import frozen_groups
from ..files.indexing.indexed_reader import IndexedOptions, IndexedReader
from ..files.naming.location import Location, location_of
from ..files.reading.epochs import MOST_EPOCHS, checked_epoch
from ..files.reading.iteration import Skipped
from ..files.reading.shard_division import Shard
from ..files.reading.shard_reader import ShardReader
from ..files.streams.core_files import File, flatten, local_paths
from ..typing import Features, Files, Groups, Key, ReaderOptions, SequenceFeatures, Unpack
from ..values.columns.bytes_array import BytesArray
from ..values.columns.sparse import SparseTensor

with extra_named("grain"):
    import grain

__all__ = ["TFRecordDataSource", "TFRecordIterDataset"]

_STATE_VERSION = 1
_OF_STATE = {"version", "reader", "given"}
_BUFFERS_PER_STATE = 16  # shuffle buffers of records that are read between two states with the buffer


class TFRecordDataSource(grain.sources.RandomAccessDataSource[Any]):
    """The records of files by number, for `grain.MapDataset.source` and `grain.DataLoader`.

    Args:
      files, features: as for IndexedReader.
      strings: the form of strings in a record with features. "array": arrays of dtype object, of shape [] for a single
        string, which `ds.batch` stacks exactly; "bytes": a single string is bytes, from which `ds.batch`, like NumPy,
        drops zero bytes at the end.
      options: other options of IndexedReader: `indexes`, `groups`, `verify_crc`, `storage_options` and so on.

    `source[i]` is a record: bytes or, with features, a dict of NumPy values: for FixedLenFeature a scalar or an array
    of its shape, for VarLenFeature an array [number of values], for other features as in `io.parse_single_example`.

    Threads and forked processes may share it. Pickles, with the index if it exists by then. Its repr, which Grain's
    checkpoints compare, has a digest of the files' paths, sizes and numbers of records.

    Raises:
      TypeError, ValueError, FileNotFoundError, OSError, errors.DataLossError, errors.InvalidArgumentError: as for
        IndexedReader.
      IndexError: a number is out of range.

    >>> import tempfile, os, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tf.io.ExampleWriter(path) as writer:
    ...     writer.write({"x": [1, 2, 3]})
    >>> source = TFRecordDataSource(path, {"x": tf.FixedLenFeature([], tf.int64)})
    >>> list(grain.MapDataset.source(source).batch(2))
    [{'x': array([1, 2])}, {'x': array([3])}]
    """

    def __init__(
        self,
        files: Files,
        features: Features | Literal["infer"] | None = None,
        *,
        strings: Literal["array", "bytes"] = "array",
        **options: Unpack[IndexedOptions],
    ) -> None:
        if strings not in ("array", "bytes"):
            raise InvalidArgumentError(f'strings must be "array" or "bytes", got {strings!r}')
        self._strings = strings
        self._has_features = features is not None
        self._described: str | None = None
        any_reader: Any = IndexedReader
        self._reader: IndexedReader[Any, Any] = any_reader(files, features, **options)

    @property
    def paths(self) -> list[str]:
        """The paths of the files, in order."""
        return self._reader.files

    def __len__(self) -> int:
        return len(self._reader)

    def __getitem__(self, index: SupportsIndex) -> Any:
        record = self._reader[operator.index(index)]
        return self._values(record) if self._has_features else record

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Return `[source[i] for i in indices]`, read together."""
        records = self._reader.__getitems__(indices)
        return [self._values(record) for record in records] if self._has_features else records

    _getitems = __getitems__  # Grain's name

    def _values(self, record: dict[Any, Any]) -> dict[Any, Any]:
        return {key: _numpy_of(value, self._strings) for key, value in record.items()}

    def __repr__(self) -> str:
        if self._described is None:
            try:
                ends = [int(index.offsets[-1] + index.sizes[-1]) if len(index) else 0 for index in self._reader.indexes]
            except Exception as error:  # repr must not raise
                return f"TFRecordDataSource(files={len(self.paths)}, unreadable={str(error)!r})"
            digest = hashlib.sha256()
            for path, index, end in zip(self.paths, self._reader.indexes, ends, strict=True):
                name = os.fsencode(path)
                digest.update(b"%d %d %d " % (len(index), end, len(name)) + name)
            self._described = (
                f"TFRecordDataSource(files={len(ends)}, records={len(self)}, digest={digest.hexdigest()[:16]!r})"
            )
        return self._described


class TFRecordIterDataset(grain.IterDataset[Any]):
    """Batches of columns from any number of files, read and parsed on native threads, for Grain's pipelines.

    Args:
      files, features, label_key, columns, groups: as for ShardReader. Patterns are resolved immediately.
      options: other options of ShardReader: `batch_size`, `shuffle_buffer`, `global_shuffle`, `seed`, `num_epochs`,
        `shard` and so on. `deterministic=False` raises an error, since such an order has no checkpoints.

    An element is a batch of ShardReader: a dict of columns, (columns, label) with `label_key`, or a RecordBatch.
    `ds.map`, `ds.mp_prefetch` and others work on batches.

    Like every Grain dataset, it yields the same elements in each iteration. With `num_epochs`, an iteration consists of
    several epochs, each with its own order. `set_epoch` chooses the first epoch of iterations. `seed=None` draws a seed
    for the dataset, which its copies and states share; several ranks need a common seed for `global_shuffle`.

    The worker processes of `mp_prefetch` divide the records like ranks: worker i of n reads shard i of n of `shard`.
    `shard="auto"` is the rank of the process that has started the workers. By default, the workers also divide the
    processors for their threads.

    States are for `grain.checkpoint.CheckpointHandler`; they fit into JSON. They continue with exactly the next batch,
    even in the middle of a shuffle. With a `shuffle_buffer`, only one state in about 16 buffers of records holds the
    buffer; later states count batches from there, which are read again when resuming.

    `iter(dataset).skipped` lists the damage that `on_corrupt` has skipped, like that of a ShardReader.

    Raises:
      errors.InvalidArgumentError, TypeError, ValueError: an argument is wrong; as for ShardReader.
      FileNotFoundError: a pattern has no match.
      ValueError: `set_state` of an iterator got the state of other files, arguments or datasets.

    >>> import tempfile, os, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tf.io.ExampleWriter(path) as writer:
    ...     writer.write({"x": [1, 2, 3]})
    >>> dataset = TFRecordIterDataset(path, {"x": tf.FixedLenFeature([], tf.int64)}, batch_size=2)
    >>> list(dataset.map(lambda batch: batch["x"] + 1))
    [array([2, 3]), array([4])]
    """

    def __init__(
        self,
        files: Files,
        features: Features | SequenceFeatures | Literal["infer"] | None = None,
        *,
        label_key: Key | None = None,
        columns: Sequence[Key] | None = None,
        groups: Groups | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None:
        super().__init__()
        if not options.get("deterministic", True):
            raise InvalidArgumentError(
                "deterministic=False is not supported: an order that depends on timing has no checkpoints"
            )
        self._files = _resolved(files)
        self._features = copied(features)
        self._options: dict[str, Any] = {
            **options,
            "label_key": label_key,
            "columns": names_of(columns),
            "groups": None if groups is None else dict(frozen_groups(groups)),
        }
        self._shard = Shard(self._options.pop("shard", (0, 1)))
        self._slice = (0, 1)  # of the shard: the number of a worker, and of workers
        self._epoch = 0
        self._begin: dict[str, Any] | None = None
        self._begin = self._reader().state_dict()  # with a drawn seed

    def _reader(self) -> ShardReader[Any]:
        """Return a reader of this process' shard."""
        (number, total), (worker, workers) = self._shard.rank(), self._slice
        if total > 1 and self._options.get("global_shuffle") and self._options.get("seed") is None:
            raise InvalidArgumentError(
                "global_shuffle with shard needs a seed that all ranks have: they divide one order of all records"
            )
        options = {**self._options, "shard": (number * workers + worker, total * workers)}
        if workers > 1 and options.get("num_threads") is None:
            options["num_threads"] = max(1, default_threads() // workers)
        any_reader: Any = ShardReader
        reader: ShardReader[Any] = any_reader(self._files, self._features, **options)
        if self._begin is not None:
            reader.load_state_dict({**self._begin, "epoch": self._epoch})
        return reader

    def __iter__(self) -> grain.DatasetIterator[Any]:
        records = _BUFFERS_PER_STATE * self._options.get("shuffle_buffer", 0)
        return _Batches(self._reader, 1 + records // self._options.get("batch_size", 1024))

    def __len__(self) -> int:
        """The number of batches of this process' shard, counted like `len` of a ShardReader.

        Raises:
          TypeError: the dataset is endless, or a file can be read only once.
          FileNotFoundError, OSError, errors.DataLossError: a file can't be counted.
        """
        return len(self._reader())

    def __bool__(self) -> bool:
        return True  # without counting

    @property
    def epoch(self) -> int:
        """The first epoch of iterations; 0 unless `set_epoch` has set another."""
        return self._epoch

    def set_epoch(self, epoch: int) -> None:
        """Let new iterations begin with `epoch`, also in workers.

        Raises:
          errors.InvalidArgumentError: `epoch` is below 0, or 2**62 or more.
        """
        self._epoch = checked_epoch(epoch)

    def set_slice(self, sl: slice, sequential_slice: bool = False) -> None:
        """Make this copy read the shard of one worker: for `slice(i, None, n)`, shard i of n. For Grain.

        Raises:
          ValueError: the slice has another form, or the copy has another shard already.
        """
        del sequential_slice  # files are consecutive anyway
        shard = (operator.index(sl.start or 0), operator.index(1 if sl.step is None else sl.step))
        if sl.stop is not None or not 0 <= shard[0] < shard[1]:
            raise ValueError(f"the slice of a worker must be slice(i, None, n), got {sl}")
        if self._slice not in ((0, 1), shard):  # the same slice comes twice if the dataset is in the pipeline twice
            raise ValueError(f"this TFRecordIterDataset already reads shard {self._slice}, and can't read {shard}")
        self._slice = shard

    def __repr__(self) -> str:
        return f"TFRecordIterDataset({self._reader()!r})"


class _Batches(grain.DatasetIterator[Any]):
    """The batches of one reader at a time.

    Args:
      make: returns a reader at the beginning.
      every: the number of batches between two states of the reader itself.
    """

    def __init__(self, make: Callable[[], ShardReader[Any]], every: int) -> None:
        super().__init__()
        self._make = make
        self._every = every
        self._reader: ShardReader[Any] | None = make()
        self._batches: Iterator[Any] | None = None
        self._saved: tuple[str, int] | None = None  # a state of the reader, and the batches since
        self._repeats = 0  # batches to read again when resuming

    def _open(self) -> ShardReader[Any]:
        if self._reader is None:
            raise ValueError("this iterator of a TFRecordIterDataset is closed")
        return self._reader

    def __next__(self) -> Any:
        reader = self._open()
        try:
            return self._next(reader)
        except BaseException as error:
            if raised_by_handler(error):
                self._batches = iter(())
            raise

    def _next(self, reader: ShardReader[Any]) -> Any:
        if self._batches is None:
            self._batches = iter(reader)
        while self._repeats:
            if next(self._batches, None) is None:
                raise ValueError(
                    f"the saved state is {self._repeats} batches after the end: the files have changed, or the "
                    "state is of another dataset"
                )
            self._repeats -= 1
        batch = next(self._batches)
        if self._saved is not None:
            self._saved = self._saved[0], self._saved[1] + 1
        return batch

    def get_state(self) -> dict[str, Any]:
        reader = self._open()
        if self._saved is None or (self._saved[1] >= self._every and not self._repeats):
            self._saved = json.dumps(reader.state_dict()), 0
        return {"version": _STATE_VERSION, "reader": self._saved[0], "given": self._saved[1]}

    def set_state(self, state: dict[str, Any]) -> None:
        reader_state, repeats = _checked(state)
        reader = self._make()
        reader.load_state_dict(reader_state)
        # Begin now if the saved iteration had begun: a state that doesn't fit must raise its error here.
        batches = iter(reader) if reader_state["stream"] is not None else None
        self._reader, self._batches = reader, batches
        self._saved, self._repeats = (state["reader"], repeats), repeats

    @property
    def skipped(self) -> list[Skipped]:
        """Damage that `on_corrupt` has skipped before the batches yielded so far."""
        return self._open().skipped

    def close(self) -> None:
        self._reader = self._batches = None
        super().close()


def _checked(state: object) -> tuple[dict[str, Any], int]:
    """Return the reader's state, and the number of batches since."""
    if not isinstance(state, Mapping):
        raise TypeError(f"a state of TFRecordIterDataset must be a dict, got {type(state).__name__}")
    if not state.keys() >= _OF_STATE or state["version"] != _STATE_VERSION or not isinstance(state["reader"], str):
        raise ValueError(f"not a state of TFRecordIterDataset, version {_STATE_VERSION}: {state!r:.80}")
    try:
        reader_state, batches = json.loads(state["reader"]), operator.index(state["given"])
    except (ValueError, TypeError) as error:
        raise ValueError(f"not a state of TFRecordIterDataset: {error}") from None
    if not isinstance(reader_state, dict) or "stream" not in reader_state or not 0 <= batches < MOST_EPOCHS:
        raise ValueError("not a state of TFRecordIterDataset: an entry is missing or out of range")
    return reader_state, batches


def _resolved(files: Files) -> list[File]:
    """Resolve local patterns, so that all workers and iterations read the same files."""
    flat = flatten(files)
    if not all(isinstance(file, str | Location) and not location_of(file).is_url for file in flat):
        return flat
    names = [os.fsdecode(path) for path in local_paths(flat)]
    return [*names] if _core.are_plain_paths(names) else flat


def _numpy_of(value: Any, strings: str) -> Any:
    """Convert a value of one record for Grain's transformations."""
    if isinstance(value, bytes) and strings == "array":
        array = np.empty((), object)
        array[()] = value
        return array
    if isinstance(value, SparseTensor) and not value.has_indices and value.row_steps is None:
        value = value.values
    return np.asarray(value) if isinstance(value, BytesArray) else value
