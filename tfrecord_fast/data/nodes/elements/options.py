"""Options, which change no element."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...options import Options, fixed, merged
from ..base.node import Node, Of, Run

__all__ = ["WithOptions", "options_of"]


class WithOptions(Of):
    """The same elements, and options that users may ask for."""

    def __init__(self, node: Node, options: Any) -> None:
        super().__init__(node)
        self.options = merged(Options(), options)

    def iterate(self, run: Run) -> Iterator[Any]:
        return run(self.input)

    def label(self) -> str:
        return ""


def options_of(node: Node) -> Options:
    """The options of the node and of all below it: where they differ, those given last."""
    found: dict[int, Options] = {}
    todo = [node]
    while todo:
        one = todo[-1]
        below = [other for other in one.inputs if id(other) not in found]
        if below:
            todo += below
            continue
        own = [one.options] if isinstance(one, WithOptions) else []
        found[id(one)] = merged(Options(), *(found[id(other)] for other in one.inputs), *own)
        todo.pop()
    return fixed(found[id(node)])
