"""A part of the elements, for one of several processes: only that part goes through the functions at the end."""

from __future__ import annotations

from copy import copy

from .maps import Map
from .node import Node
from .options import WithOptions
from .order import Slice
from .prefetch import Prefetch
from .windows import Window

__all__ = ["part_of"]


def part_of(node: Node, start: int, step: int) -> Node:
    """Elements number `start`, `start + step`, … of the node."""
    if start == 0 and step == 1:
        return node
    if not isinstance(node, Map | Prefetch | WithOptions):
        return Slice(node, Window(start, None, step), f"part({start}, {step})")
    made = copy(node)  # its draws are the node's own, if it has any
    made.input = part_of(node.input, start, step)
    made.inputs = (made.input,)
    return made
