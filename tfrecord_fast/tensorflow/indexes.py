"""What stands in the brackets after a tensor."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["index_of"]


def index_of(key: Any, plain: Callable[[Any], Any]) -> Any:
    """An index of NumPy's with TensorFlow's meaning: a list is a tuple, and there are no arrays of numbers in it.

    Args:
      plain: a function from a tensor to its array, which leaves other values as they are.

    Raises:
      TypeError: another kind of index, which NumPy might take in its own way.
    """
    mask = plain(key)
    if isinstance(mask, np.ndarray) and mask.dtype == np.bool_ and mask.ndim:
        return mask
    return tuple(_part(part, plain) for part in (key if isinstance(key, list | tuple) else (key,)))


def _part(part: Any, plain: Callable[[Any], Any]) -> Any:
    if part is None or part is Ellipsis:
        return part
    if isinstance(part, slice):
        bounds = (part.start, part.stop, part.step)
        return slice(*(None if bound is None else operator.index(plain(bound)) for bound in bounds))
    number = plain(part)
    if np.ndim(number) or not hasattr(number, "__index__") or np.asarray(number).dtype == np.bool_:
        raise TypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
            f"are valid indices, got {part!r:.100}"
        )
    return number
