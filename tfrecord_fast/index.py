"""Where records are in their files, and reading them in any order."""

from __future__ import annotations

import operator
import os
import threading
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._files import FileObject, core_files, flatten, is_url
from ._threads import available_cpus
from .errors import InvalidArgumentError
from .io import infer_features, parse_example, parse_single_example

__all__ = ["IndexedReader", "RecordIndex"]

_MAX_THREADS = 16
_ITERATION_BATCH = 1024


class RecordIndex:
    """The offsets and sizes of a file's records.

    The text form is that of `tfrecord2idx`, as NVIDIA DALI and vahidk/tfrecord read it: a line `offset size` for each
    record, where size counts the record's 16 bytes of framing.

    Args:
      offsets: integers [n], ascending: where each record's frame starts in the file.
      sizes: integers [n]: bytes of each frame. Frames do not overlap; what lies between them is left out.

    `len(index)` is n. Indexes are equal if their offsets and sizes are; they pickle.

    Raises:
      errors.InvalidArgumentError: no file can have such records.

    >>> index = RecordIndex([0, 19], [19, 20])
    >>> len(index), index.offsets, index.sizes
    (2, array([ 0, 19]), array([19, 20]))
    """

    __slots__ = ("_core",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, offsets: Any, sizes: Any) -> None:
        self._core = _core.RecordIndex(_integers(offsets, "offsets"), _integers(sizes, "sizes"))

    @classmethod
    def _of_core(cls, core: _core.RecordIndex) -> RecordIndex:
        index = cls.__new__(cls)
        index._core = core
        return index

    @classmethod
    def build(cls, path: Any) -> RecordIndex:
        """The index of an uncompressed file, made by going from header to header; no record's data is looked at.

        Args:
          path: str, bytes or PathLike.

        Raises:
          FileNotFoundError, OSError: the file can't be read.
          errors.DataLossError: a header is damaged, or the last record is cut.
          errors.InvalidArgumentError: the file is compressed, or no regular file.
        """
        return cls._of_core(_core.RecordIndex.build(_path(path)))

    @classmethod
    def load(cls, path: Any) -> RecordIndex:
        """The index in a text file.

        Raises:
          FileNotFoundError, OSError: the file can't be read.
          errors.InvalidArgumentError: a line is not `offset size`, or offsets do not ascend; names the line.
        """
        return cls._of_core(_core.RecordIndex.load(_path(path)))

    def save(self, path: Any) -> None:
        """Writes the text form. The file appears, or is replaced, when it is complete.

        Raises:
          OSError: the file can't be written.
        """
        self._core.save(_path(path))

    @property
    def offsets(self) -> NDArray[np.int64]:
        """int64 [n], read-only: where each record's frame starts in the file."""
        return self._core.offsets()

    @property
    def sizes(self) -> NDArray[np.int64]:
        """int64 [n], read-only: the bytes of each record's frame, which are its data's and 16."""
        return self._core.sizes()

    def __len__(self) -> int:
        return len(self._core)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RecordIndex):
            return NotImplemented
        return bool(self._core.equals(other._core))

    def __reduce__(self) -> tuple[Any, ...]:
        return RecordIndex, (self.offsets, self.sizes)

    def __repr__(self) -> str:
        return f"<RecordIndex of {len(self)} records>"


class IndexedReader:
    """The records of uncompressed files as one sequence, read in any order.

    Args:
      files: paths (str, bytes, PathLike) or glob patterns, in lists as TFRecordDataset takes them. Records are
        numbered through all files in this order.
      features: None for serialized records; else a dict of features, and records are parsed as `io.parse_example`
        does it; "infer" looks at the first records, at the first use (see `infer_features`).
      indexes: where the records are, one for each file: a RecordIndex, the path of its text form (or a pattern of
        such paths), or None. Where there is none, the file is gone through at the first use.
      verify_crc: whether the CRC of each record's data is checked. Headers are checked in any case, against their own
        CRC and against the index.
      num_threads: for one call, at most; None for one a core.

    `len(reader)` is the number of records. `reader[i]` is one: bytes, or a dict of its features' values as
    `io.parse_single_example` gives them. `reader[a:b:c]` and `take(indices)` give a RecordBatch, or a dict of columns
    as `io.parse_example` gives them. Negative numbers count from the end. Iterating goes through all in order.

    At most 128 files are open at a time. Safe to use from several threads; pickles, with the index once it was made;
    may be used on both sides of a fork.

    Raises:
      TypeError, ValueError: at once, for what is no local file, and for more or fewer indexes than files.
      FileNotFoundError, OSError: a file can't be read; at the first use, but at once for a pattern without a match.
      IndexError: there is no such record.
      errors.DataLossError: a record is damaged, or lies elsewhere than the index says.
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

    def __init__(
        self,
        files: Any,
        features: dict[str, Any] | str | None = None,
        *,
        indexes: Any = None,
        verify_crc: bool = True,
        num_threads: int | None = None,
    ) -> None:
        if num_threads is not None and num_threads < 1:
            raise ValueError(f"`num_threads` must be > 0, got {num_threads}")
        self._paths = _paths(files)
        self._features: Any = features
        self._given = _given_indexes(indexes, len(self._paths))
        self._verify_crc = bool(verify_crc)
        self._num_threads = num_threads
        self._begin()
        if isinstance(features, str) and features != "infer":
            raise InvalidArgumentError(f'features is a dict, None or "infer", got {features!r}')
        if features is not None and not isinstance(features, str):
            parse_example([], features)  # what is wrong with them shows here

    def _begin(self) -> None:
        self._reader: _core.RandomReader | None = None
        self._lock = threading.Lock()
        self._lock_process = os.getpid()

    @property
    def files(self) -> list[str]:
        """The paths of the files, in order."""
        return [os.fsdecode(path) for path in self._paths]

    @property
    def indexes(self) -> list[RecordIndex]:
        """The index of each file; those that were not given are made."""
        self._open()
        return self._indexes()

    def _indexes(self) -> list[RecordIndex]:
        return [index for index in self._given if isinstance(index, RecordIndex)]

    def _open(self) -> _core.RandomReader:
        """The core's reader, made at the first use."""
        if self._reader is not None:
            return self._reader
        if self._lock_process != os.getpid():
            # Whoever held it did not come along through the fork.
            self._lock, self._lock_process = threading.Lock(), os.getpid()
        with self._lock:
            reader = self._reader
            if reader is None:
                threads = self._num_threads or min(available_cpus(), _MAX_THREADS)
                missing = [(i, saved) for i, saved in enumerate(self._given) if not isinstance(saved, RecordIndex)]
                origins = [_core.IndexOrigin(path=self._paths[i], index_path=saved) for i, saved in missing]
                cores = _core._open_indexes(origins, threads)
                for (i, _), core in zip(missing, cores, strict=True):
                    self._given[i] = RecordIndex._of_core(core)
                reader = _core.RandomReader(
                    self._paths,
                    [index._core for index in self._indexes()],
                    verify_crc=self._verify_crc,
                    num_threads=threads,
                )
                if isinstance(self._features, str):
                    self._features = _inferred(reader)
                self._reader = reader
        return reader

    def __len__(self) -> int:
        return len(self._open())

    def __getitem__(self, key: Any) -> Any:
        reader = self._reader
        if reader is None:
            reader = self._open()
        if isinstance(key, slice):
            return self.take(np.arange(*key.indices(len(reader)), dtype=np.int64))
        record = reader.record(key)
        return record if self._features is None else self._values(record, key)

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        """What `[reader[i] for i in indices]` is, read together; PyTorch's DataLoader and grain ask for it."""
        records = self._take(indices).tolist()
        if self._features is None:
            return records
        return [self._values(record, i) for record, i in zip(records, indices, strict=True)]

    def _values(self, record: bytes, i: Any) -> dict[Any, Any]:
        assert self._features is not None
        try:
            return parse_single_example(record, self._features)
        except InvalidArgumentError:
            parse_example(self._take([i]), self._features)  # says which file and record
            raise

    def take(self, indices: Any) -> Any:
        """The records of these numbers, in this order; a number may come more than once.

        Args:
          indices: integers [n]: a sequence or an array.

        Returns:
          A RecordBatch of n, or a dict of columns of n rows.
        """
        records = self._take(indices)
        return records if self._features is None else parse_example(records, self._features)

    def _take(self, indices: Any) -> _core.RecordBatch:
        return self._open().take(_integers(indices, "indices"))

    def __iter__(self) -> Iterator[Any]:
        for begin in range(0, len(self), _ITERATION_BATCH):
            yield from self.__getitems__(range(begin, min(begin + _ITERATION_BATCH, len(self))))

    def __getstate__(self) -> dict[str, Any]:
        dropped = {"_reader", "_lock", "_lock_process"}
        return {name: value for name, value in vars(self).items() if name not in dropped}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._begin()

    def __repr__(self) -> str:
        size = "" if self._reader is None else f", {len(self)} records"
        return f"<IndexedReader of {len(self._paths)} files{size}>"


def _inferred(reader: _core.RandomReader) -> dict[str, Any]:
    def batches(size: int) -> Iterator[_core.RecordBatch]:
        for begin in range(0, len(reader), size):
            yield reader.take(np.arange(begin, min(begin + size, len(reader))))

    return infer_features(SimpleNamespace(batch=batches))


def _path(path: Any) -> bytes:
    """A local path as the core takes it."""
    (one,) = _paths([path], patterns=False)
    return one


def _paths(files: Any, patterns: bool = True) -> list[bytes]:
    """Local paths, patterns resolved."""
    flat = flatten(files)
    for file in flat:
        if not isinstance(file, (str, bytes, os.PathLike)):
            given = file.file if isinstance(file, FileObject) else file
            raise TypeError(f"only a path can be read at random, got {type(given).__name__}")
        name = os.fsdecode(file)
        if is_url(name) and not name.startswith("file://"):
            raise ValueError(f"only local files can be read at random, got the URL {name!r}")
    if not patterns:
        return [os.fsencode(os.fspath(file)).removeprefix(b"file://") for file in flat]
    return [file.name for file in core_files(flat)]


def _given_indexes(indexes: Any, files: int) -> list[RecordIndex | bytes | None]:
    """A RecordIndex, the path of one, or None for each file."""
    if indexes is None:
        return [None] * files
    if isinstance(indexes, (RecordIndex, str, bytes, os.PathLike)):
        indexes = [indexes]
    given: list[RecordIndex | bytes | None] = []
    for index in indexes:
        given += [index] if index is None or isinstance(index, RecordIndex) else _paths(index)
    if len(given) != files:
        raise ValueError(f"`indexes` must be one for each file: {files} files, {len(given)} indexes")
    return given


def _integer(key: Any) -> int:
    try:
        number = operator.index(key)
    except TypeError:
        raise TypeError(f"record indices are integers or slices, not {type(key).__name__}") from None
    if not -(2**63) <= number < 2**63:
        raise IndexError(f"record index {number} is out of range")
    return number


def _integers(values: Any, name: str) -> NDArray[np.int64]:
    """An int64 array [n]; raises TypeError for anything but integers, and never wraps a large one around."""
    given = values if isinstance(values, np.ndarray | Sequence) else list(values)
    array = np.asarray(given)
    if array.dtype.kind == "f" and array is not given:  # of Python's large integers, NumPy may make that, too
        array = np.array(given, object)
    if array.ndim != 1:
        raise TypeError(f"`{name}` must have one dimension, got shape {array.shape}")
    if array.size == 0:
        return np.empty(0, np.int64)
    if array.dtype.kind == "i" or (array.dtype.kind == "u" and array.dtype.itemsize < 8):
        return np.ascontiguousarray(array, np.int64)
    if array.dtype.kind in "uO":
        return np.array([_integer(value) for value in array.tolist()], np.int64)
    raise TypeError(f"`{name}` must be integers, got {array.dtype}")
