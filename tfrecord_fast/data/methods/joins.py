"""Methods of Dataset that join several datasets, or split one into several."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import inf
from typing import Any

from ...base.threads import schedulable_cpus
from ...errors import InvalidArgumentError
from ...values.elements.nests import leaves, map_leaves
from ...values.elements.owned import writable
from ..functions import guarded, name_of
from ..handle import Handle, OtherDataset, SameDataset, T, node_of
from ..nodes.base.node import Node
from ..nodes.joins.choosing import Choose, Sample, SampleBy
from ..nodes.joins.joining import Concatenate, FlatMap, Interleave, Sliding, Zip
from ..nodes.native.running import check_integers, check_kinds
from ..nodes.sources.values import Failing
from ..numbers import AUTOTUNE, check_count


class Joins(Handle[T, SameDataset, OtherDataset]):
    """Mixed into Dataset."""

    def flat_map(self, map_func: Callable[..., OtherDataset], name: str | None = None) -> OtherDataset:
        """Map each element to a dataset, and concatenate these.

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
        """Like `flat_map`, with `cycle_length` datasets open at a time, and `block_length` elements from each in turn.

        The native reader interleaves if elements are paths, and the function returns a TFRecordDataset of each.

        Args:
          cycle_length: None or AUTOTUNE: the number of processors, or less with `num_parallel_calls`, so the order
            depends on the machine, as in TensorFlow.
          block_length: 1 by default.
          num_parallel_calls: the most datasets that are open without `cycle_length`; AUTOTUNE: a third of the
            processors. No threads are used.
          deterministic, name: accepted; the order is that of one thread.

        >>> import tfrecord_fast as tf
        >>> letters = tf.data.Dataset.from_tensor_slices([b"a", b"b", b"c"])
        >>> twice = letters.interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), cycle_length=2)
        >>> list(twice)
        [b'a', b'b', b'a', b'b', b'c', b'c']
        """
        most = _open_at_once(num_parallel_calls)
        cycle = most if cycle_length in (None, AUTOTUNE) else check_count("cycle_length", cycle_length)
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
        """Split into datasets of `size` elements, `stride` apart; each starts `shift` (by default `size`) later.

        >>> import tfrecord_fast as tf
        >>> [[int(x) for x in window] for window in tf.data.Dataset.range(5).window(3, shift=2)]
        [[0, 1, 2], [2, 3, 4], [4]]
        """
        size = check_count("size", size)
        shift = size if shift is None else check_count("shift", shift)
        stride = check_count("stride", stride)
        return self._other(Sliding(node_of(self), size, shift, stride, bool(drop_remainder), self._other))

    def concatenate(self, dataset: OtherDataset, name: str | None = None) -> OtherDataset:
        """Append the elements of another dataset.

        Raises:
          TypeError: elements differ in structure or dtypes; when iterated, if only functions can tell.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(2).concatenate(tf.data.Dataset.range(2))]
        [0, 1, 0, 1]
        """
        nodes = [node_of(self), node_of(dataset)]
        check_kinds(nodes)
        return self._other(Concatenate(*nodes))

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> OtherDataset:
        """Combine the elements of several datasets, up to the end of the shortest.

        Args:
          *args: datasets, or one structure (tuples, dicts) of datasets; `datasets` is that structure by name.

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
            raise InvalidArgumentError("zip requires at least one dataset, got an empty structure")
        for leaf in leaves(structure):
            if not isinstance(leaf, Handle):
                raise TypeError(f"zip accepts datasets, and tuples and dicts of datasets, got {type(leaf).__name__}")
        return cls._other(Zip(map_leaves(node_of, structure)))

    @classmethod
    def choose_from_datasets(
        cls, datasets: Any, choice_dataset: Any, stop_on_empty_dataset: bool = True
    ) -> OtherDataset:
        """Take the next element from the dataset whose number is next in `choice_dataset`.

        Args:
          stop_on_empty_dataset: ends when a chosen dataset is exhausted; else it is skipped.

        Raises:
          ValueError: no datasets.
          TypeError: elements differ in structure or dtypes; a choice is not an integer, when iterated if only a
            function can tell.
          errors.InvalidArgumentError: when iterated: a choice is not the number of a dataset; it is used up.
        """
        nodes = _alike(datasets)
        if not isinstance(choice_dataset, Handle):
            raise TypeError(f"`choice_dataset` must be a dataset, got {type(choice_dataset).__name__}")
        choices = node_of(choice_dataset)
        check_integers(choices, "`choice_dataset`")
        return cls._other(Choose(nodes, choices, bool(stop_on_empty_dataset)))

    @classmethod
    def sample_from_datasets(
        cls,
        datasets: Any,
        weights: Any = None,
        seed: int | None = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> OtherDataset:
        """Draw elements from datasets at random, by `weights` (equal by default).

        Args:
          weights: one weight per dataset, or a dataset of arrays of weights: one array per draw, up to its end.
          seed: makes the order repeatable.
          stop_on_empty_dataset: ends when a drawn dataset is exhausted; else others are drawn.
          rerandomize_each_iteration: a different order each time; None or False: the same.

        Raises:
          ValueError: no datasets; not one weight per dataset, or a weight is negative or not finite.
          TypeError: elements differ in structure or dtypes.
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
    """Return the datasets' nodes, after a check that their elements agree in structure and dtypes, where known."""
    nodes = [node_of(dataset) for dataset in datasets]
    if not nodes:
        raise InvalidArgumentError("`datasets` should not be empty.")
    check_kinds(nodes)
    return nodes


def _open_at_once(num_parallel_calls: int | None) -> int:
    """Return TensorFlow's default of `cycle_length`: with AUTOTUNE, each open dataset also has two opened ahead."""
    if num_parallel_calls == AUTOTUNE:
        return -(-schedulable_cpus() // 3)
    calls = inf if num_parallel_calls is None else check_count("num_parallel_calls", num_parallel_calls)
    return int(min(calls, schedulable_cpus()))


def _opened(function: Callable[..., Any], method: str, element: Any) -> Node:
    """Return the node of the function's dataset for the element."""
    function, element = guarded(function), writable(element)
    dataset = function(*element) if type(element) is tuple else function(element)
    if not isinstance(dataset, Handle):
        message = f"the function of {method} must return a Dataset, got {type(dataset).__name__}"
        return Failing(message, method)  # raises when it is iterated
    return node_of(dataset)
