"""The methods of Dataset that group or choose elements by their values, and those that keep elements in a folder."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Sequence
from functools import partial
from math import inf
from typing import Any, cast

import numpy as np

from ...base.seeds import next_seed
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

__all__ = ["Groups"]


class Groups(Handle[T, SameDataset, OtherDataset]):
    """Mixed into Dataset."""

    def unique(self, name: str | None = None) -> SameDataset:
        """Each different element once, in the order in which they come first.

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
        """Elements with the same key, up to `window_size` of them, as a dataset that a function makes of them.

        Args:
          key_func: a function from an element to a number.
          reduce_func: a function from the number and a dataset of the group's elements to a dataset.
          window_size, window_size_func: how many elements a group has at most, or a function from the number to that.

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
            made = guarded(reduce_func)(key, self._other(group))
            if not isinstance(made, Handle):
                raise TypeError(f"`reduce_func` must return a Dataset, got {type(made).__name__}")
            return node_of(made)

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
        """Padded batches of elements of about the same length.

        Args:
          element_length_func: a function from an element to its length.
          bucket_boundaries: lengths at which a bucket ends and the next one begins.
          bucket_batch_sizes: how many elements a batch of each bucket has; one more than there are boundaries.
          padded_shapes, padding_values: as for `padded_batch`.
          pad_to_bucket_boundary: pads to the longest length of the bucket, and not of the batch.
          no_padding: elements of one batch have one length already.
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
        boundaries = [whole("a boundary of bucket_boundaries", one) for one in bucket_boundaries]
        sizes = [whole("a size of bucket_batch_sizes", one) for one in bucket_batch_sizes]

        # In a group lengths that vary may all happen to be the same.
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
        """Pairs of a class and an element: so many elements left out that the classes have the shares that are wanted.

        Args:
          class_func: a function from an element to the number of its class.
          target_dist: the share of each class that is wanted.
          initial_dist: the shares that they have; None: counted as the elements come.
          seed: makes the choice repeatable; it is not TensorFlow's choice for that seed.

        Raises:
          ValueError: shares that are no finite numbers of at least 0, or all 0; initial_dist of another length.
          errors.InvalidArgumentError: when iterated: a class that is none of them.

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
            raise InvalidArgumentError(f"{len(initial)} shares in initial_dist, {len(target)} in target_dist")
        start = None if seed is None else check_count("seed", seed, -(1 << 63))
        return self._other(Resample(node, call(class_func, node.seen_again()), target, initial, start))

    @classmethod
    def random(
        cls, seed: int | None = None, rerandomize_each_iteration: bool | None = None, name: str | None = None
    ) -> OtherDataset:
        """Endless random numbers, int64 from 0 to before 2**32; repeatable with a seed, but not TensorFlow's.

        Each iteration has the same ones, with `rerandomize_each_iteration` others.
        """
        draws = Draws(next_seed() if seed is None else int(seed), bool(rerandomize_each_iteration))
        return cls._other(RandomNumbers(draws, f"random({'' if seed is None else seed})"))

    def save(
        self,
        path: PathLike,
        compression: str | None = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Writes all elements into a folder, from which `load` reads them. The format is this package's own.

        Args:
          compression: None or "GZIP"; "ZLIB" and "ZSTD" are taken, too. `load` has to be told the same.
          shard_func, checkpoint_args: refused: there is one shard.
        """
        if shard_func is not None or checkpoint_args is not None:
            raise NotImplementedError("Dataset.save has no shard_func and no checkpoint_args: it writes one shard")
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
        """The elements that `save` wrote into a folder; in the structure of `element_spec`, if that is given.

        Raises:
          FileNotFoundError: there is no dataset, or its writing was not completed.
          errors.InvalidArgumentError: the file is another one, or compressed in another way; when iterated: an element
            is not what `element_spec` says.
        """
        if reader_func is not None:
            raise NotImplementedError("Dataset.load has no reader_func: there is one shard")
        given = _file_in(os.fsdecode(path)), compression or ""
        make, count = partial(saved.elements_in, *given), partial(saved.count_in, *given)
        make()  # whatever is wrong with the file is said here
        label = f"load({os.fsdecode(path)!r})"
        if element_spec is None:
            return cls._other(Generated(make, label, count, seen_again=True))
        fit = partial(fitted, element_spec, label)
        return cls._other(specified(Generated(lambda: map(fit, make()), label, count, seen_again=True), element_spec))


def _shares(name: str, given: Any) -> list[float]:
    shares = [float(share) for share in given]
    if not shares or not all(0 <= share < inf for share in shares) or not any(shares):
        raise InvalidArgumentError(f"{name} must be finite and not negative, and not all 0, got {given!r:.200}")
    return [share / sum(shares) for share in shares]


def _file_in(folder: str) -> str:
    return f"{folder}/elements.tfrecord"


def _fixed_lengths(spec: Any, *elements: Any) -> tuple[int | None, ...]:
    """The lengths that do not vary, by the spec if it tells of any that do; else, as the spec may be that of the first
    element alone, by these elements, whose first axis is taken to vary."""
    if spec.shape is not None and None in spec.shape:
        return tuple(spec.shape)
    shapes = [np.shape(element) for element in elements]
    if len({len(shape) for shape in shapes}) != 1:
        return (None,) * len(shapes[0])
    return (None, *(lengths[0] if len(set(lengths)) == 1 else None for lengths in list(zip(*shapes, strict=True))[1:]))[
        : len(shapes[0])
    ]


def _with_length(shapes: Any, spec: Any, group: Any, length: int) -> Any:
    """Shapes, or those of the specs, with that length in place of lengths that are not known."""
    if shapes is None:
        shapes = map_leaves(_fixed_lengths, spec, *group)
    if isinstance(shapes, list) or (
        isinstance(shapes, tuple) and all(one is None or isinstance(one, int) for one in shapes)
    ):
        return [length if one is None else one for one in shapes]
    if isinstance(shapes, dict):
        return {key: _with_length(one, spec, group, length) for key, one in shapes.items()}
    return tuple(_with_length(one, spec, group, length) for one in (items_of(shapes) if is_attrs(shapes) else shapes))
