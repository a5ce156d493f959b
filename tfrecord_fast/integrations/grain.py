"""Grain: a data source and a dataset for its pipelines, with its checkpoints (docs/integrations/grain.md).

| name | what |
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
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import grain
import numpy as np

from .. import _core
from ..base.handlers import raised_by_handler
from ..base.threads import default_threads
from ..errors import InvalidArgumentError
from ..examples.features import copied, names_of
from ..examples.parsing.groups import frozen_groups
from ..files.indexing.indexed_reader import IndexedReader, Indexes
from ..files.naming.location import location_of
from ..files.reading.epochs import MOST_EPOCHS, checked_epoch
from ..files.reading.shard_reader import ShardReader, Skipped
from ..files.reading.shards import Shard
from ..files.streams.core_files import File, flatten
from ..files.streams.local_paths import local_paths
from ..typing import Features, Files, Groups, Key, PathLike, ReaderOptions, SequenceFeatures
from ..values.columns.bytes_array import BytesArray
from ..values.columns.sparse import SparseTensor

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["TFRecordDataSource", "TFRecordIterDataset"]

_STATE_VERSION = 1
_OF_STATE = {"version", "reader", "given"}
_BUFFERS_PER_STATE = 16  # how many shuffle buffers of records are read between two states that hold the buffer


class TFRecordDataSource(grain.sources.RandomAccessDataSource[Any]):
    """The records of uncompressed files by number, for `grain.MapDataset.source` and `grain.DataLoader`.

    Args:
      files, features, indexes, groups: as for IndexedReader.
      verify_crc, max_record_bytes, num_threads: as for IndexedReader.
      storage_options, max_requests, cache_dir: for URLs, as for IndexedReader.
      strings: what becomes of strings in a record with features. "array": arrays of dtype object, of shape [] for a
        single string, which `ds.batch` stacks exactly; "bytes": a single string is bytes. NumPy drops zero bytes at the
        end of bytes that it stacks, and so does `ds.batch`.

    `source[i]` is a record: bytes or, with features, a dict of NumPy values: for FixedLenFeature a scalar or an array
    of its shape, for VarLenFeature an array [number of values], for the others what `io.parse_single_example` gives.

    Safe to use from several threads, and on both sides of a fork. It pickles, with the index if it was made by then.
    Its repr, which Grain's checkpoints compare, names the files' paths, sizes and numbers of records by a digest.

    Raises:
      TypeError, ValueError, FileNotFoundError, OSError, errors.DataLossError, errors.InvalidArgumentError: as
        IndexedReader.
      IndexError: there is no such record.

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
        indexes: Indexes | None = None,
        verify_crc: bool = True,
        max_record_bytes: int | None = None,
        num_threads: int | None = None,
        groups: Groups | None = None,
        storage_options: Mapping[str, Any] | None = None,
        max_requests: int = 16,
        cache_dir: PathLike | None = None,
    ) -> None:
        if strings not in ("array", "bytes"):
            raise InvalidArgumentError(f'strings is "array" or "bytes", got {strings!r}')
        self._strings = strings
        self._has_features = features is not None
        self._described: str | None = None
        make: Any = IndexedReader
        self._reader: IndexedReader[Any, Any] = make(
            files,
            features,
            indexes=indexes,
            verify_crc=verify_crc,
            max_record_bytes=max_record_bytes,
            num_threads=num_threads,
            groups=groups,
            storage_options=storage_options,
            max_requests=max_requests,
            cache_dir=cache_dir,
        )

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
        """`[source[i] for i in indices]`, read together."""
        records = self._reader.__getitems__(indices)
        return [self._values(record) for record in records] if self._has_features else records

    _getitems = __getitems__  # as Grain calls it

    def _values(self, record: dict[Any, Any]) -> dict[Any, Any]:
        return {key: _numpy_of(value, self._strings) for key, value in record.items()}

    def __repr__(self) -> str:
        if self._described is None:
            try:
                counts = [(len(index), _end_of(index)) for index in self._reader.indexes]
            except Exception as error:  # nobody expects one of repr
                return f"TFRecordDataSource(files={len(self.paths)}, unreadable={str(error)!r})"
            digest = hashlib.sha256()
            for path, (records, end) in zip(self.paths, counts, strict=True):
                name = os.fsencode(path)
                digest.update(b"%d %d %d " % (records, end, len(name)) + name)
            total = sum(records for records, _ in counts)
            self._described = (
                f"TFRecordDataSource(files={len(counts)}, records={total}, digest={digest.hexdigest()[:16]!r})"
            )
        return self._described


class TFRecordIterDataset(grain.IterDataset[Any]):
    """Batches of columns from any number of files, read and parsed on native threads, for Grain's pipelines.

    Args:
      files, features, label_key, columns, groups: as for ShardReader. Patterns are resolved at once.
      options: ShardReader's others: `batch_size`, `shuffle_buffer`, `global_shuffle`, `seed`, `num_epochs`, `shard` and
        so on. `deterministic=False` is refused, since such an order has no checkpoints.

    An element is a batch as ShardReader gives it: a dict of columns, (columns, label) with `label_key`, or a
    RecordBatch. `ds.map`, `ds.mp_prefetch` and the others work on these.

    As with all of Grain's datasets, each iteration gives the same. Give it `num_epochs`: one iteration goes through all
    of its epochs, each with an order of its own. `set_epoch` chooses the epoch that iterations begin with. `seed=None`
    draws a seed for the dataset, which its copies and states have; several ranks need one for `global_shuffle`.

    The worker processes of `mp_prefetch` divide the records as ranks do: worker i of n gives part i of n of `shard`.
    `shard="auto"` is the rank of the process that has started the workers. By default each has its share of the
    processors for its threads.

    States are for `grain.checkpoint.CheckpointHandler`: JSON takes them. They continue with exactly the next batch, in
    the middle of a shuffle too. A dataset with a `shuffle_buffer` makes a state that holds the buffer once for about 16
    buffers of records, and counts batches in between, which are read again when it is resumed.

    `iter(dataset).skipped` lists what `on_corrupt` has dropped, as that of a ShardReader.

    Raises:
      errors.InvalidArgumentError, TypeError, ValueError: an argument is wrong; as ShardReader.
      FileNotFoundError: a pattern matches nothing.
      ValueError: of an iterator's `set_state`: it is the state of other files or arguments, or of no such dataset.

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
                "an order that depends on timing has no checkpoints: a Grain dataset needs deterministic=True"
            )
        self._files = _resolved(files)
        self._features = copied(features)
        named = None if groups is None else dict(frozen_groups(groups))
        self._options: dict[str, Any] = {
            **options,
            "label_key": label_key,
            "columns": names_of(columns),
            "groups": named,
        }
        self._shard = Shard(self._options.pop("shard", (0, 1)))
        self._slice = (0, 1)  # of the shard: that of a worker, and how many there are
        self._epoch = 0
        self._begin: dict[str, Any] | None = None
        self._begin = self._reader().state_dict()  # with the seed if it was drawn

    def _reader(self) -> ShardReader[Any]:
        """A reader of this process' part."""
        (number, total), (worker, workers) = self._shard.rank(), self._slice
        if total > 1 and self._options.get("global_shuffle") and self._options.get("seed") is None:
            raise InvalidArgumentError(
                "ranks divide one order of all records: global_shuffle with shard needs a seed that all ranks have"
            )
        options = {**self._options, "shard": (number * workers + worker, total * workers)}
        if workers > 1 and options.get("num_threads") is None:
            options["num_threads"] = max(1, default_threads() // workers)
        make: Any = ShardReader
        reader: ShardReader[Any] = make(self._files, self._features, **options)
        if self._begin is not None:
            reader.load_state_dict({**self._begin, "epoch": self._epoch})
        return reader

    def __iter__(self) -> grain.DatasetIterator[Any]:
        records = _BUFFERS_PER_STATE * self._options.get("shuffle_buffer", 0)
        return _Batches(self._reader, 1 + records // self._options.get("batch_size", 1024))

    def __len__(self) -> int:
        """The number of batches of this process' part. Counts the records as `len` of a ShardReader does.

        Raises:
          TypeError: it is endless, or a file can be read only once.
          FileNotFoundError, OSError, errors.DataLossError: a file can't be counted.
        """
        return len(self._reader())

    def __bool__(self) -> bool:
        return True  # without counting

    @property
    def epoch(self) -> int:
        """The number of the epoch that iterations begin with; 0 unless `set_epoch` has said another."""
        return self._epoch

    def set_epoch(self, epoch: int) -> None:
        """Lets iterations that begin from now on begin with that epoch, in workers too.

        Raises:
          errors.InvalidArgumentError: `epoch` is below 0, or 2**62 or more.
        """
        self._epoch = checked_epoch(epoch)

    def set_slice(self, sl: slice, sequential_slice: bool = False) -> None:
        """Lets this copy give the part of one worker. Grain calls it: for `slice(i, None, n)`, part i of n.

        Raises:
          ValueError: it is no such slice, or the copy has another part already.
        """
        del sequential_slice  # files are consecutive anyway
        part = (operator.index(sl.start or 0), operator.index(1 if sl.step is None else sl.step))
        if sl.stop is not None or not 0 <= part[0] < part[1]:
            raise ValueError(f"a worker's part of a TFRecordIterDataset is slice(i, None, n), got {sl}")
        if self._slice not in ((0, 1), part):  # the same twice: the dataset stands in the pipeline twice
            raise ValueError(f"this TFRecordIterDataset has part {self._slice} already, and was to have {part}")
        self._slice = part

    def __repr__(self) -> str:
        return f"TFRecordIterDataset({self._reader()!r})"


class _Batches(grain.DatasetIterator[Any]):
    """The batches of one reader at a time.

    Args:
      make: gives a reader that begins at the beginning.
      every: how many batches to give before the reader's own state is made again.
    """

    def __init__(self, make: Callable[[], ShardReader[Any]], every: int) -> None:
        super().__init__()
        self._make = make
        self._every = every
        self._reader: ShardReader[Any] | None = make()
        self._batches: Iterator[Any] | None = None
        self._saved: tuple[str, int] | None = None  # a state of the reader, and how many batches it has given since
        self._again = 0  # batches that were given before, and are to be read again

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
        while self._again:
            if next(self._batches, None) is None:
                raise ValueError(
                    f"the saved state stands {self._again} batches after the end: the files have changed, or it is the "
                    "state of another dataset"
                )
            self._again -= 1
        batch = next(self._batches)
        if self._saved is not None:
            self._saved = self._saved[0], self._saved[1] + 1
        return batch

    def get_state(self) -> dict[str, Any]:
        reader = self._open()
        if self._saved is None or (self._saved[1] >= self._every and not self._again):
            self._saved = json.dumps(reader.state_dict()), 0
        return {"version": _STATE_VERSION, "reader": self._saved[0], "given": self._saved[1]}

    def set_state(self, state: dict[str, Any]) -> None:
        of_reader, given = _checked(state)
        reader = self._make()
        reader.load_state_dict(of_reader)
        # What has begun is begun again now, since a state that doesn't fit is to be refused here.
        batches = iter(reader) if of_reader["stream"] is not None else None
        self._reader, self._batches = reader, batches
        self._saved, self._again = (state["reader"], given), given

    @property
    def skipped(self) -> list[Skipped]:
        """What `on_corrupt` has dropped before the batches given so far."""
        return self._open().skipped

    def close(self) -> None:
        self._reader = self._batches = None
        super().close()


def _checked(state: object) -> tuple[dict[str, Any], int]:
    """The reader's state, and how many batches were given since."""
    if not isinstance(state, Mapping):
        raise TypeError(f"a state of TFRecordIterDataset is a dict, got {type(state).__name__}")
    if not state.keys() >= _OF_STATE or state["version"] != _STATE_VERSION or not isinstance(state["reader"], str):
        raise ValueError(f"not a state of TFRecordIterDataset, version {_STATE_VERSION}: {state!r:.80}")
    try:
        of_reader, given = json.loads(state["reader"]), operator.index(state["given"])
    except (ValueError, TypeError) as error:
        raise ValueError(f"not a state of TFRecordIterDataset: {error}") from None
    if not isinstance(of_reader, dict) or "stream" not in of_reader or not 0 <= given < MOST_EPOCHS:
        raise ValueError("not a state of TFRecordIterDataset: a part is missing or out of range")
    return of_reader, given


def _resolved(files: Files) -> list[File]:
    """The files with local patterns resolved, so that all workers and iterations see the same."""
    flat = flatten(files)
    if not all(isinstance(file, str | bytes | os.PathLike) and not location_of(file)[1] for file in flat):
        return flat
    names = [os.fsdecode(path) for path in local_paths(flat)]
    return [*names] if _core.are_plain_paths(names) else flat


def _end_of(index: Any) -> int:
    return int(index.offsets[-1] + index.sizes[-1]) if len(index) else 0


def _numpy_of(value: Any, strings: str) -> Any:
    """A value of one record as Grain's transformations take it."""
    if isinstance(value, bytes) and strings == "array":
        made = np.empty((), object)
        made[()] = value
        return made
    if isinstance(value, SparseTensor) and not value.has_indices and value.row_steps is None:
        value = value.values
    return np.asarray(value) if isinstance(value, BytesArray) else value
