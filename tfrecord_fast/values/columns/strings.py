"""Users' byte strings: one, or an array of them. The core decides what counts: csrc/bindings/bytes_like.h."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core


def as_bytes(value: object, what: str = "the value") -> bytes:
    """Return one byte string as bytes.

    Args:
      value: bytes, str (as UTF-8), a bytearray, a contiguous buffer of single bytes, an array of uint8, an array
        without dimensions that holds one of these, or another library's tensor of one.
      what: begins the error.

    Raises:
      TypeError: another type of value.
    """
    return _core.as_bytes(value, what)


def is_text(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "SUOT"


def is_one(value: object) -> bool:
    """Return True if a value is one byte string, rather than several; it may also be neither."""
    if isinstance(value, list | tuple | _core.RecordBatch | _core.BytesArrayBase):
        return False
    if isinstance(value, np.ndarray):
        return value.ndim == 0 or (value.ndim == 1 and not is_text(value.dtype))
    if isinstance(value, bytes | str | bytearray | memoryview | np.generic):
        return True
    return has_buffer(value) or not hasattr(value, "__iter__")


def strings(values: Any, what: str = "values") -> npt.NDArray[Any]:
    """Return one byte string, or nested sequences or an array of them, as an object array of bytes.

    An object array keeps zeros at the end of strings, which NumPy's string dtypes drop.

    Args:
      what: begins the errors.
    """
    if type(values) is list and all(type(value) is bytes for value in values):
        return object_array(values, (len(values),))
    collected: list[bytes] = []
    shape = _collect(values, what, collected)
    return object_array(collected, shape)


def object_array(items: Sequence[Any], shape: Sequence[int]) -> npt.NDArray[Any]:
    """Return an object array of the items, into which NumPy does not look."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(tuple(shape))


def _collect(value: Any, what: str, collected: list[bytes]) -> tuple[int, ...]:
    """Append the strings in a value to `collected`; return the shape of the value."""
    if isinstance(value, list | tuple):
        shapes = [_collect(item, what, collected) for item in value]
        if len(set(shapes)) > 1:
            raise ValueError(f"{what}: lists of unequal lengths")
        return (len(shapes), *(shapes[0] if shapes else ()))
    if hasattr(value, "numpy") and not isinstance(value, np.ndarray | np.generic | type):
        return _collect(value.numpy(), what, collected)  # another library's tensor
    if is_one(value):
        collected.append(as_bytes(value, what))
        return ()
    batch = _core.record_batch(value)
    collected.extend(batch.tolist())
    numbers = isinstance(value, np.ndarray) and not is_text(value.dtype)
    shape: tuple[int, ...] = (len(batch),) if numbers else getattr(value, "shape", (len(batch),))
    return shape


def has_buffer(value: Any) -> bool:
    try:
        memoryview(value)
    except (TypeError, BufferError):
        return False
    return True
