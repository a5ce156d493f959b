"""Methods of Dataset that change the order of elements, prefetch or cache them."""

from __future__ import annotations

import os
import sys
from typing import Any

from ...errors import InvalidArgumentError
from ...files.system import file_system
from ...typing import PathLike
from ..handle import Handle, OtherDataset, SameDataset, T, node_of
from ..nodes.ahead.prefetch import Prefetch
from ..nodes.order.cache import Cache, FileCache
from ..nodes.order.ordering import Repeat, Shuffle, Slice
from ..numbers import AUTOTUNE, UNKNOWN, check_count
from ..saving.fingerprint import fingerprint


class Order(Handle[T, SameDataset, OtherDataset]):
    """Mixed into Dataset."""

    def shuffle(
        self,
        buffer_size: int,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> SameDataset:
        """Shuffle: draw each element from a buffer of the next `buffer_size` ones.

        Args:
          buffer_size: the number of buffered elements; -2, an unknown cardinality, buffers all.
          seed: makes the order repeatable, from dataset to dataset; it differs from TensorFlow's for that seed.
          reshuffle_each_iteration: a different order each time; False: the same.

        >>> import tfrecord_fast as tf
        >>> sorted(int(x) for x in tf.data.Dataset.range(4).shuffle(2))
        [0, 1, 2, 3]
        """
        size = sys.maxsize if buffer_size == UNKNOWN else check_count("buffer_size", buffer_size)
        reshuffle = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        start = None if seed is None else check_count("seed", seed, -(1 << 63))
        return self._same(Shuffle(node_of(self), size, start, reshuffle))

    def repeat(self, count: int | None = None, name: str | None = None) -> SameDataset:
        """Repeat all elements `count` times; endlessly if None or -1.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(2).repeat(2)]
        [0, 1, 0, 1]
        """
        times = -1 if count is None else check_count("count", count, -(1 << 63))
        return self._same(Repeat(node_of(self), max(times, -1)))

    def take(self, count: int, name: str | None = None) -> SameDataset:
        """Keep the first `count` elements; all if -1.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(9).take(2)]
        [0, 1]
        """
        return self._same(Slice.take(node_of(self), check_count("count", count, -(1 << 63))))

    def skip(self, count: int, name: str | None = None) -> SameDataset:
        """Skip the first `count` elements; all if -1.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(4).skip(2)]
        [2, 3]
        """
        return self._same(Slice.skip(node_of(self), check_count("count", count, -(1 << 63))))

    def shard(self, num_shards: int, index: int, name: str | None = None) -> SameDataset:
        """Keep every `num_shards`-th element, from number `index` on.

        Raises:
          errors.InvalidArgumentError: unless 0 <= index < num_shards.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(7).shard(3, 1)]
        [1, 4]
        """
        shards = check_count("num_shards", num_shards)
        number = check_count("index", index, 0)
        if number >= shards:
            raise InvalidArgumentError(f"`index` must be between 0 and {shards - 1}, got {number}")
        return self._same(Slice.shard(node_of(self), shards, number))

    def prefetch(self, buffer_size: int, name: str | None = None) -> SameDataset:
        """Compute up to `buffer_size` elements ahead on a thread; AUTOTUNE: 4; 0: none.

        The thread starts with the first `next()`, and stops when the iterator is dropped. After records, batches of
        records, and maps of these, it starts only once the functions prove to be slow. The native reader reads and
        parses ahead on its own threads, and handing over takes longer than a quick call.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(3).prefetch(2)]
        [0, 1, 2]
        """
        size = 4 if buffer_size is None or buffer_size == AUTOTUNE else check_count("buffer_size", buffer_size, 0)
        return self._same(Prefetch(node_of(self), size))

    def cache(self, filename: PathLike = "", name: str | None = None) -> SameDataset:
        """Keep all elements once an iteration is complete, and iterate over these from then on.

        Args:
          filename: "" keeps elements in memory. A path or URL keeps them in the file `{filename}.tfrecord`, which
            appears when it is complete, and which later processes read. Iterating warns if files, options or
            functions have changed since then. Remove the file in that case.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(2).cache().repeat(2)]
        [0, 1, 0, 1]
        """
        file = os.fsdecode(filename)
        if not file:
            return self._same(Cache(node_of(self)))
        node = node_of(self)
        return self._same(FileCache(node, f"{file}.tfrecord", "", f"cache({file!r})", fingerprint(node)))

    def snapshot(
        self,
        path: PathLike,
        compression: str | None = "AUTO",
        reader_func: Any = None,
        shard_func: Any = None,
        name: str | None = None,
    ) -> SameDataset:
        """Keep all elements in a folder once an iteration is complete, and iterate over these from then on.

        Args:
          path: the folder. It gets a folder for each fingerprint of a dataset, which `load` can read. A dataset with
            other files, options or functions has another fingerprint. Files count with their sizes and times, and
            functions with their bytecode and the values that they use when `snapshot` is called. Objects that are not
            of the script's classes count with their `repr`.
          compression: "AUTO" and None: uncompressed.
          reader_func, shard_func: not supported: there is one shard.
        """
        if reader_func is not None or shard_func is not None:
            raise NotImplementedError("Dataset.snapshot supports no reader_func and no shard_func: it has one shard")
        folder, node = os.fsdecode(path), node_of(self)
        codec = "" if compression in ("AUTO", None) else compression
        pipeline = fingerprint(node, codec)
        file_system.makedirs(f"{folder}/{pipeline}")
        file = f"{folder}/{pipeline}/elements.tfrecord"
        return self._same(FileCache(node, file, codec, f"snapshot({folder!r})", pipeline))
