"""Elements made ahead, on threads: one that fills a buffer, or several that call a function.

The thread holds the shared state, never the iterator; when that is dropped, the thread stops at its next element.
Waiting threads wake up: a consumer waits on a queue, which lets Ctrl-C through. Threads that still run when the
interpreter ends are stopped and joined first.

An error's traceback holds the frames that it went through, and their variables. So a frame that hands an error on
forgets it, and a thread's frames forget what holds the error. Otherwise threads and files of an iteration that failed
would stay until garbage is collected. Errors that wait for their turn do hold the iterator that keeps them: it is among
the callers of the frames that they came through.
"""

from __future__ import annotations

import atexit
import ctypes
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from time import perf_counter
from typing import Any

from ... import _core
from ...base.handlers import raised_by_handler
from ...base.process import Origin
from ...base.ranks import dividing, is_dividing
from ...base.workers import has_started
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
        except _Stopped:
            raise
        except BaseException as error:
            self.made.put((None, error))
            del self
        return True

    def put_end(self) -> None:
        self.made.put((_END, None))


def _fill(room: _Room, source_of: weakref.ref[_Source], is_divided: bool) -> None:
    source = None
    try:
        with suppress(_Stopped), dividing(is_divided):
            while room.wait():
                source = source_of()
                if source is None or not source.make_one():
                    return
                source = None
        source = source_of()
        if source is not None:
            source.put_end()
    finally:
        del source


class _Pool:
    """Threads that call functions. While one waits for work, it holds nothing of what the functions hold.

    If the system gives no thread at all, functions are called at once, by the thread that submits them.
    """

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._started = 0
        self._thread: threading.Thread | None = None  # the next one, of which it is not known yet whether it starts
        self._work: SimpleQueue[tuple[Future[Any], Callable[[Any], Any], Any] | None] = SimpleQueue()

    def submit(self, function: Callable[[Any], Any], element: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self._work.put((future, function, element))
        if self._started < self._threads:
            self._start_one()
        if self._threads == 0:
            self._work.put(None)
            _call_functions(self._work, is_dividing())
        try:
            return future
        finally:
            del future  # it may have an error, whose traceback holds this frame

    def _start_one(self) -> None:
        if self._thread is None:
            name = f"tfrecord_fast.map_{self._started}"
            arguments = (self._work, is_dividing())
            self._thread = threading.Thread(target=_call_functions, args=arguments, name=name, daemon=True)
        _running[self._thread] = self
        if has_started(self._thread):
            self._started += 1
        else:
            self._threads = self._started
        self._thread = None

    def end(self) -> None:
        """Lets the threads end when all is done."""
        for _ in range(self._started + (self._thread is not None)):
            self._work.put(None)

    def stop(self) -> None:
        """Drops what has not begun, and lets the threads end."""
        with suppress(Empty):
            while True:
                self._work.get_nowait()
        self.end()


def _call_functions(work: SimpleQueue[tuple[Future[Any], Callable[[Any], Any], Any] | None], is_divided: bool) -> None:
    with suppress(_Stopped), dividing(is_divided):
        while (one := work.get()) is not None:
            future, function, element = one
            del one
            try:
                future.set_result(function(element))
            except _Stopped:
                raise
            except BaseException as error:
                future.set_exception(error)
            del future, function, element


_running: weakref.WeakKeyDictionary[threading.Thread, _Room | _Pool] = weakref.WeakKeyDictionary()


class _Stopped(BaseException):
    """Raised in a thread that does not come to an end by itself."""


@atexit.register
def _stop_all() -> None:
    """A thread that is in the middle of something when the interpreter ends would take the process down."""
    threads = list(_running.items())
    for _, what in threads:
        what.stop()
    for thread, _ in threads:
        if thread.ident is None:  # it never started
            continue
        thread.join(0.2)
        if thread.is_alive() and thread.ident is not None:  # it is making an element that takes long, or never comes
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_Stopped))
            thread.join(0.5)


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
        self._thread: threading.Thread | None = None
        self._begun = False  # whether it is known that the thread has started, or that none could be had
        self._alone = False  # without a thread, since none could be had: elements are made when they are asked for
        self._origin = Origin()
        self._turn: Any
        take_turns(self)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        _check_process(self._origin)
        if self._thread is not None and self._thread.ident == threading.get_ident():
            raise RuntimeError("a function asked the iterator that is calling it for an element")
        if not self._begun:
            self._begin()
        if self._alone:
            with self._turn:
                self._source.make_one()
        element, error = self._source.made.get()
        self._room.free()
        if error is not None:
            try:
                raise error
            finally:
                del error
        if element is _END:
            self._source.put_end()  # for the next to ask
            raise StopIteration
        return element

    def _begin(self) -> None:
        with self._turn:
            if self._begun:
                return
            if self._thread is None:
                arguments = (self._room, weakref.ref(self._source), is_dividing())
                thread = threading.Thread(target=_fill, args=arguments, name="tfrecord_fast.prefetch", daemon=True)
                self._thread = thread  # at once: the thread may ask, too
            _running[self._thread] = self._room
            self._alone = not has_started(self._thread)
            self._begun = True

    def __del__(self) -> None:
        room: _Room | None = getattr(self, "_room", None)  # making it may have been interrupted
        if room is not None:
            room.stop()


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
        self._pool: _Pool | None = None
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
        try:
            if isinstance(future, Exception):
                raise future
            return future.result()
        finally:
            del future

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
                self._pool = _Pool(self._threads)
            self._futures.append(self._pool.submit(self._timed, element))

    def __del__(self) -> None:
        pool: _Pool | None = getattr(self, "_pool", None)  # making it may have been interrupted
        if pool is not None:
            pool.stop()


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
