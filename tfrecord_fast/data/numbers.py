"""Numbers with a special meaning, as in TensorFlow, and checks of numbers from users."""

from __future__ import annotations

import operator
from typing import Any

from ..errors import InvalidArgumentError

AUTOTUNE = -1  # chosen by the library
INFINITE = -1  # cardinality of an endless dataset
UNKNOWN = -2  # cardinality that only an iteration can tell

_MOST = 1 << 63


def check_count(name: str, value: Any, least: int = 1) -> int:
    """Return the value, from `least` on and below 2**63, as an int; NumPy integers are accepted."""
    is_scalar = hasattr(value, "item") and not len(getattr(value, "shape", ()))  # not an array of one number
    plain = value.item() if is_scalar else value
    if isinstance(plain, bool):
        raise TypeError(f"`{name}` must be an integer, got {plain}")
    number = operator.index(plain)
    if number < least:
        raise InvalidArgumentError(
            f"`{name}` must be {'greater than zero' if least == 1 else f'at least {least}'}, got {number}"
        )
    if number >= _MOST:
        raise InvalidArgumentError(f"`{name}` must be below 2**63, got {number}")
    return number


def files_at_once(num_parallel_reads: int | None) -> int:
    """Return the number of files to interleave, one element each."""
    if num_parallel_reads is None or num_parallel_reads == AUTOTUNE:
        return 1
    if num_parallel_reads < 1:
        raise InvalidArgumentError(f"`num_parallel_reads` must be > 0, got {num_parallel_reads}")
    if num_parallel_reads >= _MOST:
        raise InvalidArgumentError(f"`num_parallel_reads` must be below 2**63, got {num_parallel_reads}")
    return num_parallel_reads
