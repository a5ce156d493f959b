"""What Python makes of each batch, without losing one to a signal.

Python runs handlers of signals after calls and on entering functions, and what a handler raises then comes out of
whatever runs. A batch that the stream has given and that is not finished yet would be gone, and the stream's state
would count it. So the batch is kept: the next call gives it, and until then the state stands before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..naming.signals import is_of_signal, shows_a_handler

__all__ = ["Finished", "Interrupted"]


class Interrupted:
    """What an interrupted iteration has left.

    Attributes:
      batches: those that were taken and not given.
      before: whether the state is the one before the last batch.
    """

    __slots__ = ("batches", "before")

    def __init__(self) -> None:
        self.batches: list[Any] = []
        self.before = False


class Finished(Iterator[Any]):
    """`map(finish, batches)`; several threads may share it.

    Args:
      pure: whether a batch may be finished again after `finish` was interrupted. If not, the batch is not given by the
        next call, and the state stands before it until another one is.
    """

    def __init__(self, batches: Iterator[Any], finish: Callable[[Any], Any], *, pure: bool = True) -> None:
        self._batches, self._finish, self._pure = batches, finish, pure
        self.left = Interrupted()

    def __next__(self) -> Any:
        # No call, and no step back in a loop, may come between a batch and the `try`, or after it: a handler, or
        # another thread, could run there.
        left, again = self.left, False
        if left.batches:
            batch, again = left.batches[-1], True
            del left.batches[-1]
        else:
            for one in self._batches:
                batch = one
                break
            else:
                raise StopIteration
        try:
            made = self._finish(batch)
        except BaseException as error:
            left.before = True
            if self._pure:
                left.batches += (batch,)
            if not _is_of_handler(error, again):
                self._pass(batch)
            raise
        left.before = False
        return made

    def _pass(self, batch: Any) -> None:
        """The error is the batch's own: what follows is the next one."""
        left = self.left
        left.before = False
        left.batches[:] = [one for one in left.batches if one is not batch]


def _is_of_handler(error: BaseException, again: bool) -> bool:
    """Whether a signal's handler may have raised it. An error that comes again is the batch's own, unless it shows."""
    if not isinstance(error, Exception):
        return True
    return is_of_signal(error) and (not again or shows_a_handler(error))
