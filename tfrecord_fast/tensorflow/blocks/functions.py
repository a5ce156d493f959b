"""Scripts' functions on the blocks of a dataset."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.handlers import raised_by_handler
from ...values.blocks.block import Block, joined_blocks
from ...values.blocks.columns import Column, Constant
from ...values.elements.nests import map_leaves
from ..ops.randoms import next_function
from ..tensors.wrapping import wrap
from .block_tensor import block_value
from .calls import columns_of
from .frames import Call, Frame, NotOnBlocksError, SplitError, entered

_MOST_GROUPS = 9  # that a block may be split into: 8 splits
_logger = logging.getLogger("tfrecord_fast")


class OnBlocks:
    """A script's function that runs once per block, until it proves to need single records.

    Args:
      check: raises if no tensors can hold the first result.

    Attributes:
      row_bytes: the size of the largest value of a record, as the function computed it for the latest single one.
      reason: why the function needs single records, with its line; None while it runs on blocks.
    """

    def __init__(self, function: Callable[..., Any], check: Callable[[Any], None] | None = None) -> None:
        self._function = function
        self._check = check
        self._own_number = next_function()
        self._iterations = count()
        self.row_bytes = 0
        self._failure: Exception | None = None
        self.reason: str | None = None

    @property
    def runs_on_blocks(self) -> bool:
        return self.reason is None

    def start(self) -> Callable[[int, Block], Block | None]:
        _keep_freed_memory()
        return partial(self._on_block, next(self._iterations))

    def _on_block(self, iteration: int, number: int, block: Block) -> Block | None:
        """Return the results for a block; None if its records need to be passed one by one."""
        call = Call(len(block), (self._own_number, iteration, number))
        try:
            results = self._results(call, block, np.arange(len(block)), 1)
            if self._check is not None:
                self._check(results.first())
                self._check = None
            if len(block) == 1:
                self.row_bytes = call.row_bytes
            return results
        except NotOnBlocksError as error:
            self._give_up(error)
        except Exception as error:
            if raised_by_handler(error):
                raise
            if isinstance(call.interruption, NotOnBlocksError):
                self._give_up(call.interruption)
            self._failure = error
        return None

    def passed_alone(self) -> None:
        """Take note that no record of the block that failed has an error: blocks are the reason."""
        if self._failure is not None:
            self._give_up(self._failure)

    def _give_up(self, error: BaseException) -> None:
        if self.reason is not None:
            return
        frames = (
            [
                frame
                for frame in traceback.extract_tb(error.__traceback__)
                if frame.filename == self._function.__code__.co_filename
            ]
            if hasattr(self._function, "__code__")
            else []
        )
        place = f"line {frames[-1].lineno} of {frames[-1].filename}: " if frames else ""
        self.reason = f"{place}{error or type(error).__name__}"
        name = getattr(self._function, "__qualname__", type(self._function).__name__)
        _logger.debug("%s runs record by record, because of %s", name, self.reason)

    def _results(self, call: Call, block: Block, numbers: npt.NDArray[np.int64], groups: int) -> Block:
        """Return the results for some records of the block; split them where Python asks for a value that differs."""
        frame = Frame(call, numbers)
        call.draws, call.interruption = 0, None
        split: BaseException | None = None
        try:
            with entered(frame):
                columns = map_leaves(lambda column: _argument(column, frame), block.columns)
                result = self._function(*columns) if type(columns) is tuple else self._function(columns)
                results = Block(columns_of(tuple(result) if type(result) is list else result, frame), len(block))
        except SplitError as error:
            split = error
        except Exception:
            if not isinstance(call.interruption, SplitError):
                raise
        split = split or call.interruption
        if split is None:
            return results
        if not isinstance(split, SplitError):  # caught by the script
            raise split
        members = _groups(split, frame)
        total = groups + len(members) - 1
        if total > _MOST_GROUPS or len(members) < 2:
            too_many = NotOnBlocksError(f"the block splits into more than {_MOST_GROUPS} groups")
            raise too_many.with_traceback(split.__traceback__)
        parts = [self._results(call, block.take(rows), numbers[rows], total) for rows in members]
        order = np.empty(len(block), np.int64)
        order[np.concatenate(members)] = np.arange(len(block))
        return joined_blocks(parts).take(order)


@lru_cache
def _keep_freed_memory() -> None:
    """Let the C library keep memory between blocks: new pages for each array take longer than its computation.

    glibc raises its limits to the size of the largest array that was freed, up to 32 MiB.
    """
    np.empty((1 << 25) - (1 << 20), np.uint8)


def _groups(split: SplitError, frame: Frame) -> list[npt.NDArray[np.int64]]:
    """Return the numbers, in the frame, of the records that agree."""
    values: list[Any] = [split.values[0]] * frame.count
    for number, value in zip(split.rows(frame), split.values, strict=True):
        values[number] = value
    members: dict[Any, list[int]] = {}
    for number, value in enumerate(values):
        members.setdefault(value, []).append(number)
    return [np.array(rows, np.int64) for rows in members.values()]


def _argument(column: Column, frame: Frame) -> Any:
    return wrap(column.value) if isinstance(column, Constant) else block_value(column, frame)
