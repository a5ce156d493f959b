"""Nodes that call a function of the user on each element: map, filter, scan, take_while; and enumerate."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any

import numpy as np

from ....errors import InvalidArgumentError
from ....values.blocks.block import Block
from ....values.elements.nests import normalize, spec_of
from ....values.elements.owned import snapshot, writable
from ...functions import call, guarded, name_of, test
from ..ahead.mapped import Mapped
from ..ahead.trials import Verdict
from ..base.node import Computed, Node, Of, Run, Selected
from ..base.turns import InTurn, Turns
from ..blocks.iterators import (
    Called,
    Fitted,
    Numbered,
    block_function,
    called_alone,
    run_call,
    select_rows,
    tested_alone,
)


class Map(Computed):
    """The function's results.

    Args:
      threads: the number of threads; 0 for none.
      tried: starts threads only when the function proves to be slow.
    """

    def __init__(self, node: Node, function: Callable[..., Any], threads: int = 0, tried: bool = False) -> None:
        super().__init__(node)
        self.function = function
        self.threads = threads
        self.tried = tried
        self._verdict = Verdict()

    def iterate(self, run: Run) -> Iterator[Any]:
        return self.over(run(self.input), self._verdict if self.tried else None)

    def blocks(self, run: Run) -> Iterator[Block] | None:
        function = block_function(self.function)
        blocks = None if function is None else run.blocks(self.input)
        if function is None or blocks is None:
            return None
        calls = Fitted(blocks, function)
        verdict = self._verdict if self.tried else None
        run_calls = Mapped(calls, run_call, self.threads, verdict) if self.threads else map(run_call, calls)
        return Called(run_calls, called_alone(self.called()), function)

    def over(self, elements: Iterator[Any], verdict: Verdict | None = None) -> Iterator[Any]:
        """Iterate over the function's results for these elements; with a verdict, on threads only if it is slow."""
        function = self.called()
        return Mapped(elements, function, self.threads, verdict) if self.threads else map(function, elements)

    def called(self) -> Callable[[Any], Any]:
        return call(self.function, self.input.seen_again())

    def label(self) -> str:
        threads = f", {self.threads} threads" if self.threads else ""
        return f"map({name_of(self.function)}{threads})"

    def seen_again(self) -> bool:
        return False

    def sample(self, run: Run, length: int) -> Any:
        return call(self.function, False)(self.input.sample(run, length))


class Filter(Selected):
    """The elements for which the function returns true."""

    def __init__(self, node: Node, predicate: Callable[..., Any]) -> None:
        super().__init__(node)
        self.function = predicate

    def iterate(self, run: Run) -> Iterator[Any]:
        return filter(self._tested(), run(self.input))

    def _tested(self) -> Callable[[Any], bool]:
        return test(self.function, self.input.seen_again())

    def blocks(self, run: Run) -> Iterator[Block] | None:
        predicate = block_function(self.function)
        blocks = None if predicate is None else run.blocks(self.input)
        if predicate is None or blocks is None:
            return None
        calls = map(run_call, Fitted(blocks, predicate))
        return Called(calls, tested_alone(self._tested()), predicate, select_rows)

    def label(self) -> str:
        return f"filter({name_of(self.function)})"


class Enumerate(Of):
    """Pairs of a number, from `start` on, and an element."""

    def __init__(self, node: Node, start: int) -> None:
        super().__init__(node)
        self._start = start

    def iterate(self, run: Run) -> Iterator[Any]:
        return _Numbered(run(self.input), self._start)

    def blocks(self, run: Run) -> Iterator[Block] | None:
        blocks = run.blocks(self.input)
        return None if blocks is None else Numbered(blocks, self._start)

    def label(self) -> str:
        return f"enumerate({self._start or ''})"

    def spec(self, run: Run) -> Any:
        return (spec_of(np.int64(0)), self.input.element_spec(run))

    def sample(self, run: Run, length: int) -> Any:
        return (np.int64(length), self.input.sample(run, length))


class _Numbered(Turns):
    """Pairs of a number and an element; an error has its number, as in TensorFlow."""

    def __init__(self, elements: Iterator[Any], start: int) -> None:
        super().__init__()
        self._elements = elements
        self._number = start

    def _next(self) -> Any:
        number = np.int64(self._number)
        self._number += 1
        return number, next(self._elements)


class Scan(Computed):
    """The results of a function that maps (state, element) to (next state, result)."""

    _label = "scan()"

    def __init__(self, node: Node, state: Any, function: Callable[[Any, Any], Any]) -> None:
        super().__init__(node)
        self._state = state
        self._function = function

    def iterate(self, run: Run) -> Iterator[Any]:
        function = guarded(self._function)
        if self.input.seen_again():
            return _Scanned(run(self.input), self._state, lambda state, element: function(state, writable(element)))
        return _Scanned(run(self.input), self._state, function)

    def seen_again(self) -> bool:
        return False

    def sample(self, run: Run, length: int) -> Any:
        return self._function(self._state, self.input.sample(run, length))[1]


class _Scanned(Turns):
    """The results of scan. The function owns its state: it may write to it, and return it as the result."""

    def __init__(self, elements: Iterator[Any], state: Any, function: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self._elements = elements
        self._state = snapshot(state)
        self._function = function

    def _next(self) -> Any:
        pair = tuple(self._function(writable(self._state), next(self._elements)))
        if len(pair) != 2:
            raise InvalidArgumentError(f"the function of scan must return a state and a result, got {len(pair)} values")
        state, result = normalize(pair)
        self._state = snapshot(state)
        return result


class TakeWhile(Selected):
    """The elements before the first for which the function returns false."""

    _label = "take_while()"

    def __init__(self, node: Node, predicate: Callable[..., Any]) -> None:
        super().__init__(node)
        self.function = predicate

    def iterate(self, run: Run) -> Iterator[Any]:
        return InTurn(takewhile(test(self.function, self.input.seen_again()), run(self.input)))
