"""RecordIndex: the offset and size of each record in a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import _core
from ...typing import Integers, PathLike
from ..naming.location import Location
from ..naming.numbers import as_integers, max_record_size
from ..stores.cache import store_settings
from ..streams.core_files import flatten, random_location
from ..streams.index_cache import IndexCache
from ..streams.random_access import load_index, open_random, save_index


class RecordIndex:
    """The offsets and sizes of a file's records.

    The text format is that of `tfrecord2idx`, which NVIDIA DALI and vahidk/tfrecord read: a line `offset size` for each
    record, where size includes the record's 16 bytes of framing. The index of a compressed file has the offsets in the
    uncompressed data, and about one checkpoint per MiB of data, from which decompression can start. Only this package
    reads its format. It is valid for copies of the file too.

    Args:
      offsets: integers [n], ascending: the offset of each record's frame in the file.
      sizes: integers [n]: bytes of each frame. Frames do not overlap; bytes between them are skipped.

    `len(index)` is n. Indexes are equal if their offsets and sizes are equal; they pickle.

    Raises:
      errors.InvalidArgumentError: no file can have such records.

    >>> index = RecordIndex([0, 19], [19, 20])
    >>> len(index), index.offsets, index.sizes
    (2, array([ 0, 19]), array([19, 20]))
    """

    __slots__ = ("_core",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, offsets: Integers, sizes: Integers) -> None:
        self._core = _core.RecordIndex(as_integers(offsets, "offsets"), as_integers(sizes, "sizes"))

    @classmethod
    def build(
        cls,
        path: PathLike,
        *,
        max_record_bytes: int | None = None,
        storage_options: Mapping[str, Any] | None = None,
        max_requests: int = 16,
    ) -> RecordIndex:
        """Build the index of a file from the records' headers, without checking their data.

        Args:
          path: a local file, or a URL of an uncompressed object. A compressed file is decompressed once, and its index
            kept in the user's cache folder. An object is read through, unless its records are very large.
          max_record_bytes: a header that claims more is damage; None: the format's own limit, 2**62 bytes.
          storage_options, max_requests: for a URL, as for ShardReader.

        Raises:
          FileNotFoundError, OSError: the file can't be read.
          errors.DataLossError: a header is damaged or claims too much, or the last record is truncated.
          errors.InvalidArgumentError: an object is compressed, or the file is not a regular file.
        """
        limit = max_record_size(max_record_bytes)
        settings = store_settings(storage_options, max_requests)
        location = _location(path)
        if not location.is_url:
            cache = IndexCache()
            index, name = cache.load(location.name, limit)
            if index is None:
                index = _core.RecordIndex.build(os.fsencode(location.name), limit)
                cache.keep(location.name, name, index)
            return index_of(index)
        opened = open_random([location], [None], settings, verify_crc=False, num_threads=1, max_record_bytes=limit)
        return index_of(opened.indexes[0])

    @classmethod
    def load(cls, path: PathLike, *, storage_options: Mapping[str, Any] | None = None) -> RecordIndex:
        """Load an index from a file.

        Raises:
          FileNotFoundError, OSError: the file can't be read.
          errors.InvalidArgumentError: a line is not `offset size`, or offsets do not ascend (the error names the line);
            or the index of a compressed file is damaged.
        """
        return index_of(load_index(_location(path), store_settings(storage_options)))

    def save(self, path: PathLike, *, storage_options: Mapping[str, Any] | None = None) -> None:
        """Save the index to a file, which appears, or is replaced, once it is complete.

        Raises:
          OSError: the file can't be written.
        """
        save_index(self._core, _location(path), store_settings(storage_options))

    @property
    def offsets(self) -> NDArray[np.int64]:
        """int64 [n], read-only: the offset of each record's frame in the file."""
        return self._core.offsets()

    @property
    def sizes(self) -> NDArray[np.int64]:
        """int64 [n], read-only: the bytes of each record's frame, 16 more than its data."""
        return self._core.sizes()

    def __len__(self) -> int:
        return len(self._core)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RecordIndex):
            return NotImplemented
        return bool(self._core.equals(other._core))

    def __reduce__(self) -> tuple[Any, ...]:
        if self._core.checkpoints():
            return _unpacked, (self._core.pack(),)
        return RecordIndex, (self.offsets, self.sizes)

    def __repr__(self) -> str:
        return f"<RecordIndex of {len(self)} records>"


def _unpacked(packed: bytes) -> RecordIndex:
    return index_of(_core.RecordIndex.parse(packed))


def _location(path: PathLike) -> Location:
    (file,) = flatten([path])
    return random_location(file)


def index_of(core: _core.RecordIndex) -> RecordIndex:
    index = RecordIndex.__new__(RecordIndex)
    index._core = core
    return index


def core_of(index: RecordIndex) -> _core.RecordIndex:
    return index._core
