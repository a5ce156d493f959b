"""Sizes of blocks: small at first, so that the first element comes soon, then as many as stay in a cache."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

FIRST = 16
_MOST = 1024
_BYTES = 1 << 18
_FEW = 64  # elements, for which a call of a function costs more than a cache saves
_MOST_BYTES = 1 << 22  # that few elements may have

_fixed: int | None = None


def set_fixed(count: int | None) -> None:
    """Give each block `count` records, for tests; 0: use no blocks; None: decide by bytes."""
    global _fixed
    _fixed = count


@contextlib.contextmanager
def fixed(count: int | None) -> Iterator[None]:
    """Give each block `count` records within the context."""
    before = _fixed
    set_fixed(count)
    try:
        yield
    finally:
        set_fixed(before)


def are_off() -> bool:
    return _fixed == 0


class Sizes:
    """The number of elements of each block of an iteration."""

    def __init__(self) -> None:
        self._fixed = _fixed
        self.count = _fixed or FIRST
        self.piece = min(self.count, FIRST) if _fixed is None else self.count  # records to read at a time

    def are_enough(self, count: int, size: int) -> bool:
        """Return True if a block of that many elements, and bytes, is complete."""
        return count >= self.count or (self._fixed is None and size >= (_MOST_BYTES if count < _FEW else _BYTES))

    def fitting(self, count: int, size: int) -> int:
        """Return how many of `count` records of that size together make a block."""
        return count if self._fixed is not None or size <= _MOST_BYTES else max(1, count * _MOST_BYTES // size)

    def of_rows(self, row_bytes: int) -> int:
        """Return how many elements of that size make a block of results."""
        return self.count if self._fixed is not None else max(1, min(_MOST, _MOST_BYTES // max(1, row_bytes)))

    @property
    def are_fixed(self) -> bool:
        return self._fixed is not None

    def grow(self) -> None:
        """Let the next block be larger."""
        if self._fixed is None:
            self.count = min(2 * self.count, _MOST)
