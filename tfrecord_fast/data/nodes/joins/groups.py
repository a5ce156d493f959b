"""Nodes that look at the values of elements: which are alike, and which belong together."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ....errors import InvalidArgumentError
from ....values.elements.nests import leaves
from ....values.elements.owned import snapshot
from ...functions import guarded
from ...numbers import INFINITE, UNKNOWN
from ..base.node import Node, Of, Run
from ..base.turns import Turns
from ..sources.values import Generated

__all__ = ["GroupByWindow", "Unique", "whole"]


class Unique(Of):
    """Each different element once, in the order in which they come first."""

    def iterate(self, run: Run) -> Iterator[Any]:
        seen: set[Any] = set()

        def is_new(element: Any) -> bool:
            key = tuple(map(_identity, leaves(element)))
            if key in seen:
                return False
            seen.add(key)
            return True

        return filter(is_new, run(self.input))

    def label(self) -> str:
        return "unique()"

    def cardinality(self) -> int:
        return UNKNOWN


def _identity(leaf: Any) -> Any:
    if isinstance(leaf, bytes):
        return leaf
    array = np.asarray(leaf)
    return array.shape, tuple(array.ravel().tolist()) if array.dtype.kind == "O" else array.tobytes()


def whole(name: str, value: Any) -> int:
    """The value as an int.

    Raises:
      TypeError: it is not an integer: numbers are not cut.
    """
    try:
        return operator.index(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is an integer, got {value!r:.100}") from None


class GroupByWindow(Of):
    """Elements of one key put together, up to so many, and what a function makes of each such group.

    Args:
      node: gives the elements.
      key_of: a function from an element to the number of its group.
      reduce: a function from a number and a node of the group's elements to a node.
      size_of: a function from a number to how many elements a group has at most.
    """

    def __init__(
        self,
        node: Node,
        key_of: Callable[[Any], Any],
        reduce: Callable[[Any, Node], Node],
        size_of: Callable[[Any], Any],
        name: str,
    ) -> None:
        super().__init__(node)
        self.calls_functions = True
        self._key_of, self._reduce, self._size_of, self._name = guarded(key_of), reduce, guarded(size_of), name

    def iterate(self, run: Run) -> Iterator[Any]:
        return _Grouping(run(self.input), self, run)

    def add(self, element: Any, groups: dict[int, list[Any]]) -> Node | None:
        """Puts an element into its group; what is made of the group if it is full now."""
        key = whole("the key of an element", self._key_of(element))
        size = whole("window_size", self._size_of(np.int64(key)))
        if size <= 0:
            raise InvalidArgumentError(f"Window size must be greater than zero, but got {size}.")
        group = groups.setdefault(key, [])
        group.append(snapshot(element))
        return self.close(key, groups) if len(group) >= size else None

    def close(self, key: int, groups: dict[int, list[Any]]) -> Node:
        """What is made of a group, which is there no more."""
        elements = groups.pop(key)
        return self._reduce(np.int64(key), Generated(partial(iter, elements), "group", len(elements), seen_again=True))

    def label(self) -> str:
        return f"group_by_window({self._name})"

    def cardinality(self) -> int:
        return INFINITE if self.input.cardinality() == INFINITE else UNKNOWN

    def element_spec(self, run: Run) -> Any:
        return Node.element_spec(self, run)

    def sample(self, run: Run, length: int) -> Any:
        element = self.input.sample(run, length)
        group = Generated([element].__iter__, "group", 1, seen_again=True, shareable=True)
        return self._reduce(self._key_of(element), group).sample(run, length)


class _Grouping(Turns):
    def __init__(self, elements: Iterator[Any], node: GroupByWindow, run: Run) -> None:
        super().__init__()
        self._elements, self._node, self._run = elements, node, run
        self._groups: dict[int, list[Any]] = {}
        self._made: Iterator[Any] = iter(())  # of the group that was full last
        self._has_ended = False

    def _next(self) -> Any:
        while True:
            for element in self._made:
                return element
            full = self._next_full()
            if full is not None:
                self._made = self._run(full)

    def _next_full(self) -> Node | None:
        if not self._has_ended:
            for element in self._elements:
                return self._node.add(element, self._groups)
            self._has_ended = True
        if not self._groups:
            raise StopIteration
        return self._node.close(min(self._groups), self._groups)
