"""Iterators of blocks: records, the results of functions, and elements selected by number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from .... import _core
from ....base.handlers import raised_by_handler
from ....values.blocks.block import Block
from ....values.blocks.columns import Column, Constant, Dense, Strings
from ....values.elements.nests import map_leaves
from ..base.iterators import Concatenated
from ..base.node import Node, Run
from ..base.turns import Turns
from .sizes import Sizes

_END: Any = object()


class BlockFunction(Protocol):
    """A function of the user that can run on blocks."""

    @property
    def runs_on_blocks(self) -> bool:
        """False once the function needs single elements."""

    @property
    def row_bytes(self) -> int:
        """The size of the largest value that the function computes for an element, once it ran for a single one."""

    def start(self) -> Callable[[int, Block], Block | None]:
        """Start an iteration.

        Returns:
          A function from the number of a block and the block to the results; None if the elements need to be passed
          one by one.
        """

    def passed_alone(self) -> None:
        """Take note that all elements of a block that failed have passed one by one."""


def block_function(function: Any) -> BlockFunction | None:
    """Return what runs the function on blocks, if anything does."""
    on_blocks: BlockFunction | None = getattr(function, "on_blocks", None)
    return on_blocks if on_blocks is not None and on_blocks.runs_on_blocks else None


def blocks_of(node: Node, run: Run) -> Iterator[Block]:
    """Iterate over a node's blocks; over blocks of single elements if it has no others."""
    blocks = run.blocks(node)
    return map(lambda element: Block.of_elements([element]), run(node)) if blocks is None else blocks


class Elements(Turns):
    """The elements of blocks."""

    def __init__(self, blocks: Iterator[Block]) -> None:
        super().__init__()
        self._blocks = blocks
        self._rows: Iterator[Any] = iter(())

    def _next(self) -> Any:
        while True:
            element = next(self._rows, _END)
            if element is not _END:
                return element
            self._rows = iter(next(self._blocks))


class RecordBlocks(Turns):
    """Blocks of records, joined from smaller batches; an error comes after the records before it."""

    def __init__(self, batches: Iterator[_core.RecordBatch], sizes: Sizes) -> None:
        super().__init__()
        self._batches = batches
        self._sizes = sizes
        self._error: Exception | None = None
        self._rest: _core.RecordBatch | None = None

    def _next(self) -> Block:
        if self._rest is not None:
            return self._cut(self._rest)
        pending, self._error = self._error, None
        if pending is not None:
            raise pending
        pieces: list[_core.RecordBatch] = []
        count = size = 0
        while not self._sizes.are_enough(count, size):
            try:
                batch = next(self._batches)
            except StopIteration:
                break
            except Exception as error:
                if not pieces or raised_by_handler(error):
                    raise
                self._error = error
                break
            pieces.append(batch)
            count += len(batch)
            size += batch.nbytes
        if not pieces:
            raise StopIteration
        self._sizes.grow()
        return self._cut(pieces[0] if len(pieces) == 1 else _core.concatenate(pieces))

    def _cut(self, records: _core.RecordBatch) -> Block:
        """Return a block of the first records, and keep the others if they are too large together."""
        count = self._sizes.fitting(len(records), records.nbytes)
        self._rest = records[count:] if count < len(records) else None
        return Block(Strings(records[:count] if self._rest is not None else records), count)


class SlicedBlocks(Turns):
    """Blocks of the rows of an element whose components are arrays."""

    def __init__(self, value: Any, count: int, sizes: Sizes) -> None:
        super().__init__()
        self._block = Block(map_leaves(Dense, value), count)
        self._sizes = sizes
        self._position = 0

    def _next(self) -> Block:
        start = self._position
        if start >= len(self._block):
            raise StopIteration
        self._position = min(start + self._sizes.count, len(self._block))
        self._sizes.grow()
        return self._block.take(slice(start, self._position))


class RangeBlocks(Turns):
    """Blocks of the numbers of a range, as scalars of a dtype."""

    def __init__(self, numbers: range, dtype: Any, sizes: Sizes) -> None:
        super().__init__()
        self._numbers = numbers
        self._dtype = dtype
        self._sizes = sizes
        self._position = 0

    def _next(self) -> Block:
        numbers = self._numbers[self._position : self._position + self._sizes.count]
        if not numbers:
            raise StopIteration
        self._position += len(numbers)
        self._sizes.grow()
        return Block(Dense(np.array(numbers, dtype=self._dtype)), len(numbers))


class Fitted(Turns):
    """Calls of a function on blocks that fit its results: first for a single element, to learn their size."""

    def __init__(self, blocks: Iterator[Block], function: BlockFunction) -> None:
        super().__init__()
        self._cursor = Cursor(blocks)
        self._function = function
        self._call = function.start()
        self._most = 1
        self._number = 0
        sizes = Sizes()
        if sizes.are_fixed:
            self._most = sizes.count

    def _next(self) -> _Call:
        block = self._cursor.take(min(self._cursor.available(), self._most))
        call = _Call(self._function, self._call, self._number, block)
        if self._number == 0 and len(block) == 1:
            call.run()
            self._most = Sizes().of_rows(self._function.row_bytes)
        self._number += 1
        return call


class _Call:
    """A call of a function on a block, and its result."""

    def __init__(
        self, function: BlockFunction, call: Callable[[int, Block], Block | None], number: int, block: Block
    ) -> None:
        self._function, self._call, self._number = function, call, number
        self.block = block
        self.result: Block | None = None
        self._has_run = False

    def run(self) -> _Call:
        """Compute the result, unless that has happened; None where elements must pass one by one."""
        if not self._has_run:
            self._has_run = True
            if self.block.elements is None and self._function.runs_on_blocks:
                self.result = self._call(self._number, self.block)
        return self


class Called(Turns):
    """The results of a function for blocks; for the elements of a block that failed, one by one.

    Args:
      calls: those that have run.
      select: returns the result of a call for a block.
      alone: returns a block of one element, or None to leave it out.
    """

    def __init__(
        self,
        calls: Iterator[_Call],
        alone: Callable[[Any], Block | None],
        function: BlockFunction,
        select: Callable[[Block, Block], Block | None] = lambda block, result: result,
    ) -> None:
        super().__init__()
        self._calls = calls
        self._select = select
        self._alone = alone
        self._function = function
        self._rest: Iterator[Any] | None = None
        self._passed = True

    def _next(self) -> Block:
        while True:
            if self._rest is not None:
                block = self._next_alone(self._rest)
                if block is not None:
                    return block
            call = next(self._calls)
            result = None if call.result is None else self._select(call.block, call.result)
            if result is None:
                self._rest, self._passed = iter(call.block), True
            elif len(result):
                return result

    def _next_alone(self, rest: Iterator[Any]) -> Block | None:
        for element in rest:
            try:
                block = self._alone(element)
            except Exception:
                self._passed = False
                raise
            if block is not None:
                return block
        self._rest = None
        if self._passed:
            self._function.passed_alone()
        return None


def run_call(call: _Call) -> _Call:
    """Run a call, on any thread."""
    return call.run()


def select_rows(block: Block, flags: Block) -> Block | None:
    """Return the elements whose flag is true; None if the flags are not bools."""
    mask = None if flags.elements is not None else _mask(flags.columns)
    if mask is None:
        return None
    rows = np.flatnonzero(mask)
    return block.take(rows) if len(rows) else Block.of_elements([])


def _mask(column: Any) -> Any:
    if isinstance(column, Constant) and isinstance(column.value, bool | np.bool_):
        return np.full(len(column), bool(column.value))
    is_bool = isinstance(column, Dense) and column.array.dtype == np.bool_ and column.array.ndim == 1
    return column.array if is_bool else None


class Selected(Turns):
    """The elements number start, start + step, … below stop; an error has no number."""

    def __init__(self, blocks: Iterator[Block], start: int, stop: int | None, step: int) -> None:
        super().__init__()
        self._blocks = blocks
        self._wanted, self._stop, self._step = start, stop, step
        self._position = 0

    def _next(self) -> Block:
        while self._stop is None or self._wanted < self._stop:
            block = next(self._blocks)
            first, self._position = self._wanted - self._position, self._position + len(block)
            end = self._position if self._stop is None else min(self._position, self._stop)
            numbers = range(self._wanted, end, self._step)
            if numbers:
                self._wanted = numbers[-1] + self._step
                return block.take(slice(first, first + len(numbers) * self._step, self._step))
        raise StopIteration


class ConcatenatedBlocks(Concatenated):
    """Blocks of several iterators, one after the other, with the errors of `Concatenated`."""

    def _check(self, element: Block) -> None:
        super()._check(element.first())


class Numbered(Turns):
    """Pairs of a number and an element; an error has its number, as in TensorFlow."""

    def __init__(self, blocks: Iterator[Block], start: int) -> None:
        super().__init__()
        self._blocks = blocks
        self._number = start

    def _next(self) -> Block:
        try:
            block = next(self._blocks)
        except StopIteration:
            raise
        except Exception:
            self._number += 1
            raise
        start, self._number = self._number, self._number + len(block)
        numbers = np.arange(start, self._number, dtype=np.int64)
        if block.elements is not None:
            return Block.of_elements(list(zip(numbers, block.elements, strict=True)))
        columns: tuple[Column, Any] = (Dense(numbers), block.columns)
        return Block(columns, len(block))


class Cursor:
    """Access to the elements of blocks in runs of any length."""

    def __init__(self, blocks: Iterator[Block]) -> None:
        self._blocks = blocks
        self._block: Block | None = None
        self._position = 0

    def available(self) -> int:
        """Return the number of elements at hand; read the next block if there are none.

        Raises:
          StopIteration: the end. Errors come in the place of their element.
        """
        if self._block is None:
            self._block, self._position = next(self._blocks), 0
        return len(self._block) - self._position

    def take(self, count: int) -> Block:
        """Return the next elements, at most as many as are available."""
        block, start = self._block, self._position
        assert block is not None
        self._position += count
        if self._position >= len(block):
            self._block = None
            if not start:
                return block
        return block.take(slice(start, self._position))


class Zipped(Turns):
    """Blocks of elements with the structure that `pack` makes, up to the end of the shortest input.

    An error replaces one element of each input.
    """

    def __init__(self, inputs: list[Iterator[Block]], pack: Callable[[list[Any]], Any]) -> None:
        super().__init__()
        self._cursors = [Cursor(blocks) for blocks in inputs]
        self._pack = pack

    def _next(self) -> Block:
        counts: list[int] = []
        fault: Exception | None = None
        for cursor in self._cursors:
            try:
                counts.append(cursor.available())
            except StopIteration:
                self._cursors = []
                break
            except Exception as error:
                if raised_by_handler(error):
                    raise
                fault = fault or error
                counts.append(0)
        if fault is not None:
            for cursor, count in zip(self._cursors, counts, strict=False):
                if count:
                    cursor.take(1)
            raise fault
        if not self._cursors:
            raise StopIteration
        count = min(counts)
        blocks = [cursor.take(count) for cursor in self._cursors]
        if any(block.elements is not None for block in blocks):
            return Block.of_elements([self._pack(list(row)) for row in zip(*blocks, strict=True)])
        return Block(self._pack([block.columns for block in blocks]), count)


def called_alone(function: Callable[[Any], Any]) -> Callable[[Any], Block]:
    """Return the function of an element with its result as a block."""
    return lambda element: Block.of_elements([function(element)])


def tested_alone(predicate: Callable[[Any], bool]) -> Callable[[Any], Block | None]:
    """Return a function from an element to a block of it, None if the predicate is false."""
    return lambda element: Block.of_elements([element]) if predicate(element) else None
