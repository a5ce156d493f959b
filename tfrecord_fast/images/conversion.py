"""Images in another dtype."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..dtypes import DTypeLike, as_dtype

__all__ = ["convert_image_dtype"]


def convert_image_dtype(
    image: npt.ArrayLike, dtype: DTypeLike, saturate: bool = False, name: str | None = None
) -> npt.NDArray[Any]:
    """An image in another dtype, scaled: floats are 0 to 1, integers 0 to their largest value.

    Args:
      image: an array of any integer or float dtype.
      saturate: clip floats to 0 to 1 before they become integers.

    >>> import numpy as np, tfrecord_fast as tf
    >>> float(tf.image.convert_image_dtype(np.uint8([255]), tf.float32)[0])
    1.0
    """
    values: Any = np.asarray(image)
    kind: Any = np.dtype(as_dtype(dtype).as_numpy_dtype)
    if values.dtype == kind:
        scaled = values
    elif values.dtype.kind in "iu" and kind.kind in "iu":
        have, want = np.iinfo(values.dtype).max, np.iinfo(kind).max
        if have > want:
            scaled = values // ((have + 1) // (want + 1))
        else:
            scaled = values.astype(kind) * kind.type((want + 1) // (have + 1))
    elif values.dtype.kind in "iu":
        scaled = values.astype(kind) * kind.type(1.0 / np.iinfo(values.dtype).max)
    elif kind.kind in "iu":
        limits = np.iinfo(kind)
        scaled = values * values.dtype.type(limits.max + 0.5)
        scaled = np.clip(scaled, limits.min, limits.max) if saturate else scaled
    else:
        scaled = values
    converted: npt.NDArray[Any] = scaled.astype(kind, copy=False)
    return converted
