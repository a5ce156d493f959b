"""Elements kept in memory, or in a file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from ...values.owned import renewed
from ..saved import Saving, as_read, elements_in
from .iterators import Filling
from .node import Node, Of, Run
from .turns import InTurn, Turns

__all__ = ["Cache", "FileCache"]


class Cache(Of):
    """All elements, kept once an iteration has given them all."""

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self._elements: list[Any] | None = None

    def iterate(self, run: Run) -> Iterator[Any]:
        if self._elements is not None:
            return map(renewed, self._elements)
        return Filling(run.filling()(self.input), self.input.cardinality(), self._keep)

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
        return _FillingFile(run.filling()(self.input), self.input.cardinality(), Saving(self._path, self._compression))

    def seen_again(self) -> bool:
        return True  # what comes from a file can't be written to

    def label(self) -> str:
        return self._label

    def cardinality(self) -> int:
        return self.input.cardinality()


class _FillingFile(Turns):
    """Elements that are written, too. Without a complete iteration there is no file. What raises is not kept."""

    def __init__(self, elements: Iterator[Any], count: int, saving: Saving) -> None:
        super().__init__()
        self._elements, self._count = elements, count
        self._saving: Saving | None = saving
        self._process = os.getpid()
        self._given = 0

    def _next(self) -> Any:
        for element in self._elements:
            self._given += 1
            self._add(element)
            if self._given == self._count:
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
