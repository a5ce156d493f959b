"""Casts of numbers between dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

# TensorFlow's conversion clips 32 floats at a time; the remaining ones wrap.
_AT_A_TIME = 32


def numbers_as(values: npt.NDArray[Any], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Cast numbers to another dtype, as TensorFlow does: integers out of range wrap.

    32 floats or more are clipped to the range of an integer of 8 or 16 bits, as in images. In TensorFlow, the floats
    after the last whole 32 wrap.
    """
    target = np.dtype(dtype)
    if values.dtype.kind in "biu" and target.itemsize > 2:
        return values.astype(target)  # which needs no care
    with np.errstate(all="ignore"):
        if values.size < _AT_A_TIME or values.dtype.kind not in "fV" or target.kind not in "iu" or target.itemsize > 2:
            return values.astype(target)
        whole = values.astype(np.int32)
        limits = np.iinfo(target)
        return np.clip(whole, limits.min, limits.max, out=whole).astype(target)
