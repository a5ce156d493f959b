"""Elements kept in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .node import Node, Of, Run

__all__ = ["Cache"]


class Cache(Of):
    """All elements, kept once an iteration has reached the end."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._elements: list[Any] | None = None

    def iterate(self, run: Run) -> Iterator[Any]:
        return iter(self._elements) if self._elements is not None else self._fill(run)

    def _fill(self, run: Run) -> Iterator[Any]:
        elements = []
        for element in run(self.input):
            elements.append(element)
            yield element
        self._elements = elements

    def label(self) -> str:
        return "cache()"
