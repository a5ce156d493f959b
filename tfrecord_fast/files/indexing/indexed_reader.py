"""Reading the records of files in any order."""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, SupportsIndex, TypeAlias, cast, overload

import numpy as np

from ... import _core
from ...base.process import Origin
from ...base.threads import default_threads
from ...errors import InvalidArgumentError
from ...examples.features import copied
from ...examples.infer import infer_from_batches
from ...examples.parsing.groups import frozen_groups
from ...examples.parsing.parse import parse_example, parse_single_example
from ...typing import Columns, Features, Files, Groups, Integers, PathLike
from ..naming.formats import explaining
from ..naming.location import Location, shown_name
from ..naming.numbers import as_flag, as_integers, max_record_size
from ..stores import StoreSettings
from ..stores.cache import store_settings
from ..streams.random_access import open_random, random_locations
from .index import RecordIndex, core_of, index_of

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    Record_co = TypeVar("Record_co", covariant=True, default=Any)
    Batch_co = TypeVar("Batch_co", covariant=True, default=Any)
else:
    from typing import TypeVar

    Record_co = TypeVar("Record_co", covariant=True)
    Batch_co = TypeVar("Batch_co", covariant=True)

__all__ = ["IndexedReader"]

Indexes: TypeAlias = RecordIndex | PathLike | Sequence[RecordIndex | PathLike | None]

_MAX_THREADS = 16
_BATCH = 1024  # records read at once when iterating


class IndexedReader(Generic[Record_co, Batch_co]):
    """The records of uncompressed files as one sequence, read in any order.

    Args:
      files: paths (str, bytes, PathLike), glob patterns or URLs, in lists as TFRecordDataset takes them. Records are
        numbered through all files in this order.
      features: None for serialized records; with a dict of features, records are parsed as by `io.parse_example`;
        "infer" looks at the first records, at the first use (see `infer_features`).
      indexes: where the records are, one for each file: a RecordIndex, the path or URL of its text form (or a pattern
        of such), or None. A file without one is scanned at the first use; an object is read through for that.
      verify_crc: whether the CRC of each record's data is checked. Headers always are, against their own CRC and
        against the index.
      max_record_bytes: a header that claims more is damage; None: the format's own limit, 2**62 bytes.
      num_threads: at most, for one call; None for one per core.
      groups: of features, as of `io.parse_example`.
      storage_options, max_requests, cache_dir: for URLs, as of ShardReader. Ranges that are close are fetched together.

    `len(reader)` is the number of records. `reader[i]` is one: bytes, or a dict of its features' values as
    `io.parse_single_example` gives them. `reader[a:b:c]` and `take(indices)` give a RecordBatch, or a dict of columns
    as `io.parse_example` gives them. Negative numbers count from the end. Iterating yields all in order.

    At most 128 files are open at a time. Safe to use from several threads, and on both sides of a fork. Pickles, with
    the index if it was made by then.

    Raises:
      TypeError, ValueError: at once, for anything but paths and URLs, and for more or fewer indexes than files.
      FileNotFoundError, OSError: a file can't be read; at the first use, or at once for a pattern without a match.
      IndexError: there is no such record.
      errors.DataLossError: a record is damaged, or is not where the index says.
      errors.InvalidArgumentError: a file is compressed; an index can't be read; a record does not fit the features.

    >>> import tempfile, os, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tf.io.TFRecordWriter(path) as writer:
    ...     writer.write_batch([b"zero", b"one", b"two", b"three"])
    >>> reader = IndexedReader(path)
    >>> len(reader), reader[-1]
    (4, b'three')
    >>> reader.take([2, 0, 2]).tolist()
    [b'two', b'zero', b'two']
    """

    @overload
    def __init__(
        self: IndexedReader[bytes, _core.RecordBatch],
        files: Files,
        features: None = None,
        *,
        indexes: Indexes | None = None,
        verify_crc: bool = True,
        max_record_bytes: int | None = None,
        num_threads: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
        max_requests: int = 16,
        cache_dir: PathLike | None = None,
    ) -> None: ...

    @overload
    def __init__(
        self: IndexedReader[Columns, Columns],
        files: Files,
        features: Features | Literal["infer"],
        *,
        indexes: Indexes | None = None,
        verify_crc: bool = True,
        max_record_bytes: int | None = None,
        num_threads: int | None = None,
        groups: Groups | None = None,
        storage_options: Mapping[str, Any] | None = None,
        max_requests: int = 16,
        cache_dir: PathLike | None = None,
    ) -> None: ...

    def __init__(
        self,
        files: Files,
        features: Features | Literal["infer"] | None = None,
        *,
        indexes: Indexes | None = None,
        verify_crc: bool = True,
        max_record_bytes: int | None = None,
        num_threads: int | None = None,
        groups: Groups | None = None,
        storage_options: Mapping[str, Any] | None = None,
        max_requests: int = 16,
        cache_dir: PathLike | None = None,
    ) -> None:
        self._settings = store_settings(storage_options, max_requests, cache_dir)
        if num_threads is not None and num_threads < 1:
            raise ValueError(f"`num_threads` must be > 0, got {num_threads}")
        self._locations = random_locations(files, self._settings)
        self._features = copied(features)
        self._groups: Any = None if groups is None else dict(frozen_groups(groups))
        if groups is not None and features is None:
            raise InvalidArgumentError("groups needs features")
        self._given = _given_indexes(indexes, len(self._locations), self._settings)
        self._verify_crc = as_flag("verify_crc", verify_crc)
        self._max_record_bytes = max_record_size(max_record_bytes)
        self._num_threads = num_threads
        self._is_remote = any(location.is_url for location in self._locations)
        self._begin()
        if isinstance(features, str) and features != "infer":
            raise InvalidArgumentError(f'features is a dict, None or "infer", got {features!r}')
        if features is not None and not isinstance(features, str):
            parse_example([], features, groups=self._groups)  # what is wrong with them shows here

    def __class_getitem__(cls, item: Any) -> Any:
        """`IndexedReader[bytes]` means `IndexedReader[bytes, Any]`, to Python as to type checkers."""
        return super().__class_getitem__(item if isinstance(item, tuple) else (item, Any))  # type: ignore[misc]

    def _begin(self) -> None:
        self._reader: _core.RandomReader | None = None
        self._lock = threading.Lock()
        self._lock_origin = Origin()

    @property
    def files(self) -> list[str]:
        """The paths of the files, in order."""
        return [shown_name(location) for location in self._locations]

    @property
    def indexes(self) -> list[RecordIndex]:
        """The index of each file; those that were not given are made."""
        self._open()
        return self._indexes()

    def _indexes(self) -> list[RecordIndex]:
        return [index for index in self._given if isinstance(index, RecordIndex)]

    def _open(self) -> _core.RandomReader:
        """The core's reader, made at the first use."""
        if self._reader is not None and (self._lock_origin.is_here() or not self._is_remote):
            return self._reader
        if not self._lock_origin.is_here():
            # A thread that held it is not in this process, nor are those that fetch.
            self._lock, self._lock_origin = threading.Lock(), Origin()
            self._reader = None
        with self._lock, explaining():
            reader = self._reader
            if reader is None:
                threads = self._num_threads or min(default_threads(), _MAX_THREADS)
                given = [core_of(one) if isinstance(one, RecordIndex) else one for one in self._given]
                opened = open_random(
                    self._locations,
                    given,
                    self._settings,
                    verify_crc=self._verify_crc,
                    num_threads=threads,
                    max_record_bytes=self._max_record_bytes,
                )
                reader = opened.reader
                self._given[:] = [
                    one if isinstance(one, RecordIndex) else index_of(core)
                    for one, core in zip(self._given, opened.indexes, strict=True)
                ]
                if isinstance(self._features, str):
                    features = infer_from_batches(_batches(reader))
                    parse_example([], features, groups=self._groups)
                    self._features = features
                self._reader = reader
        return reader

    def __len__(self) -> int:
        return len(self._open())

    @overload
    def __getitem__(self, key: SupportsIndex) -> Record_co: ...

    @overload
    def __getitem__(self, key: slice) -> Batch_co: ...

    def __getitem__(self, key: SupportsIndex | slice) -> Any:
        reader = self._reader
        if reader is None or self._is_remote:
            reader = self._open()
        if isinstance(key, slice):
            return self.take(np.arange(*key.indices(len(reader)), dtype=np.int64))
        record = reader.record(key)
        return record if self._features is None else self._values(record, key)

    def __getitems__(self, indices: Sequence[int]) -> list[Record_co]:
        """`[reader[i] for i in indices]`, read together; PyTorch's DataLoader and grain ask for it."""
        records: list[Any] = self._take(indices).tolist()
        if self._features is None:
            return records
        return [self._values(record, i) for record, i in zip(records, indices, strict=True)]

    def _values(self, record: bytes, i: SupportsIndex) -> Any:
        assert self._features is not None and not isinstance(self._features, str)
        try:
            return parse_single_example(record, self._features, groups=self._groups)
        except InvalidArgumentError:
            # This names the file and the record.
            parse_example(self._take([operator.index(i)]), self._features, groups=self._groups)
            raise

    def take(self, indices: Integers) -> Batch_co:
        """The records of these numbers, in this order; a number may come more than once.

        Args:
          indices: integers [n].

        Returns:
          A RecordBatch of n, or a dict of columns of n rows.
        """
        records: Any = self._take(indices)
        if self._features is None:
            return cast(Batch_co, records)
        assert not isinstance(self._features, str)
        return cast(Batch_co, parse_example(records, self._features, groups=self._groups))

    def _take(self, indices: Integers) -> _core.RecordBatch:
        return self._open().take(as_integers(indices, "indices"))

    def __iter__(self) -> Iterator[Record_co]:
        for begin in range(0, len(self), _BATCH):
            yield from self.__getitems__(range(begin, min(begin + _BATCH, len(self))))

    def __getstate__(self) -> dict[str, Any]:
        dropped = {"_reader", "_lock", "_lock_origin"}
        return {name: value for name, value in vars(self).items() if name not in dropped}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

    def __repr__(self) -> str:
        size = "" if self._reader is None else f", {len(self)} records"
        return f"<IndexedReader of {len(self._locations)} files{size}>"


def _batches(reader: _core.RandomReader) -> Iterator[_core.RecordBatch]:
    for begin in range(0, len(reader), _BATCH):
        yield reader.take(np.arange(begin, min(begin + _BATCH, len(reader))))


def _given_indexes(indexes: Indexes | None, files: int, settings: StoreSettings) -> list[RecordIndex | Location | None]:
    """Return for each file its RecordIndex, the location of its index, or None."""
    if indexes is None:
        return [None] * files
    if isinstance(indexes, (RecordIndex, str, bytes, os.PathLike)):
        indexes = [indexes]
    known: list[RecordIndex | Location | None] = []
    for index in indexes:
        known += [index] if index is None or isinstance(index, RecordIndex) else random_locations(index, settings)
    if len(known) != files:
        raise ValueError(f"`indexes` must be one for each file: {files} files, {len(known)} indexes")
    return known
