"""Nodes that make batches, and take them apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ....values.elements.nests import map_leaves, rows, stack
from ....values.elements.specs import batch_spec, row_spec, with_any_lengths
from ...numbers import INFINITE, UNKNOWN
from ..base.iterators import Chained
from ..base.node import Node, Of, Run
from ..elements.maps import Map
from .runs import Batches, Rebatched

__all__ = ["Batch", "Rebatch", "Unbatch", "stacked_specs"]


def stacked_specs(specs: Any, length: int | None) -> Any:
    """What is known of so many elements, stacked."""
    return map_leaves(lambda spec: batch_spec(spec, length), specs)


class Batch(Of):
    """Runs of `size` elements, joined into one by `join`; the last may be smaller, unless `drop_remainder`.

    Args:
      specs: what is known of batches, by what is known of elements and the length of a batch.
      check: raises if an element fits into no batch, so that the next one starts after it.
    """

    def __init__(
        self,
        node: Node,
        size: int,
        drop_remainder: bool,
        join: Callable[[list[Any]], Any] = stack,
        name: str = "batch",
        specs: Callable[[Any, int | None], Any] = stacked_specs,
        check: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__(node)
        self.specs = specs
        self.size = size
        self.drop_remainder = drop_remainder
        self.join = join
        self._name = name
        self._check = check

    def iterate(self, run: Run) -> Iterator[Any]:
        # TensorFlow makes one step of `map` and `batch`.
        passes_over = self._name not in ("padded_batch", "sparse_batch") and isinstance(self.input, Map)
        return Batches(run(self.input), self.size, self.drop_remainder, self.join, passes_over, self._check)

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
        specs = self.input.element_spec(run)
        if self.join is not stack and self._calls_functions_below():  # the lengths of the first element are its own
            specs = map_leaves(with_any_lengths, specs)
        return self.specs(specs, self.size if self.drop_remainder else None)

    def sample(self, run: Run, length: int) -> Any:
        return self.join([self.input.sample(run, length)] * (self.size if self.drop_remainder else length))


class Rebatch(Batch):
    """Batches of several sizes, which take turns."""

    def __init__(self, node: Node, sizes: list[int], drop_remainder: bool) -> None:
        super().__init__(node, max(sizes), drop_remainder and len(set(sizes)) == 1, name="rebatch")
        self._sizes, self._drops = sizes, drop_remainder

    def iterate(self, run: Run) -> Iterator[Any]:
        return Rebatched(run(self.input), self._sizes, self._drops)

    def label(self) -> str:
        return f"rebatch({self._sizes}{', drop_remainder' if self._drops else ''})"

    def cardinality(self) -> int:
        return INFINITE if self.input.cardinality() == INFINITE else UNKNOWN


class Unbatch(Of):
    """The rows of elements: `count` of each, if that is known."""

    def __init__(self, node: Node, count: int | None = None) -> None:
        super().__init__(node)
        self._count = count

    def iterate(self, run: Run) -> Iterator[Any]:
        return Chained(run(self.input))

    def label(self) -> str:
        return "unbatch()"

    def cardinality(self) -> int:
        elements = self.input.cardinality()
        if elements < 0:
            return elements
        return UNKNOWN if self._count is None else elements * self._count

    def element_spec(self, run: Run) -> Any:
        return map_leaves(row_spec, self.input.element_spec(run))

    def sample(self, run: Run, length: int) -> Any:
        return next(rows(self.input.sample(run, length)))
