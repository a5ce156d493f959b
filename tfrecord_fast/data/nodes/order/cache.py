"""Elements kept in memory, or in a file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

from ....base.handlers import raised_by_handler
from ....values.elements.owned import renewed
from ...saving.saved import Saving, as_read, elements_in
from ..base.iterators import Filling
from ..base.node import Node, Of, Run
from ..base.turns import InTurn, Turns
from ..elements.checks import Counted

__all__ = ["Cache", "FileCache"]


class Cache(Of):
    """All elements, kept once an iteration has given them all."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._elements: list[Any] | None = None

    def iterate(self, run: Run) -> Iterator[Any]:
        if self._elements is not None:
            return map(renewed, self._elements)
        return Filling(*_begun(self.input, run), self._keep)

    def _keep(self, elements: list[Any]) -> None:
        self._elements = elements

    def seen_again(self) -> bool:
        return True

    def label(self) -> str:
        return "cache()"


class FileCache(Of):
    """All elements, in a file that appears once an iteration has given them all. If it is there, no element is made."""

    def __init__(self, node: Node, path: str, compression: str, label: str) -> None:
        super().__init__(node)
        self._path, self._compression, self._label = path, compression, label

    def iterate(self, run: Run) -> Iterator[Any]:
        with contextlib.suppress(FileNotFoundError):
            return InTurn(elements_in(self._path, self._compression))
        return _FillingFile(*_begun(self.input, run), Saving(self._path, self._compression))

    def seen_again(self) -> bool:
        return True  # what comes from a file can't be written to

    def label(self) -> str:
        return self._label

    def cardinality(self) -> int:
        return self.input.cardinality()


def _begun(node: Node, run: Run) -> tuple[Iterator[Any], Callable[[int], bool]]:
    """The elements to keep, and whether the one of a number, from 1 on, is known to be the last."""
    elements, count = run.filling()(node), node.cardinality()
    if not _is_asserted(node):
        return elements, count.__eq__
    looking = _Looking(elements, count)
    return looking, lambda number: looking.has_ended


def _is_asserted(node: Node) -> bool:
    """Whether how many elements there are is only what somebody has said."""
    seen, below = {node}, [node]
    while below:
        one = below.pop()
        if isinstance(one, Counted):
            return True
        new = set(one.inputs) - seen
        seen |= new
        below += new
    return False


class _Looking(Turns):
    """Elements; with the last that there should be, it is found out whether the end follows, or an error."""

    def __init__(self, elements: Iterator[Any], count: int) -> None:
        super().__init__()
        self._elements, self._left = elements, count
        self._ahead: list[tuple[Any, Exception | None]] = []  # what comes next, or an error in its place
        self.has_ended = False

    def _next(self) -> Any:
        if self._ahead:
            (element, error), self._ahead = self._ahead[0], self._ahead[1:]
            if error is not None:
                raise error
            return element
        for element in self._elements:
            self._left -= 1
            if self._left == 0:
                self._ahead = [(element, None)]
                self._look()
                self._ahead = self._ahead[1:]
            return element
        raise StopIteration

    def _look(self) -> None:
        try:
            for element in self._elements:
                self._ahead = [*self._ahead, (element, None)]
                return
        except Exception as error:
            if raised_by_handler(error):
                raise
            self._ahead = [*self._ahead, (None, error)]
        else:
            self.has_ended = True


class _FillingFile(Turns):
    """Elements that are also written. Without a complete iteration there is no file. What raises is not kept."""

    def __init__(self, elements: Iterator[Any], is_last: Callable[[int], bool], saving: Saving) -> None:
        super().__init__()
        self._elements, self._is_last = elements, is_last
        self._saving: Saving | None = saving
        self._process = os.getpid()
        self._given = 0

    def _next(self) -> Any:
        for element in self._elements:
            self._given += 1
            self._add(element)
            if self._is_last(self._given):
                self._complete()
            return as_read(element)
        self._complete()
        raise StopIteration

    def _add(self, element: Any) -> None:
        if self._saving is None:
            return
        try:
            self._saving.add(element)
        except BaseException:  # without it, the file would not be complete
            self._discard()
            raise

    def _complete(self) -> None:
        if self._saving is not None:
            self._saving.complete()
            self._saving = None

    def _discard(self) -> None:
        if self._saving is not None and os.getpid() == self._process:  # a forked process leaves its parent's alone
            self._saving.discard()
        self._saving = None

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self._discard()
