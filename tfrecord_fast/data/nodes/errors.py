"""What becomes of elements that raise when they are made."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

from ...base.handlers import raised_by_handler
from ..sentinels import UNKNOWN
from .node import Node, Of, Run

__all__ = ["IgnoreErrors"]


class IgnoreErrors(Of):
    """The elements that can be made; `log_warning` warns of each that raises."""

    def __init__(self, node: Node, log_warning: bool) -> None:
        super().__init__(node)
        self.log_warning = log_warning

    def iterate(self, run: Run) -> Iterator[Any]:
        return Ignoring(run(self.input), self.log_warning)

    def label(self) -> str:
        return "ignore_errors()"

    def cardinality(self) -> int:
        return UNKNOWN


class Ignoring(Iterator[Any]):
    """Skips elements that raise when they are made; ends if an error ends the elements below it, too.

    What a signal handler raises is not skipped: it ends the iteration.
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
                if raised_by_handler(error):
                    raise
                if self._log_warning:
                    warnings.warn(f"an element was skipped: {error}", stacklevel=2)
