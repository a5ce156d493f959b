"""Byte strings as users give them: one, or an array of them. The rule is the core's: csrc/bindings/bytes_like.h."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from ... import _core

__all__ = ["as_bytes", "is_one", "is_text", "object_array", "strings"]


def as_bytes(value: object, what: str = "the value") -> bytes:
    """One byte string as bytes; a copy, unless it is bytes.

    Args:
      value: bytes, str (as UTF-8), a bytearray, a contiguous buffer of single bytes, an array of uint8, an array
        without dimensions that holds one of these, or another library's tensor of one.
      what: begins the error.

    Raises:
      TypeError: anything else; names its type.
    """
    return _core.as_bytes(value, what)


def is_text(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of the dtype hold strings or Python objects."""
    return dtype.kind in "SUOT"


def is_one(value: object) -> bool:
    """Whether a value stands for one byte string, if it is bytes-like at all, and not for several."""
    if isinstance(value, list | tuple | _core.RecordBatch | _core.BytesArrayBase):
        return False
    if isinstance(value, np.ndarray):
        return value.ndim == 0 or (value.ndim == 1 and not is_text(value.dtype))
    if isinstance(value, bytes | str | bytearray | memoryview | np.generic):
        return True
    return _has_buffer(value) or not hasattr(value, "__iter__")


def strings(values: Any, what: str = "values") -> npt.NDArray[Any]:
    """One byte string, or nested sequences or an array of them, as an object array of bytes.

    No string loses the zeros at its end, as NumPy's own string types do; those of such an array have lost them before.

    Args:
      what: begins the errors.

    Raises:
      TypeError: a value is not bytes-like.
      ValueError: lists of unequal lengths.
    """
    if type(values) is list and all(type(value) is bytes for value in values):
        return object_array(values, (len(values),))
    found: list[bytes] = []
    shape = _collect(values, what, found)
    return object_array(found, shape)


def object_array(items: Sequence[Any], shape: Sequence[int]) -> npt.NDArray[Any]:
    """An object array of that shape with the items, which NumPy doesn't look into."""
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(tuple(shape))


def _collect(value: Any, what: str, found: list[bytes]) -> tuple[int, ...]:
    """Appends the strings in a value; its shape."""
    if _is_nested(value):
        shapes = [_collect(item, what, found) for item in value]
        if len(set(shapes)) > 1:
            raise ValueError(f"{what}: lists of unequal lengths")
        return (len(shapes), *(shapes[0] if shapes else ()))
    if hasattr(value, "numpy") and not isinstance(value, np.ndarray | np.generic | type):
        return _collect(value.numpy(), what, found)  # another library's tensor
    if is_one(value):
        found.append(as_bytes(value, what))
        return ()
    batch = _core.record_batch(value)
    found.extend(batch.tolist())
    numbers = isinstance(value, np.ndarray) and not is_text(value.dtype)
    shape: tuple[int, ...] = (len(batch),) if numbers else getattr(value, "shape", (len(batch),))
    return shape


def _has_buffer(value: Any) -> bool:
    try:
        memoryview(value)
    except (TypeError, BufferError):
        return False
    return True


def _is_nested(value: object) -> TypeGuard[list[Any] | tuple[Any, ...]]:
    return isinstance(value, list | tuple)
