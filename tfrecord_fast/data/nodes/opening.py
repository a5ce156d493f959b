"""Starting what elements come from, of which nothing is lost when a signal's handler raises meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...files.naming.signals import shows_a_handler

__all__ = ["Opening", "started"]


class Opening:
    """What `open_` gives for one element after the other. An element with which it fails is passed over."""

    def __init__(self, elements: Iterable[Any], open_: Callable[[Any], Iterable[Any]]) -> None:
        self._elements, self._open = iter(elements), open_
        self._taken: list[Any] = []  # what is being opened

    def next(self) -> Iterator[Any] | None:
        """The iterator of the next one; None at the end."""
        if not self._taken:
            for element in self._elements:  # not `next`: after a call, a signal could take the element away
                self._taken = [element]
                break
            else:
                return None
        opened = started(lambda: iter(self._open(self._taken[0])), self._pass_over)
        self._taken = []
        return opened

    def _pass_over(self) -> None:
        self._taken = []


def started(start: Callable[[], Iterator[Any]], failed: Callable[[], None]) -> Iterator[Any]:
    """What `start` gives; `failed` is called if it raises by itself, and no signal's handler in it."""
    try:
        return start()
    except Exception as error:
        if not shows_a_handler(error):
            failed()
        raise
