"""Elements made ahead, on threads: one that fills a buffer, or several that call a function.

The thread holds the shared state, never the iterator; when that is dropped, the thread stops at its next element.
Nothing that blocks is waited for without a way to be woken: a consumer waits on a condition, which lets Ctrl-C
through. Threads that still run when the interpreter ends are stopped and joined first.
"""

from __future__ import annotations

import atexit
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import Any

from .. import _core

__all__ = ["Mapped", "Prefetched", "Tried", "Verdict"]

_END = object()

# Seconds that a call may take and be cheap: about what it costs to hand an element to a pool of threads, or to have it
# made ahead by one other thread. Batches of records are few and large: the second counts for both.
CHEAP_CALL = 30e-6
CHEAP_AHEAD = 150e-6
# Threads are started after so many slow calls in a row, or after two or more that took so long together.
_SLOW_CALLS = 8
_SLOW_SECONDS = 0.02
# The same for a batch of records. The first few of a stream are parsed by the call, those behind by the stream, ahead.
_SLOW_SECONDS_OF_BATCHES = 0.25
# Threads that were asked for are given up after so many cheap calls in a row.
_CHEAP_CALLS = 64


class _Buffer:
    """What the filling thread and the consumer share: elements, and room for more of them, both counted by queues."""

    def __init__(self, size: int) -> None:
        self.stopped = False
        self._items: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        self._room: SimpleQueue[None] = SimpleQueue()
        for _ in range(size):
            self._room.put(None)

    def put(self, element: Any, error: BaseException | None) -> bool:
        """Waits for room; False once nobody wants more."""
        if not self.stopped:
            self._room.get()
        if self.stopped:
            return False
        self._items.put((element, error))
        return True

    def get(self) -> tuple[Any, BaseException | None]:
        item = self._items.get()
        self._room.put(None)
        return item

    def stop(self) -> None:
        """Lets go of the elements, and wakes whoever waits."""
        self.stopped = True
        self._room.put(None)
        with suppress(Empty):
            while True:
                self._items.get_nowait()
        self._items.put((_END, None))


def _fill(buffer: _Buffer, elements: Iterable[Any]) -> None:
    try:
        iterator = iter(elements)
        while not buffer.stopped:
            try:
                element = next(iterator)
            except StopIteration:
                break
            except BaseException as error:
                if not buffer.put(None, error):
                    return
                continue
            if not buffer.put(element, None):
                return
    except BaseException as error:
        buffer.put(None, error)
    buffer.put(_END, None)


_running: weakref.WeakKeyDictionary[threading.Thread, _Buffer] = weakref.WeakKeyDictionary()


@atexit.register
def _stop_all() -> None:
    threads = list(_running.items())
    for _, buffer in threads:
        buffer.stop()
    for thread, _ in threads:
        thread.join(5)


class Prefetched:
    """The elements, up to `size` of them made ahead on a thread, which starts with the first `next()`."""

    def __init__(self, elements: Iterable[Any], size: int) -> None:
        self._elements: Iterable[Any] | None = elements
        self._buffer = _Buffer(size)
        self._ended = False

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._elements is not None:
            thread = threading.Thread(
                target=_fill, args=(self._buffer, self._elements), name="tfrecord_fast.prefetch", daemon=True
            )
            self._elements = None
            _running[thread] = self._buffer
            thread.start()
        if self._ended:
            raise StopIteration
        element, error = self._buffer.get()
        if error is not None:
            raise error
        if element is _END:
            self._ended = True
            raise StopIteration
        return element

    def __del__(self) -> None:
        self._buffer.stop()


class _Timed:
    """A function, and how many of its last calls were cheap, in a row. Called by several threads, it counts roughly."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function
        self.cheap_calls = 0

    def __call__(self, element: Any) -> Any:
        start = perf_counter()
        try:
            return self.function(element)
        finally:
            cheap = perf_counter() - start < (CHEAP_AHEAD if type(element) is _core.RecordBatch else CHEAP_CALL)
            self.cheap_calls = self.cheap_calls + 1 if cheap else 0


class Mapped:
    """The function's results, in the order of the elements, made on `threads` threads as long as that is worth it."""

    def __init__(self, elements: Iterator[Any], function: Callable[[Any], Any], threads: int) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._elements = elements
        self._timed = _Timed(function)
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="tfrecord_fast.map")
        self._ahead = 2 * threads
        self._futures: deque[Any] = deque()
        self._rest: Iterator[Any] | None = None
        self._ended = False

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._timed.cheap_calls >= _CHEAP_CALLS and self._rest is None and not self._ended:
            self._pool.shutdown(wait=False)
            again = partial(Mapped, function=self._timed.function, threads=self._threads)
            self._rest = Tried(self._elements, self._timed.function, again, Verdict(), CHEAP_CALL)
        if self._rest is not None and not self._futures:
            return next(self._rest)
        while self._rest is None and not self._ended and len(self._futures) < self._ahead:
            self._futures.append(self._submit())
        future = self._futures.popleft() if self._futures else None
        if future is None or future is _END:
            self._ended = True
            self._pool.shutdown(wait=False)
            raise StopIteration
        if isinstance(future, BaseException):
            raise future
        return future.result()

    def _submit(self) -> Any:
        """A future; the error in the place of an element; or _END."""
        try:
            element = next(self._elements)
        except StopIteration:
            self._ended = True
            return _END
        except Exception as error:
            return error
        return self._pool.submit(self._timed, element)

    def __del__(self) -> None:
        pool = getattr(self, "_pool", None)
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)


class Verdict:
    """What is known of a function: remembered from one iteration to the next."""

    slow = False


class Tried:
    """The function's results, each made when it is asked for as long as that is cheap, and from then on by threads.

    Most functions parse a batch that native threads have parsed already, or a single record: to have these made ahead
    by another thread of Python takes longer than to make them. `threaded` iterates over the results for the rest of
    the elements; `verdict` says whether an earlier iteration has come to need it; `cheap` is in seconds a call.
    """

    def __init__(
        self,
        elements: Iterator[Any],
        function: Callable[[Any], Any],
        threaded: Callable[[Iterator[Any]], Iterator[Any]],
        verdict: Verdict,
        cheap: float,
    ) -> None:
        self._elements = elements
        self._function = function
        self._threaded = threaded
        self._verdict = verdict
        self._cheap = cheap
        self._slow_calls = 0
        self._slow_seconds = 0.0
        self._rest = threaded(elements) if verdict.slow else None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._rest is not None:
            return next(self._rest)
        element = next(self._elements)
        start = perf_counter()
        try:
            return self._function(element)
        finally:
            spent = perf_counter() - start
            if spent > self._cheap:
                self._judge(spent, type(element) is _core.RecordBatch)
            else:
                self._slow_calls = 0

    def _judge(self, spent: float, batch: bool) -> None:
        """After a call that was slow, or is if it was for less than a batch."""
        if batch and spent <= CHEAP_AHEAD:
            self._slow_calls = 0
            return
        self._slow_seconds = spent if self._slow_calls == 0 else self._slow_seconds + spent
        self._slow_calls += 1
        long = self._slow_calls > 1 and self._slow_seconds > (_SLOW_SECONDS_OF_BATCHES if batch else _SLOW_SECONDS)
        if long or (self._slow_calls >= _SLOW_CALLS and not batch):
            self._verdict.slow = True
            self._rest = self._threaded(self._elements)
