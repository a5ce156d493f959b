"""Calls of functions with made-up elements, to learn the shapes of their results.

During such a call, parsers and decoders make up values where the elements do not fit, instead of raising errors.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

_length: ContextVar[int | None] = ContextVar("sample_length", default=None)


def sample_length() -> int | None:
    """Return the length that replaces unknown lengths in made-up elements; None while elements are real."""
    return _length.get()


@contextlib.contextmanager
def sampling(length: int) -> Iterator[None]:
    """Mark elements as made up in this context."""
    token = _length.set(length)
    try:
        yield
    finally:
        _length.reset(token)
