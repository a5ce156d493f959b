"""The methods of Dataset that make one dataset of several, or several of one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

from ...base.threads import available_cpus
from ...errors import InvalidArgumentError
from ...values.elements.nests import leaves, map_leaves
from ...values.elements.owned import writable
from ..functions import guarded, name_of
from ..handle import Handle, OtherDataset, SameDataset, T, node_of
from ..nodes.base.node import Node
from ..nodes.joins.choosing import Choose, Sample, SampleBy
from ..nodes.joins.joining import Concatenate, FlatMap, Interleave, Sliding, Zip
from ..nodes.native.running import check_kinds
from ..nodes.sources.values import Failing
from ..numbers import AUTOTUNE, check_count

__all__ = ["Joins"]


class Joins(Handle[T, SameDataset, OtherDataset]):
    """Mixed into Dataset."""

    def flat_map(self, map_func: Callable[..., OtherDataset], name: str | None = None) -> OtherDataset:
        """The elements of the dataset that the function gives for each element, one dataset after the other.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(4).flat_map(lambda n: tf.data.Dataset.range(n))]
        [0, 0, 1, 0, 1, 2]
        """
        return self._other(FlatMap(node_of(self), partial(_opened, map_func, "flat_map"), name_of(map_func)))

    def interleave(
        self,
        map_func: Callable[..., OtherDataset],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> OtherDataset:
        """As `flat_map`, with `cycle_length` datasets open at a time, `block_length` elements of each in turn.

        The native reader does it if elements are paths and the function gives a TFRecordDataset of each.

        Args:
          cycle_length: None or AUTOTUNE: the number of processors, so that the order depends on the machine, as
            TensorFlow's does.
          block_length: 1 by default.
          num_parallel_calls, deterministic, name: accepted; the order is that of one thread.

        >>> import tfrecord_fast as tf
        >>> letters = tf.data.Dataset.from_tensor_slices([b"a", b"b", b"c"])
        >>> twice = letters.interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2)
        >>> list(twice)
        [b'a', b'b', b'a', b'b', b'c', b'c']
        """
        cycle = available_cpus() if cycle_length in (None, AUTOTUNE) else check_count("cycle_length", cycle_length)
        block = 1 if block_length is None else check_count("block_length", block_length)
        open_ = partial(_opened, map_func, "interleave")
        return self._other(Interleave(node_of(self), open_, name_of(map_func), cycle, block))

    def window(
        self,
        size: int,
        shift: int | None = None,
        stride: int = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> OtherDataset:
        """Datasets of `size` elements, `stride` apart; each starts `shift` (`size` by default) elements further on.

        >>> import tfrecord_fast as tf
        >>> [[int(x) for x in window] for window in tf.data.Dataset.range(5).window(3, shift=2)]
        [[0, 1, 2], [2, 3, 4], [4]]
        """
        size = check_count("size", size)
        shift = size if shift is None else check_count("shift", shift)
        stride = check_count("stride", stride)
        return self._other(Sliding(node_of(self), size, shift, stride, bool(drop_remainder), self._other))

    def concatenate(self, dataset: OtherDataset, name: str | None = None) -> OtherDataset:
        """These elements, then the other's.

        Raises:
          TypeError: their elements differ in structure or dtypes; when iterated, if functions must be called to know.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(2).concatenate(tf.data.Dataset.range(2))]
        [0, 1, 0, 1]
        """
        nodes = [node_of(self), node_of(dataset)]
        check_kinds(nodes)
        return self._other(Concatenate(*nodes))

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> OtherDataset:
        """Elements of several datasets side by side, up to the end of the shortest.

        Args:
          *args: datasets, or one structure (tuples, dicts) of them; `datasets` is the same by name.

        >>> import tfrecord_fast as tf
        >>> pairs = tf.data.Dataset.zip(tf.data.Dataset.range(3), tf.data.Dataset.range(10, 12))
        >>> [(int(a), int(b)) for a, b in pairs]
        [(0, 10), (1, 11)]
        """
        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        structure = datasets if datasets is not None else args[0] if len(args) == 1 else args
        if not leaves(structure):
            raise InvalidArgumentError("zip takes at least one dataset, got a structure without any")
        for part in leaves(structure):
            if not isinstance(part, Handle):
                raise TypeError(f"zip takes datasets, tuples and dicts of them, got {type(part).__name__}")
        return cls._other(Zip(map_leaves(node_of, structure)))

    @classmethod
    def choose_from_datasets(
        cls, datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True
    ) -> OtherDataset:
        """The next element of the dataset whose number comes next in `choice_dataset`.

        Args:
          stop_on_empty_dataset: ends when a chosen dataset has no more elements; else it is skipped.

        Raises:
          ValueError: no datasets.
          TypeError: datasets whose elements differ in structure or dtypes.
          errors.InvalidArgumentError: when iterated: a choice that is not the number of a dataset; it is used up.
        """

        return cls._other(Choose(_alike(datasets), node_of(choice_dataset), bool(stop_on_empty_dataset)))

    @classmethod
    def sample_from_datasets(
        cls,
        datasets: Any,
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> OtherDataset:
        """Elements of datasets drawn at random, by `weights` (equal ones by default).

        Args:
          weights: a weight for each, or a dataset of arrays of them: one array for each draw, up to its end.
          seed: makes the order repeatable.
          stop_on_empty_dataset: ends when a drawn dataset has no more elements; else others are drawn.
          rerandomize_each_iteration: a different order each time; None or False: the same.

        Raises:
          ValueError: no datasets; not one weight per dataset, or one that is negative or not finite.
          TypeError: datasets whose elements differ in structure or dtypes.
        """
        nodes = _alike(datasets)
        start = None if seed is None else check_count("seed", seed, -(1 << 63))
        again = bool(rerandomize_each_iteration)
        if isinstance(weights, Handle):
            return cls._other(SampleBy(nodes, node_of(weights), start, bool(stop_on_empty_dataset), again))
        chances = [1.0] * len(nodes) if weights is None else [float(weight) for weight in weights]
        if len(chances) != len(nodes):
            raise InvalidArgumentError(f"{len(chances)} weights for {len(nodes)} datasets")
        if not all(0 <= chance < inf for chance in chances):
            raise InvalidArgumentError(f"weights must be finite and not negative, got {weights!r:.200}")
        return cls._other(Sample(nodes, chances, start, bool(stop_on_empty_dataset), again))


def _alike(datasets: Any) -> list[Node]:
    """The datasets' nodes, whose elements have one structure and the same dtypes, as far as that is known."""
    nodes = [node_of(dataset) for dataset in datasets]
    if not nodes:
        raise InvalidArgumentError("`datasets` should not be empty.")
    check_kinds(nodes)
    return nodes


def _opened(function: Callable[..., Any], method: str, element: Any) -> Node:
    """The node of the dataset that the function gives for the element."""
    function, element = guarded(function), writable(element)
    dataset = function(*element) if type(element) is tuple else function(element)
    if not isinstance(dataset, Handle):
        why = f"the function of {method} must return a Dataset, got {type(dataset).__name__}"
        return Failing(why, method)  # raised when its elements are asked for
    return node_of(dataset)
