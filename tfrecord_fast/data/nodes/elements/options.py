"""The node of `with_options`. Options never change elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ....values.blocks.block import Block
from ...options import Options, merged
from ..base.node import Node, Of, Run


class WithOptions(Of):
    """The same elements, with options that users can query."""

    def __init__(self, node: Node, options: Any) -> None:
        super().__init__(node)
        self.options = merged(Options(), options)

    def iterate(self, run: Run) -> Iterator[Any]:
        return run(self.input)

    def blocks(self, run: Run) -> Iterator[Block] | None:
        return run.blocks(self.input)


def options_of(node: Node) -> Options:
    """Return the options of the node and of all below it; where they differ, the last ones set."""
    return _merged_options(node, {})


def _merged_options(node: Node, known: dict[Node, Options]) -> Options:
    if node not in known:
        own = [node.options] if isinstance(node, WithOptions) else []
        below = [_merged_options(other, known) for other in node.distinct_inputs()]
        known[node] = merged(Options(), *below, *own)
    return known[node]
