"""Nodes of several datasets: zip and concatenate, and flat_map, interleave and window, which create datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, reduce
from itertools import repeat
from typing import Any

from ....values.blocks.block import Block
from ....values.elements.nests import leaves, map_leaves, pack
from ....values.elements.owned import read_only
from ....values.elements.samples import common_spec
from ...numbers import INFINITE, UNKNOWN
from ..base.iterators import Chained, Concatenated, Interleaved, InterleavedAhead, Zipped
from ..base.node import Computed, Node, Of, Run
from ..batches.runs import Windows
from ..blocks.iterators import ConcatenatedBlocks, blocks_of
from ..blocks.iterators import Zipped as ZippedBlocks
from ..sources.values import Generated


class FlatMap(Computed):
    """The elements of the node that `open_` returns for each element, one node after the other.

    Args:
      open_: returns a node; a Failing if the function returned no dataset.
      name: the function's name in `repr`.
    """

    cycle_length = 1
    block_length = 1

    def __init__(self, node: Node, open_: Callable[[Any], Node], name: str) -> None:
        super().__init__(node)
        self.open = open_
        self.name = name

    def iterate(self, run: Run) -> Iterator[Any]:
        return Chained(run(self.input), lambda element: run(self.open(element)))

    def label(self) -> str:
        return f"flat_map({self.name})"

    def cardinality(self) -> int:
        return INFINITE if self.input.cardinality() == INFINITE else UNKNOWN

    def seen_again(self) -> bool:
        return True  # the function may return any node

    def sample(self, run: Run, length: int) -> Any:
        return self.open(self.input.sample(run, length)).sample(run, length)


class Interleave(FlatMap):
    """Like FlatMap, with `cycle_length` nodes open at a time, and `block_length` elements from each in turn."""

    def __init__(
        self, node: Node, open_: Callable[[Any], Node], name: str, cycle_length: int, block_length: int
    ) -> None:
        super().__init__(node, open_, name)
        self.cycle_length = cycle_length
        self.block_length = block_length

    _iterator: type[Interleaved] = Interleaved

    def iterate(self, run: Run) -> Iterator[Any]:
        return self._iterator(
            run(self.input), lambda element: run(self.open(element)), self.cycle_length, self.block_length
        )

    def label(self) -> str:
        return f"interleave({self.name}, {self.cycle_length}, {self.block_length})"


class InterleaveAhead(Interleave):
    """Like Interleave, in the order of TensorFlow's `parallel_interleave`: a node that ends uses up its turn."""

    _iterator = InterleavedAhead

    def label(self) -> str:
        return f"parallel_{super().label()}"


class Sliding(Of):
    """Windows of `size` elements, `stride` apart, each `shift` elements after the previous one.

    A window has the structure of an element; each component is `wrap` of a node.
    """

    def __init__(
        self, node: Node, size: int, shift: int, stride: int, drop_remainder: bool, wrap: Callable[[Node], Any]
    ) -> None:
        super().__init__(node)
        self._size = size
        self._shift = shift
        self._stride = stride
        self._drop_remainder = drop_remainder
        self._wrap = wrap

    def iterate(self, run: Run) -> Iterator[Any]:
        windows = Windows(run(self.input), self._size, self._shift, self._stride, self._drop_remainder)
        return map(self._window, windows)

    def seen_again(self) -> bool:
        return False

    def _window(self, elements: list[Any]) -> Any:
        return map_leaves(self._column, *elements)

    def _column(self, *column: Any) -> Any:
        kept = [read_only(element) for element in column]  # windows may share elements, and can be iterated again
        return self._wrap(Generated(kept.__iter__, "window", len(kept), seen_again=True, shareable=True))

    def label(self) -> str:
        return f"window({self._size}, shift={self._shift}, stride={self._stride})"

    def cardinality(self) -> int:
        elements = self.input.cardinality()
        if elements < 0:
            return elements
        if self._drop_remainder:
            return max(0, (elements - (self._size - 1) * self._stride - 1) // self._shift + 1)
        return -(-elements // self._shift)

    spec = Node.spec

    def sample(self, run: Run, length: int) -> Any:
        return self._window([self.input.sample(run, length)])


class Concatenate(Node):
    """The elements of one node, then the other's."""

    _label = "concatenate"

    def __init__(self, first: Node, second: Node) -> None:
        self.inputs = (first, second)

    def iterate(self, run: Run) -> Iterator[Any]:
        return Concatenated(partial(run, node) for node in self.inputs)

    def blocks(self, run: Run) -> Iterator[Block] | None:
        first = run.blocks(self.inputs[0])
        return None if first is None else ConcatenatedBlocks([first.__iter__, partial(blocks_of, self.inputs[1], run)])

    def describe(self, describe: Callable[[Node], str]) -> str:
        first, second = map(describe, self.inputs)
        return f"{first}.{self.label()}({second})"

    def cardinality(self) -> int:
        counts = {node: node.cardinality() for node in self.distinct_inputs()}
        if INFINITE in counts.values():
            return INFINITE
        return UNKNOWN if UNKNOWN in counts.values() else sum(counts[node] for node in self.inputs)

    def spec(self, run: Run) -> Any:
        return reduce(common_spec, (node.element_spec(run) for node in self.distinct_inputs()))

    def sample(self, run: Run, length: int) -> Any:
        return self.inputs[length % len(self.inputs)].sample(run, length)


class Zip(Node):
    """Elements with the structure of a structure of nodes, up to the end of the shortest."""

    _label = "zip"

    def __init__(self, structure: Any) -> None:
        self.inputs = tuple(leaves(structure))
        self._structure = structure

    def iterate(self, run: Run) -> Iterator[Any]:
        if not self.inputs:
            return repeat(self._structure)
        rows = Zipped([run(node) for node in self.inputs])
        if type(self._structure) is tuple and all(isinstance(item, Node) for item in self._structure):
            return map(tuple, rows)
        return map(partial(pack, self._structure), rows)

    def blocks(self, run: Run) -> Iterator[Block] | None:
        if not self.inputs:
            return None
        inputs: list[Iterator[Block]] = []
        for node in self.inputs:
            blocks = run.blocks(node)
            if blocks is None:
                return None
            inputs.append(blocks)
        return ZippedBlocks(inputs, partial(pack, self._structure))

    def describe(self, describe: Callable[[Node], str]) -> str:
        return f"{self.label()}({', '.join(map(describe, self.inputs))})"

    def cardinality(self) -> int:
        counts = [node.cardinality() for node in self.inputs]
        finite = [elements for elements in counts if elements >= 0]
        if UNKNOWN in counts:
            return 0 if 0 in finite else UNKNOWN
        return min(finite) if finite else INFINITE

    def spec(self, run: Run) -> Any:
        return map_leaves(lambda node: node.element_spec(run), self._structure)

    def sample(self, run: Run, length: int) -> Any:
        return map_leaves(lambda node: node.sample(run, length), self._structure)
