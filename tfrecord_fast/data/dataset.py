"""Datasets: what can be iterated, each time anew; and the methods that make new ones of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np

from ..errors import InvalidArgumentError
from ._batching import Batching
from ._sources import Sources

if TYPE_CHECKING:
    from ._plan import RecordPlan

__all__ = ["AUTOTUNE", "INFINITE", "UNKNOWN", "Dataset"]

AUTOTUNE = -1
INFINITE = -1
UNKNOWN = -2

T = TypeVar("T")


class Dataset(Sources, Batching, Generic[T]):
    """Elements that can be iterated any number of times; each iteration starts anew, and nothing happens before it.

    An element is a NumPy value, or bytes, or a structure of these in tuples and dicts. Methods give new datasets; what
    of a chain over a TFRecordDataset the native reader can do in TensorFlow's order (shuffle, repeat, take, skip,
    shard, batch) runs there, the rest in Python; `repr` shows which. Functions are called with NumPy values; where
    elements are tuples, with one argument for each item. After an error, `next()` goes on with the next element.

    >>> import tfrecord_fast as tf
    >>> dataset = tf.data.Dataset.range(5).map(lambda x: x * x).batch(2)
    >>> dataset
    <Dataset range(5).map(<lambda>).batch(2)>
    >>> for element in dataset:
    ...     print(element)
    [0 1]
    [4 9]
    [16]
    """

    def __iter__(self) -> Iterator[T]:
        plan = self._plan()
        return self._iterate() if plan is None else plan.iterate()

    def _iterate(self) -> Iterator[T]:
        """The elements, made in Python."""
        raise TypeError(f"{type(self).__name__} gives no elements by itself")

    def _plan(self) -> RecordPlan | None:
        """What the native reader does, where it does all of it."""
        return None

    # ---- What it is ----

    def as_numpy_iterator(self) -> Iterator[T]:
        """As `iter(dataset)`, with object arrays of bytes where that gives RecordBatch and BytesArray.

        >>> import tfrecord_fast as tf
        >>> int(next(tf.data.Dataset.range(3).as_numpy_iterator()))
        0
        """
        plan = self._plan()  # once: it counts as an iteration
        elements = self._iterate() if plan is None else plan.iterate()
        if plan is not None and plan.batch_size is None:
            return elements  # bytes
        from ..values.nests import map_leaves

        return map(partial(map_leaves, _as_numpy), elements)  # no generator: an error is not the end

    def cardinality(self) -> int:
        """The number of elements; -1: infinitely many, -2: not known without iterating.

        >>> import tfrecord_fast as tf
        >>> tf.data.Dataset.range(10).batch(4).cardinality()
        3
        """
        return UNKNOWN

    @property
    def element_spec(self) -> Any:
        """Shape and dtype of elements, as a structure of TensorSpec: of the first one, which is made for it."""
        from ..values.nests import spec_of
        from ._nodes import Iterations

        before = Iterations(self)
        try:
            for element in self:
                return spec_of(element)
        finally:
            before.restore()
        raise InvalidArgumentError("an empty dataset has no element to tell their shapes and dtypes by")

    def __len__(self) -> int:
        """The number of elements.

        Raises:
          TypeError: it is infinite, or not known.
        """
        count = self.cardinality()
        if count < 0:
            raise TypeError("The dataset is infinite." if count == INFINITE else "The dataset length is unknown.")
        return count

    def __bool__(self) -> bool:
        return True

    def _label(self) -> str:
        return type(self).__name__

    def _describe(self) -> str:
        below = getattr(self, "_input", None)
        if below is None:
            return self._label()
        from ._nodes import Iterations

        before = Iterations(self)
        plan = self._plan()
        before.restore()
        if plan is not None and plan.steps:
            chain = ".".join((plan.source._describe(), *plan.steps))
            return f"native[{chain}]"
        return ".".join(part for part in (below._describe(), self._label()) if part)

    def __repr__(self) -> str:
        return f"<Dataset {self._describe()}>"

    def options(self) -> Any:
        """The Options given with `with_options`."""
        from .options import Options

        below = getattr(self, "_input", None)
        return Options() if below is None else below.options()

    def with_options(self, options: Any, name: str | None = None) -> Dataset[T]:
        """The same elements; options are kept and, as none of them changes elements, without effect."""
        from ._nodes import WithOptions

        return WithOptions(self, options)

    # ---- Element by element ----

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        synchronous: bool | None = None,
        use_unbounded_threadpool: bool = False,
        name: str | None = None,
    ) -> Dataset[Any]:
        """The function's results; an error it raises comes in the place of that element.

        Args:
          map_func: a Python function of one element. A list it returns counts as a tuple; Python numbers, lists and
            str become NumPy values and bytes, as TensorFlow types them.
          num_parallel_calls: calls it on so many threads, which helps where it releases the GIL or waits, and on none
            while it proves to be quick; AUTOTUNE takes one a processor once it has proved to be slow. Results keep
            their order.
          deterministic, synchronous, use_unbounded_threadpool, name: accepted; order is always kept.

        >>> import tfrecord_fast as tf
        >>> list(tf.data.Dataset.from_tensor_slices([b"a", b"bc"]).map(lambda text: text.upper()))
        [b'A', b'BC']
        """
        from ._nodes import Map, check_count

        if num_parallel_calls is None:
            return Map(self, map_func, 0)
        if num_parallel_calls != AUTOTUNE:
            return Map(self, map_func, check_count("num_parallel_calls", num_parallel_calls))
        from ..base.threads import available_cpus

        return Map(self, map_func, available_cpus(), tried=True)

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset[T]:
        """The elements for which the function is true.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(6).filter(lambda x: x % 2 == 1)]
        [1, 3, 5]
        """
        from ._nodes import Filter

        return Filter(self, predicate)

    def enumerate(self, start: int = 0, name: str | None = None) -> Dataset[Any]:
        """Pairs of a number (int64) and an element.

        >>> import tfrecord_fast as tf
        >>> [(int(i), x) for i, x in tf.data.Dataset.from_tensor_slices([b"a", b"b"]).enumerate()]
        [(0, b'a'), (1, b'b')]
        """
        from ._nodes import Enumerate, check_count

        return Enumerate(self, check_count("start", start, -(1 << 63)))

    def flat_map(self, map_func: Callable[..., Dataset[Any]], name: str | None = None) -> Dataset[Any]:
        """The elements of the dataset that the function gives for each element, one dataset after the other.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(4).flat_map(lambda n: tf.data.Dataset.range(n))]
        [0, 0, 1, 0, 1, 2]
        """
        from ._joins import FlatMap

        return FlatMap(self, map_func)

    def interleave(
        self,
        map_func: Callable[..., Dataset[Any]],
        cycle_length: int | None = None,
        block_length: int | None = None,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset[Any]:
        """As `flat_map`, with `cycle_length` datasets open at a time, `block_length` elements of each in turn.

        The native reader does it where elements are paths and the function gives a TFRecordDataset of each.

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
        from ._joins import Interleave
        from ._nodes import check_count

        cycle = AUTOTUNE if cycle_length in (None, AUTOTUNE) else check_count("cycle_length", cycle_length)
        block = 1 if block_length is None else check_count("block_length", block_length)
        return Interleave(self, map_func, cycle, block)

    def ignore_errors(self, log_warning: bool = False, name: str | None = None) -> Dataset[T]:
        """Leaves out the elements whose making raises. Directly on files: what is behind damage in a file.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(-1, 2).map(lambda x: 6 // int(x) if x else [][0]).ignore_errors()]
        [-6, 6]
        """
        from ._nodes import IgnoreErrors

        return IgnoreErrors(self, log_warning)

    def scan(
        self, initial_state: Any, scan_func: Callable[[Any, Any], tuple[Any, Any]], name: str | None = None
    ) -> Dataset[Any]:
        """The function takes (state, element) and gives (next state, result); the results.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(5).scan(0, lambda total, x: (total + x, total + x))]
        [0, 1, 3, 6, 10]
        """
        from ..values.nests import normalize
        from ._nodes import Apply

        def run(elements: Iterator[Any]) -> Iterator[Any]:
            state = normalize(initial_state)
            for element in elements:
                state, result = normalize(tuple(scan_func(state, element)))
                yield result

        return Apply(self, run, "scan()")

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Dataset[T]:
        """The elements before the first for which the function is false.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(9).take_while(lambda x: x < 3)]
        [0, 1, 2]
        """
        import itertools

        from ._nodes import Apply
        from .functions import guarded

        predicate = guarded(predicate)

        def holds(element: Any) -> bool:
            return bool(predicate(*element) if type(element) is tuple else predicate(element))

        return Apply(self, lambda elements: itertools.takewhile(holds, elements), "take_while()")

    # ---- Order and extent ----

    def shuffle(
        self,
        buffer_size: int,
        seed: int | None = None,
        reshuffle_each_iteration: bool | None = True,
        name: str | None = None,
    ) -> Dataset[T]:
        """A random order: each element is drawn from a buffer of the next `buffer_size` ones.

        Args:
          buffer_size: elements held; -2, an unknown cardinality, takes all of them.
          seed: makes the order repeatable, from dataset to dataset; it is not TensorFlow's order for that seed.
          reshuffle_each_iteration: another order each time; False: the same.

        >>> import tfrecord_fast as tf
        >>> sorted(int(x) for x in tf.data.Dataset.range(4).shuffle(2))
        [0, 1, 2, 3]
        """
        import sys

        from ._nodes import Shuffle, check_count

        size = sys.maxsize if buffer_size == UNKNOWN else check_count("buffer_size", buffer_size)
        reshuffle = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        return Shuffle(self, size, None if seed is None else check_count("seed", seed, -(1 << 63)), reshuffle)

    def repeat(self, count: int | None = None, name: str | None = None) -> Dataset[T]:
        """All elements `count` times; without end where it is None or -1.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(2).repeat(2)]
        [0, 1, 0, 1]
        """
        from ._nodes import Repeat, check_count

        times = -1 if count is None else check_count("count", count, -(1 << 63))
        return Repeat(self, max(times, -1))

    def take(self, count: int, name: str | None = None) -> Dataset[T]:
        """The first `count` elements; all where it is -1.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(9).take(2)]
        [0, 1]
        """
        from ._nodes import Take, check_count

        return Take(self, check_count("count", count, -(1 << 63)))

    def skip(self, count: int, name: str | None = None) -> Dataset[T]:
        """The elements behind the first `count`; none where it is -1.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(4).skip(2)]
        [2, 3]
        """
        from ._nodes import Skip, check_count

        return Skip(self, check_count("count", count, -(1 << 63)))

    def shard(self, num_shards: int, index: int, name: str | None = None) -> Dataset[T]:
        """Every `num_shards`-th element, from number `index` on.

        Raises:
          errors.InvalidArgumentError: unless 0 <= index < num_shards.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(7).shard(3, 1)]
        [1, 4]
        """
        from ._nodes import Shard, check_count

        shards = check_count("num_shards", num_shards)
        number = check_count("index", index, 0)
        if number >= shards:
            raise InvalidArgumentError(f"`index` must be between 0 and {shards - 1}, got {number}")
        return Shard(self, shards, number)

    def concatenate(self, dataset: Dataset[Any], name: str | None = None) -> Dataset[Any]:
        """These elements, then the other's.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(2).concatenate(tf.data.Dataset.range(2))]
        [0, 1, 0, 1]
        """
        from ._joins import Concatenate

        return Concatenate(self, dataset)

    # ---- How it runs ----

    def prefetch(self, buffer_size: int, name: str | None = None) -> Dataset[T]:
        """Makes up to `buffer_size` elements ahead on a thread; AUTOTUNE: 4; 0: none.

        The thread starts with the first element asked for, and stops when the iterator is dropped. Behind records,
        batches of them, and maps of these there is one only once the functions have proved to be slow: the native
        reader reads and parses ahead on threads of its own, and handing over would take longer than a quick call.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(3).prefetch(2)]
        [0, 1, 2]
        """
        from ._nodes import Prefetch, check_count

        size = 4 if buffer_size is None or buffer_size == AUTOTUNE else check_count("buffer_size", buffer_size, 0)
        return Prefetch(self, size)

    def cache(self, filename: str = "", name: str | None = None) -> Dataset[T]:
        """Keeps all elements in memory once an iteration has come to the end, and gives these from then on.

        Raises:
          ValueError: a filename; there is no cache in files.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.range(2).cache().repeat(2)]
        [0, 1, 0, 1]
        """
        if filename:
            raise InvalidArgumentError("cache keeps elements in memory only; leave the filename out")
        from ._nodes import Cache

        return Cache(self)

    def apply(self, transformation_func: Callable[[Dataset[T]], Any], name: str | None = None) -> Any:
        """What the function makes of this dataset.

        >>> import tfrecord_fast as tf
        >>> tf.data.Dataset.range(9).apply(len)
        9
        """
        return transformation_func(self)

    def reduce(self, initial_state: Any, reduce_func: Callable[[Any, Any], Any], name: str | None = None) -> Any:
        """The last state, of `state = reduce_func(state, element)` over all elements.

        >>> import tfrecord_fast as tf
        >>> int(tf.data.Dataset.range(5).reduce(0, lambda total, x: total + x))
        10
        """
        from ..values.nests import normalize, returned

        state = normalize(initial_state)
        for element in self:
            state = returned(reduce_func(state, element))
        return state

    def get_single_element(self, name: str | None = None) -> T:
        """The only element.

        Raises:
          errors.InvalidArgumentError: there is none, or more than one.

        >>> import tfrecord_fast as tf
        >>> int(tf.data.Dataset.range(1).get_single_element())
        0
        """
        import itertools

        elements = list(itertools.islice(self, 2))
        if len(elements) != 1:
            raise InvalidArgumentError("Dataset was empty." if not elements else "Dataset had more than one element.")
        return elements[0]


def _as_numpy(leaf: Any) -> Any:
    from .. import _core
    from ..values.bytes_array import BytesArray

    return np.asarray(leaf) if isinstance(leaf, _core.RecordBatch | BytesArray) else leaf
