"""Iterations of nodes: by the native reader as far as there is a plan, and in Python from there on."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

from ....errors import InvalidArgumentError
from ....values.blocks.block import Block
from ....values.elements.nests import leaves
from ....values.elements.specs import TensorSpec
from ..ahead.mapped import Tried
from ..ahead.prefetch import Prefetch, Prefetched
from ..ahead.trials import CHEAP_AHEAD, CHEAP_CALL
from ..base.node import Draws, Iterations, Node, Of, Run, draws_of
from ..blocks.iterators import Elements
from ..blocks.sizes import are_off
from ..elements.maps import Map
from ..elements.options import WithOptions
from ..order.ordering import Slice, Window
from .plan import RecordPlan
from .planning import record_plan

_ORDERS = 1 << 20  # orders that an epoch may draw, if the dataset repeats a shuffle


class Running(Run):
    """A run for which nodes count their iterations themselves, as in TensorFlow."""

    def __call__(self, node: Node) -> Iterator[Any]:
        return self.start(node, self.plan(node))

    def plan(self, node: Node) -> RecordPlan | None:
        return record_plan(node, self)

    def start(self, node: Node, plan: RecordPlan | None) -> Iterator[Any]:
        if plan is not None:
            return plan.iterate(self)
        if not are_off() and node.wants_blocks:
            blocks = self.blocks(node)
            if blocks is not None:
                return Elements(blocks)
        if type(node) is Prefetch and node.size:
            tried = _on_trial(node, self)
            if tried is not None:
                return tried
        return node.iterate(self)

    def blocks(self, node: Node) -> Iterator[Block] | None:
        if are_off():
            return None
        before = Iterations(node, self)
        plan = self.plan(node)
        blocks = node.blocks(self) if plan is None else plan.blocks(self)
        if blocks is None:
            before.restore()
        return blocks


run = Running()


class Epoch(Running):
    """A run that draws the orders of an epoch by its number, independent of all other iterations."""

    def __init__(self, node: Node, epoch: int) -> None:
        self._own = {draws: draws.at(epoch * _ORDERS) for draws in draws_of(node)}

    def own(self, draws: Draws) -> Draws:
        return self._own.get(draws, draws)  # a node created by a function counts for itself

    def filling(self) -> Run:
        """Return a run of the first epoch: that epoch fills the caches of processes that exist from the beginning."""
        first = copy(self)
        first._own = {draws: draws.at(0) for draws in self._own}
        return first


def _on_trial(node: Prefetch, run: Run) -> Iterator[Any] | None:
    """Iterate over maps of a native stream, with a thread once the functions prove to be slow; None: no such maps."""
    maps: list[Map] = []
    below = node.input
    while isinstance(below, Map) and (below.tried or not below.threads):
        maps.insert(0, below)
        below = below.input
    plan = run.plan(below) if maps and not isinstance(below, Map) else None
    if plan is None:
        return None
    functions = [node_map.called() for node_map in maps]

    def function(element: Any) -> Any:
        for mapped in functions:
            element = mapped(element)
        return element

    def threaded(elements: Iterator[Any]) -> Iterator[Any]:
        for node_map in maps:
            elements = node_map.over(elements)
        return Prefetched(elements.__iter__, node.size)

    cheap = CHEAP_CALL if any(node_map.tried for node_map in maps) else CHEAP_AHEAD
    return Tried(plan.iterate(run), function, threaded, node.verdict, cheap)


def part_of(node: Node, start: int, step: int) -> Node:
    """Return a node of the elements number `start`, `start + step`, …: one worker's share of a dataset.

    Only these go through the functions at the end of the chain. Errors before the functions have no number.
    """
    if not isinstance(node, Map | Prefetch | WithOptions):
        return node if (start, step) == (0, 1) else Slice(node, Window(start, None, step), f"part({start}, {step})")
    changed = copy(node)
    changed.input = part_of(node.input, start, step)
    changed.inputs = (changed.input,)
    return changed


def check_kinds(nodes: list[Node]) -> None:
    """Raise TypeError if the nodes' elements are known to differ in structure or dtypes."""
    kinds = [known for known in (node.known_kind(run) for node in nodes) if known is not None]
    for other in kinds[1:]:
        if other != kinds[0]:
            raise TypeError(f"Incompatible dataset elements: {kinds[0]} vs. {other}")


def check_integers(node: Node, name: str) -> None:
    """Raise TypeError if the node's elements are known not to be integers."""
    spec = node.known_spec(run)
    is_integer = type(spec) is TensorSpec and spec.shape == () and "int" in getattr(spec.dtype, "name", "")
    if spec is not None and not is_integer:
        raise TypeError(f"the elements of {name} must be integers, got {spec}")


def check_names(node: Node) -> None:
    """Raise TypeError if the node's elements are known to be numbers, or structures, instead of names of files."""
    spec = node.known_spec(run) if node.has_one_spec else None
    if spec is None:
        return
    is_number = type(spec) is TensorSpec and spec.shape == () and getattr(spec.dtype, "name", "string") != "string"
    if is_number or type(spec) is not TensorSpec:
        raise TypeError(f"filenames must be paths (str, bytes, PathLike), got a dataset of {spec}")


def check_rows(node: Node, method: str) -> None:
    """Raise InvalidArgumentError if the node's elements are known to be scalars."""
    for spec in leaves(node.known_spec(run)):
        # A component None has as many rows as the others.
        if spec is not None and getattr(spec, "shape", None) == () and spec.dtype is not type(None):
            raise InvalidArgumentError(f"Cannot {method} an input with scalar components: `batch` them first.")


def row_count(node: Node) -> int | None:
    """Return the number of rows of each element of the node; None if unknown."""
    if not node.has_one_spec:
        return None
    lengths = [spec.shape[0] for spec in leaves(node.known_spec(run)) if type(spec) is TensorSpec and spec.shape]
    return next((length for length in lengths if length), None)


def describe(node: Node) -> str:
    """Return the chain of calls that created the node; steps of the native reader are in brackets."""
    if isinstance(node, Of):
        before = Iterations(node, run)
        plan = run.plan(node)
        before.restore()
        if plan is not None and plan.steps:
            return f"native[{'.'.join((describe(plan.source), *plan.steps))}]"
    return node.describe(describe)
