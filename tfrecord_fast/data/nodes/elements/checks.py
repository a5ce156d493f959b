"""Nodes that skip elements that raise, and that check the number of elements."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from ....base.handlers import raised_by_handler
from ....errors import FailedPreconditionError
from ....values.blocks.block import Block
from ...numbers import INFINITE
from ..base.node import Node, Of, Run, Selected
from ..base.turns import Turns


class IgnoreErrors(Selected):
    """The elements that don't raise; `log_warning` warns of those that do."""

    _label = "ignore_errors()"

    def __init__(self, node: Node, log_warning: bool) -> None:
        super().__init__(node)
        self.log_warning = log_warning

    def iterate(self, run: Run) -> Iterator[Any]:
        return _Ignoring(run(self.input), self.log_warning)

    def blocks(self, run: Run) -> Iterator[Block] | None:
        blocks = run.blocks(self.input)
        return None if blocks is None else _Ignoring(blocks, self.log_warning)


class _Ignoring(Iterator[Any]):
    """The elements that don't raise, up to the end of the input.

    Exceptions of a signal handler and mistakes of the script are not skipped.
    """

    def __init__(self, elements: Iterator[Any], log_warning: bool) -> None:
        self._elements = elements
        self._log_warning = log_warning

    def __next__(self) -> Any:
        while True:
            try:
                return next(self._elements)
            except StopIteration:
                raise
            except Exception as error:
                if raised_by_handler(error) or _is_a_mistake(error):
                    raise
                if self._log_warning:
                    warnings.warn(f"an element was skipped: {error}", stacklevel=2)


def _is_a_mistake(error: Exception) -> bool:
    """Return True if the script is wrong, so that every element fails: a name or a module does not exist.

    An attribute of None may be missing for some elements only, such as the match of a regular expression.
    """
    if isinstance(error, AttributeError):
        return error.obj is not None
    return isinstance(error, NameError | ImportError)


class Counted(Of):
    """The same elements, whose number must be `count`; INFINITE: without end."""

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
        self._elements, self._count, self._yielded = elements, count, 0

    def _next(self) -> Any:
        try:
            element = next(self._elements)
        except StopIteration:
            if self._yielded == self._count:
                raise
            raise self._error(f"contained only {_elements(self._yielded)}") from None
        self._yielded += 1
        if self._count != INFINITE and self._yielded > self._count:
            raise self._error(f"contained at least {_elements(self._yielded)}")
        return element

    def _error(self, what: str) -> FailedPreconditionError:
        expected = "an infinite number of elements" if self._count == INFINITE else _elements(self._count)
        return FailedPreconditionError(f"Input dataset was expected to contain {expected} but {what}.")


def _elements(count: int) -> str:
    return f"{count} element" if count == 1 else f"{count} elements"
