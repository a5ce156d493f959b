"""The examples of a split, one by one, in batches, or by number."""

from __future__ import annotations

import contextlib
import functools
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, SupportsIndex

import numpy as np

from ... import _core
from ..._core import RecordBatch
from ...base.seeds import next_seed
from ...base.threads import available_cpus
from ...base.workers import Workers
from ...errors import InvalidArgumentError
from ...examples.parsing.plans import example_plan
from ...files.indexing.indexed_reader import IndexedReader
from ...files.naming.numbers import as_flag
from ...files.stores import StoreSettings
from ...files.system.file_system import Options
from .folders import DatasetInfo
from .nodes import DictNode, Fail
from .reading import in_batches, order_of, records_of, wrong_count
from .splits import Piece

_MAX_THREADS = 16


class Reading(NamedTuple):
    """Arguments of `load` about batches, order and files."""

    batch_size: int | None
    drop_remainder: bool
    shuffle_files: bool
    seed: int | None
    cycle_length: int
    block_length: int
    num_threads: int | None
    verify_crc: bool
    storage_options: Options


class Examples:
    """The examples of a split, made by `load`.

    Iterating yields each example as a dict of NumPy values, or as the tuple of supervised values; with a `batch_size`,
    dicts of columns. Each iteration begins with the first example; with `shuffle_files`, each has another order of
    files.

    `len(examples)` is the number of examples (of batches, with a `batch_size`). `examples[i]` is the example with that
    number in the order without shuffling. It needs local files, and the first use reads the headers of their records.
    So PyTorch's DataLoader can use `examples` as a map-style dataset. Pickles.

    `info` is the DatasetInfo, `features` the tree of features, and `files` the files. To read the stored columns, use
    `ShardReader(examples.files, examples.parsed_features)`.
    """

    def __init__(
        self,
        info: DatasetInfo,
        pieces: Sequence[Piece],
        node: DictNode,
        supervised_keys: Any,
        how: Reading,
    ) -> None:
        self.info = info
        self._pieces = list(pieces)
        self._node = node
        self._supervised_keys = supervised_keys
        self._how = how
        self._batch_size = how.batch_size
        self._seed = next_seed() if how.seed is None else int(how.seed)
        self._epoch = 0
        self._verify_crc = as_flag("verify_crc", how.verify_crc)
        self._settings = StoreSettings(how.storage_options)
        self.parsed_features = {key: feature for stored in node.stored() for key, feature in stored.features().items()}
        self._indexed: tuple[IndexedReader, Any] | None = None

    @property
    def features(self) -> Any:
        """The tree of features of the dataset. Features of labels have their names."""
        return self.info.features

    @property
    def files(self) -> list[str]:
        """The files that have examples of the split, in order."""
        return list(dict.fromkeys(piece.file for piece in self._pieces))

    @property
    def num_examples(self) -> int:
        """The number of examples."""
        return sum(piece.take for piece in self._pieces)

    def __len__(self) -> int:
        if self._batch_size is None:
            return self.num_examples
        return (self.num_examples + (0 if self._how.drop_remainder else self._batch_size - 1)) // self._batch_size

    def __repr__(self) -> str:
        batches = "" if self._batch_size is None else f" in batches of {self._batch_size}"
        return f"<Examples of {self.info.full_name}: {self.num_examples}{batches}>"

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_indexed": None}

    # ---- In order ----

    def __iter__(self) -> Iterator[Any]:
        pieces = list(self._pieces)
        if self._how.shuffle_files:
            random.Random(f"{self._seed} {self._epoch}").shuffle(pieces)
        self._epoch += 1
        records = records_of(pieces, self._how.cycle_length, self._how.block_length, self._verify_crc, self._settings)
        if self._batch_size is None:
            return self._each(records)
        return self._batches(in_batches(records, self._batch_size))

    def _each(self, records: Iterator[RecordBatch]) -> Iterator[Any]:
        with self._mapping() as mapped:
            for batch in records:
                yield from self._rows_of(batch, mapped)

    def _batches(self, batches: Iterator[RecordBatch]) -> Iterator[Any]:
        with self._mapping() as mapped:
            for batch in batches:
                if self._how.drop_remainder and len(batch) != self._batch_size:
                    return
                columns = self._parsed(batch)

                def each(function: Callable[[int, Fail], Any], batch: RecordBatch = batch) -> list[Any]:
                    return list(mapped(_locating(function, batch), range(len(batch))))

                yield _supervised(self._supervised_keys, self._node.batch(columns, each))

    def _rows_of(self, batch: RecordBatch, mapped: Callable[..., Iterator[Any]]) -> Iterator[Any]:
        rows = self._node.rows(self._parsed(batch))
        keys, decode = self._supervised_keys, self._node.decode
        return mapped(_locating(lambda row, fail: _supervised(keys, decode(rows(row), fail)), batch), range(len(batch)))

    def _parsed(self, batch: RecordBatch) -> dict[Any, Any]:
        return example_plan(self.parsed_features).batch(batch) if self.parsed_features else {}

    @contextlib.contextmanager
    def _mapping(self) -> Iterator[Callable[..., Iterator[Any]]]:
        """Provide a function like `map`, which uses several threads if decoding is costly."""
        threads = self._how.num_threads or min(available_cpus(), _MAX_THREADS)
        if threads == 1 or not self._node.is_costly():
            yield map
            return
        workers = Workers(threads, "tfrecord_fast tfds")
        try:
            yield workers.map
        finally:
            workers.stop()
            workers.join()

    # ---- By number ----

    def __getitem__(self, key: SupportsIndex) -> Any:
        (example,) = self.__getitems__([key.__index__()])
        return example

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """Return `[examples[i] for i in indices]`, read together; called by PyTorch's DataLoader and Grain."""
        if self._batch_size is not None:
            raise TypeError("examples[i] needs a dataset without batch_size")
        count = self.num_examples
        for index in indices:
            if not -count <= index < count:
                raise IndexError(f"example {index} of {count}")
        reader, positions = self._by_number()
        batch = reader.take(positions[np.asarray(indices, dtype=np.int64)])
        return list(self._rows_of(batch, map))

    def _by_number(self) -> tuple[IndexedReader, Any]:
        """Return a reader of the records of all files, and the number of each example in it."""
        if self._indexed is None:
            files = self.files
            reader = IndexedReader(
                files,
                verify_crc=self._verify_crc,
                num_threads=self._how.num_threads,
                storage_options=self._settings.storage_options,
            )
            lengths = [len(index) for index in reader.indexes]
            begins = dict(zip(files, np.cumsum([0, *lengths]).tolist(), strict=False))
            lengths_by_file = dict(zip(files, lengths, strict=True))
            for piece in self._pieces:
                if lengths_by_file[piece.file] != piece.examples:
                    raise wrong_count(piece, str(lengths_by_file[piece.file]))
            numbers = [np.arange(piece.take) + (begins[piece.file] + piece.skip) for piece in self._pieces]
            order = order_of([piece.take for piece in self._pieces], self._how.cycle_length, self._how.block_length)
            self._indexed = reader, np.concatenate(numbers)[order]
        return self._indexed


def _locating(function: Callable[[int, Fail], Any], batch: RecordBatch) -> Callable[[int], Any]:
    """Wrap a function of a row, so that its errors name the file and the record."""

    def of_row(row: int) -> Any:
        fail = functools.partial(_core.fail_at, batch, row)
        try:
            return function(row, fail)
        except InvalidArgumentError as error:
            text = str(error)
        fail(text)

    return of_row


def _supervised(keys: Any, example: dict[str, Any]) -> Any:
    """Return the supervised values of an example, nested like their keys; without keys, the whole example."""
    if keys is None:
        return example
    if isinstance(keys, tuple):
        return tuple(_supervised(key, example) for key in keys)
    if isinstance(keys, dict):
        return {name: _supervised(key, example) for name, key in keys.items()}
    return example[keys]
