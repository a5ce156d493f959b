"""Methods of Dataset that group or choose elements by value, and that save them in a folder."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import Any, cast

import numpy as np

from ...errors import InvalidArgumentError
from ...files.system import file_system
from ...typing import PathLike
from ...values.elements.attrs_classes import is_attrs, items_of
from ...values.elements.nests import map_leaves
from ..fits import fitted
from ..functions import call, guarded, name_of
from ..handle import Handle, OtherDataset, SameDataset, T, node_of
from ..nodes.base.node import Draws, Node
from ..nodes.joins.choosing import Resample
from ..nodes.joins.groups import GroupByWindow, Unique, whole
from ..nodes.native.running import run
from ..nodes.sources.values import Generated, RandomNumbers
from ..numbers import check_count
from ..saving import saved
from .sources import specified


class Groups(Handle[T, SameDataset, OtherDataset]):
    """Mixed into Dataset."""

    def unique(self, name: str | None = None) -> SameDataset:
        """Keep each distinct element once, in the order of first occurrence.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.from_tensor_slices([1, 37, 2, 37, 2, 1]).unique()]
        [1, 37, 2]
        """
        return self._same(Unique(node_of(self)))

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[[Any, Any], Any],
        window_size: int | None = None,
        window_size_func: Callable[[Any], Any] | None = None,
        name: str | None = None,
    ) -> OtherDataset:
        """Group up to `window_size` elements with the same key, and reduce each group to a dataset.

        Args:
          key_func: a function from an element to a number.
          reduce_func: a function from the number and a dataset of the group's elements to a dataset.
          window_size, window_size_func: the size of a full group, or a function from the number to that size.

        >>> import tfrecord_fast as tf
        >>> numbers = tf.data.Dataset.range(7)
        >>> [x.tolist() for x in numbers.group_by_window(lambda x: x % 2, lambda key, group: group.batch(3), 3)]
        [[0, 2, 4], [1, 3, 5], [6]]
        """
        if (window_size is None) == (window_size_func is None):
            raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified.")
        node = node_of(self)
        key_of = call(key_func, node.seen_again())
        size_of = window_size_func if window_size_func is not None else lambda key: window_size

        def reduce(key: Any, group: Node) -> Node:
            reduced = guarded(reduce_func)(key, self._other(group))
            if not isinstance(reduced, Handle):
                raise TypeError(f"`reduce_func` must return a Dataset, got {type(reduced).__name__}")
            return node_of(reduced)

        return self._other(GroupByWindow(node, key_of, reduce, size_of, name_of(reduce_func)))

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int],
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> OtherDataset:
        """Batch elements of similar length, with padding.

        Args:
          element_length_func: a function from an element to its length.
          bucket_boundaries: lengths at which a bucket ends and the next begins.
          bucket_batch_sizes: the batch size of each bucket; one more than there are boundaries.
          padded_shapes, padding_values: as for `padded_batch`.
          pad_to_bucket_boundary: pads to the bucket's greatest length, not the batch's.
          no_padding: does not pad; the elements of a batch must have equal lengths.
          drop_remainder: leaves out batches that are not full.

        >>> import tfrecord_fast as tf
        >>> rows = tf.data.Dataset.range(1, 6).map(lambda n: tf.constant([1] * int(n)))
        >>> [x.shape for x in rows.bucket_by_sequence_length(len, [3], [2, 2])]
        [(2, 2), (2, 4), (1, 5)]
        """
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError(
                "`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
                f"`len(bucket_batch_sizes)={len(bucket_batch_sizes)}` and "
                f"`len(bucket_boundaries)={len(bucket_boundaries)}`."
            )
        boundaries = [whole("a boundary of bucket_boundaries", length) for length in bucket_boundaries]
        sizes = [whole("a size of bucket_batch_sizes", size) for size in bucket_batch_sizes]

        # The elements of a group may agree by chance in a length that varies.
        spec = cast("Any", self).element_spec if pad_to_bucket_boundary and padded_shapes is None else None

        def bucket_of(*items: Any) -> Any:
            return np.int64(bisect_right(boundaries, whole("the length of an element", element_length_func(*items))))

        def batch(key: Any, group: Any) -> Any:
            size = sizes[int(key)]
            if no_padding:
                return group.batch(size, drop_remainder=drop_remainder)
            shapes = padded_shapes
            if pad_to_bucket_boundary:
                if int(key) == len(boundaries):
                    raise InvalidArgumentError(
                        "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
                    )
                shapes = _with_length(padded_shapes, spec, group, boundaries[int(key)] - 1)
            return group.padded_batch(size, shapes, padding_values, drop_remainder=drop_remainder)

        return self.group_by_window(bucket_of, batch, window_size_func=lambda key: sizes[int(key)])

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> OtherDataset:
        """Pair elements with their class, and leave out elements so that classes have the target shares.

        Args:
          class_func: a function from an element to the number of its class.
          target_dist: the desired share of each class.
          initial_dist: the actual shares; None: counted during the iteration.
          seed: makes the choice repeatable; it differs from TensorFlow's choice for that seed.

        Raises:
          ValueError: a share is negative or not finite, or all are 0; initial_dist has another length.
          errors.InvalidArgumentError: when iterated: a class out of range.

        >>> import tfrecord_fast as tf
        >>> tenths = tf.data.Dataset.range(10000).map(lambda n: int(n % 10 == 0))
        >>> even = [int(number) for number, _ in tenths.rejection_resample(lambda x: x, [0.5, 0.5], seed=1)]
        >>> 0.45 < sum(even) / len(even) < 0.55
        True
        """
        node = node_of(self)
        target = _shares("target_dist", target_dist)
        initial = None if initial_dist is None else _shares("initial_dist", initial_dist)
        if initial is not None and len(initial) != len(target):
            raise InvalidArgumentError(
                f"initial_dist and target_dist must have equal lengths, got {len(initial)} and {len(target)}"
            )
        start = None if seed is None else check_count("seed", seed, -(1 << 63))
        return self._other(Resample(node, call(class_func, node.seen_again()), target, initial, start))

    @classmethod
    def random(
        cls, seed: int | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> OtherDataset:
        """Return endless random numbers, int64 from 0 to 2**32 - 1; with a seed, repeatable, but not TensorFlow's.

        Each iteration has the same numbers, or, with `rerandomize_each_iteration`, different ones.
        """
        draws = Draws(None if seed is None else int(seed), bool(rerandomize_each_iteration))
        return cls._other(RandomNumbers(draws, f"random({'' if seed is None else seed})"))

    def save(
        self,
        path: PathLike,
        compression: str | None = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Write all elements into a folder, for `load`. The format is specific to this package.

        Args:
          compression: None, "GZIP", "ZLIB" or "ZSTD". Pass the same value to `load`.
          shard_func, checkpoint_args: not supported: there is one shard.
        """
        if shard_func is not None or checkpoint_args is not None:
            raise NotImplementedError("Dataset.save supports no shard_func and no checkpoint_args: it writes one shard")
        folder = os.fsdecode(path)
        file_system.makedirs(folder)
        saving = saved.Saving(_file_in(folder), compression or "")
        try:
            for element in run(node_of(self)):
                saving.add(element)
            saving.complete()
        except BaseException:
            saving.discard()
            raise

    @classmethod
    def load(
        cls,
        path: PathLike,
        element_spec: Any = None,
        compression: str | None = None,
        reader_func: Callable[..., Any] | None = None,
        wait: bool = False,
    ) -> OtherDataset:
        """Read the elements that `save` wrote into a folder, in the structure of `element_spec`, if set.

        Args:
          reader_func: a function from a dataset of the shards, each of which is a dataset, to the result. There is one
            shard.

        Raises:
          FileNotFoundError: the folder has no dataset, or an incomplete one.
          errors.InvalidArgumentError: not a file of `save`, or with another compression; when iterated: an element
            does not fit `element_spec`.
        """
        if reader_func is not None:
            shard = cls.load(path, element_spec, compression)
            return cast("OtherDataset", reader_func(cls._other(Generated([shard].__iter__, "shards", 1))))
        file = _file_in(os.fsdecode(path)), compression or ""
        make, count = partial(saved.elements_in, *file), partial(saved.count_in, *file)
        make()  # raises if the file can't be read
        label = f"load({os.fsdecode(path)!r})"
        if element_spec is None:
            return cls._other(Generated(make, label, count, seen_again=True))
        fit = partial(fitted, element_spec, label)
        return cls._other(specified(Generated(lambda: map(fit, make()), label, count, seen_again=True), element_spec))


def _shares(name: str, distribution: Any) -> list[float]:
    shares = [float(share) for share in distribution]
    if not shares or not all(0 <= share < inf for share in shares) or not any(shares):
        raise InvalidArgumentError(f"{name} must be finite, not negative and not all 0, got {distribution!r:.200}")
    return [share / sum(shares) for share in shares]


def _file_in(folder: str) -> str:
    return f"{folder}/elements.tfrecord"


def _fixed_lengths(spec: Any, *elements: Any) -> tuple[int | None, ...]:
    """Return the shape with None for lengths that vary.

    A spec without any None may describe the first element only. Then these elements decide, and their first axis is
    assumed to vary.
    """
    if spec.shape is not None and None in spec.shape:
        return tuple(spec.shape)
    shapes = [np.shape(element) for element in elements]
    if len({len(shape) for shape in shapes}) != 1:
        return (None,) * len(shapes[0])
    return (None, *(lengths[0] if len(set(lengths)) == 1 else None for lengths in list(zip(*shapes, strict=True))[1:]))[
        : len(shapes[0])
    ]


def _with_length(shapes: Any, spec: Any, group: Any, length: int) -> Any:
    """Return the shapes, or those of the specs, with unknown lengths replaced by `length`."""
    if shapes is None:
        shapes = map_leaves(_fixed_lengths, spec, *group)
    if isinstance(shapes, list) or (
        isinstance(shapes, tuple) and all(size is None or isinstance(size, int) for size in shapes)
    ):
        return [length if size is None else size for size in shapes]
    if isinstance(shapes, dict):
        return {key: _with_length(shape, spec, group, length) for key, shape in shapes.items()}
    items = items_of(shapes) if is_attrs(shapes) else shapes
    return tuple(_with_length(shape, spec, group, length) for shape in items)
