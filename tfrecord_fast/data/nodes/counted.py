"""A node that knows how many elements there have to be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...errors import FailedPreconditionError
from ..sentinels import INFINITE
from .node import Node, Of, Run
from .turns import Turns

__all__ = ["Counted"]


class Counted(Of):
    """The same elements, of which there have to be so many: INFINITE for no end."""

    def __init__(self, node: Node, count: int) -> None:
        super().__init__(node)
        self._count = count

    def iterate(self, run: Run) -> Iterator[Any]:
        return _Counting(run(self.input), self._count)

    def label(self) -> str:
        return f"assert_cardinality({self._count})"

    def cardinality(self) -> int:
        return self._count


class _Counting(Turns):
    def __init__(self, elements: Iterator[Any], count: int) -> None:
        super().__init__()
        self._elements, self._count, self._given = elements, count, 0

    def _next(self) -> Any:
        try:
            element = next(self._elements)
        except StopIteration:
            if self._given == self._count:
                raise
            raise self._error(f"contained only {_elements(self._given)}") from None
        self._given += 1
        if self._count != INFINITE and self._given > self._count:
            raise self._error(f"contained at least {_elements(self._given)}")
        return element

    def _error(self, what: str) -> FailedPreconditionError:
        expected = "an infinite number of elements" if self._count == INFINITE else _elements(self._count)
        return FailedPreconditionError(f"Input dataset was expected to contain {expected} but {what}.")


def _elements(count: int) -> str:
    return f"{count} element" if count == 1 else f"{count} elements"
