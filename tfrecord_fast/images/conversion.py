"""Images in another dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.casting import numbers_as
from ..dtypes import DTypeLike, as_dtype

__all__ = ["convert_image_dtype"]


def convert_image_dtype(
    image: npt.ArrayLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None
) -> npt.NDArray[Any]:
    """An image in another dtype, scaled: floats are 0 to 1, integers 0 to their largest value.

    Args:
      image: an array of any integer or float dtype.
      saturate: what the dtype does not hold becomes the nearest value that it does.

    Raises:
      TypeError: either dtype is of something else.

    >>> import numpy as np, tfrecord_fast as tf
    >>> float(tf.image.convert_image_dtype(np.uint8([255]), tf.float32)[0])
    1.0
    """
    values: Any = np.asarray(image)
    if isinstance(image, list | tuple) and values.dtype == np.int64 and np.array_equal(values, values.astype(np.int32)):
        values = values.astype(np.int32)  # as TensorFlow types Python's
    kind: Any = np.dtype(as_dtype(dtype).as_numpy_dtype)
    for one in (values.dtype, kind):
        if one.kind not in "iufV":  # V: bfloat16
            raise TypeError(f"images are of integers or floats, not of {one}")
    if values.dtype == kind:
        scaled = values
    elif values.dtype.kind in "iu" and kind.kind in "iu":
        have, want = np.iinfo(values.dtype).max, np.iinfo(kind).max
        if have > want:
            scaled = values // ((have + 1) // (want + 1))
            scaled = _saturated(scaled, kind) if saturate else scaled
        else:
            scaled = _saturated(values, kind) if saturate else values.astype(kind)
            scaled = scaled * kind.type((want + 1) // (have + 1))
    elif values.dtype.kind in "iu":
        scaled = values.astype(kind) * kind.type(1.0 / np.iinfo(values.dtype).max)
    elif kind.kind in "iu":
        scaled = values * values.dtype.type(np.iinfo(kind).max + 0.5)
        scaled = _saturated(scaled, kind) if saturate else scaled
    else:
        scaled = values
    return scaled if scaled.dtype == kind else numbers_as(scaled, kind)


def _saturated(values: npt.NDArray[Any], kind: np.dtype[Any]) -> npt.NDArray[Any]:
    """As integers of a dtype, the nearest ones for those beyond it."""
    limits = np.iinfo(kind)
    if values.dtype.kind in "iu":
        own = np.iinfo(values.dtype)
        within: npt.NDArray[Any] = np.clip(values, max(own.min, limits.min), min(own.max, limits.max))
        return within.astype(kind)
    values = values.astype(np.float32) if values.dtype.itemsize < 4 else values
    low, high = values.dtype.type(limits.min), values.dtype.type(limits.max)
    if int(high) > limits.max:  # the greatest that the floats have below it
        high = np.nextafter(high, low)
    within = np.clip(values, low, high)
    return within.astype(kind)
