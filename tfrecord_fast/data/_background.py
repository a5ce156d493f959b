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
from typing import Any

__all__ = ["Mapped", "Prefetched"]

_END = object()


class _Buffer:
    """What the filling thread and the consumer share; `changed` guards all of it."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.items: deque[tuple[Any, BaseException | None]] = deque()
        self.changed = threading.Condition()
        self.stopped = False

    def put(self, element: Any, error: BaseException | None) -> bool:
        """Waits for room; False once nobody wants more."""
        with self.changed:
            self.changed.wait_for(lambda: self.stopped or len(self.items) < self.size)
            self.items.append((element, error))
            self.changed.notify_all()
            return not self.stopped

    def get(self) -> tuple[Any, BaseException | None]:
        with self.changed:
            self.changed.wait_for(lambda: self.items)
            item = self.items.popleft()
            self.changed.notify_all()
            return item

    def stop(self) -> None:
        with self.changed:
            self.stopped = True
            self.items.clear()
            self.changed.notify_all()


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


class Mapped:
    """The function's results, in the order of the elements, made on `threads` threads."""

    def __init__(self, elements: Iterator[Any], function: Callable[[Any], Any], threads: int) -> None:
        from concurrent.futures import ThreadPoolExecutor

        self._elements = elements
        self._function = function
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="tfrecord_fast.map")
        self._ahead = 2 * threads
        self._futures: deque[Any] = deque()
        self._ended = False

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        while not self._ended and len(self._futures) < self._ahead:
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
        return self._pool.submit(self._function, element)

    def __del__(self) -> None:
        pool = getattr(self, "_pool", None)
        if pool is not None:
            pool.shutdown(wait=False, cancel_futures=True)
