"""What functions on tensors are given, as arrays, and what they give back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...values.columns.typed import as_ndarray, typed
from .. import border
from ..arithmetic import converted
from ..composites import RaggedTensor
from ..tensors import Tensor, plain_array
from ..types import DType, as_dtype, dtype_of

__all__ = [
    "array_of", "arrays_of", "axes_of", "common_dtype", "integer", "is_list_of_integers", "lengths_of", "tensor",
    "tensors",
]  # fmt: skip

Array = np.ndarray[Any, Any]


def array_of(value: Any, dtype: Any = None) -> Array:
    """The value as an array, typed as TensorFlow types Python's; or of the dtype, if it is given.

    Raises:
      TypeError, ValueError: it can't be of that dtype.
    """
    if isinstance(value, Tensor):
        made = as_ndarray(plain_array(value))
    elif isinstance(value, RaggedTensor):
        raise ValueError(f"this takes no RaggedTensor, even if its rows have one length: {value!r:.100}")
    elif hasattr(value, "numpy") and hasattr(value, "dtype"):
        made = as_ndarray(value.numpy())
    elif isinstance(value, list | tuple) and _holds_tensors(value):
        dtype = common_dtype(value) if dtype is None else dtype
        return np.stack([array_of(item, dtype) for item in value])
    elif dtype is not None:
        return converted(value, dtype)
    else:
        given = border.lowered(list(value) if isinstance(value, tuple | range) else value)
        made = as_ndarray(typed(given))
    if made.dtype.kind == "O" and made.size and not isinstance(made.ravel()[0], bytes):
        raise ValueError(f"Attempt to convert a value ({value!r:.100}) with an unsupported type to a Tensor.")
    if dtype is not None and dtype_of(made) != as_dtype(dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {as_dtype(dtype).name} for Tensor with dtype {dtype_of(made).name}: "
            f"{value!r:.200}"
        )
    return made


def _holds_tensors(values: list[Any] | tuple[Any, ...]) -> bool:
    kinds = set(map(type, values))
    if any(issubclass(kind, Tensor) or hasattr(kind, "numpy") for kind in kinds):
        return True
    return any(issubclass(kind, list | tuple) for kind in kinds) and any(
        _holds_tensors(item) for item in values if isinstance(item, list | tuple)
    )


def common_dtype(value: Any) -> Any:
    """That of the tensors in a list; None if there are none.

    Raises:
      errors.InvalidArgumentError: they differ.
    """
    if not isinstance(value, list | tuple):
        return None
    kinds: list[Any] = [one.dtype if isinstance(one, Tensor) else common_dtype(one) for one in value]
    found = [kind for kind in kinds if kind is not None]
    if any(kind != found[0] for kind in found):
        raise InvalidArgumentError(f"tensors of one list differ in dtype: {sorted({kind.name for kind in found})}")
    return found[0] if found else None


def arrays_of(*values: Any) -> list[Array]:
    """Several values of one dtype: that of the first tensor or array among them, which Python's numbers take.

    Raises:
      errors.InvalidArgumentError: tensors of different dtypes.
    """
    known = [value for value in values if isinstance(value, Tensor) or hasattr(value, "numpy")]
    if not known:
        known = [value for value in values if isinstance(value, np.ndarray | np.generic)]
    if not known:
        made = [array_of(value) for value in values]
        if len({one.dtype for one in made}) > 1:
            widest: DType = dtype_of(made[0])
            return [converted(value, widest) for value in values]
        return made
    dtype = dtype_of(array_of(known[0]))
    made = []
    for number, value in enumerate(values):
        if isinstance(value, Tensor) or hasattr(value, "numpy"):
            one = array_of(value)
            if dtype_of(one) != dtype:
                raise InvalidArgumentError(
                    f"expected tensor #{number} to be of type {dtype.name}, but it is of type {dtype_of(one).name}"
                )
            made.append(one)
        else:
            made.append(converted(border.lowered(value), dtype))
    return made


def tensor(value: Any) -> Any:
    """The tensor of an array or scalar of NumPy, or of bytes."""
    return border.raised(np.asarray(value) if not isinstance(value, bytes) else value)


def tensors(values: Iterable[Any]) -> list[Any]:
    """Several of them."""
    return [tensor(value) for value in values]


def integer(value: Any) -> int:
    """A number that may be a tensor, as Python's."""
    if isinstance(value, int):
        return int(value)
    given = array_of(value)
    if given.dtype.kind not in "iu":
        raise TypeError(f"expected an integer, got {dtype_of(given).name}: {value!r:.100}")
    return int(given.item())


def axes_of(axis: Any) -> Any:
    """One axis, several, or None for all."""
    if axis is None or isinstance(axis, int):
        return axis
    given = array_of(axis)
    return int(given) if given.ndim == 0 else tuple(int(one) for one in given)


def is_list_of_integers(value: Any) -> bool:
    """Whether it has one dimension, and integers or nothing in it."""
    given = array_of(value)
    return given.ndim == 1 and (not given.size or given.dtype.kind in "iu")


def lengths_of(shape: Any) -> tuple[int, ...]:
    """A shape, which may be a tensor or hold some, as Python's numbers."""
    if isinstance(shape, int):
        return (int(shape),)
    if isinstance(shape, list | tuple):
        return tuple(integer(length) for length in shape)
    given = array_of(shape)
    if given.dtype.kind not in "iu" and given.size:
        raise TypeError(f"lengths are integers, got {dtype_of(given).name}: {shape!r:.100}")
    return (int(given),) if given.ndim == 0 else tuple(int(one) for one in given)
