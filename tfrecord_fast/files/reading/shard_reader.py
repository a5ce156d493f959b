"""Reading many shards on all cores, in one order, resumable."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, cast, overload

from ... import _core
from ...base.optional import shown_to_keras
from ...base.ranks import worker_info
from ...base.threads import default_threads
from ...errors import InvalidArgumentError
from ...examples.infer import InferredFeature, infer_from_batches
from ...typing import (
    Column,
    Columns,
    Features,
    Files,
    Groups,
    Key,
    PathLike,
    ReaderOptions,
    SequenceColumns,
    SequenceFeatures,
)
from ..naming.compression import check_compression_type
from ..naming.formats import explaining
from ..naming.numbers import as_flag, as_seed, at_least, max_record_size
from ..stores.cache import store_settings
from ..streams.core_files import flatten, has_urls, stream_files
from ..streams.fetching import PREFETCH_BYTES as REMOTE_BYTES
from ..streams.fetching import open_stream
from .assignment import Sharing, SharingOptions
from .epochs import ENDLESS, EpochCounter, checked_epoch
from .explain import describe
from .global_shuffle import GlobalShuffle
from .iteration import CountedBatches, Running, Skipped
from .outputs import Wanted
from .shards import Lengths, Shard
from .state import STATE_VERSION, check_fits, check_state, digest_of, epoch_of, epoch_reached

if TYPE_CHECKING:
    from typing_extensions import TypeVar, Unpack

    Batch_co = TypeVar("Batch_co", covariant=True, default=Any)  # so that a plain ShardReader is one of any batches
else:
    from typing import TypeVar

    Batch_co = TypeVar("Batch_co", covariant=True)

__all__ = ["ShardReader", "Skipped", "batches_of_workers", "converted", "resumed_from"]

_PREFETCH_BYTES = 32 << 20
_INFER_BYTES = 8 << 20
_INFER_BATCH = 1024


class ShardReader(Generic[Batch_co]):
    """Batches of records, or of columns, from any number of files, made on native threads without the GIL.

    Args:
      files: as for TFRecordDataset: paths, globs, URLs, lists of them.
      features: None yields RecordBatch; a dict yields columns, as `io.parse_example` returns them; a pair
        (context_features, sequence_features) yields what `io.parse_sequence_example` returns; "infer" looks at the
        first records first (see `infer_features`).
      batch_size: records per batch. Batches run on from epoch to epoch; the last may be smaller.
      drop_remainder: leaves out a last batch that is smaller.
      compression_type: as for TFRecordDataset; None detects, file by file.
      num_threads: threads that read, inflate, check, shuffle and parse; by default as many as there are processors
        for this process: what its affinity and its control group's quota allow, shared with the other workers of a
        DataLoader and the other ranks on this host. If there are two or more, the thread that iterates is one of them
        while it waits.
      deterministic: the same arguments give the same order with any number of threads; False gives batches as they
        are ready.
      cycle_length, block_length: how many files to interleave, and how many records to take from each in turn
        (TensorFlow's order).
      shuffle_files: a new order of files each epoch.
      shuffle_buffer: how many records to draw from, in a new order each epoch; 0 does not shuffle.
      global_shuffle: a new order of all records of all files each epoch, whatever memory there is. The files are
        uncompressed; where each record is takes 16 bytes of memory per record, and an object is read through once to
        find that out. Records are read in windows of a third of `prefetch_bytes`, each sorted by file and offset. With
        several shards it needs a `seed`.
      seed: makes shuffling repeatable: the same seed and number of the epoch give the same order. None draws one, which
        copies and saved states keep.
      num_epochs: how often the files are read; None or -1: endlessly.
      shard: (i, n): the i-th of n disjoint parts that together are the whole. "auto": this process' rank, and how many
        there are: of torch.distributed or JAX if initialised, else as the launcher's environment says (RANK and
        WORLD_SIZE, or those of Open MPI, MPICH, MVAPICH, Slurm); alone, it is (0, 1). Inside a worker of a PyTorch
        DataLoader the part is divided further among the workers.
      shard_by: "auto": by file if there are at least n and, with `equal_shards`, that drops or repeats no more than a
        tenth of the batches; else by record, for which each part reads all files.
      equal_shards: "drop" or "pad": all n parts (times workers) have the same number of batches, so that ranks that
        wait for each other at every step end together. "drop" leaves out batches at a part's end, down to the smallest
        part. "pad" goes on with the records that the part's next epoch begins with, up to the largest; a part without
        records goes through the whole. Counts the records first, as `len` does.
      verify_crc: whether the data of records is checked; headers always are.
      max_record_bytes: a header that claims more is damage; None: the format's own limit, 2**62 bytes.
      on_corrupt: "raise"; "skip" drops what is damaged and continues with the next intact record; "skip_file" drops
        the rest of the file, where records are divided only for the part that the damaged record is of. See `skipped`.
      prefetch_bytes: roughly how much may be read ahead; by default 32 MiB, of URLs 128 MiB.
      label_key: yields (columns, label), with that column taken out of the others; needs features.
      index_cache: where the number of a file's records is kept for `len`, `num_records` and `equal_shards`: in a
        folder; True: beside the file (as `.NAME.records`) if it has 16 MiB or more; False: nowhere.
      columns: the keys of the features to parse, if not all, and the names of groups; the label is parsed in any case.
        Needs features.
      groups: dict of names to lists of keys, as of `io.parse_example`: each group of features is one column `[n, k]`,
        under its name. Of Examples only. The label is in no group, but may be one.
      storage_options: what the stores of URLs need, in the spelling of fsspec's file systems or obstore's stores:
        credentials, an endpoint, `anon`. None: the environment says it. No state has them; a pickle has, for workers.
      max_requests: how many requests are under way at most, of one iteration.
      cache_dir: a local folder that keeps the objects read, so that the next epoch is local.

    A PyTorch DataLoader takes it as the IterableDataset that it is, if torch was imported before it was made:
    `DataLoader(reader, batch_size=None, num_workers=2)`.

    `len(reader)` is the number of batches of an iteration. To count them, the headers in the files are looked at;
    compressed files are read through.

    The order is defined in docs/design.md. Iterating again starts from the beginning, with the next epoch, so that each
    iteration is shuffled anew; see `epoch` and `set_epoch`. With a DataLoader, the workers' iterations count as this
    reader's. Several readers may run at once, and several Python threads may share one iterator. Pickles; a copy starts
    at the beginning of the next epoch, or where `load_state_dict` said.

    Raises:
      ValueError: an argument out of range.
      TypeError: an argument of another kind, such as "no" for a bool.
      FileNotFoundError, OSError: when iterated.
      errors.DataLossError: when iterated, in place of the batch with the damage.
      errors.InvalidArgumentError: when iterated, if a record does not fit the features.

    >>> import tempfile, os, tfrecord_fast as tf
    >>> folder = tempfile.mkdtemp()
    >>> for shard in range(2):
    ...     with tf.io.TFRecordWriter(os.path.join(folder, f"{shard}.tfrecord")) as writer:
    ...         writer.write_batch([b"%d-%d" % (shard, i) for i in range(3)])
    >>> for batch in ShardReader(os.path.join(folder, "*.tfrecord"), batch_size=4):
    ...     print(batch.tolist())
    [b'0-0', b'0-1', b'0-2', b'1-0']
    [b'1-1', b'1-2']
    """

    @overload
    def __init__(
        self: ShardReader[_core.RecordBatch],
        files: Files,
        features: None = None,
        *,
        label_key: None = None,
        **options: Unpack[ReaderOptions],
    ) -> None: ...

    @overload
    def __init__(
        self: ShardReader[Columns],
        files: Files,
        features: Features | Literal["infer"],
        *,
        label_key: None = None,
        columns: Sequence[Key] | None = None,
        groups: Groups | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None: ...

    @overload
    def __init__(
        self: ShardReader[tuple[Columns, Column]],
        files: Files,
        features: Features | Literal["infer"],
        *,
        label_key: Key,
        columns: Sequence[Key] | None = None,
        groups: Groups | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None: ...

    @overload
    def __init__(
        self: ShardReader[SequenceColumns],
        files: Files,
        features: SequenceFeatures,
        *,
        label_key: None = None,
        columns: Sequence[Key] | None = None,
        **options: Unpack[ReaderOptions],
    ) -> None: ...

    def __init__(
        self,
        files: Files,
        features: Features | SequenceFeatures | Literal["infer"] | None = None,
        *,
        batch_size: int = 1024,
        drop_remainder: bool = False,
        compression_type: str | None = None,
        num_threads: int | None = None,
        deterministic: bool = True,
        cycle_length: int = 1,
        block_length: int = 1,
        shuffle_files: bool = False,
        shuffle_buffer: int = 0,
        global_shuffle: bool = False,
        seed: int | None = None,
        num_epochs: int | None = 1,
        shard: tuple[int, int] | Literal["auto"] = (0, 1),
        shard_by: Literal["auto", "file", "record"] = "auto",
        equal_shards: Literal["drop", "pad"] | None = None,
        verify_crc: bool = True,
        max_record_bytes: int | None = None,
        on_corrupt: Literal["raise", "skip", "skip_file"] = "raise",
        prefetch_bytes: int | None = None,
        label_key: Key | None = None,
        index_cache: bool | PathLike = True,
        columns: Sequence[Key] | None = None,
        groups: Groups | None = None,
        storage_options: Mapping[str, Any] | None = None,
        max_requests: int = 16,
        cache_dir: PathLike | None = None,
    ) -> None:
        _register_with_torch()
        self._files = flatten(files)
        self._settings = store_settings(storage_options, max_requests, cache_dir)
        self._wanted = Wanted(features, label_key, columns, groups)
        if on_corrupt not in ("raise", "skip", "skip_file"):
            raise InvalidArgumentError(f'on_corrupt is "raise", "skip" or "skip_file", got {on_corrupt!r}')
        self._num_threads = None if num_threads is None else at_least(1, "num_threads", num_threads)
        # What decides the order, and so must be the same for a state to fit.
        self._order: dict[str, Any] = {
            "batch_size": at_least(1, "batch_size", batch_size),
            "drop_remainder": as_flag("drop_remainder", drop_remainder),
            "cycle_length": at_least(1, "cycle_length", cycle_length),
            "block_length": at_least(1, "block_length", block_length),
            "shuffle_files": as_flag("shuffle_files", shuffle_files),
            "shuffle_buffer": at_least(0, "shuffle_buffer", shuffle_buffer),
            "seed": as_seed(seed),
            "num_epochs": -1 if num_epochs is None else at_least(-1, "num_epochs", num_epochs),
        }
        self._seed_is_drawn = seed is None
        default = REMOTE_BYTES if has_urls(self._files) else _PREFETCH_BYTES
        read_ahead = default if prefetch_bytes is None else prefetch_bytes
        self._options: dict[str, Any] = {
            "compression_type": check_compression_type(compression_type),
            "verify_crc": as_flag("verify_crc", verify_crc),
            "max_record_bytes": max_record_size(max_record_bytes),
            "on_corrupt": on_corrupt,
            "prefetch_bytes": at_least(0, "prefetch_bytes", read_ahead),
        }
        self._sharing = Sharing(
            self._files,
            self._order,
            self._options,
            SharingOptions(
                Shard(shard),
                shard_by,
                equal_shards,
                as_flag("global_shuffle", global_shuffle),
                as_flag("deterministic", deterministic),
                seed is None,
            ),
            index_cache,
            self._settings,
        )
        self._resume: dict[str, Any] | None = None
        self._stream: _core.RecordStream | GlobalShuffle | None = None
        self._running: Running | None = None  # what _stream was made of
        self._epochs = EpochCounter()
        self._epochs.share()
        self._skipped: list[Skipped] = []

    def __iter__(self) -> Iterator[Batch_co]:
        return cast(Iterator[Batch_co], self._begin(None))

    def _begin(self, then: Callable[[Any], Any] | None) -> Iterator[Any]:
        """Begin an iteration; `then` makes something else of each batch."""
        # A table is what its arguments say, in a DataLoader's worker too.
        share = self._sharing.share(is_whole=self._wanted.is_table)
        files, order = share.files, share.order
        state = self._resume
        if state is not None:
            check_fits(state, files, order, share.epochs)
        plan = self._wanted.plan(self._infer)
        first = self._begin_epoch()
        if state is not None and epoch_of(state) != first:
            state = None  # a copy in another worker has continued there, for an earlier iteration of a DataLoader
        next_epoch = state.get("next_epoch") if state is not None else None
        if next_epoch is not None:
            self._epochs.set(next_epoch)
        place = None if state is None else state["stream"]
        try:
            stream = self._sharing.stream(share, first, place, plan, self._num_threads or default_threads())
        except BaseException:
            self._epochs.take_back(first)
            raise
        given: Iterator[Any] = stream.batches() if plan is None else stream.columns()
        counted = None
        if share.batches is not None:
            given = counted = CountedBatches(stream, given, 0 if state is None else state["given"], share.batches)
        finish = self._wanted.finish(plan, then)
        if finish is not None:
            given = map(finish, given)
        self._stream, self._running, self._skipped = stream, Running(files, order, counted, first, next_epoch), []
        self._resume = None  # only the first iteration starts there
        return _core.Iteration(given)

    def __len__(self) -> int:
        """The number of batches of an iteration, from its beginning, of this part or, in a worker, the worker's.

        Raises:
          TypeError: it is endless, or a file can be read only once.
          FileNotFoundError, OSError, errors.DataLossError: a file can't be counted.
        """
        return _batches([self._sharing.lengths()])

    def __bool__(self) -> bool:
        return True  # without counting

    @property
    def num_records(self) -> int:
        """How many records an iteration gives, in all its epochs; of an endless one: how many an epoch has.

        Those of this part, or of the worker's, without what `drop_remainder` and `equal_shards` leave out, and with
        what `equal_shards` repeats. Raises as `len` does.
        """
        return self._sharing.lengths().records

    def __repr__(self) -> str:
        return describe(self._files, self._wanted, self._order, self.epoch, self._sharing.options)

    def __format__(self, format_spec: str) -> str:
        return shown_to_keras(super().__format__(format_spec), "reader")

    @property
    def epoch(self) -> int:
        """The number of the epoch that the next iteration begins with; the first is 0.

        An iteration uses `num_epochs` epochs, even if it is not read to its end. An endless one uses those that it has
        reached; in a worker of a DataLoader, it counts as one.
        """
        running, stream = self._running, self._stream
        if running is None or stream is None or not running.is_open:
            return self._epochs.next
        try:
            reached = epoch_reached(stream.state(), running.first)
        except ValueError:  # this process was forked from the one that iterates
            reached = running.first
        return max(reached + 1, self._epochs.next)

    def set_epoch(self, epoch: int) -> None:
        """Lets the next iteration begin with that epoch; later ones continue from there.

        A position from `load_state_dict` is kept if it lies in the iteration that began with this epoch, and given up
        otherwise. An iteration that is running goes on as before. The workers of a DataLoader follow, persistent ones
        too; called inside a worker, it is for that worker's next iteration.

        Raises:
          ValueError: `epoch` is below 0, or 2**62 or more.
        """
        epoch = checked_epoch(epoch)
        if self._resume is not None and epoch_of(self._resume) != epoch:
            self._resume = None
        self._epochs.set(epoch)
        if self._running is not None:
            self._running = self._running._replace(next_epoch=epoch)

    def _begin_epoch(self) -> int:
        """The first epoch of an iteration that begins now."""
        if worker_info() is None and self._running is not None and self._running.is_open:
            self._epochs.go_to(self.epoch)
        count = self._order["num_epochs"]
        return self._epochs.begin(count if 0 <= count < ENDLESS else 1)

    def _infer(self) -> dict[str, InferredFeature]:
        """The features of the first records, read as this reader reads them."""
        options = {**self._options, "prefetch_bytes": min(_INFER_BYTES, self._options["prefetch_bytes"])}
        files = stream_files(self._files, self._settings)
        stream = open_stream(files, self._settings, batch_size=_INFER_BATCH, **options)
        with explaining():
            return infer_from_batches(stream.batches())

    @property
    def skipped(self) -> list[Skipped]:
        """What `on_corrupt` has dropped before the batches given so far.

        A reader that was resumed names a stretch of unknown length again if it began before its place: it may be new.
        """
        if self._stream is not None:
            self._skipped.extend(
                Skipped(one.path, one.offset, one.bytes, one.reason) for one in self._stream.take_skipped()
            )
        return self._skipped

    def state_dict(self) -> dict[str, Any]:
        """Where the latest iteration stands, after the last batch it gave; JSON-serialisable.

        After `load_state_dict`, a reader with the same arguments continues with exactly the next batch, without
        reading the earlier records again, except in compressed files, which are inflated again from their start.

        Raises:
          ValueError: with `deterministic=False`: such an order can't be resumed.
        """
        if not self._sharing.deterministic:
            raise ValueError("an order that depends on timing can't be resumed: state_dict needs deterministic=True")
        if self._resume is not None:
            return copy.deepcopy(self._resume)
        if self._stream is None or self._running is None:
            return {
                "version": STATE_VERSION,
                "epoch": self.epoch,
                "stream": None,
                "order": {"seed": self._order["seed"]},
            }
        # The files as they were found then: a pattern may match others by now.
        files, order, counted, first, next_epoch = self._running
        return {
            "version": STATE_VERSION,
            "epoch": first,
            "next_epoch": next_epoch,
            **({"stream": self._stream.state()} if counted is None else counted.state()),
            "order": copy.deepcopy(order),
            "files": digest_of(files),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Lets the next iteration begin where `state_dict` stood; later ones start with the epochs that follow.

        States saved by versions that didn't count epochs lie in epoch 0, as all their iterations did.

        Raises:
          TypeError: `state` is not a dict.
          ValueError: it is not the state of a reader; or, when iterated, of a reader with other files or arguments.
        """
        check_state(state)
        seed = state.get("order", self._order)["seed"]
        if self._seed_is_drawn:
            self._order["seed"] = seed  # one that was drawn is part of the state
        elif state["stream"] is None and seed != self._order["seed"]:
            raise ValueError(f"the saved state is of another reader: seed was {seed!r}, is {self._order['seed']!r}")
        self._resume = copy.deepcopy(state) if state["stream"] is not None else None
        self._stream = self._running = None
        self._epochs.set(epoch_of(state))

    def __getstate__(self) -> dict[str, Any]:
        if self._running is not None and self._running.is_open:
            self._epochs.go_to(self.epoch)
        return {**self.__dict__, "_stream": None, "_running": None, "_epochs": self._epochs.saved()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        _register_with_torch()
        self.__dict__.update(state)
        self._order = dict(self._order)  # a copy's seed is its own
        self._sharing = self._sharing.with_order(self._order)
        self._epochs = EpochCounter.restored(state["_epochs"])


def _register_with_torch() -> None:
    """Without importing it. A DataLoader asks whether what it is given is an IterableDataset."""
    torch = sys.modules.get("torch.utils.data")
    if torch is not None:
        torch.IterableDataset.register(ShardReader)


def batches_of_workers(reader: ShardReader[Any], workers: int) -> int:
    """How many batches so many workers of a DataLoader give together. Raises as `len` of the reader does."""
    return _batches(reader._sharing.lengths_of_workers(workers))


def resumed_from(reader: ShardReader[Any]) -> dict[str, Any] | None:
    """The state that the next iteration continues from; the same object until that changes."""
    return reader._resume


def converted(reader: ShardReader[Any], convert: Callable[[Any], Any]) -> Iterator[Any]:
    """Return `map(convert, reader)`, as an iteration of its own."""
    return reader._begin(convert)


def _batches(lengths: list[Lengths]) -> int:
    found = [length.batches for length in lengths if length.batches is not None]
    if len(found) < len(lengths):
        raise TypeError("a reader whose epochs have no end has no length; num_records are those of one epoch")
    return sum(found)
