"""Nodes that turn elements into others, one by one, or leave some out, as a function of the user's decides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import numpy as np

from ...values.nests import spec_of
from ..functions import call, guarded, name_of
from ..sentinels import UNKNOWN
from .node import Node, Of, Run
from .threads import Mapped, Verdict

__all__ = ["Apply", "Enumerate", "Filter", "Map"]


class Map(Of):
    """The function's results.

    Args:
      threads: 0 for none.
      tried: whether they start only when the function proves to be slow.
    """

    def __init__(self, node: Node, function: Callable[..., Any], threads: int = 0, tried: bool = False) -> None:
        super().__init__(node)
        self.function = function
        self.threads = threads
        self.tried = tried
        self._verdict = Verdict()

    def iterate(self, run: Run) -> Iterator[Any]:
        return self.over(run(self.input), self._verdict if self.tried else None)

    def over(self, elements: Iterator[Any], verdict: Verdict | None = None) -> Iterator[Any]:
        """The function's results for these elements; with a verdict, on threads only if it is slow."""
        function = call(self.function)
        return Mapped(elements, function, self.threads, verdict) if self.threads else map(function, elements)

    def label(self) -> str:
        threads = f", {self.threads} threads" if self.threads else ""
        return f"map({name_of(self.function)}{threads})"

    def element_spec(self, run: Run) -> Any:
        return Node.element_spec(self, run)


class Filter(Of):
    """The elements for which the function is true."""

    def __init__(self, node: Node, predicate: Callable[..., Any]) -> None:
        super().__init__(node)
        self._predicate = predicate

    def iterate(self, run: Run) -> Iterator[Any]:
        predicate = guarded(self._predicate)
        return filter(
            lambda element: bool(predicate(*element) if type(element) is tuple else predicate(element)),
            run(self.input),
        )

    def label(self) -> str:
        return f"filter({name_of(self._predicate)})"

    def cardinality(self) -> int:
        return UNKNOWN


class Enumerate(Of):
    """Pairs of a number, from `start` on, and an element."""

    def __init__(self, node: Node, start: int) -> None:
        super().__init__(node)
        self._start = start

    def iterate(self, run: Run) -> Iterator[Any]:
        return zip(map(np.int64, count(self._start)), run(self.input), strict=False)

    def label(self) -> str:
        return f"enumerate({self._start or ''})"

    def element_spec(self, run: Run) -> Any:
        return (spec_of(np.int64(0)), self.input.element_spec(run))


class Apply(Of):
    """What a function makes of the input's iterator: scan and take_while."""

    def __init__(self, node: Node, function: Callable[[Iterator[Any]], Iterator[Any]], label: str) -> None:
        super().__init__(node)
        self._function = function
        self._label = label

    def iterate(self, run: Run) -> Iterator[Any]:
        return self._function(run(self.input))

    def label(self) -> str:
        return self._label

    def cardinality(self) -> int:
        return UNKNOWN

    def element_spec(self, run: Run) -> Any:
        return Node.element_spec(self, run)
