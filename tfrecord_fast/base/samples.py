"""Whether functions are called with made-up elements, to learn the shapes of what they give.

What parses or decodes then makes up what it can't read, instead of refusing it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

__all__ = ["sample_length", "sampling"]

_length: ContextVar[int | None] = ContextVar("sample_length", default=None)


def sample_length() -> int | None:
    """What lengths that are not known are, in made-up elements; None: elements are real."""
    return _length.get()


@contextlib.contextmanager
def sampling(length: int) -> Iterator[None]:
    """In this context, elements are made up."""
    token = _length.set(length)
    try:
        yield
    finally:
        _length.reset(token)
