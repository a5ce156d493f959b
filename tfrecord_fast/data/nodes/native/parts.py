"""One worker's elements of a dataset: only these go through the functions at the end of the chain."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

from ..ahead.prefetch import Prefetch
from ..base.node import Node
from ..base.turns import take_turns
from ..elements.maps import Map
from ..elements.options import WithOptions
from ..order.ordering import Slice, Window


class Spent:
    """Errors of the functions at the end. Each has used up an element of the worker; other errors have not."""

    def __init__(self) -> None:
        self._errors: list[Exception] = []
        self._turn: Any
        take_turns(self)

    def noting(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """Return the function, with its errors recorded."""

        def of_element(element: Any) -> Any:
            try:
                return function(element)
            except Exception as error:
                self._errors.append(error)
                raise

        return of_element

    def take(self, error: Exception) -> bool:
        """Remove the error; return False if no function raised it."""
        with self._turn:
            for index, raised in enumerate(self._errors):
                if raised is error:
                    del self._errors[index]
                    return True
        return False


def part_of(node: Node, start: int, step: int, spent: Spent) -> Node:
    """Return a node of the elements number `start`, `start + step`, …; errors before the functions have no number."""
    if not isinstance(node, Map | Prefetch | WithOptions):
        return node if (start, step) == (0, 1) else Slice(node, Window(start, None, step), f"part({start}, {step})")
    changed = node.within(spent.noting) if isinstance(node, Map) else copy(node)
    changed.input = part_of(node.input, start, step, spent)
    changed.inputs = (changed.input,)
    return changed
