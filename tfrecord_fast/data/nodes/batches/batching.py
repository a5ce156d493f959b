"""Nodes that join elements to batches, and split batches into rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ....values.blocks.block import stacked_blocks
from ....values.elements.nests import map_leaves, rows, stack
from ....values.elements.specs import batch_spec, row_spec, with_any_lengths
from ...numbers import INFINITE, UNKNOWN
from ..base.iterators import Chained
from ..base.node import Node, Of, Run
from ..blocks.batches import BlockBatches
from ..elements.maps import Map
from .runs import Batches, Rebatched


def stacked_specs(specs: Any, length: int | None) -> Any:
    return map_leaves(lambda spec: batch_spec(spec, length), specs)


class Batch(Of):
    """Runs of `size` elements, joined by `join`; the last may be smaller, unless `drop_remainder`.

    Args:
      specs: a function from the specs of elements and the length of a batch to the specs of batches.
      check: raises if an element fits into no batch; the next batch starts after it.
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
        # TensorFlow fuses `map` and `batch`.
        skips_rest = self._name not in ("padded_batch", "sparse_batch") and isinstance(self.input, Map)
        join_blocks = stacked_blocks if self.join is stack else getattr(self.join, "of_blocks", None)
        if join_blocks is not None and self._check is None and self.input.wants_blocks:
            blocks = run.blocks(self.input)
            if blocks is not None:
                return BlockBatches(blocks, self.size, self.drop_remainder, join_blocks, skips_rest)
        return Batches(run(self.input), self.size, self.drop_remainder, self.join, skips_rest, self._check)

    def label(self) -> str:
        return f"{self._name}({self.size}{', drop_remainder' if self.drop_remainder else ''})"

    def cardinality(self) -> int:
        elements = self.input.cardinality()
        if elements < 0:
            return elements
        return elements // self.size if self.drop_remainder else -(-elements // self.size)

    def seen_again(self) -> bool:
        return False

    def spec(self, run: Run) -> Any:
        specs = self.input.element_spec(run)
        if self.join is not stack and self._calls_functions_below:  # the first element's lengths are only its own
            specs = map_leaves(with_any_lengths, specs)
        return self.specs(specs, self.size if self.drop_remainder else None)

    def sample(self, run: Run, length: int) -> Any:
        return self.join([self.input.sample(run, length)] * (self.size if self.drop_remainder else length))


class Rebatch(Batch):
    """Batches whose sizes alternate."""

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
    """The rows of elements; `count`: rows per element, if known."""

    _label = "unbatch()"

    def __init__(self, node: Node, count: int | None = None) -> None:
        super().__init__(node)
        self._count = count

    def iterate(self, run: Run) -> Iterator[Any]:
        return Chained(run(self.input))

    def cardinality(self) -> int:
        elements = self.input.cardinality()
        if elements < 0:
            return elements
        return UNKNOWN if self._count is None else elements * self._count

    def spec(self, run: Run) -> Any:
        return map_leaves(row_spec, self.input.element_spec(run))

    def sample(self, run: Run, length: int) -> Any:
        return next(rows(self.input.sample(run, length)))
