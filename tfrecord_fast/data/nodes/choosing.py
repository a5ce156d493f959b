"""Nodes whose elements come from one of several nodes: the one whose number comes next, or one drawn at random."""

from __future__ import annotations

import operator
import random
from collections.abc import Iterator
from itertools import compress
from typing import Any

from ...base.seeds import next_seed
from ...errors import InvalidArgumentError
from ..sentinels import UNKNOWN
from .node import Draws, Node, Run
from .turns import Turns

__all__ = ["Choose", "Sample"]


class Choose(Node):
    """The next element of the node whose number comes next in the node `choices`."""

    def __init__(self, nodes: list[Node], choices: Node, stop_on_empty: bool) -> None:
        self.inputs = (*nodes, choices)
        self._nodes = nodes
        self._choices = choices
        self._stop_on_empty = stop_on_empty

    def iterate(self, run: Run) -> Iterator[Any]:
        return _Chosen([run(node) for node in self._nodes], run(self._choices), self._stop_on_empty)

    def label(self) -> str:
        return f"choose_from_datasets({len(self._nodes)})"

    def describe(self, describe: Any) -> str:
        return self.label()

    def seen_again(self) -> bool:
        return any(node.seen_again() for node in self._nodes)

    def element_spec(self, run: Run) -> Any:
        return self._nodes[0].element_spec(run)


class Sample(Node):
    """Elements of nodes drawn at random, by their weights; with `draws.again`, others in each iteration."""

    draws: Draws

    def __init__(
        self, nodes: list[Node], weights: list[float], seed: int | None, stop_on_empty: bool, again: bool
    ) -> None:
        self.inputs = tuple(nodes)
        self.draws = Draws(next_seed() if seed is None else seed, again)
        self._weights = weights
        self._stop_on_empty = stop_on_empty

    def iterate(self, run: Run) -> Iterator[Any]:
        drawn = _drawn(self._weights, random.Random(self.draws.next_seed()))
        iterators = [run(node) for node in compress(self.inputs, self._weights)]
        return _Chosen(iterators, drawn, self._stop_on_empty)

    def label(self) -> str:
        return f"sample_from_datasets({len(self.inputs)})"

    def describe(self, describe: Any) -> str:
        return self.label()

    def cardinality(self) -> int:
        return UNKNOWN

    def element_spec(self, run: Run) -> Any:
        return self.inputs[0].element_spec(run)


def _drawn(weights: list[float], draw: random.Random) -> Iterator[int]:
    """Numbers of those that have a weight, without end."""
    chances = [weight for weight in weights if weight]
    numbers = range(len(chances))
    while chances:
        yield draw.choices(numbers, chances)[0]


class _Chosen(Turns):
    """The next element of the iterator whose number comes next; an error uses up its number.

    Numbers of iterators that have ended are passed over, or, with `stop_on_empty`, are the end.
    """

    def __init__(self, iterators: list[Iterator[Any]], numbers: Iterator[Any], stop_on_empty: bool) -> None:
        super().__init__()
        self._iterators: list[Iterator[Any] | None] = list(iterators)
        self._numbers = numbers
        self._stop_on_empty = stop_on_empty
        self._left = len(iterators)

    def _next(self) -> Any:
        while self._left:
            iterator = self._iterators[self._number()]
            if iterator is None:
                continue
            try:
                return next(iterator)
            except StopIteration:
                self._iterators = [None if one is iterator else one for one in self._iterators]
                self._left = 0 if self._stop_on_empty else self._left - 1
        raise StopIteration

    def _number(self) -> int:
        given = next(self._numbers)
        try:
            number = operator.index(given)
        except TypeError:
            raise InvalidArgumentError(f"a choice is the number of a dataset, got {given!r:.200}") from None
        if not 0 <= number < len(self._iterators):
            raise InvalidArgumentError(f"the choice {number} is not below {len(self._iterators)}, how many there are")
        return number
