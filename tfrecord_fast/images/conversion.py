"""Images in another dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.casting import numbers_as
from ..dtypes import DTypeLike, as_dtype


def convert_image_dtype(
    image: npt.ArrayLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None
) -> npt.NDArray[Any]:
    """Convert an image to another dtype and scale it: floats are 0 to 1, integers 0 to their largest value.

    Args:
      image: an array of any integer or float dtype.
      saturate: clip values to the range of the dtype.

    Raises:
      TypeError: a dtype is neither integer nor float.

    >>> import numpy as np, tfrecord_fast as tf
    >>> float(tf.image.convert_image_dtype(np.uint8([255]), tf.float32)[0])
    1.0
    """
    values: Any = np.asarray(image)
    if isinstance(image, list | tuple) and values.dtype == np.int64 and np.array_equal(values, values.astype(np.int32)):
        values = values.astype(np.int32)  # the dtype that TensorFlow chooses
    target: Any = np.dtype(as_dtype(dtype).as_numpy_dtype)
    for image_dtype in (values.dtype, target):
        if image_dtype.kind not in "iufV":  # V: bfloat16
            raise TypeError(f"images must have an integer or float dtype, got {image_dtype}")
    if values.dtype == target:
        scaled = values
    elif values.dtype.kind in "iu" and target.kind in "iu":
        have, want = np.iinfo(values.dtype).max, np.iinfo(target).max
        if have > want:
            scaled = values // ((have + 1) // (want + 1))
            scaled = _saturated(scaled, target) if saturate else scaled
        else:
            scaled = _saturated(values, target) if saturate else values.astype(target)
            scaled = scaled * target.type((want + 1) // (have + 1))
    elif values.dtype.kind in "iu":
        scaled = values.astype(target) * target.type(1.0 / np.iinfo(values.dtype).max)
    elif target.kind in "iu":
        scaled = values * values.dtype.type(np.iinfo(target).max + 0.5)
        scaled = _saturated(scaled, target) if saturate else scaled
    else:
        scaled = values
    return scaled if scaled.dtype == target else numbers_as(scaled, target)


def _saturated(values: npt.NDArray[Any], target: np.dtype[Any]) -> npt.NDArray[Any]:
    limits = np.iinfo(target)
    if values.dtype.kind in "iu":
        own = np.iinfo(values.dtype)
        within: npt.NDArray[Any] = np.clip(values, max(own.min, limits.min), min(own.max, limits.max))
        return within.astype(target)
    values = values.astype(np.float32) if values.dtype.itemsize < 4 else values
    low, high = values.dtype.type(limits.min), values.dtype.type(limits.max)
    if int(high) > limits.max:  # the largest float below the limit
        high = np.nextafter(high, low)
    within = np.clip(values, low, high)
    return within.astype(target)
