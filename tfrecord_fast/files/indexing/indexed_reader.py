"""IndexedReader: the records of files in any order."""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, Literal, SupportsIndex, TypeAlias, TypedDict, cast, overload

import numpy as np

from ... import _core
from ...base.process import Origin
from ...base.threads import default_threads
from ...errors import InvalidArgumentError
from ...examples.features import ImageFeature, copied
from ...examples.infer import infer_from_batches
from ...examples.parsing.groups import frozen_groups
from ...examples.parsing.parse import parse_example, parse_single_example
from ...examples.parsing.plans import example_plan
from ...typing import Columns, Features, Files, Groups, Integers, PathLike, Unpack
from ...values.text import html_table
from ..naming.foreign_formats import explaining
from ..naming.keywords import checks_keywords
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

Indexes: TypeAlias = RecordIndex | PathLike | Sequence[RecordIndex | PathLike | None]


class IndexedOptions(TypedDict, total=False):
    """The options of an IndexedReader, for classes that pass them on."""

    indexes: Indexes | None
    verify_crc: bool
    max_record_bytes: int | None
    num_threads: int | None
    groups: Groups | None
    storage_options: Mapping[str, Any] | None
    max_requests: int
    cache_dir: PathLike | None
    allow_empty: bool


_MAX_THREADS = 16
_BATCH = 1024  # records read at once when iterating


class IndexedReader(Generic[Record_co, Batch_co]):
    """The records of files as one sequence, read in any order.

    Args:
      files: paths (str, bytes, PathLike), glob patterns or URLs, or lists of them, as for TFRecordDataset. Records are
        numbered through all files in this order.
      features: None for serialized records; with a dict of features, records are parsed as by `io.parse_example`;
        "infer" infers the features from the first records, on first use (see `infer_features`).
      indexes: one index for each file: a RecordIndex, the path or URL of its text file (or a pattern that matches
        several), or None. A file without an index is scanned on first use: a compressed one is decompressed, and its
        index kept in the user's cache folder; an object is read through, and can't be compressed.
      verify_crc: False does not check the CRC of the records' data. Headers are always checked, against their own CRC
        and against the index.
      max_record_bytes: a header that claims more is damage; None: the format's own limit, 2**62 bytes.
      num_threads: maximum number of threads per call; None: one per core.
      groups: groups of features, as for `io.parse_example`.
      allow_empty: as for ShardReader.
      storage_options, max_requests, cache_dir: for URLs, as for ShardReader. Ranges that are close are fetched
        together.

    `len(reader)` is the number of records. `reader[i]` is one record: bytes, or a dict of its features' values as
    `io.parse_single_example` returns it. `reader[a:b:c]` and `take(indices)` return a RecordBatch, or a dict of columns
    as `io.parse_example` returns it. Negative numbers count from the end. Iterating yields all records in order.

    A record of a compressed file is decompressed from the checkpoint before it, so it takes about a millisecond; a file
    that is one ZSTD frame has none, and is decompressed from its start. At most 128 files are open at a time. Safe to
    use from several threads, and on both sides of a fork. Pickles, with the indexes built so far.

    Raises:
      TypeError, ValueError: at once: an argument is not a path or URL, or the numbers of files and indexes differ.
      FileNotFoundError, OSError: a file can't be read; on first use, or at once for a pattern without a match.
      IndexError: the number is out of range.
      errors.DataLossError: a record is damaged, or is not at the offset in the index.
      errors.InvalidArgumentError: an object is compressed; an index can't be read, or is that of another file; a record
        does not fit the features.

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
        **options: Unpack[IndexedOptions],
    ) -> None: ...

    @overload
    def __init__(
        self: IndexedReader[Columns, Columns],
        files: Files,
        features: Features | Literal["infer"],
        **options: Unpack[IndexedOptions],
    ) -> None: ...

    @checks_keywords
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
        allow_empty: bool = False,
    ) -> None:
        self._settings = store_settings(storage_options, max_requests, cache_dir)
        if num_threads is not None and num_threads < 1:
            raise ValueError(f"`num_threads` must be > 0, got {num_threads}")
        self._locations = random_locations(files, self._settings, as_flag("allow_empty", allow_empty))
        self._features = copied(features)
        self._groups: Any = None if groups is None else dict(frozen_groups(groups))
        if groups is not None and features is None:
            raise InvalidArgumentError("groups needs features")
        self._known = _known_indexes(indexes, len(self._locations), self._settings)
        self._verify_crc = as_flag("verify_crc", verify_crc)
        self._max_record_bytes = max_record_size(max_record_bytes)
        self._num_threads = num_threads
        self._is_remote = any(location.is_url for location in self._locations)
        self._begin()
        if isinstance(features, str) and features != "infer":
            raise InvalidArgumentError(f'features must be a dict, None or "infer", got {features!r}')
        if features is not None and not isinstance(features, str):
            parse_example([], features, groups=self._groups)  # raises for invalid features
            if any(isinstance(feature, ImageFeature) and feature.on_error == "skip" for feature in features.values()):
                raise InvalidArgumentError('on_error="skip" would drop records, which have numbers; use "zeros"')

    def __class_getitem__(cls, item: Any) -> Any:
        """Make `IndexedReader[bytes]` mean `IndexedReader[bytes, Any]`, as for type checkers."""
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
    def features(self) -> Features | None:
        """The features to parse; None for records. With "infer", this reads the first records."""
        if isinstance(self._features, str):
            self._open()
        return cast("Features | None", copied(self._features))

    @property
    def indexes(self) -> list[RecordIndex]:
        """The index of each file. Missing indexes are built."""
        self._open()
        return [index for index in self._known if isinstance(index, RecordIndex)]

    def _open(self) -> _core.RandomReader:
        """Return the core's reader, which is created on first use."""
        if self._reader is not None and (self._lock_origin.is_here() or not self._is_remote):
            return self._reader
        if not self._lock_origin.is_here():
            # A thread of the parent process may have held the lock, and this process lacks the fetching threads.
            self._lock, self._lock_origin = threading.Lock(), Origin()
            self._reader = None
        with self._lock, explaining():
            reader = self._reader
            if reader is None:
                threads = self._num_threads or min(default_threads(), _MAX_THREADS)
                opened = open_random(
                    self._locations,
                    [core_of(index) if isinstance(index, RecordIndex) else index for index in self._known],
                    self._settings,
                    verify_crc=self._verify_crc,
                    num_threads=threads,
                    max_record_bytes=self._max_record_bytes,
                )
                reader = opened.reader
                self._known[:] = [
                    index if isinstance(index, RecordIndex) else index_of(core)
                    for index, core in zip(self._known, opened.indexes, strict=True)
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
        if self._has_images:
            return self._image_values(self._take([operator.index(key)]))
        record = reader.record(key)
        return record if self._features is None else self._values(record, key)

    def __getitems__(self, indices: Sequence[int]) -> list[Record_co]:
        """Return `[reader[i] for i in indices]`, read together. PyTorch's DataLoader and grain call it."""
        batch = self._take(indices)
        if self._has_images:
            return [self._image_values(batch[i : i + 1]) for i in range(len(batch))]
        records: list[Any] = batch.tolist()
        if self._features is None:
            return records
        return [self._values(record, i) for record, i in zip(records, indices, strict=True)]

    @property
    def _has_images(self) -> bool:
        return isinstance(self._features, Mapping) and any(
            isinstance(feature, ImageFeature) for feature in self._features.values()
        )

    def _image_values(self, batch: _core.RecordBatch) -> Any:
        """Return the values of a batch of one record. Unlike bytes, it has the record's number, for random crops."""
        assert isinstance(self._features, Mapping)
        groups = () if self._groups is None else frozen_groups(self._groups)
        return example_plan(self._features, groups).single_row(batch)

    def _values(self, record: bytes, i: SupportsIndex) -> Any:
        assert self._features is not None and not isinstance(self._features, str)
        try:
            return parse_single_example(record, self._features, groups=self._groups)
        except InvalidArgumentError:
            # Parse as a batch, whose error names the file and the record.
            parse_example(self._take([operator.index(i)]), self._features, groups=self._groups)
            raise

    def take(self, indices: Integers) -> Batch_co:
        """Read the records with these numbers, in this order. Numbers may repeat.

        Args:
          indices: integers [n].

        Returns:
          A RecordBatch of n records, or a dict of columns with n rows.
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

    def _repr_html_(self) -> str:
        return html_table(repr(self), self._features.items() if isinstance(self._features, Mapping) else ())


def _batches(reader: _core.RandomReader) -> Iterator[_core.RecordBatch]:
    for begin in range(0, len(reader), _BATCH):
        yield reader.take(np.arange(begin, min(begin + _BATCH, len(reader))))


def _known_indexes(indexes: Indexes | None, files: int, settings: StoreSettings) -> list[RecordIndex | Location | None]:
    """Return for each file its RecordIndex, the location of its index, or None."""
    if indexes is None:
        return [None] * files
    if isinstance(indexes, (RecordIndex, str, bytes, os.PathLike)):
        indexes = [indexes]
    known: list[RecordIndex | Location | None] = []
    for index in indexes:
        known += (
            [index] if index is None or isinstance(index, RecordIndex) else random_locations(index, settings, False)
        )
    if len(known) != files:
        raise ValueError(f"`indexes` must have one index for each file: {files} files, {len(known)} indexes")
    return known
