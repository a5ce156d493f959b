"""The shuffle of the rows of blocks: the same draws as for elements give the same order."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from ....base.handlers import raised_by_handler
from ....values.blocks.block import Block, PickedBlock, gathered_blocks, row_bytes, value_bytes
from ..base.turns import Turns
from .sizes import Sizes

_LARGE = 4096  # bytes of an element that is copied only once, into its batch


class ShuffledBlocks(Turns):
    """Blocks of elements drawn at random from a buffer of the next `size` ones.

    The buffer holds the numbers of elements in the sequence. Their blocks are kept until their last element is drawn,
    or joined when most of their elements are.
    """

    def __init__(self, blocks: Iterator[Block], size: int, seed: int) -> None:
        super().__init__()
        self._blocks = blocks
        self._size = size
        self._bits = random.Random(seed).getrandbits
        self._buffer: list[int] = []
        self._next_number = 0  # of the first element that is not in the buffer
        self._held: list[tuple[int, Block]] = []  # with the number of their first element
        self._left: dict[int, int] = {}  # elements not yet drawn, by the number of the block's first
        self._end = 0  # the number after the last element held
        self._picked: list[int] = []
        self._error: Exception | None = None
        self._ended = False
        self._sizes = Sizes()
        self._row_bytes = 0

    def _next(self) -> Block:
        pending, self._error = self._error, None
        if pending is not None:
            raise pending
        picked = self._picked
        while len(picked) < self._most():
            try:
                if not self._fill():
                    break
            except Exception as error:
                if not picked or raised_by_handler(error):
                    raise
                self._error = error
                break
            self._draw(self._most() - len(picked))
        if not picked:
            raise StopIteration
        self._picked = []
        self._sizes.grow()
        return self._gather(picked)

    def _most(self) -> int:
        """Return how many elements to draw for the next block."""
        return min(self._sizes.count, self._sizes.of_rows(self._row_bytes))

    def _fill(self) -> bool:
        """Fill the buffer from the blocks; return False if it is empty at the end."""
        while not self._ended and len(self._buffer) < self._size:
            if self._next_number == self._end:
                try:
                    block = next(self._blocks)
                except StopIteration:
                    self._ended = True
                    break
                self._row_bytes = max(self._row_bytes, value_bytes(block))
                self._held.append((self._end, block))
                self._left[self._end] = len(block)
                self._end += len(block)
            until = min(self._end, self._next_number + self._size - len(self._buffer))
            self._buffer.extend(range(self._next_number, until))
            self._next_number = until
        return bool(self._buffer)

    def _draw(self, count: int) -> None:
        """Draw up to `count` elements, as long as the buffer can be refilled without another block."""
        buffer, bits, picked = self._buffer, self._bits, self._picked
        number, end = self._next_number, self._end
        if self._ended and number == end:
            for _ in range(min(count, len(buffer))):
                length = len(buffer)
                index = _below(length, bits)
                picked.append(buffer[index])
                buffer[index] = buffer[-1]
                buffer.pop()
            return
        length = len(buffer)
        width = length.bit_length()
        for _ in range(min(count, end - number + 1)):
            index = bits(width)
            while index >= length:
                index = bits(width)
            picked.append(buffer[index])
            # The last element takes the place of the one drawn, and the next element comes last.
            buffer[index] = buffer[-1]
            if number == end:
                buffer.pop()
            else:
                buffer[-1] = number
                number += 1
        self._next_number = number

    def _gather(self, picked: list[int]) -> Block:
        numbers = np.array(picked, np.int64)
        starts = np.array([start for start, _ in self._held], np.int64)
        sources = np.searchsorted(starts, numbers, side="right") - 1
        counts = np.bincount(sources, minlength=len(starts))
        used = np.flatnonzero(counts)
        place = np.zeros(len(starts), np.int64)
        place[used] = np.arange(len(used))
        blocks = [self._held[source][1] for source in used.tolist()]
        if row_bytes(blocks[0]) >= _LARGE and all(block.elements is None for block in blocks):
            result: Block = PickedBlock(blocks, place[sources], numbers - starts[sources])
        else:
            result = gathered_blocks(blocks, place[sources], numbers - starts[sources])
        for start, count in zip(starts[used].tolist(), counts[used].tolist(), strict=True):
            self._left[start] -= count
        if 0 in self._left.values():
            self._held = [(start, block) for start, block in self._held if self._left[start]]
            self._left = {start: left for start, left in self._left.items() if left}
        if sum(len(block) for _, block in self._held) > 2 * (
            len(self._buffer) + len(picked) + self._end - self._next_number
        ):
            self._compact()
        return result

    def _compact(self) -> None:
        """Join the elements of the buffer to one block, and let go of the blocks that they came from."""
        numbers = np.array(self._buffer, np.int64)
        ahead = np.arange(self._next_number, self._end, dtype=np.int64)
        starts = np.array([start for start, _ in self._held], np.int64)
        wanted = np.concatenate([numbers, ahead])
        if not len(wanted):
            return
        sources = np.searchsorted(starts, wanted, side="right") - 1
        block = gathered_blocks([block for _, block in self._held], sources, wanted - starts[sources])
        self._held, self._left = [(0, block)], {0: len(block)}
        self._buffer = list(range(len(numbers)))
        self._next_number, self._end = len(numbers), len(block)


def _below(length: int, bits: object) -> int:
    width = length.bit_length()
    index: int = bits(width)  # type: ignore[operator]
    while index >= length:
        index = bits(width)  # type: ignore[operator]
    return index
