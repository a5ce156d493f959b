"""Nodes that make batches, and take them apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ...values.nests import TensorSpec, map_leaves, stack
from ..sentinels import INFINITE, UNKNOWN
from .iterators import Batches, Chained
from .maps import Map
from .node import Node, Of, Run

__all__ = ["Batch", "Unbatch"]


class Batch(Of):
    """Runs of `size` elements, joined into one by `join`; the last may be smaller, unless `drop_remainder`."""

    def __init__(
        self,
        node: Node,
        size: int,
        drop_remainder: bool,
        join: Callable[[list[Any]], Any] = stack,
        name: str = "batch",
    ) -> None:
        super().__init__(node)
        self.size = size
        self.drop_remainder = drop_remainder
        self.join = join
        self._name = name

    def iterate(self, run: Run) -> Iterator[Any]:
        # TensorFlow makes one step of `map` and `batch`.
        passes_over = self._name != "padded_batch" and isinstance(self.input, Map)
        return Batches(run(self.input), self.size, self.drop_remainder, self.join, passes_over)

    def label(self) -> str:
        return f"{self._name}({self.size}{', drop_remainder' if self.drop_remainder else ''})"

    def cardinality(self) -> int:
        elements = self.input.cardinality()
        if elements < 0:
            return elements
        return elements // self.size if self.drop_remainder else -(-elements // self.size)

    def seen_again(self) -> bool:
        return False

    def element_spec(self, run: Run) -> Any:
        if self.join is not stack:
            return Node.element_spec(self, run)
        first = self.size if self.drop_remainder else None
        return map_leaves(lambda spec: TensorSpec((first, *spec.shape), spec.dtype), self.input.element_spec(run))


class Unbatch(Of):
    """The rows of elements."""

    def iterate(self, run: Run) -> Iterator[Any]:
        return Chained(run(self.input))

    def label(self) -> str:
        return "unbatch()"

    def cardinality(self) -> int:
        return INFINITE if self.input.cardinality() == INFINITE else UNKNOWN

    def element_spec(self, run: Run) -> Any:
        return map_leaves(lambda spec: TensorSpec(spec.shape[1:], spec.dtype), self.input.element_spec(run))
