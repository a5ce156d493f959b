"""Nodes that change the order of elements, repeat them, or select some by number."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from ....values.blocks.block import Block
from ...numbers import INFINITE, UNKNOWN
from ..base.iterators import Repeated, Shuffled, Windowed
from ..base.node import Draws, Node, Of, Run
from ..blocks.iterators import Selected, blocks_of
from ..blocks.shuffling import ShuffledBlocks


class Shuffle(Of):
    """Elements drawn at random from a buffer of the next `buffer_size` ones."""

    draws: Draws

    def __init__(self, node: Node, buffer_size: int, seed: int | None, reshuffle: bool) -> None:
        super().__init__(node)
        self.buffer_size = buffer_size
        self.draws = Draws(seed, reshuffle)

    def iterate(self, run: Run) -> Iterator[Any]:
        return Shuffled(run(self.input), self.buffer_size, run.own(self.draws).next_seed())

    def blocks(self, run: Run) -> Iterator[Block] | None:
        blocks = run.blocks(self.input)
        return None if blocks is None else ShuffledBlocks(blocks, self.buffer_size, run.own(self.draws).next_seed())

    def label(self) -> str:
        seed = "" if self.draws.chosen is None else f", seed={self.draws.chosen}"
        return f"shuffle({self.buffer_size}{seed}{'' if self.draws.again else ', the same each time'})"


class Repeat(Of):
    """All elements, `times` times; endlessly if negative."""

    def __init__(self, node: Node, times: int) -> None:
        super().__init__(node)
        self.times = times

    def iterate(self, run: Run) -> Iterator[Any]:
        # TensorFlow makes a shuffle and its repeat one step, which skips empty epochs.
        return Repeated(partial(run, self.input), self.times, skips_empty=isinstance(self.input, Shuffle))

    def blocks(self, run: Run) -> Iterator[Block] | None:
        if self.times == 0:
            return iter(())
        first = run.blocks(self.input)
        if first is None:
            return None
        pending = [first]
        return Repeated(
            lambda: pending.pop() if pending else blocks_of(self.input, run),
            self.times,
            skips_empty=isinstance(self.input, Shuffle),
        )

    def label(self) -> str:
        return f"repeat({self.times if self.times >= 0 else ''})"

    def cardinality(self) -> int:
        elements = self.input.cardinality()
        if self.times == 0 or elements == 0:
            return 0
        if self.times < 0:
            return INFINITE
        return elements if elements < 0 else elements * self.times


class Window(NamedTuple):
    """The elements start, start + step, … below stop of a sequence."""

    start: int
    stop: int | None
    step: int


class Slice(Of):
    """take, skip and shard: a window of the elements."""

    def __init__(self, node: Node, window: Window, label: str) -> None:
        super().__init__(node)
        self.window = window
        self._label = label

    @classmethod
    def take(cls, node: Node, size: int) -> Slice:
        """Return a node of the first `size` elements; all if negative."""
        return cls(node, Window(0, None if size < 0 else size, 1), f"take({size})")

    @classmethod
    def skip(cls, node: Node, size: int) -> Slice:
        """Return a node of the elements after the first `size`; none if negative."""
        return cls(node, Window(max(size, 0), 0 if size < 0 else None, 1), f"skip({size})")

    @classmethod
    def shard(cls, node: Node, num_shards: int, index: int) -> Slice:
        """Return a node of every `num_shards`-th element, from number `index` on."""
        return cls(node, Window(index, None, num_shards), f"shard({num_shards}, {index})")

    def iterate(self, run: Run) -> Iterator[Any]:
        return Windowed(run(self.input), *self.window)

    def blocks(self, run: Run) -> Iterator[Block] | None:
        blocks = run.blocks(self.input)
        return None if blocks is None else Selected(blocks, *self.window)

    def cardinality(self) -> int:
        elements = self.input.cardinality()
        start, stop, step = self.window
        if elements == INFINITE:
            return INFINITE if stop is None else len(range(start, stop, step))
        if elements == UNKNOWN:
            return 0 if stop is not None and stop <= start else UNKNOWN
        return len(range(start, elements if stop is None else min(stop, elements), step))
