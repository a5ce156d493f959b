"""Elements computed ahead, on a thread."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from time import perf_counter
from typing import Any

from ....base.process import Origin
from ....base.workers import NoThreadError, Stopped, start_thread
from ....values.blocks.block import Block
from ..base.node import Node, Of, Run
from ..base.turns import REENTERED, check_process, take_turns
from .trials import CHEAP_AHEAD, Verdict

_END = object()
_AT_EXIT = 0.2  # seconds
_BLOCKS = 2  # ahead
# A consumer that comes back at once this often in a row, and waits a moment, gains nothing from a thread.
_HASTY_CALLS = 8
_MOMENT = 1e-3  # seconds


class Prefetch(Of):
    """The same elements, up to `size` of them computed ahead; 0: without a thread."""

    def __init__(self, node: Node, size: int) -> None:
        super().__init__(node)
        self.size = size
        self.verdict = Verdict()  # on the functions below, if a thread starts only when they are slow

    def iterate(self, run: Run) -> Iterator[Any]:
        return Prefetched(partial(run, self.input), self.size) if self.size else run(self.input)

    def blocks(self, run: Run) -> Iterator[Block] | None:
        blocks = run.blocks(self.input)
        return Prefetched(blocks.__iter__, min(self.size, _BLOCKS)) if blocks is not None and self.size else blocks

    def label(self) -> str:
        return f"prefetch({self.size})"


class _Room:
    """The room left in a buffer, on which the filling thread waits."""

    def __init__(self, size: int) -> None:
        self._stopped = False
        self.is_left = False  # the thread ends, and the elements go on without it
        self._unused = size  # changed by the filling thread only; a large size takes no memory
        self._freed: SimpleQueue[None] = SimpleQueue()

    def wait(self) -> bool:
        """Wait for room; return False once no more elements are wanted."""
        if self._unused and not self._stopped:
            self._unused -= 1
        elif not self._stopped:
            self._freed.get()
        return not self._stopped

    def free(self) -> None:
        self._freed.put(None)

    def stop(self) -> None:
        self._stopped = True
        self._freed.put(None)


class _Buffer:
    """Elements computed ahead.

    The iterator owns the buffer. A waiting thread holds only the room, so that an iterator in a circle of references,
    such as one whose function is a method of its owner, can be collected.
    """

    def __init__(self, start: Callable[[], Iterator[Any]]) -> None:
        self._start = start
        self._elements: Iterator[Any] | None = None
        self.items: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def add(self) -> bool:
        """Compute one element, or an error in its place; return False at the end."""
        try:
            if self._elements is None:
                self._elements = iter(())  # if starting fails, the error is all there is
                self._elements = self._start()
            self.items.put((next(self._elements), None))
        except StopIteration:
            self.put_end()
            return False
        except Stopped:
            self.put_end()
            raise
        except BaseException as error:
            self.items.put((None, error))
        return True

    def put_end(self) -> None:
        self.items.put((_END, None))


def _fill(room: _Room, buffer_of: weakref.ref[_Buffer]) -> None:
    while room.wait():
        buffer = buffer_of()
        if buffer is None or not buffer.add():
            return
        del buffer  # before the thread waits
    buffer = buffer_of()
    if buffer is not None and not room.is_left:
        buffer.put_end()


class Prefetched(Iterator[Any]):
    """The elements of `start()`, up to `size` ahead on a thread, which starts with the first `next()`.

    A consumer that comes back at once, again and again, computes cheap elements itself: handing them over costs more
    than it saves. The thread starts again when the consumer has been away. Several threads may share the iterator. If
    the system has no thread left, elements are computed on demand.
    """

    def __init__(self, start: Callable[[], Iterator[Any]], size: int) -> None:
        self._buffer = _Buffer(start)
        self._size = size
        self._room = _Room(size)
        self._thread: threading.Thread | None = None
        self._begun = False
        self._waiting = 0  # consumers
        self._hasty_calls = 0
        self._returned = 0.0  # the time of the last return
        self._origin = Origin()
        self._turn: Any
        take_turns(self)

    def __next__(self) -> Any:
        check_process(self._origin)
        away = perf_counter() - self._returned
        element, error = self._handed_over(away) if self._waits(away) else self._computed()
        if error is not None:
            raise error
        if element is _END:
            self._buffer.put_end()  # for the next call
            raise StopIteration
        self._returned = perf_counter()
        return element

    def _waits(self, away: float) -> bool:
        """Return True if the next element comes from the thread; the consumer was away for `away` seconds."""
        with self._turn:
            if not self._begun or (self._thread is None and away > CHEAP_AHEAD):
                self._begin()
            if self._thread is threading.current_thread():
                raise RuntimeError(REENTERED)
            if self._thread is None or self._room.is_left:
                return False
            self._waiting += 1
            return True

    def _handed_over(self, away: float) -> tuple[Any, BaseException | None]:
        items = self._buffer.items
        waits, start = items.empty(), perf_counter()
        item = items.get()
        self._room.free()
        is_hasty = waits and away < CHEAP_AHEAD and perf_counter() - start < _MOMENT
        self._hasty_calls = self._hasty_calls + 1 if is_hasty else 0
        with self._turn:
            self._waiting -= 1
            if self._hasty_calls >= _HASTY_CALLS and not self._waiting:
                self._room.is_left = True
                self._room.stop()
        return item

    def _computed(self) -> tuple[Any, BaseException | None]:
        """Return the next element without a thread; one that the thread has begun comes from it."""
        items = self._buffer.items
        with self._turn:
            if self._thread is not None:
                self._thread.join()
                self._thread = None
                self._hasty_calls = 0
            if items.empty():
                self._buffer.add()
            return items.get()

    def _begin(self) -> None:
        self._room = _Room(self._size)
        buffer = weakref.ref(self._buffer)
        with suppress(NoThreadError):
            self._thread = start_thread(
                _fill, self._room, buffer, name="tfrecord_fast.prefetch", stop=self._room.stop, patience=_AT_EXIT
            )
        self._begun = True

    def __del__(self) -> None:
        self._room.stop()
