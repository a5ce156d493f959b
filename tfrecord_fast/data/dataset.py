"""The class Dataset. Most of its methods are in `methods/`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from itertools import islice
from typing import Any, Generic

import numpy as np

from .._core import RecordBatch
from ..base.optional import shown_to_keras
from ..errors import InvalidArgumentError
from ..values.columns.bytes_array import BytesArray
from ..values.elements.nests import map_leaves, normalize, returned
from ..values.elements.owned import copied, renewed, writable
from .handle import DatasetIterator, T, node_of
from .methods.batches import Batches
from .methods.elements import Elements
from .methods.groups import Groups
from .methods.joins import Joins
from .methods.order import Order
from .methods.sources import Sources
from .nodes.base.node import Node
from .nodes.elements.options import WithOptions, options_of
from .nodes.native.running import describe, run
from .nodes.sources.values import matching_files
from .numbers import INFINITE

_IN_A_LOADER = (
    "For a PyTorch DataLoader, use tfrecord_fast.integrations.torch.TFRecordIterableDataset(dataset), "
    "with batch_size=None"
)


class Dataset(
    Sources[T, "Dataset[T]", "Dataset[Any]"],
    Elements[T, "Dataset[T]", "Dataset[Any]"],
    Order[T, "Dataset[T]", "Dataset[Any]"],
    Batches[T, "Dataset[T]", "Dataset[Any]"],
    Joins[T, "Dataset[T]", "Dataset[Any]"],
    Groups[T, "Dataset[T]", "Dataset[Any]"],
    Generic[T],
):
    """Elements that can be iterated any number of times. Each iteration starts from the beginning.

    An element is a NumPy value, or bytes, or a structure of these in tuples and dicts. Methods return new datasets.
    Over a TFRecordDataset, the native reader executes the steps that it can execute in TensorFlow's order (shuffle,
    repeat, take, skip, shard, batch); the rest runs in Python, and `repr` shows which is which. Functions are called
    with NumPy values; a tuple is unpacked into arguments. After an error, `next()` continues with the next element.

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

    def _same(self, node: Node) -> Dataset[T]:
        return Dataset(node)

    @staticmethod
    def _other(node: Node) -> Dataset[Any]:
        return Dataset(node)

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: bool | None = None, seed: int | None = None, name: str | None = None
    ) -> Dataset[bytes]:
        """Return the names of the matching files.

        Args:
          file_pattern: a glob pattern, or a list of patterns.
          shuffle: True or None: in random order, different each time; False: sorted.
          seed: makes the order repeatable.

        Raises:
          errors.InvalidArgumentError: no file matches.
        """
        files = matching_files(file_pattern)
        dataset: Dataset[bytes] = Dataset(files)
        return dataset if shuffle is not None and not shuffle else dataset.shuffle(files.cardinality(), seed)

    def as_numpy_iterator(self) -> DatasetIterator[T]:
        """Iterate over the elements, with object arrays of bytes instead of RecordBatch and BytesArray.

        >>> import tfrecord_fast as tf
        >>> int(next(tf.data.Dataset.range(3).as_numpy_iterator()))
        0
        """
        node = node_of(self)
        plan = run.plan(node)  # once, because planning counts as an iteration
        elements = run.start(node, plan)
        if plan is not None and plan.batch_size is None:
            return DatasetIterator(elements)  # bytes

        def as_numpy(leaf: Any) -> Any:
            return np.asarray(leaf) if isinstance(leaf, RecordBatch | BytesArray) else leaf

        # A generator would end at an error.
        return DatasetIterator(map(partial(map_leaves, as_numpy), elements))

    @property
    def element_spec(self) -> Any:
        """Shape and dtype of elements, as a structure of TensorSpec; may compute the first element."""
        return node_of(self).element_spec(run)

    def __len__(self) -> int:
        """Return the number of elements.

        Raises:
          TypeError: the number is infinite or unknown.
        """
        count = self.cardinality()
        if count < 0:
            reason = "The dataset is infinite." if count == INFINITE else "The dataset length is unknown."
            raise TypeError(reason + (f" {_IN_A_LOADER}" if "torch.utils.data" in sys.modules else ""))
        return count

    def __getitems__(self, indices: Any) -> Any:
        """Raise TypeError: a PyTorch DataLoader calls this method to get elements by number."""
        raise TypeError(f"a Dataset does not support indexing. {_IN_A_LOADER}")

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<Dataset {describe(node_of(self))}>"

    def __format__(self, format_spec: str) -> str:
        return shown_to_keras(super().__format__(format_spec), "dataset")

    def options(self) -> Any:
        """Return a copy of the Options set with `with_options`."""
        return options_of(node_of(self))

    def with_options(self, options: Any, name: str | None = None) -> Dataset[T]:
        """Return the same dataset with options. They can be read again, but have no effect."""
        return Dataset(WithOptions(node_of(self), options))

    def apply(self, transformation_func: Callable[[Dataset[T]], Any], name: str | None = None) -> Any:
        """Return the function's result for this dataset.

        >>> import tfrecord_fast as tf
        >>> tf.data.Dataset.range(9).apply(len)
        9
        """
        return transformation_func(self)

    def reduce(self, initial_state: Any, reduce_func: Callable[[Any, Any], Any], name: str | None = None) -> Any:
        """Return the last state of `state = reduce_func(state, element)` over all elements.

        >>> import tfrecord_fast as tf
        >>> int(tf.data.Dataset.range(5).reduce(0, lambda total, x: total + x))
        10
        """
        state = copied(normalize(initial_state))
        own = writable if node_of(self).seen_again() else renewed
        for element in self:
            state = returned(reduce_func(state, own(element)))
        return state

    def get_single_element(self, name: str | None = None) -> T:
        """Return the only element.

        Raises:
          errors.InvalidArgumentError: no element, or more than one.

        >>> import tfrecord_fast as tf
        >>> int(tf.data.Dataset.range(1).get_single_element())
        0
        """
        elements: list[T] = list(islice(self, 2))
        if len(elements) != 1:
            raise InvalidArgumentError("Dataset was empty." if not elements else "Dataset had more than one element.")
        return elements[0]
