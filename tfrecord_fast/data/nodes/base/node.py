"""The base class of nodes: how a node iterates, its label, its cardinality and the spec of its elements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from functools import cached_property, reduce
from typing import Any

from ....base.samples import sampling
from ....base.seeds import next_seed
from ....errors import InvalidArgumentError
from ....values.blocks.block import Block
from ....values.elements.nests import kind_of, leaves, map_leaves, spec_of
from ....values.elements.samples import common_spec, sample_of, unsure
from ...numbers import UNKNOWN

_SAMPLE_LENGTHS = (2, 3)
_NO_ELEMENT = "the dataset is empty, so the shapes and dtypes of its elements are unknown"


class Draws:
    """Seeds of successive iterations: a different one each time, or always the same."""

    def __init__(self, seed: int | None, again: bool) -> None:
        self.iterations = 0
        self.again = again  # each iteration draws a seed of its own
        self.chosen = seed  # by the user
        self.seed = next_seed() if seed is None else seed

    def next_seed(self) -> int:
        """Return the seed, of 64 bits, of the iteration that starts now."""
        seed = self.seed + self.iterations * 0x9E3779B97F4A7C15
        if self.again:
            self.iterations += 1
        return seed % (1 << 64)

    def at(self, iteration: int) -> Draws:
        """Return draws of the same seed whose next iteration has that number."""
        draws = Draws(self.seed, self.again)
        draws.iterations = iteration if self.again else 0
        return draws


class Run(ABC):
    """An iteration of a dataset: starts each node by the native reader where possible, else in Python."""

    @abstractmethod
    def __call__(self, node: Node) -> Iterator[Any]:
        """Iterate over the node's elements from the start."""

    def plan(self, node: Node) -> Any:
        """Return the RecordPlan by which the native reader executes the node, or None."""
        return None

    def blocks(self, node: Node) -> Iterator[Block] | None:
        """Iterate over the node's elements in blocks; return None if it has none, and nothing has happened."""
        return None

    def own(self, draws: Draws) -> Draws:
        """Return the draws that replace a node's own in this run."""
        return draws

    def filling(self) -> Run:
        """Return the run of the nodes below a cache that this iteration fills."""
        return self


class Node(ABC):
    """A source of elements, or a transformation of other nodes.

    Nothing happens before `iterate`, and each iteration starts from the beginning. State that outlives an iteration
    is kept in the node itself (the elements of a cache) or in its `draws`.
    """

    inputs: tuple[Node, ...] = ()
    draws: Draws | None = None  # if the order differs from iteration to iteration
    calls_functions = False  # of the user, to compute the first element
    function: Any = None  # of the user, which may run on blocks
    _kept_spec: Any = None
    has_no_plan = False  # the native reader can't execute it, because it can't the source
    _label = ""

    @cached_property
    def depth(self) -> int:
        """The number of steps of the longest chain down to a source."""
        return 1 + max((node.depth for node in self.inputs), default=-1)

    @cached_property
    def wants_blocks(self) -> bool:
        """True if a function of the node, or below it, may run on blocks."""
        return hasattr(self.function, "on_blocks") or any(node.wants_blocks for node in self.inputs)

    @cached_property
    def has_one_spec(self) -> bool:
        """True if the spec holds for each element: neither a function nor the first element decides."""
        return bool(self.inputs) and not self.calls_functions and all(node.has_one_spec for node in self.inputs)

    @cached_property
    def _calls_functions_below(self) -> bool:
        return self.calls_functions or any(node._calls_functions_below for node in self.inputs)

    @cached_property
    def _inputs_are_seen_again(self) -> bool:
        return any(node.seen_again() for node in self.distinct_inputs())

    def distinct_inputs(self) -> Iterable[Node]:
        """Return each input once: a dataset joined with itself many times has few nodes, but very many paths."""
        return dict.fromkeys(self.inputs)

    @abstractmethod
    def iterate(self, run: Run) -> Iterator[Any]:
        """Iterate in Python over the elements; `run` starts the inputs."""

    def blocks(self, run: Run) -> Iterator[Block] | None:
        """Iterate over the elements in blocks, if the inputs have blocks; `run` starts these."""
        return None

    def label(self) -> str:
        """Return the node's name in `repr`, without its inputs."""
        return self._label

    def describe(self, describe: Callable[[Node], str]) -> str:
        """Return the `repr` of the node and its inputs, which `describe` describes."""
        return ".".join(name for name in (*map(describe, self.inputs), self.label()) if name)

    def copied(self) -> Node:
        """Return a copy that counts its iterations separately, as do copies of all nodes below that draw."""
        return _copied(self, {})

    def cardinality(self) -> int:
        """Return the number of elements, INFINITE or UNKNOWN."""
        return UNKNOWN

    def seen_again(self) -> bool:
        """Return True if the node may yield an element twice, so that its arrays are read-only."""
        return self._inputs_are_seen_again

    def known_kind(self, run: Run) -> Any:
        """Return the `kind_of` the elements, or None if only a function of the user can tell."""
        spec = self.known_spec(run)
        return None if spec is None else kind_of(spec)

    def known_spec(self, run: Run) -> Any:
        """Return the element_spec, or None if only a function of the user can tell, or the dataset is empty."""
        if self._calls_functions_below:
            return None
        try:
            return self.element_spec(run)
        except InvalidArgumentError:  # no elements
            return None

    def element_spec(self, run: Run) -> Any:
        """Return `spec`, which is kept if it holds for each element."""
        if not self.has_one_spec:
            return self.spec(run)
        if self._kept_spec is None:
            self._kept_spec = self.spec(run)
        return self._kept_spec

    def spec(self, run: Run) -> Any:
        """Return shape and dtype of the elements, as a structure of TensorSpec.

        By default they are those of the first element, which is computed for it, and of samples. Lengths that differ
        among these are unknown.

        Raises:
          errors.InvalidArgumentError: no element and no sample.
        """
        spec, error = self._spec_of_first(run)
        if spec is None or self._calls_functions_below:
            samples = [
                sample for length in _SAMPLE_LENGTHS if (sample := self._spec_of_sample(run, length)) is not None
            ]
            if spec is not None:
                samples = [spec, *samples] if samples else [unsure(spec)]
            spec = reduce(common_spec, samples) if samples else None
        if spec is None:
            raise error or InvalidArgumentError(_NO_ELEMENT)
        return spec

    def _spec_of_first(self, run: Run) -> tuple[Any, Exception | None]:
        """Return the spec of the first element, or the error in its place; both None without elements."""
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
        """Return the spec of a sample; None if there is none, or a function rejects it."""
        try:
            with sampling(length):
                return spec_of(self.sample(run, length))
        except Exception:
            return None

    def sample(self, run: Run, length: int) -> Any:
        """Return an invented element, in which unknown lengths are `length`."""
        return sample_of(self._spec_of_first(run)[0], length)


class Of(Node):
    """A transformation of one node; by default with the same number and kind of elements."""

    def __init__(self, node: Node) -> None:
        self.input = node
        self.inputs = (node,)
        self.depth = node.depth + 1

    def cardinality(self) -> int:
        return self.input.cardinality()

    def spec(self, run: Run) -> Any:
        return self.input.element_spec(run)

    def sample(self, run: Run, length: int) -> Any:
        return self.input.sample(run, length)


class Selected(Of):
    """Some elements of a node: how many, only an iteration can tell."""

    def cardinality(self) -> int:
        return UNKNOWN


class Computed(Of):
    """Elements that a function of the user computes, so that their spec is that of the first one and of samples."""

    calls_functions = True

    def spec(self, run: Run) -> Any:
        return Node.spec(self, run)


class Iterations:
    """Numbers of iterations drawn at a node and below, so that looking at a dataset can leave them unchanged."""

    def __init__(self, node: Node, run: Run) -> None:
        self._counts = [(draws, draws.iterations) for draws in map(run.own, draws_of(node))]

    def restore(self) -> None:
        for draws, iterations in self._counts:
            draws.iterations = iterations


def draws_of(node: Node) -> list[Draws]:
    nodes, seen = [node], {node}
    for node in nodes:
        new = [other for other in node.distinct_inputs() if other not in seen]
        seen.update(new)
        nodes += new
    return [node.draws for node in nodes if node.draws is not None]


def _copied(node: Node, copies: dict[Node, Node]) -> Node:
    """Copy the nodes that draw, and those above them, which keep sharing their inputs."""
    if node not in copies:
        below = {old: _copied(old, copies) for old in node.distinct_inputs()}
        copies[node] = node
        if node.draws is not None or any(old is not new for old, new in below.items()):
            copies[node] = changed = copy(node)
            changed.draws = copy(node.draws)
            for name, value in vars(node).items():
                if isinstance(value, Node):
                    setattr(changed, name, below.get(value, value))
                elif isinstance(value, list) and value and all(isinstance(item, Node) for item in value):
                    setattr(changed, name, [below.get(item, item) for item in value])
                elif isinstance(value, tuple | dict) and any(isinstance(item, Node) for item in leaves(value)):
                    setattr(changed, name, map_leaves(lambda item: below.get(item, item), value))
    return copies[node]
