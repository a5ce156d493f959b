"""What becomes of elements that raise when they are made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..sentinels import UNKNOWN
from .iterators import Ignoring
from .node import Node, Of, Run

__all__ = ["IgnoreErrors"]


class IgnoreErrors(Of):
    """The elements that can be made; `log_warning` warns of each that raises."""

    def __init__(self, node: Node, log_warning: bool) -> None:
        super().__init__(node)
        self.log_warning = log_warning

    def iterate(self, run: Run) -> Iterator[Any]:
        return Ignoring(run(self.input), self.log_warning)

    def label(self) -> str:
        return "ignore_errors()"

    def cardinality(self) -> int:
        return UNKNOWN
