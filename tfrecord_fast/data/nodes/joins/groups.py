"""Nodes that compare or group elements by value."""

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
from ..base.node import Computed, Node, Run, Selected
from ..base.turns import Turns
from ..sources.values import Generated


class Unique(Selected):
    """Each distinct element once, in the order of first occurrence."""

    _label = "unique()"

    def iterate(self, run: Run) -> Iterator[Any]:
        seen: set[Any] = set()

        def is_new(element: Any) -> bool:
            key = tuple(map(_identity, leaves(element)))
            if key in seen:
                return False
            seen.add(key)
            return True

        return filter(is_new, run(self.input))


def _identity(leaf: Any) -> Any:
    if isinstance(leaf, bytes):
        return leaf
    array = np.asarray(leaf)
    return array.shape, tuple(array.ravel().tolist()) if array.dtype.kind == "O" else array.tobytes()


def whole(name: str, value: Any) -> int:
    number = np.asarray(value).item() if getattr(value, "shape", None) == () else value
    try:
        if isinstance(number, bool):
            raise TypeError
        return operator.index(number)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r:.100}") from None


class GroupByWindow(Computed):
    """Groups of elements with the same key, and for each full group the elements of a node computed from it.

    Args:
      node: the elements to group.
      key_of: a function from an element to the number of its group.
      reduce: a function from that number and a node of the group's elements to a node.
      size_of: a function from that number to the size of a full group.
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
        self._key_of, self._reduce, self._size_of, self._name = guarded(key_of), reduce, guarded(size_of), name

    def iterate(self, run: Run) -> Iterator[Any]:
        return _Grouping(run(self.input), self, run)

    def add(self, element: Any, groups: dict[int, list[Any]]) -> Node | None:
        """Add an element to its group; return the reduced group if it is full now."""
        key = whole("the key of an element", self._key_of(element))
        size = whole("window_size", self._size_of(np.int64(key)))
        if size <= 0:
            raise InvalidArgumentError(f"Window size must be greater than zero, but got {size}.")
        group = groups.setdefault(key, [])
        group.append(snapshot(element))
        return self.close(key, groups) if len(group) >= size else None

    def close(self, key: int, groups: dict[int, list[Any]]) -> Node:
        elements = groups.pop(key)
        return self._reduce(np.int64(key), Generated(partial(iter, elements), "group", len(elements), seen_again=True))

    def label(self) -> str:
        return f"group_by_window({self._name})"

    def cardinality(self) -> int:
        return INFINITE if self.input.cardinality() == INFINITE else UNKNOWN

    def sample(self, run: Run, length: int) -> Any:
        element = self.input.sample(run, length)
        group = Generated([element].__iter__, "group", 1, seen_again=True, shareable=True)
        return self._reduce(self._key_of(element), group).sample(run, length)


class _Grouping(Turns):
    def __init__(self, elements: Iterator[Any], node: GroupByWindow, run: Run) -> None:
        super().__init__()
        self._elements, self._node, self._run = elements, node, run
        self._groups: dict[int, list[Any]] = {}
        self._reduced: Iterator[Any] = iter(())  # the last full group
        self._has_ended = False

    def _next(self) -> Any:
        while True:
            for element in self._reduced:
                return element
            full = self._next_full()
            if full is not None:
                self._reduced = self._run(full)

    def _next_full(self) -> Node | None:
        if not self._has_ended:
            for element in self._elements:
                return self._node.add(element, self._groups)
            self._has_ended = True
        if not self._groups:
            raise StopIteration
        return self._node.close(min(self._groups), self._groups)
