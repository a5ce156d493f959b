"""Elements kept in memory, or in a file."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import Any

from ....values.blocks.block import Block
from ....values.elements.owned import read_only, renewed
from ...saving.saved import Saving, as_read, elements_in
from ..base.node import Node, Of, Run
from ..base.turns import InTurn, Turns
from ..blocks.iterators import Elements

# A cache is complete, as in TensorFlow, at the end of its input, or with the element whose number is the cardinality.


class Cache(Of):
    """All elements, kept in memory once an iteration is complete."""

    _label = "cache()"

    def __init__(self, node: Node) -> None:
        super().__init__(node)
        self.kept: list[Any] | None = None
        self.kept_blocks: list[Block] | None = None  # instead

    def iterate(self, run: Run) -> Iterator[Any]:
        if self.kept is not None:
            return map(renewed, self.kept)
        if self.kept_blocks is not None:
            return map(renewed, Elements(iter(self.kept_blocks)))
        return _Filling(self, run.filling()(self.input), "kept")

    def blocks(self, run: Run) -> Iterator[Block] | None:
        if self.kept is not None:
            return None
        if self.kept_blocks is not None:
            return iter(self.kept_blocks)
        blocks = run.filling().blocks(self.input)
        return None if blocks is None else _Filling(self, blocks, "kept_blocks")

    def seen_again(self) -> bool:
        return True


class _Filling(Turns):
    """Elements, or blocks, that are also kept for a cache, which gets them with the last one. Errors are not kept."""

    def __init__(self, cache: Cache, elements: Iterator[Any], attribute: str) -> None:
        super().__init__()
        self._cache, self._elements, self._attribute = cache, elements, attribute
        self._count = cache.input.cardinality()
        self._kept: list[Any] = []
        self._seen = 0

    def _next(self) -> Any:
        for element in self._elements:
            is_block = isinstance(element, Block)
            kept = element.read_only() if is_block else read_only(element)
            self._kept.append(kept)
            self._seen += len(kept) if is_block else 1
            if self._seen == self._count:
                setattr(self._cache, self._attribute, self._kept)
            return kept if is_block else renewed(kept)
        setattr(self._cache, self._attribute, self._kept)
        raise StopIteration


class FileCache(Of):
    """All elements, in a file that appears once an iteration is complete. If the file exists, elements come from it."""

    def __init__(self, node: Node, path: str, compression: str, label: str, pipeline: str) -> None:
        super().__init__(node)
        self._path, self._compression, self._label, self._pipeline = path, compression, label, pipeline

    def iterate(self, run: Run) -> Iterator[Any]:
        with contextlib.suppress(FileNotFoundError):
            return InTurn(elements_in(self._path, self._compression, self._pipeline))
        elements = run.filling()(self.input)
        saving = Saving(self._path, self._compression, self._pipeline)
        return _FillingFile(elements, self.input.cardinality(), saving)

    def seen_again(self) -> bool:
        return True  # elements of a file are read-only


class _FillingFile(Turns):
    """Elements that are also written to a file, which is complete with the last one. Errors are not written."""

    def __init__(self, elements: Iterator[Any], count: int, saving: Saving) -> None:
        super().__init__()
        self._elements, self._count = elements, count
        self._saving: Saving | None = saving
        self._process = os.getpid()
        self._written = 0

    def _next(self) -> Any:
        for element in self._elements:
            self._written += 1
            self._add(element)
            if self._written == self._count:
                self._complete()
            return as_read(element)
        self._complete()
        raise StopIteration

    def _add(self, element: Any) -> None:
        if self._saving is None:
            return
        try:
            self._saving.add(element)
        except BaseException:  # the file would lack the element
            self._discard()
            raise

    def _complete(self) -> None:
        if self._saving is not None:
            self._saving.complete()
            self._saving = None

    def _discard(self) -> None:
        if self._saving is not None and os.getpid() == self._process:  # a forked process keeps off its parent's file
            self._saving.discard()
        self._saving = None

    def __del__(self) -> None:
        if hasattr(self, "_process"):
            self._discard()
