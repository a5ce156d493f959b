"""One worker's elements of a dataset: only these go through the functions at the end of the chain."""

from __future__ import annotations

from copy import copy

from ..ahead.prefetch import Prefetch
from ..base.node import Node
from ..elements.maps import Map
from ..elements.options import WithOptions
from ..order.ordering import Slice, Window


def part_of(node: Node, start: int, step: int) -> Node:
    """Return a node of the elements number `start`, `start + step`, …; errors before the functions have no number."""
    if not isinstance(node, Map | Prefetch | WithOptions):
        return node if (start, step) == (0, 1) else Slice(node, Window(start, None, step), f"part({start}, {step})")
    changed = copy(node)
    changed.input = part_of(node.input, start, step)
    changed.inputs = (changed.input,)
    return changed
