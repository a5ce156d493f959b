"""ShardReader: many files read on all cores, in one order, resumable."""

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
from ...examples.infer import infer_either
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
from ..naming.foreign_formats import explaining
from ..naming.keywords import checks_keywords
from ..naming.numbers import as_flag, as_seed, at_least, max_record_size
from ..stores.cache import store_settings
from ..streams.core_files import existing, has_urls, stream_files
from ..streams.fetching import PREFETCH_BYTES as REMOTE_BYTES
from ..streams.fetching import open_stream
from .epochs import ENDLESS, EpochCounter, checked_epoch
from .explain import Described
from .feature_lists import refusing_lists
from .global_shuffle import GlobalShuffle
from .iteration import CountedBatches, CurrentIteration, Skipped
from .iteration_plan import Assigner, ShardingOptions
from .outputs import Outputs
from .shard_division import Lengths, Shard
from .state import STATE_VERSION, Mark, check_fits, check_state, digest_of, epoch_of, epoch_reached, marks_of

if TYPE_CHECKING:
    from typing_extensions import TypeVar, Unpack

    Batch_co = TypeVar("Batch_co", covariant=True, default=Any)  # a plain ShardReader means ShardReader[Any]
else:
    from typing import TypeVar

    Batch_co = TypeVar("Batch_co", covariant=True)

_PREFETCH_BYTES = 32 << 20
_INFER_BYTES = 8 << 20
_INFER_BATCH = 1024


class ShardReader(Described, Generic[Batch_co]):
    """Batches of records, or of columns, from any number of files, read on native threads without the GIL.

    Args:
      files: as for TFRecordDataset: paths, folders, globs, URLs, lists of them.
      features: None yields RecordBatch; a dict yields columns, as `io.parse_example` returns them; a pair
        (context_features, sequence_features) yields triples, as `io.parse_sequence_example` returns them; "infer"
        infers the features, or the pair, from the first records (see `infer_features`).
      batch_size: records per batch. Batches cross the ends of epochs; only the last may be smaller.
      drop_remainder: True drops a smaller last batch.
      compression: "GZIP", "ZLIB", "ZSTD", "SNAPPY" or "none", in any case; None detects, file by file. The older
        spelling is `compression_type`.
      num_threads: threads that read, inflate, check, shuffle and parse; by default the number of processors, as limited
        by CPU affinity and cgroup quota, divided by the DataLoader workers and the ranks on this host. With two or
        more, the iterating thread also works while it waits.
      deterministic: True yields the same order with any number of threads; False yields batches as they are ready.
      cycle_length, block_length: number of files to interleave, and number of records to take from each in turn
        (TensorFlow's order).
      shuffle_files: True shuffles the files anew in each epoch.
      shuffle_buffer: number of records to draw from, in a new order each epoch; 0 does not shuffle.
      global_shuffle: True shuffles all records of all files anew in each epoch, in bounded memory. The files must be
        local or uncompressed. The index takes 16 bytes of memory per record; to build it, objects and compressed files
        are read through once. Records are read in windows of a third of `prefetch_bytes`, each sorted by
        file and offset. Several shards need a `seed`.
      seed: makes shuffling repeatable: the order depends on the seed and the number of the epoch. None draws a seed,
        which copies and saved states keep.
      num_epochs: number of passes over the files; None or -1: endless.
      shard: (i, n): shard i of n; the n shards are disjoint and together have all records. "auto": the rank and the
        number of ranks, from torch.distributed or JAX if initialised, else from the launcher's environment (RANK and
        WORLD_SIZE, or the variables of Open MPI, MPICH, MVAPICH, Slurm); (0, 1) without a launcher. Inside a worker of
        a PyTorch DataLoader, the shard is divided further among the workers.
      shard_by: "file"; "record", for which each shard reads all files; or "auto": by file if there are at least n files
        and, with `equal_shards`, if that drops or repeats at most a tenth of the batches; else by record.
      equal_shards: "drop" or "pad": all n shards (times workers) have the same number of batches, so that ranks that
        wait for each other at every step end together. "drop" omits batches at the end of a shard, down to the smallest
        shard. "pad" continues with the first records of the shard's next epoch, up to the largest shard; a shard
        without records reads all records. Counts the records first, as `len` does.
      verify_crc: False does not check the CRC of the records' data. Headers are always checked.
      max_record_bytes: a header that claims more is damage; None: the format's own limit, 2**62 bytes.
      on_corrupt: "raise"; "skip" drops damaged bytes and continues with the next intact record; "skip_file" drops the
        rest of the file. If records are divided, only the shard of the damaged record drops it. See `skipped`.
      prefetch_bytes: approximate limit of bytes read ahead; by default 32 MiB, for URLs 128 MiB.
      label_key: yields (columns, label), with that column removed from the others; needs features.
      index_cache: where to keep the number of records per file for `len`, `num_records` and `equal_shards`: a folder;
        True: the user's cache folder (`~/.cache/tfrecord_fast`), for files of 16 MiB or more; False: nowhere.
      columns: the keys of the features to parse, and the names of groups; None: all. The label is always parsed. Needs
        features.
      groups: dict of names to lists of keys, as for `io.parse_example`: each group of features is one column `[n, k]`,
        under its name. Examples only. The label can't be in a group, but may be a group.
      storage_options: credentials, an endpoint, `anon`, … for the stores of URLs, as fsspec's file systems or obstore's
        stores spell them. None: taken from the environment. Never saved in `state_dict()`; pickled, so that workers
        have them.
      max_requests: maximum number of concurrent requests of one iteration.
      cache_dir: a local folder that keeps the objects read, so that later epochs are local.
      allow_empty: True to read nothing without files: an empty list, or patterns without a file.

    A reader is an IterableDataset for PyTorch if torch was imported before the reader was created:
    `DataLoader(reader, batch_size=None, num_workers=2)`.

    `len(reader)` is the number of batches of an iteration. It is counted from the headers in the files; compressed
    files are read through.

    The order is defined in docs/design.md. Each iteration starts with the next epoch, so each is shuffled differently;
    see `epoch` and `set_epoch`. With a DataLoader, the workers' iterations count as this reader's. Several readers may
    run at once, and several Python threads may share one iterator. Readers pickle; a copy starts at the beginning of
    the next epoch, or at the state from `load_state_dict`.

    Raises:
      ValueError: an argument is out of range.
      TypeError: an argument has the wrong type, such as "no" for a bool.
      FileNotFoundError, OSError: when iterated: a file can't be read.
      errors.DataLossError: when iterated, in place of the damaged batch.
      errors.InvalidArgumentError: when iterated: a record does not fit the features.

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

    @checks_keywords  # type: ignore[misc]  # which accepts the older spelling in ReaderOptions
    def __init__(
        self,
        files: Files,
        features: Features | SequenceFeatures | Literal["infer"] | None = None,
        *,
        batch_size: int = 1024,
        drop_remainder: bool = False,
        compression: str | None = None,
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
        allow_empty: bool = False,
    ) -> None:
        _register_with_torch()
        self._settings = store_settings(storage_options, max_requests, cache_dir)
        self._files = existing(files, as_flag("allow_empty", allow_empty), self._settings)
        self._outputs = Outputs(features, label_key, columns, groups)
        if on_corrupt not in ("raise", "skip", "skip_file"):
            raise InvalidArgumentError(f'on_corrupt must be "raise", "skip" or "skip_file", got {on_corrupt!r}')
        self._num_threads = None if num_threads is None else at_least(1, "num_threads", num_threads)
        # Arguments that determine the order, so they must be equal for a state to fit.
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
            "compression_type": check_compression_type(compression),
            "verify_crc": as_flag("verify_crc", verify_crc),
            "max_record_bytes": max_record_size(max_record_bytes),
            "on_corrupt": on_corrupt,
            "prefetch_bytes": at_least(0, "prefetch_bytes", read_ahead),
        }
        self._assigner = Assigner(
            self._files,
            self._order,
            self._options,
            ShardingOptions(
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
        self._current: CurrentIteration | None = None  # the iteration of _stream
        self._marks: list[Mark] | None = None  # of the files of _current, once a state was asked for
        self._epochs = EpochCounter()
        self._epochs.share()
        self._skipped: list[Skipped] = []

    def __iter__(self) -> Iterator[Batch_co]:
        return cast(Iterator[Batch_co], self._begin(None))

    def _begin(self, then: Callable[[Any], Any] | None) -> Iterator[Any]:
        """Begin an iteration; `then` is applied to each batch."""
        # Tables are not divided among DataLoader workers.
        assignment = self._assigner.assign(ignore_workers=self._outputs.is_table)
        files, order = assignment.files, assignment.order
        state = self._resume
        if state is not None:
            check_fits(state, files, order, assignment.epochs)
        plan = self._outputs.plan(self._infer)
        first = self._begin_epoch()
        if state is not None and epoch_of(state) != first:
            state = None  # a copy in another worker has continued there, in an earlier iteration of the DataLoader
        next_epoch = state.get("next_epoch") if state is not None else None
        if next_epoch is not None:
            self._epochs.set(next_epoch)
        position = None if state is None else state["stream"]
        try:
            stream = self._assigner.stream(assignment, first, position, plan, self._num_threads or default_threads())
        except BaseException:
            self._epochs.take_back(first)
            raise
        batches: Iterator[Any] = stream.batches() if plan is None else stream.columns()
        counted = None
        if assignment.batches is not None:
            yielded = 0 if state is None else state["given"]
            batches = counted = CountedBatches(stream, batches, yielded, assignment.batches)
        finish = self._outputs.finish(plan, then)
        if plan is not None and isinstance(plan.core, _core.ExamplePlan):
            batches = refusing_lists(batches, plan, files, self._options)
        if finish is not None:
            batches = map(finish, batches)
        self._stream, self._skipped = stream, []
        self._current = CurrentIteration(files, order, counted, first, next_epoch)
        self._marks = None
        self._resume = None  # only the first iteration starts there
        is_stream = counted is None and finish is None  # which ends by itself after a signal handler has raised
        return batches if is_stream else _core.Iteration(batches)

    def peek(self) -> Batch_co | None:
        """Return the first batch of the next iteration, which still begins with that batch; None if there is none."""
        look = copy.copy(self)
        look._epochs, look._stream, look._current = EpochCounter(self.epoch), None, None
        return next(iter(look), None)

    def __len__(self) -> int:
        """Return the number of batches of a whole iteration of this shard or, in a worker, of the worker's.

        Raises:
          TypeError: the iteration is endless, or a file can be read only once.
          FileNotFoundError, OSError, errors.DataLossError: a file can't be counted.
        """
        return _batches([self._assigner.lengths()])

    def __bool__(self) -> bool:
        return True  # `len` would count

    @property
    def num_records(self) -> int:
        """The number of records of an iteration, in all its epochs; of an endless iteration, those of one epoch.

        They are those of this shard, or of the worker's, without the records that `drop_remainder` and `equal_shards`
        drop, and with those that `equal_shards` repeats. Raises as `len` does.
        """
        return self._assigner.lengths().records

    def __format__(self, format_spec: str) -> str:
        return shown_to_keras(super().__format__(format_spec), "reader")

    @property
    def epoch(self) -> int:
        """The number of the epoch that the next iteration begins with; the first is 0.

        An iteration uses `num_epochs` epochs, even if it is not read to its end. An endless iteration uses the epochs
        that it has reached; in a DataLoader worker, it counts as one epoch.
        """
        current, stream = self._current, self._stream
        if current is None or stream is None or not current.is_open:
            return self._epochs.next
        try:
            reached = epoch_reached(stream.state(), current.first)
        except ValueError:  # this process was forked from the one that iterates
            reached = current.first
        return max(reached + 1, self._epochs.next)

    def set_epoch(self, epoch: int) -> None:
        """Begin the next iteration with this epoch; later iterations continue from there.

        A position from `load_state_dict` is kept only if it lies in an iteration that began with this epoch. A running
        iteration is not affected. DataLoader workers follow, also persistent ones; inside a worker, the call applies to
        that worker's next iteration.

        Raises:
          ValueError: `epoch` is below 0, or 2**62 or more.
        """
        epoch = checked_epoch(epoch)
        if self._resume is not None and epoch_of(self._resume) != epoch:
            self._resume = None
        self._epochs.set(epoch)
        if self._current is not None:
            self._current = self._current._replace(next_epoch=epoch)

    def _begin_epoch(self) -> int:
        if worker_info() is None and self._current is not None and self._current.is_open:
            self._epochs.go_to(self.epoch)
        count = self._order["num_epochs"]
        return self._epochs.begin(count if 0 <= count < ENDLESS else 1)

    def _infer(self) -> Any:
        options = {**self._options, "prefetch_bytes": min(_INFER_BYTES, self._options["prefetch_bytes"])}
        files = stream_files(self._files, self._settings)
        stream = open_stream(files, self._settings, batch_size=_INFER_BATCH, **options)
        with explaining():
            return infer_either(stream.batches())

    @property
    def skipped(self) -> list[Skipped]:
        """The stretches that `on_corrupt` has dropped before the batches yielded so far, and the records of images that
        ImageFeature's `on_error` has dropped or filled with zeros.

        A resumed reader repeats a stretch of unknown length that began before its position.
        """
        if self._stream is not None:
            self._skipped += [Skipped(s.path, s.offset, s.bytes, s.reason) for s in self._stream.take_skipped()]
        return self._skipped

    def state_dict(self) -> dict[str, Any]:
        """Return the position of the latest iteration after the last batch it yielded; JSON-serialisable.

        After `load_state_dict`, a reader with the same arguments continues with exactly the next batch. It does not
        read earlier records again, except in compressed files, which are inflated again from their start.

        Raises:
          ValueError: `deterministic=False`: such an order can't be resumed.
        """
        if not self._assigner.deterministic:
            raise ValueError("state_dict needs deterministic=True: an order that depends on timing can't be resumed")
        if self._resume is not None:
            return copy.deepcopy(self._resume)
        if self._stream is None or self._current is None:
            return {
                "version": STATE_VERSION,
                "epoch": self.epoch,
                "stream": None,
                "order": {"seed": self._order["seed"]},
            }
        # The files at the beginning of the iteration: by now, a pattern may match others.
        files, order, counted, first, next_epoch = self._current
        if self._marks is None:
            self._marks = marks_of(files)
        return {
            "version": STATE_VERSION,
            "epoch": first,
            "next_epoch": next_epoch,
            **({"stream": self._stream.state()} if counted is None else counted.state()),
            "order": copy.deepcopy(order),
            "files": digest_of(files),
            "marks": copy.deepcopy(self._marks),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue with the next iteration from a `state_dict`; later iterations start with the following epochs.

        States saved by versions that didn't count epochs are in epoch 0.

        Raises:
          TypeError: `state` is not a dict.
          ValueError: `state` is not the state of a reader; or, when iterated, it is of a reader with other files or
            arguments.
        """
        check_state(state)
        seed = state.get("order", self._order)["seed"]
        if self._seed_is_drawn:
            self._order["seed"] = seed  # a drawn seed is part of the state
        elif state["stream"] is None and seed != self._order["seed"]:
            raise ValueError(f"the saved state is of another reader: seed was {seed!r}, is {self._order['seed']!r}")
        self._resume = copy.deepcopy(state) if state["stream"] is not None else None
        self._stream = self._current = None
        self._epochs.set(epoch_of(state))

    def __getstate__(self) -> dict[str, Any]:
        if self._current is not None and self._current.is_open:
            self._epochs.go_to(self.epoch)
        return {**self.__dict__, "_stream": None, "_current": None, "_epochs": self._epochs.saved()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        _register_with_torch()
        self.__dict__.update(state)
        self._order = dict(self._order)  # a copy has its own seed
        self._assigner = self._assigner.with_order(self._order)
        self._epochs = EpochCounter.restored(state["_epochs"])


def _register_with_torch() -> None:
    torch = sys.modules.get("torch.utils.data")
    if torch is not None:
        torch.IterableDataset.register(ShardReader)


def batches_of_workers(reader: ShardReader[Any], workers: int) -> int:
    """Return the total number of batches of a DataLoader's workers. Raises as `len` of the reader does."""
    return _batches(reader._assigner.worker_lengths(workers))


def resumed_from(reader: ShardReader[Any]) -> dict[str, Any] | None:
    """Return the state that the next iteration continues from; the same object until it changes."""
    return reader._resume


def converted(reader: ShardReader[Any], convert: Callable[[Any], Any]) -> Iterator[Any]:
    return reader._begin(convert)


def _batches(lengths: list[Lengths]) -> int:
    batches = [length.batches for length in lengths if length.batches is not None]
    if len(batches) < len(lengths):
        raise TypeError("an endless reader has no length; num_records is the number of records in one epoch")
    return sum(batches)
