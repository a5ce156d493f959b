"""A part of the elements, for one of several processes: only that part goes through the functions at the end."""

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

__all__ = ["Spent", "part_of"]


class Spent:
    """The errors of functions at the end. Each has used up an element of the part; other errors have used up none."""

    def __init__(self) -> None:
        self._errors: list[Exception] = []
        self._turn: Any
        take_turns(self)

    def noting(self, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The function, with its errors noted."""

        def of_element(element: Any) -> Any:
            try:
                return function(element)
            except Exception as error:
                self._errors.append(error)
                raise

        return of_element

    def take(self, error: Exception) -> bool:
        """Whether it is one of them, which counts once for each time that it was raised."""
        with self._turn:
            for place, one in enumerate(self._errors):
                if one is error:
                    del self._errors[place]
                    return True
        return False


def part_of(node: Node, start: int, step: int, spent: Spent) -> Node:
    """Elements number `start`, `start + step`, … of the node, without those that are errors before the functions."""
    if not isinstance(node, Map | Prefetch | WithOptions):
        return node if (start, step) == (0, 1) else Slice(node, Window(start, None, step), f"part({start}, {step})")
    made = node.within(spent.noting) if isinstance(node, Map) else copy(node)  # its draws are the node's, if it has any
    made.input = part_of(node.input, start, step, spent)
    made.inputs = (made.input,)
    return made
