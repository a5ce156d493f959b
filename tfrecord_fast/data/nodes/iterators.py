"""Iterators of nodes. After an error, `next()` continues with the element after it, as TensorFlow's do."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import cycle, islice
from typing import Any

from ...base.raising import raised
from ...errors import InvalidArgumentError
from ...files.signals import interrupts, ran_directly_in, shows_a_handler
from ...values.nests import kind_of, normalize, rows, stack
from ...values.owned import read_only, renewed, snapshot, writable
from .opening import Opening, started
from .turns import Turns

__all__ = [
    "LOSE_NOTHING",
    "Batches",
    "Chained",
    "Concatenated",
    "Filling",
    "Interleaved",
    "InterleavedAhead",
    "Rebatched",
    "Repeated",
    "Scanned",
    "Shuffled",
    "Windowed",
    "Windows",
    "Zipped",
]

_END = object()
# Modules whose iterators lose no element to a signal's handler that raises, unless functions of others run below.
LOSE_NOTHING = {__name__, f"{__package__}.turns", f"{__package__}.windows"}


class Batches(Turns):
    """Stacked runs of elements.

    An error takes the place of its batch: the rest of its elements are passed over. Without `passes_over`, the next
    batch starts right after it, as TensorFlow's padded_batch has it; so it does after an element that `check` refuses.
    What a signal's handler raises takes no place: the elements are kept for the next call.
    """

    def __init__(
        self,
        elements: Iterator[Any],
        size: int,
        drop_remainder: bool,
        join: Callable[[list[Any]], Any] = stack,
        passes_over: bool = True,
        check: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__()
        self._elements = elements
        self._size = size
        self._drop_remainder = drop_remainder
        self._join = join
        self._check = check
        self._passes_over = passes_over
        self._interrupted: list[Any] = []

    def _next(self) -> Any:
        run, self._interrupted = self._interrupted, []
        try:
            run.extend(islice(self._elements, self._size - len(run)))
        except BaseException as error:
            if interrupts(error):
                self._interrupted = run
            elif self._passes_over:
                self._pass_over(self._size - len(run) - 1)
            raise
        if not run or (self._drop_remainder and len(run) < self._size):
            raise StopIteration
        if self._check is not None:
            self._check_all(run, self._check)
        return self._join(run)

    def _check_all(self, run: list[Any], check: Callable[[Any], Any]) -> None:
        for place, element in enumerate(run, 1):
            try:
                check(element)
            except Exception:
                self._interrupted = run[place:]
                raise

    def _pass_over(self, count: int) -> None:
        for _ in range(count):
            try:
                next(self._elements)
            except StopIteration:
                return
            except Exception:
                continue


class Rebatched(Batches):
    """Stacked runs of elements, whose sizes take turns; a run that was an error is tried again with its size."""

    def __init__(self, elements: Iterator[Any], sizes: list[int], drop_remainder: bool) -> None:
        super().__init__(elements, sizes[0], drop_remainder, passes_over=False)
        self._sizes = cycle([*sizes[1:], sizes[0]])

    def _next(self) -> Any:
        made = super()._next()
        self._size = next(self._sizes)
        return made


class Windowed(Turns):
    """The elements with the numbers start, start + step, … below stop; an error has no number."""

    def __init__(self, elements: Iterator[Any], start: int, stop: int | None, step: int) -> None:
        super().__init__()
        self._elements = elements
        self._wanted = start
        self._stop = stop
        self._step = step
        self._place = 0

    def _next(self) -> Any:
        if self._stop is not None and self._wanted >= self._stop:
            raise StopIteration
        while True:
            element = next(self._elements)
            self._place += 1
            if self._place > self._wanted:
                self._wanted += self._step
                return element


class Chained(Turns):
    """The elements of one iterable of each element, one after the other."""

    def __init__(self, elements: Iterator[Any], open_: Callable[[Any], Iterable[Any]] = rows) -> None:
        super().__init__()
        self._opening = Opening(elements, open_)
        self._current: Iterator[Any] | None = None

    def _next(self) -> Any:
        while True:
            if self._current is None:
                self._current = self._opening.next()
            if self._current is None:
                raise StopIteration
            element = next(self._current, _END)
            if element is not _END:
                return element
            self._current = None


class Repeated(Turns):
    """What `start()` iterates over, `count` times; if that is negative, endlessly, or until it gives no element."""

    def __init__(self, start: Callable[[], Iterator[Any]], count: int) -> None:
        super().__init__()
        self._start = start
        self._left = count
        self._current: Iterator[Any] | None = None
        self._some = True

    def _next(self) -> Any:
        while True:
            if self._current is None:
                if self._left == 0 or not self._some:
                    raise StopIteration
                current = started(self._start, self._count)
                # All at once: a signal's handler could raise in a call, and the epoch would come again.
                self._current, self._left, self._some = current, self._left - 1, self._left > 0
            element = next(self._current, _END)
            if element is not _END:
                self._some = True
                return element
            self._current = None

    def _count(self) -> None:
        self._left -= 1
        self._some = self._left >= 0  # a bounded repeat asks again if there was nothing


class Shuffled(Turns):
    """Draws from a buffer of the next `size` elements."""

    def __init__(self, elements: Iterator[Any], size: int, seed: int) -> None:
        super().__init__()
        self._elements = elements
        self._size = size
        self._below = random.Random(seed).randrange
        self._buffer: list[Any] = []
        self._ended = False

    def _next(self) -> Any:
        buffer = self._buffer
        while not self._ended and len(buffer) < self._size:
            element = next(self._elements, _END)
            if element is _END:
                self._ended = True
            else:
                buffer.append(element)
        if not buffer:
            raise StopIteration
        place = self._below(len(buffer))
        buffer[place], buffer[-1] = buffer[-1], buffer[place]
        return buffer.pop()


class Interleaved(Turns):
    """`block_length` elements in turn of each of the `cycle_length` iterables that are open at a time."""

    def __init__(
        self, elements: Iterator[Any], open_: Callable[[Any], Iterable[Any]], cycle_length: int, block_length: int
    ) -> None:
        super().__init__()
        self._opening = Opening(elements, open_)
        self._slots: list[Iterator[Any] | None] = [None] * cycle_length
        self._block_length = block_length
        self._slot = 0
        self._given = 0
        self._ended = False

    def _next(self) -> Any:
        while not self._ended or any(slot is not None for slot in self._slots):
            current = self._slots[self._slot]
            if current is None:
                self._fill()
                continue
            element = next(current, _END)
            if element is _END:
                self._slots[self._slot] = None
                self._advance()
                continue
            self._given += 1
            if self._given == self._block_length:
                self._advance()
            return element
        raise StopIteration

    def _fill(self) -> None:
        opened = None if self._ended else self._opening.next()
        if opened is None:
            self._ended = True
            self._advance()
        else:
            self._slots[self._slot] = opened

    def _advance(self) -> None:
        self._slot = (self._slot + 1) % len(self._slots)
        self._given = 0


class InterleavedAhead(Interleaved):
    """The same, where iterables are opened before their turn: one that ends gives its place, and its turn is over.

    If there is none for its place, the block that it began goes on with the next one, as in TensorFlow.
    """

    _opened = 0  # of the places, before the first element

    def _next(self) -> Any:
        while self._opened < len(self._slots):
            self._slot = self._opened
            self._open_next()
            self._opened += 1
            self._slot = 0
        while any(slot is not None for slot in self._slots):
            current = self._slots[self._slot]
            element = _END if current is None else next(current, _END)
            if element is not _END:
                self._given += 1
                if self._given == self._block_length:
                    self._advance()
                return element
            begun = self._given
            if current is not None:
                self._open_next()
            goes_on = self._slots[self._slot] is None
            self._advance()
            self._given = begun if goes_on else 0
        raise StopIteration

    def _open_next(self) -> None:
        """An error has its place, as an iterable that raises it would have."""
        try:
            opened = self._opening.next()
        except Exception as error:
            if shows_a_handler(error):
                raise
            opened = map(raised, [error])
        self._slots[self._slot] = opened


class _Failed:
    """In a window's buffer, the place of an element that raised."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Windows(Turns):
    """Lists of `size` elements, `stride` apart, each of which starts `shift` elements after the one before.

    An element that raises has its place like any other: windows that it is in raise its error.
    """

    def __init__(self, elements: Iterator[Any], size: int, shift: int, stride: int, drop_remainder: bool) -> None:
        super().__init__()
        self._elements = elements
        self._size = size
        self._shift = shift
        self._stride = stride
        self._drop_remainder = drop_remainder
        self._buffer: deque[Any] = deque()
        self._ahead = 0  # elements to skip before the next window, if shift is more than a window spans

    def _next(self) -> list[Any]:
        span = (self._size - 1) * self._stride + 1
        while self._ahead and self._element() is not _END:
            self._ahead -= 1
        while len(self._buffer) < span and (element := self._element()) is not _END:
            self._buffer.append(element)
        if not self._buffer or (self._drop_remainder and len(self._buffer) < span):
            raise StopIteration
        window = list(islice(self._buffer, 0, None, self._stride))
        passed = min(self._shift, len(self._buffer))
        for _ in range(passed):
            self._buffer.popleft()
        self._ahead = self._shift - passed
        for element in window:
            if isinstance(element, _Failed):
                raise element.error
        return window

    def _element(self) -> Any:
        try:
            return next(self._elements, _END)
        except Exception as error:
            if shows_a_handler(error):
                raise
            return _Failed(error)


class Zipped(Turns):
    """Lists of the elements of several iterators side by side, up to the end of the shortest.

    An error takes the place of a whole list, so that the others stay side by side. What a signal's handler raises does
    not, while an iterator waits that loses nothing.
    """

    def __init__(self, iterators: list[Iterator[Any]]) -> None:
        super().__init__()
        self._iterators = iterators
        self._behind: list[Iterator[Any]] = []  # those that an interrupted list has not asked yet
        self._found: list[Any] = []  # of an interrupted list that goes on

    def _next(self) -> list[Any]:
        if self._behind:
            self._catch_up()
        found, self._found = self._found, []
        fault: Exception | None = None
        left = self._iterators[len(found) :] if found else self._iterators
        for iterator in left:
            try:
                for element in iterator:  # not `next`: after a call, a signal could take the element away
                    found += (element,)
                    break
                else:
                    self._iterators = []
                    break
            except BaseException as error:
                if fault is None and ran_directly_in(error, LOSE_NOTHING):
                    self._found = found
                    raise
                if not isinstance(error, Exception):
                    self._behind = left[left.index(iterator) + 1 :]
                    raise
                fault = fault or error
        if fault is not None:
            try:
                raise fault
            finally:
                del fault  # as in `raised`
        if not self._iterators:
            raise StopIteration
        return found

    def _catch_up(self) -> None:
        while self._behind:
            try:
                next(self._behind[0], None)
            except Exception as error:
                if shows_a_handler(error):
                    raise
            del self._behind[0]


class Concatenated(Turns):
    """The elements of iterators that `starts` start, one after the other.

    Raises:
      TypeError: when an iterator's first element is not of the kind of the first iterator's; that is the end.
    """

    def __init__(self, starts: Iterable[Callable[[], Iterator[Any]]]) -> None:
        super().__init__()
        self._opening = Opening(starts, lambda start: start())
        self._current: Iterator[Any] | None = None
        self._kind: Any = None
        self._checked = False

    def _next(self) -> Any:
        while True:
            if self._current is None:
                self._current, self._checked = self._opening.next(), False
            if self._current is None:
                raise StopIteration
            element = next(self._current, _END)
            if element is _END:
                self._current = None
                continue
            if not self._checked:
                self._check(element)
            return element

    def _check(self, element: Any) -> None:
        kind = kind_of(element)
        if self._kind is not None and kind != self._kind:
            self._current, self._opening = None, Opening((), iter)
            raise TypeError(f"Incompatible dataset elements: {self._kind} vs. {kind}")
        self._kind, self._checked = kind, True


class Scanned(Turns):
    """The results of `function(state, element)`, which gives the next state and a result.

    What it gives and takes is its own: a state may be written to, and given as a result, too.
    """

    def __init__(self, elements: Iterator[Any], state: Any, function: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self._elements = elements
        self._state = snapshot(state)
        self._function = function

    def _next(self) -> Any:
        pair = tuple(self._function(writable(self._state), next(self._elements)))
        if len(pair) != 2:
            raise InvalidArgumentError(f"the function of scan must return a state and a result, got {len(pair)} values")
        state, result = normalize(pair)
        self._state = snapshot(state)
        return result


class Filling(Turns):
    """Elements that are kept: `keep` is called with the list of them once `is_last` says so, or there are no more.

    What raises is not kept, as in TensorFlow; nothing is where a signal's handler has raised.

    Args:
      is_last: whether the element of a number, from 1 on, is known to be the last; asked when it has come.
    """

    def __init__(
        self, elements: Iterator[Any], is_last: Callable[[int], bool], keep: Callable[[list[Any]], None]
    ) -> None:
        super().__init__()
        self._elements = elements
        self._is_last = is_last
        self._keep = keep
        self._kept: list[Any] = []

    def _next(self) -> Any:
        try:
            for element in self._elements:
                kept = read_only(element)
                self._kept.append(kept)
                if self._is_last(len(self._kept)):
                    self._keep(self._kept)
                return renewed(kept)
        except BaseException as error:
            if interrupts(error):
                self._keep = _keep_nothing
            raise
        self._keep(self._kept)
        raise StopIteration


def _keep_nothing(_: list[Any]) -> None:
    pass
