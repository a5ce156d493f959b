"""Elements made ahead, on threads: one that fills a buffer, or several that call a function.

The thread holds the shared state, never the iterator; when that is dropped, the thread stops at its next element.
Waiting threads wake up: a consumer waits on a queue, which lets Ctrl-C through.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from queue import SimpleQueue
from time import perf_counter
from typing import Any

from ... import _core
from ...base.handlers import raised_by_handler
from ...base.process import Origin
from ...base.workers import NoThreadError, Stopped, Workers, make_call, start_thread
from .turns import take_turns

__all__ = ["Mapped", "Prefetched", "Tried", "Verdict"]

_END = object()

# Seconds that a call may take and still be cheap: about what it costs to hand an element to a pool of threads, or to
# have it made ahead by one other thread. Batches of records are few and large: for them, the second holds for both.
CHEAP_CALL = 30e-6
CHEAP_AHEAD = 150e-6
# Threads are started after this many slow calls in a row, or after two or more that took this long together.
_SLOW_CALLS = 8
_SLOW_SECONDS = 0.02
# The same for a batch of records. The first few of a stream are parsed by the call, later ones by the stream, ahead.
_SLOW_SECONDS_OF_BATCHES = 0.25
_AT_EXIT = 0.2  # seconds
# Threads that were asked for are stopped after this many cheap calls in a row.
_CHEAP_CALLS = 64


class _Room:
    """For how many elements there is room, counted by a queue, on which the filling thread waits."""

    def __init__(self, size: int) -> None:
        self._stopped = False
        self._unused = size  # only the filling thread changes it; a size of any number takes no memory
        self._places: SimpleQueue[None] = SimpleQueue()

    def wait(self) -> bool:
        """False once no more elements are wanted."""
        if self._unused and not self._stopped:
            self._unused -= 1
        elif not self._stopped:
            self._places.get()
        return not self._stopped

    def free(self) -> None:
        self._places.put(None)

    def stop(self) -> None:
        self._stopped = True
        self._places.put(None)


class _Source:
    """What a thread makes elements of, and those that are made.

    The iterator owns it; a thread that waits holds only the room, so that all of this can be collected.
    """

    def __init__(self, start: Callable[[], Iterator[Any]]) -> None:
        self._start = start
        self._elements: Iterator[Any] | None = None
        self.made: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def make_one(self) -> bool:
        """False at the end."""
        try:
            if self._elements is None:
                self._elements = iter(())  # if it can't be started, that is all
                self._elements = self._start()
            self.made.put((next(self._elements), None))
        except StopIteration:
            self.put_end()
            return False
        except Stopped:
            self.put_end()
            raise
        except BaseException as error:
            self.made.put((None, error))
        return True

    def put_end(self) -> None:
        self.made.put((_END, None))


def _fill(room: _Room, source_of: weakref.ref[_Source]) -> None:
    while room.wait():
        source = source_of()
        if source is None or not source.make_one():
            return
        del source  # before it waits
    source = source_of()
    if source is not None:
        source.put_end()


def _check_process(origin: Origin) -> None:
    if not origin.is_here():
        raise RuntimeError("this iterator was started in another process; after a fork, start a new one")


class Prefetched:
    """What `start()` iterates over, up to `size` elements ahead on a thread, which starts with the first `next()`.

    Several threads may share one, as they may share Mapped and Tried.
    """

    def __init__(self, start: Callable[[], Iterator[Any]], size: int) -> None:
        self._source = _Source(start)
        self._room = _Room(size)
        self._thread: threading.Thread | None = None  # if none could be had, elements are made when they are asked for
        self._begun = False  # whether it is known that the thread has started, or that none could be had
        self._origin = Origin()
        self._turn: Any
        take_turns(self)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        _check_process(self._origin)
        if not self._begun:
            self._begin()
        if self._thread is None:
            with self._turn:
                self._source.make_one()
        elif self._thread.ident == threading.get_ident():
            raise RuntimeError("a function asked the iterator that is calling it for an element")
        element, error = self._source.made.get()
        self._room.free()
        if error is not None:
            raise error
        if element is _END:
            self._source.put_end()  # for the next to ask
            raise StopIteration
        return element

    def _begin(self) -> None:
        with self._turn:
            if self._begun:
                return
            source = weakref.ref(self._source)
            with suppress(NoThreadError):
                self._thread = start_thread(
                    _fill, self._room, source, name="tfrecord_fast.prefetch", stop=self._room.stop, patience=_AT_EXIT
                )
            self._begun = True

    def __del__(self) -> None:
        self._room.stop()


class Verdict:
    """What is known of a function: remembered from one iteration to the next."""

    slow = False


class _Trial:
    """Calls a function when its result is wanted, and tells the verdict if that proves to be slow.

    Called by several threads, it counts roughly. `cheap` is in seconds per call.
    """

    def __init__(self, function: Callable[[Any], Any], verdict: Verdict, cheap: float) -> None:
        self._function = function
        self._verdict = verdict
        self._cheap = cheap
        self._calls = 0  # slow ones, in a row
        self._seconds = 0.0

    def __call__(self, element: Any) -> Any:
        start = perf_counter()
        try:
            return self._function(element)
        finally:
            spent = perf_counter() - start
            if spent > self._cheap:
                self._judge(spent, type(element) is _core.RecordBatch)
            else:
                self._calls = 0

    def _judge(self, spent: float, batch: bool) -> None:
        if batch and spent <= CHEAP_AHEAD:
            self._calls = 0
            return
        self._seconds = spent if self._calls == 0 else self._seconds + spent
        self._calls += 1
        long = self._calls > 1 and self._seconds > (_SLOW_SECONDS_OF_BATCHES if batch else _SLOW_SECONDS)
        if long or (self._calls >= _SLOW_CALLS and not batch):
            self._verdict.slow = True
            self._calls = 0


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
    """The function's results, in the order of the elements, made on `threads` threads as long as that is worth it.

    `verdict`: given if threads should start only once the function has proved to be slow; else they start
    at the beginning.
    """

    def __init__(
        self, elements: Iterator[Any], function: Callable[[Any], Any], threads: int, verdict: Verdict | None = None
    ) -> None:
        self._elements = elements
        self._timed = _Timed(function)
        self._verdict = verdict or Verdict()
        self._trial = _Trial(function, self._verdict, CHEAP_CALL)
        self._direct = verdict is not None and not verdict.slow  # threads get nothing more to do
        self._threads = threads
        self._pool: Workers | None = None
        self._futures: deque[Future[Any] | Exception] = deque()
        self._ended = False
        self._turn: Any  # guards everything here
        take_turns(self)
        self._origin = Origin()

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with self._turn:
            future = self._next_future()
            element = next(self._elements) if future is None else None
        if future is None:
            return self._trial(element)
        if isinstance(future, Exception):
            raise future
        return future.result()

    def _next_future(self) -> Future[Any] | Exception | None:
        """A future, or the error in the place of an element; None: the next one is made without threads."""
        if self._direct and self._verdict.slow:
            self._direct, self._timed.cheap_calls = False, 0
        if not self._direct:
            _check_process(self._origin)
            while not self._ended and len(self._futures) < 2 * self._threads:
                self._submit()
            if self._timed.cheap_calls >= _CHEAP_CALLS and not self._ended:
                self._direct, self._verdict.slow = True, False
        if self._futures:
            return self._futures.popleft()
        if self._direct:
            return None
        if self._pool is not None:
            self._pool.end()
            self._pool = None
        raise StopIteration

    def _submit(self) -> None:
        try:
            element = next(self._elements)
        except StopIteration:
            self._ended = True
        except Exception as error:
            if raised_by_handler(error):
                raise
            self._futures.append(error)
        else:
            if self._pool is None:
                self._pool = Workers(self._threads, "tfrecord_fast.map", _AT_EXIT)
            self._futures.append(self._submitted(self._pool, element))

    def _submitted(self, pool: Workers, element: Any) -> Future[Any]:
        try:
            return pool.submit(self._timed, element)
        except NoThreadError:
            called: Future[Any] = Future()
            make_call(called, self._timed, element)
            return called

    def __del__(self) -> None:
        if self._pool is not None:
            self._pool.stop()


class Tried:
    """The function's results, each made when it is asked for as long as that is cheap, and from then on by threads.

    Most functions parse a batch that native threads have parsed already, or a single record: to have these made ahead
    by another thread of Python takes longer than to make them. `threaded` iterates over the results for the rest of
    the elements; `verdict` says whether an earlier iteration has needed it; `cheap` is in seconds per call.
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
        self._threaded = threaded
        self._verdict = verdict
        self._trial = _Trial(function, verdict, cheap)
        self._turn: Any  # guards _elements and _rest
        take_turns(self)
        self._rest: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        with self._turn:
            if self._rest is None and self._verdict.slow:
                self._rest = self._threaded(self._elements)
            rest = self._rest
            element = next(self._elements) if rest is None else None
        return self._trial(element) if rest is None else next(rest)
