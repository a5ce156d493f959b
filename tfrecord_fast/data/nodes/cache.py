"""Elements kept in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...values.owned import renewed
from .iterators import Filling
from .node import Node, Of, Run

__all__ = ["Cache"]


class Cache(Of):
    """All elements, kept once an iteration has given them all."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._elements: list[Any] | None = None

    def iterate(self, run: Run) -> Iterator[Any]:
        if self._elements is not None:
            return map(renewed, self._elements)
        return Filling(run(self.input), self.input.cardinality(), self._keep)

    def _keep(self, elements: list[Any]) -> None:
        self._elements = elements

    def seen_again(self) -> bool:
        return True

    def label(self) -> str:
        return "cache()"
