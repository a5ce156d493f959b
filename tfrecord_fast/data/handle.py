"""What datasets are: handles on nodes. Their methods, in `methods/`, make nodes, and datasets of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Generic, TypeVar

from .. import _core
from .nodes.base.node import Node
from .nodes.native.running import run
from .nodes.sources.values import Failing, Foreign

__all__ = ["Handle", "OtherDataset", "SameDataset", "T", "node_of", "same_of"]

T = TypeVar("T")
# The classes of datasets with the same elements as a handle's, and with others: Dataset[T] and Dataset[Any].
SameDataset = TypeVar("SameDataset", bound="Handle[Any, Any, Any]")
OtherDataset = TypeVar("OtherDataset", bound="Handle[Any, Any, Any]")


class Handle(Generic[T, SameDataset, OtherDataset]):
    """A handle on a node.

    `Dataset` combines handles with methods, which know it by its type variables only.
    """

    _given: Node | None = None

    def __init__(self, node: Node | None = None) -> None:
        self._given = node

    @property
    def _node(self) -> Node:
        """The node; where there is none, as in a class that iterates in a way of its own, one that says so."""
        if self._given is not None:
            return self._given
        name = type(self).__name__
        return Failing(f"{name} gives no elements by itself", name)

    def __iter__(self) -> Iterator[T]:
        return self._shown(run(self._node))

    def _shown(self, elements: Iterator[T]) -> Iterator[T]:
        """Return the iterator that a user gets; a class that shows elements in another way still is a handle."""
        # These end by themselves, and need no call around each element.
        ends = isinstance(elements, _core.RecordIterator | _core.Iteration)
        return elements if ends else _core.Iteration(elements)

    def __copy__(self) -> Any:
        """Another handle, whose iterations are counted by themselves."""
        made = type(self).__new__(type(self))
        vars(made).update(vars(self))
        if self._given is not None:
            made._given = self._given.copied()
        return made

    def cardinality(self) -> int:
        """The number of elements; -1: infinitely many, -2: not known without iterating.

        >>> import tfrecord_fast as tf
        >>> tf.data.Dataset.range(10).batch(4).cardinality()
        3
        """
        return self._node.cardinality()

    def _same(self, node: Node) -> SameDataset:
        """The dataset of a node whose elements are of this one's type."""
        raise NotImplementedError

    @staticmethod
    def _other(node: Node) -> OtherDataset:
        """The dataset of a node whose elements are of any type."""
        raise NotImplementedError


def same_of(dataset: Any, node: Node) -> Any:
    """The dataset of a node whose elements are of this dataset's type."""
    return dataset._same(node)


def node_of(dataset: Handle[Any, Any, Any]) -> Node:
    """The dataset's node; of whatever iterates in a way of its own, a node that iterates over it."""
    if getattr(type(dataset), "__iter__", None) is not Handle.__iter__:
        return Foreign(partial(iter, dataset), type(dataset).__name__, dataset.cardinality)
    return dataset._node
