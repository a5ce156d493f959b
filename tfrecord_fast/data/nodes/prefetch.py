"""Elements made ahead, on a thread."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from .node import Node, Of, Run
from .threads import Prefetched, Verdict

__all__ = ["Prefetch"]


class Prefetch(Of):
    """Up to `size` elements are made ahead; with 0 none, and without a thread."""

    def __init__(self, node: Node, size: int) -> None:
        super().__init__(node)
        self.size = size
        self.verdict = Verdict()  # on the functions below, if a thread starts only when they are slow

    def iterate(self, run: Run) -> Iterator[Any]:
        return Prefetched(partial(run, self.input), self.size) if self.size else run(self.input)

    def label(self) -> str:
        return f"prefetch({self.size})"
