"""What repr says of nodes: the chain of them, with what the native reader does in brackets."""

from __future__ import annotations

from .node import Iterations, Node, Of
from .running import run

__all__ = ["describe"]


def describe(node: Node) -> str:
    """The node and its inputs, as the chain of calls that made them."""
    if isinstance(node, Of):
        before = Iterations(node, run)
        plan = run.plan(node)
        before.restore()
        if plan is not None and plan.steps:
            return f"native[{'.'.join((describe(plan.source), *plan.steps))}]"
    return node.describe(describe)
