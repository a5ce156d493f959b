"""Batches cut from blocks: a slice where rows are adjacent, a copy where they come from several blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ....values.blocks.block import Block
from ..batches.runs import Batches
from .iterators import Cursor


class BlockBatches(Batches):
    """Batches of the elements of blocks, with the errors of `Batches`."""

    def __init__(
        self,
        blocks: Iterator[Block],
        size: int,
        drop_remainder: bool,
        join_blocks: Callable[[list[Block]], Any],
        skips_rest: bool,
    ) -> None:
        cursor = Cursor(blocks)
        super().__init__(_Singles(cursor), size, drop_remainder, skips_rest=skips_rest)
        self._cursor = cursor
        self._join_blocks = join_blocks

    def _next(self) -> Any:
        if self._missed:
            self._skip()
        pieces: list[Block] = []
        count = 0
        while count < self._size:
            try:
                available = self._cursor.available()
            except StopIteration:
                break
            except Exception:
                if self._skips_rest:
                    self._missed = self._size - count - 1
                raise
            piece = self._cursor.take(min(available, self._size - count))
            pieces.append(piece)
            count += len(piece)
        if not pieces or (self._drop_remainder and count < self._size):
            raise StopIteration
        return self._join_blocks(pieces)


class _Singles(Iterator[Block]):
    """Single elements at a cursor, as blocks, to skip them."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor

    def __next__(self) -> Block:
        self._cursor.available()
        return self._cursor.take(1)
