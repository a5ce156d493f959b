"""Options, which change no element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..options import Options
from .node import Node, Of, Run

__all__ = ["WithOptions", "options_of"]


class WithOptions(Of):
    """The same elements, and options that users may ask for."""

    def __init__(self, node: Node, options: Any) -> None:
        super().__init__(node)
        self.options = options

    def iterate(self, run: Run) -> Iterator[Any]:
        return run(self.input)

    def label(self) -> str:
        return ""


def options_of(node: Node) -> Any:
    """The options given last; a node with several inputs is not looked past."""
    while isinstance(node, Of):
        if isinstance(node, WithOptions):
            return node.options
        node = node.input
    return Options()
