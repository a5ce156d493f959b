"""How nodes are iterated: by the native reader as far as there is a plan for it, and in Python from there on."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

from ....errors import InvalidArgumentError
from ....values.elements.nests import leaves
from ....values.elements.specs import TensorSpec
from ..ahead.mapped import Tried
from ..ahead.prefetch import Prefetch, Prefetched
from ..ahead.trials import CHEAP_AHEAD, CHEAP_CALL
from ..base.node import Draws, Iterations, Node, Of, Run, draws_of
from ..elements.maps import Map
from .plan import RecordPlan
from .planning import record_plan

__all__ = ["Epoch", "check_kinds", "check_rows", "describe", "row_count", "run"]

_ORDERS = 1 << 20  # that one epoch may need, where the dataset repeats what it shuffles


class Running(Run):
    """Nodes count themselves how often they were iterated, as TensorFlow's do."""

    def __call__(self, node: Node) -> Iterator[Any]:
        return self.start(node, self.plan(node))

    def plan(self, node: Node) -> RecordPlan | None:
        return record_plan(node, self)

    def start(self, node: Node, plan: RecordPlan | None) -> Iterator[Any]:
        """The same, with the node's plan known."""
        if plan is not None:
            return plan.iterate(self)
        if type(node) is Prefetch and node.size:
            tried = _on_trial(node, self)
            if tried is not None:
                return tried
        return node.iterate(self)


run = Running()


class Epoch(Running):
    """An iteration that draws the orders of an epoch, whatever has been iterated before, or is at the same time."""

    def __init__(self, node: Node, epoch: int) -> None:
        self._own = {draws: draws.at(epoch * _ORDERS) for draws in draws_of(node)}

    def own(self, draws: Draws) -> Draws:
        return self._own.get(draws, draws)  # a node that a function has made counts for itself

    def filling(self) -> Run:
        """As in the first epoch, which has filled the caches of processes that were there from the beginning."""
        made = copy(self)
        made._own = {draws: draws.at(0) for draws in self._own}
        return made


def _on_trial(node: Prefetch, run: Run) -> Iterator[Any] | None:
    """The elements of maps over what the native reader does: with no thread until the functions prove to be slow."""
    maps: list[Map] = []
    below = node.input
    while isinstance(below, Map) and (below.tried or not below.threads):
        maps.insert(0, below)
        below = below.input
    plan = run.plan(below) if maps and not isinstance(below, Map) else None
    if plan is None:
        return None
    functions = [one.called() for one in maps]

    def function(element: Any) -> Any:
        for one in functions:
            element = one(element)
        return element

    def threaded(elements: Iterator[Any]) -> Iterator[Any]:
        for one in maps:
            elements = one.over(elements)
        return Prefetched(elements.__iter__, node.size)

    cheap = CHEAP_CALL if any(one.tried for one in maps) else CHEAP_AHEAD
    return Tried(plan.iterate(run), function, threaded, node.verdict, cheap)


def check_kinds(nodes: list[Node]) -> None:
    """Raises TypeError if it is known already that the nodes' elements differ in structure or dtypes."""
    kinds = [kind for kind in (node.known_kind(run) for node in nodes) if kind is not None]
    for kind in kinds[1:]:
        if kind != kinds[0]:
            raise TypeError(f"Incompatible dataset elements: {kinds[0]} vs. {kind}")


def check_rows(node: Node, method: str) -> None:
    """Raises ValueError if it is known already that the node's elements have no rows."""
    for spec in leaves(node.known_spec(run)):
        # None has as many rows as the others.
        if spec is not None and getattr(spec, "shape", None) == () and spec.dtype is not type(None):
            raise InvalidArgumentError(f"Cannot {method} an input with scalar components: `batch` them first.")


def row_count(node: Node) -> int | None:
    """How many rows each of the node's elements has; None if that is not known, or there are none."""
    if not node.spec_is_of_all():
        return None
    lengths = [spec.shape[0] for spec in leaves(node.known_spec(run)) if type(spec) is TensorSpec and spec.shape]
    return next((length for length in lengths if length), None)


def describe(node: Node) -> str:
    """The node and its inputs, as the chain of calls that made them."""
    if isinstance(node, Of):
        before = Iterations(node, run)
        plan = run.plan(node)
        before.restore()
        if plan is not None and plan.steps:
            return f"native[{'.'.join((describe(plan.source), *plan.steps))}]"
    return node.describe(describe)
