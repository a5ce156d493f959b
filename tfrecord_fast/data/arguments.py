"""Checks of the numbers that users give."""

from __future__ import annotations

import operator
from typing import Any

from ..errors import InvalidArgumentError

__all__ = ["check_count"]


def check_count(name: str, value: Any, least: int = 1) -> int:
    """The value as an int; NumPy's integers count, too.

    Raises:
      errors.InvalidArgumentError: it is less than `least`; the error calls it `name`.
      TypeError: it is not an integer.
    """
    number = operator.index(value.item() if hasattr(value, "item") else value)
    if number < least:
        raise InvalidArgumentError(
            f"`{name}` must be {'greater than zero' if least == 1 else f'at least {least}'}, got {number}"
        )
    return number
