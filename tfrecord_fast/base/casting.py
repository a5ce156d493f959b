"""Numbers of one dtype as numbers of another."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["numbers_as"]

# TensorFlow's conversion takes 32 floats at a time, and lets what is left over wrap.
_AT_A_TIME = 32


def numbers_as(values: npt.NDArray[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Numbers in another dtype, as TensorFlow casts them: what an integer can't hold wraps.

    Floats that go to integers of 8 or 16 bits, as those of an image do, are cut off at the limits, if there are at
    least 32 of them. In TensorFlow, those after the last whole 32 wrap.
    """
    target = np.dtype(dtype)
    with np.errstate(all="ignore"):
        if values.size < _AT_A_TIME or values.dtype.kind not in "fV" or target.kind not in "iu" or target.itemsize > 2:
            return values.astype(target)
        whole = values.astype(np.int32)
        limits = np.iinfo(target)
        return np.clip(whole, limits.min, limits.max, out=whole).astype(target)
