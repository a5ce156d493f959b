"""Nodes that choose among datasets or elements: by number, at random, or by class."""

from __future__ import annotations

import operator
import random
from collections.abc import Callable, Iterator
from functools import reduce
from itertools import compress, repeat
from typing import Any

import numpy as np

from ....errors import InvalidArgumentError
from ....values.elements.samples import common_spec
from ...numbers import INFINITE, UNKNOWN
from ..base.node import Computed, Draws, Node, Run
from ..base.turns import Turns
from .groups import whole


class _Choosing(Node):
    """Elements of several nodes; each comes from one of them."""

    method: str

    def __init__(self, nodes: list[Node], others: tuple[Node, ...], stop_on_empty: bool) -> None:
        self.inputs = (*nodes, *others)
        self._nodes = nodes
        self._stop_on_empty = stop_on_empty

    def label(self) -> str:
        return f"{self.method}({len(self._nodes)})"

    def describe(self, describe: Any) -> str:
        return self.label()

    def cardinality(self) -> int:
        return _cardinality_of_any(self._nodes)

    def seen_again(self) -> bool:
        return any(node.seen_again() for node in self._nodes)

    def spec(self, run: Run) -> Any:
        return reduce(common_spec, (node.element_spec(run) for node in self._nodes))

    def sample(self, run: Run, length: int) -> Any:
        return self._nodes[length % len(self._nodes)].sample(run, length)


class Choose(_Choosing):
    """The next element of the node whose number is next in the node `choices`."""

    method = "choose_from_datasets"

    def __init__(self, nodes: list[Node], choices: Node, stop_on_empty: bool) -> None:
        super().__init__(nodes, (choices,), stop_on_empty)
        self._choices = choices

    def iterate(self, run: Run) -> Iterator[Any]:
        return _Chosen([run(node) for node in self._nodes], run(self._choices), self._stop_on_empty)


class Sample(_Choosing):
    """Elements drawn from nodes at random, by weight; with `draws.again`, different ones in each iteration."""

    method = "sample_from_datasets"
    draws: Draws

    def __init__(
        self, nodes: list[Node], weights: list[float], seed: int | None, stop_on_empty: bool, again: bool
    ) -> None:
        super().__init__(nodes, (), stop_on_empty)
        self.draws = Draws(seed, again)
        self._weights = weights

    def iterate(self, run: Run) -> Iterator[Any]:
        drawn = _drawn(self._weights, random.Random(run.own(self.draws).next_seed()))
        iterators = [run(node) for node in compress(self.inputs, self._weights)]
        return _Chosen(iterators, drawn, self._stop_on_empty)

    def cardinality(self) -> int:
        drawn = list(compress(self._nodes, self._weights))
        return drawn[0].cardinality() if len(drawn) == 1 else _cardinality_of_any(drawn) if drawn else 0


class SampleBy(Sample):
    """Elements drawn from nodes at random, by weights that are the elements of another node, up to its end."""

    def __init__(self, nodes: list[Node], weights: Node, seed: int | None, stop_on_empty: bool, again: bool) -> None:
        super().__init__(nodes, [1.0] * len(nodes), seed, stop_on_empty, again)
        self._by = weights
        self.inputs = (*nodes, weights)

    def iterate(self, run: Run) -> Iterator[Any]:
        draw = random.Random(run.own(self.draws).next_seed())

        def number(weights: Any) -> int:
            chances = np.asarray(weights, np.float64)
            if chances.shape != (len(self._nodes),):
                raise InvalidArgumentError(f"weights of shape {chances.shape} for {len(self._nodes)} datasets")
            if not (np.isfinite(chances).all() and (chances >= 0).all() and chances.any()):
                raise InvalidArgumentError(f"weights must be finite, not negative and not all 0, got {weights!r:.200}")
            return draw.choices(range(len(chances)), chances.tolist())[0]

        return _Chosen([run(node) for node in self._nodes], map(number, run(self._by)), self._stop_on_empty)

    def cardinality(self) -> int:
        return _cardinality_of_any(self._nodes)


class Resample(Computed):
    """Pairs of a class and an element; elements are left out so that the classes have the target shares.

    `initial` has the actual shares; None: they are counted.
    """

    draws: Draws

    def __init__(
        self,
        node: Node,
        class_of: Callable[[Any], Any],
        target: list[float],
        initial: list[float] | None,
        seed: int | None,
    ) -> None:
        super().__init__(node)
        self.draws = Draws(seed, seed is None)
        self.class_of, self.target, self.initial = class_of, target, initial

    def iterate(self, run: Run) -> Iterator[Any]:
        return _Resampled(run(self.input), self, run.own(self.draws).next_seed())

    def label(self) -> str:
        return f"rejection_resample({self.target})"

    def cardinality(self) -> int:
        elements = self.input.cardinality()
        if self.initial == self.target:
            return elements
        leaves_a_class_out = self.initial is not None and 0 in self.target
        return INFINITE if elements == INFINITE and not leaves_a_class_out else UNKNOWN

    def sample(self, run: Run, length: int) -> Any:
        element = self.input.sample(run, length)
        return self.class_of(element), element


class _Resampled(Turns):
    def __init__(self, elements: Iterator[Any], node: Resample, seed: int) -> None:
        super().__init__()
        self._elements, self._class_of, self._target = elements, node.class_of, node.target
        self._counting = node.initial is None
        # Counts start at 10, as in TensorFlow, so that the first elements don't decide alone.
        self._has = [10.0] * len(node.target) if node.initial is None else node.initial
        self._random = random.Random(seed)

    def _next(self) -> Any:
        while True:
            element = next(self._elements)
            label = self._class_of(element)
            number = _number_below(len(self._target), label, "the class from `class_func`")
            if self._counting:
                self._has[number] += 1
            if self._random.random() < self._chance(number):
                return label, element

    def _chance(self, number: int) -> float:
        """Return the probability of keeping an element of the class: 1 for the class that lacks elements most."""
        target, has = self._target[number], self._has[number]
        if not target or not has:
            return 1.0 if target else 0.0
        return target / has / max(want / have for want, have in zip(self._target, self._has, strict=True) if have)


def _cardinality_of_any(nodes: list[Node]) -> int:
    """Return the cardinality of elements that come from changing nodes, as in TensorFlow."""
    return INFINITE if any(node.cardinality() == INFINITE for node in nodes) else UNKNOWN


def _drawn(weights: list[float], draw: random.Random) -> Iterator[int]:
    """Draw numbers of the nonzero weights, endlessly."""
    chances = [weight for weight in weights if weight]
    numbers = range(len(chances))
    return map(lambda _: draw.choices(numbers, chances)[0], repeat(None) if chances else ())


class _Chosen(Turns):
    """The next element of the iterator whose number is next; an error uses up its number.

    The number of an iterator that has ended is skipped; with `stop_on_empty`, the iteration ends.
    """

    def __init__(self, iterators: list[Iterator[Any]], numbers: Iterator[Any], stop_on_empty: bool) -> None:
        super().__init__()
        self._iterators: list[Iterator[Any] | None] = list(iterators)
        self._numbers = numbers
        self._stop_on_empty = stop_on_empty
        self._left = len(iterators)

    def _next(self) -> Any:
        while self._left:
            choice = whole("a choice among datasets", next(self._numbers))
            number = _number_below(len(self._iterators), choice, "a choice among datasets")
            iterator = self._iterators[number]
            if iterator is None:
                continue
            try:
                return next(iterator)
            except StopIteration:
                self._iterators = [None if other is iterator else other for other in self._iterators]
                self._left = 0 if self._stop_on_empty else self._left - 1
        raise StopIteration


def _number_below(count: int, value: Any, origin: str) -> int:
    try:
        number = operator.index(value.item() if hasattr(value, "item") else value)
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"{origin} must be an integer, got {value!r:.200}") from None
    if not 0 <= number < count:
        raise InvalidArgumentError(f"{origin} must be a number from 0 to {count - 1}, got {number}")
    return number
