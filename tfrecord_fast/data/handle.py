"""The handle on a node, from which `Dataset` and its methods in `methods/` derive."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from .._core import Iteration
from ..errors import InvalidArgumentError, OutOfRangeError
from .nodes.base.node import Node
from .nodes.native.running import run
from .nodes.sources.values import Failing, Foreign

_SHALLOW = 50  # steps that Python's own recursion limit allows
_DEEPEST = 1000  # steps
_FRAMES = 10  # frames, at most, that a step adds to the stack

T = TypeVar("T")
# The classes of datasets with the same elements as a handle's, and with others: Dataset[T] and Dataset[Any].
SameDataset = TypeVar("SameDataset", bound="Handle[Any, Any, Any]")
OtherDataset = TypeVar("OtherDataset", bound="Handle[Any, Any, Any]")


class DatasetIterator(Iteration, Generic[T]):  # type: ignore[type-arg]
    """An iterator over a dataset. After an error, `next()` continues with the next element."""

    if TYPE_CHECKING:

        def __next__(self) -> T: ...

    def __reduce__(self) -> Any:
        raise TypeError("cannot pickle an iterator over a dataset")

    def next(self) -> T:
        """Return the next element, or raise StopIteration at the end."""
        return next(self)

    def get_next(self, name: str | None = None) -> T:
        """Return the next element, or raise OutOfRangeError at the end."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError("End of sequence") from None


class Handle(Generic[T, SameDataset, OtherDataset]):
    """A handle on a node.

    `Dataset` combines handles with methods, which refer to `Dataset` by type variables only.
    """

    _given: Node | None = None

    def __init__(self, node: Node | None = None) -> None:
        self._given = node
        if node is not None and node.depth > _SHALLOW:
            _make_room(node.depth)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        Handle.__init__(self, self._given)

    @property
    def _node(self) -> Node:
        """The node; without one, as in a class with its own `__iter__`, a node that raises."""
        if self._given is not None:
            return self._given
        name = type(self).__name__
        return Failing(f"{name} is not iterable on its own", name)

    def __iter__(self) -> DatasetIterator[T]:
        return self._shown(run(self._node))

    def _shown(self, elements: Iterator[T]) -> DatasetIterator[T]:
        """Return the iterator that a user gets; a subclass may convert the elements."""
        return DatasetIterator(elements)

    def __copy__(self) -> Any:
        """Return a handle whose iterations are counted separately."""
        handle = type(self).__new__(type(self))
        vars(handle).update(vars(self))
        if self._given is not None:
            handle._given = self._given.copied()
        return handle

    def cardinality(self) -> int:
        """Return the number of elements; -1: infinite, -2: unknown without iterating.

        >>> import tfrecord_fast as tf
        >>> tf.data.Dataset.range(10).batch(4).cardinality()
        3
        """
        return self._node.cardinality()

    def _same(self, node: Node) -> SameDataset:
        """Return a dataset of a node with the same type of elements."""
        raise NotImplementedError

    @staticmethod
    def _other(node: Node) -> OtherDataset:
        """Return a dataset of a node with any type of elements."""
        raise NotImplementedError


def _make_room(depth: int) -> None:
    """Raise Python's recursion limit for a chain of that many steps: each calls the next one in a few frames."""
    if depth > _DEEPEST:
        raise InvalidArgumentError(
            f"a Dataset has at most {_DEEPEST:,} steps, one after the other: join functions in one `map`, "
            "and files in one TFRecordDataset, or `save` the elements so far and continue with `load`"
        )
    needed = _FRAMES * depth + 1000
    if sys.getrecursionlimit() < needed:
        sys.setrecursionlimit(needed)


def same_of(dataset: Any, node: Node) -> Any:
    """Return a dataset of a node, of the class that this dataset's methods return."""
    return dataset._same(node)


def node_of(dataset: Handle[Any, Any, Any]) -> Node:
    """Return the dataset's node; for a dataset with its own `__iter__`, a node that iterates over it."""
    if getattr(type(dataset), "__iter__", None) is not Handle.__iter__:
        return Foreign(partial(iter, dataset), type(dataset).__name__, dataset.cardinality)
    return dataset._node
