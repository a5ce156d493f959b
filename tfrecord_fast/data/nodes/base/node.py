"""What every node can tell and do: how it iterates, what it is called, how many elements it has, and of what kind."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import partial, reduce
from typing import Any

from ....base.samples import sampling
from ....errors import InvalidArgumentError
from ....values.elements.nests import kind_of, leaves, map_leaves, spec_of
from ....values.elements.samples import common_spec, sample_of, unsure
from ...numbers import UNKNOWN

__all__ = ["Draws", "Iterations", "Node", "Of", "Run", "draws_of"]

_SAMPLE_LENGTHS = (2, 3)
_NO_ELEMENT = "an empty dataset has no element to tell their shapes and dtypes by"


class Draws:
    """The seeds of one iteration after the other: a different one each time, or always the same."""

    def __init__(self, seed: int, again: bool) -> None:
        self.iterations = 0
        self.again = again  # whether each iteration draws a seed of its own
        self.seed = seed

    def next_seed(self) -> int:
        """The seed of the iteration that starts now, of 64 bits."""
        seed = self.seed + self.iterations * 0x9E3779B97F4A7C15
        if self.again:
            self.iterations += 1
        return seed % (1 << 64)

    def at(self, iteration: int) -> Draws:
        """Others of the same seed, whose next iteration is that of this number."""
        made = Draws(self.seed, self.again)
        made.iterations = iteration if self.again else 0
        return made


class Run(ABC):
    """An iteration of a dataset: it starts nodes, each in the best possible way."""

    @abstractmethod
    def __call__(self, node: Node) -> Iterator[Any]:
        """The elements of the node, from the start."""

    def plan(self, node: Node) -> Any:
        """What the native reader does of the node, a RecordPlan; None: nothing."""
        return None

    def own(self, draws: Draws) -> Draws:
        """From what the node with these draws takes the seed of its order here."""
        return draws

    def filling(self) -> Run:
        """What starts the nodes below a cache, whose order is that of the iteration that fills it."""
        return self


class Node(ABC):
    """A source of elements, or a transformation of other nodes.

    Nothing happens before `iterate`, and each iteration starts from the beginning. What an iteration changes in a node
    is kept in the node itself (the elements of a cache), or in its `draws`.
    """

    inputs: tuple[Node, ...] = ()
    draws: Draws | None = None  # if the order differs from iteration to iteration
    calls_functions = False  # of the user's, to make the first element

    def distinct_inputs(self) -> Iterable[Node]:
        """Each input once: a dataset that is joined with itself again and again has few nodes, but very many paths."""
        return dict.fromkeys(self.inputs)

    @abstractmethod
    def iterate(self, run: Run) -> Iterator[Any]:
        """The elements, made in Python from those of the inputs, which `run` starts."""

    @abstractmethod
    def label(self) -> str:
        """What repr calls it, without its inputs."""

    def describe(self, describe: Callable[[Node], str]) -> str:
        """What repr calls it, with its inputs, each as `describe` has it."""
        return ".".join(part for part in (*map(describe, self.inputs), self.label()) if part)

    def copied(self) -> Node:
        """The same node, whose iterations are counted by themselves, as are those of all nodes below that draw."""
        return _copied(self, {})

    def cardinality(self) -> int:
        """The number of elements, INFINITE or UNKNOWN."""
        return UNKNOWN

    def seen_again(self) -> bool:
        """Whether it may give an element once more, so that its arrays are read-only."""
        return any(node.seen_again() for node in self.distinct_inputs())

    def known_kind(self, run: Run) -> Any:
        """What its elements have in common, as of `kind_of`; None if it takes a function of the user's to tell."""
        spec = self.known_spec(run)
        return None if spec is None else kind_of(spec)

    def known_spec(self, run: Run) -> Any:
        """Its element_spec; None if it takes a function of the user's to tell, or there is no element."""
        if self._calls_functions_below():
            return None
        try:
            return self.element_spec(run)
        except InvalidArgumentError:  # no elements
            return None

    def _calls_functions_below(self) -> bool:
        return self.calls_functions or any(node._calls_functions_below() for node in self.distinct_inputs())

    def spec_is_of_all(self) -> bool:
        """Whether a known spec holds for each element: it is not that of the first one."""
        return bool(self.inputs) and all(node.spec_is_of_all() for node in self.distinct_inputs())

    def element_spec(self, run: Run) -> Any:
        """Shape and dtype of the elements, as a structure of TensorSpec.

        By default of the first, which is made for it, and of samples: lengths in which these differ are not known.

        Raises:
          errors.InvalidArgumentError: there is none, and no sample.
        """
        found, error = self._spec_of_first(run)
        if found is None or self._calls_functions_below():
            samples = [one for one in map(partial(self._spec_of_sample, run), _SAMPLE_LENGTHS) if one is not None]
            if found is not None:
                samples = [found, *samples] if samples else [unsure(found)]
            found = reduce(common_spec, samples) if samples else None
        if found is None:
            raise error or InvalidArgumentError(_NO_ELEMENT)
        return found

    def _spec_of_first(self, run: Run) -> tuple[Any, Exception | None]:
        """The spec of the first element, None if there is none, and the error that was in its place."""
        before = Iterations(self, run)
        try:
            for element in run(self):
                return spec_of(element), None
        except Exception as error:
            return None, error
        finally:
            before.restore()
        return None, None

    def _spec_of_sample(self, run: Run, length: int) -> Any:
        """The spec of a made-up element; None if there is none, or a function refuses it."""
        try:
            with sampling(length):
                return spec_of(self.sample(run, length))
        except Exception:
            return None

    def sample(self, run: Run, length: int) -> Any:
        """A made-up element, with that length where lengths are not known.

        Raises:
          Exception: there is no telling what elements are like.
        """
        return sample_of(self._spec_of_first(run)[0], length)


class Of(Node):
    """A transformation of one node; by default it has as many elements, and of the same kind."""

    def __init__(self, node: Node) -> None:
        self.input = node
        self.inputs = (node,)

    def cardinality(self) -> int:
        return self.input.cardinality()

    def element_spec(self, run: Run) -> Any:
        return self.input.element_spec(run)

    def sample(self, run: Run, length: int) -> Any:
        return self.input.sample(run, length)


class Iterations:
    """How many iterations have drawn their seeds, at a node and below, so that a mere look can leave that unchanged."""

    def __init__(self, node: Node, run: Run) -> None:
        found = map(run.own, draws_of(node))
        self._counts = [(draws, draws.iterations) for draws in found]

    def restore(self) -> None:
        """Sets the counts to what they were."""
        for draws, iterations in self._counts:
            draws.iterations = iterations


def draws_of(node: Node) -> list[Draws]:
    """What the orders are drawn from, at a node and below."""
    found: list[Draws] = []
    below = [node]
    while below:
        one = below.pop()
        if one.draws is not None:
            found.append(one.draws)
        below += one.inputs
    return found


def _copied(node: Node, done: dict[Node, Node]) -> Node:
    """A node that neither draws nor is above one that does is itself; the others keep how they share their inputs."""
    if node not in done:
        below = {one: _copied(one, done) for one in node.distinct_inputs()}
        made = node
        if node.draws is not None or any(one is not two for one, two in below.items()):
            made = copy(node)
            made.draws = copy(node.draws)
            for name, value in vars(node).items():
                if isinstance(value, Node):
                    setattr(made, name, below.get(value, value))
                elif isinstance(value, list) and value and all(isinstance(one, Node) for one in value):
                    setattr(made, name, [below.get(one, one) for one in value])
                elif isinstance(value, tuple | dict) and any(isinstance(one, Node) for one in leaves(value)):
                    setattr(made, name, map_leaves(lambda one: below.get(one, one), value))
        done[node] = made
    return done[node]
