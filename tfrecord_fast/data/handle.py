"""What datasets are: handles on nodes. Their methods, in `methods/`, make nodes, and datasets of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, Generic, TypeVar

from .nodes.node import Node
from .nodes.running import run
from .nodes.sources import Failing, Generated

__all__ = ["Handle", "OtherDataset", "SameDataset", "T", "node_of"]

T = TypeVar("T")
# The classes of datasets with the same elements as a handle's, and with others: Dataset[T] and Dataset[Any].
SameDataset = TypeVar("SameDataset", bound="Handle[Any, Any, Any]")
OtherDataset = TypeVar("OtherDataset", bound="Handle[Any, Any, Any]")


class Handle(Generic[T, SameDataset, OtherDataset]):
    """A handle on a node.

    `Dataset` combines handles with methods, which know it by its type variables only.
    """

    def __init__(self, node: Node | None = None) -> None:
        if node is None:
            name = type(self).__name__
            node = Failing(TypeError(f"{name} gives no elements by itself"), name)
        self._node = node

    def __iter__(self) -> Iterator[T]:
        return run(self._node)

    def _same(self, node: Node) -> SameDataset:
        """The dataset of a node whose elements are of this one's type."""
        raise NotImplementedError

    @staticmethod
    def _other(node: Node) -> OtherDataset:
        """The dataset of a node whose elements are of any type."""
        raise NotImplementedError


def node_of(dataset: Handle[Any, Any, Any]) -> Node:
    """The dataset's node; of whatever iterates in a way of its own, a node that iterates over it."""
    if getattr(type(dataset), "__iter__", None) is not Handle.__iter__:
        return Generated(partial(iter, dataset), type(dataset).__name__)
    return dataset._node
