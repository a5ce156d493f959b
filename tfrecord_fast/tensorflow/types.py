"""The dtypes of the face: those of `tfrecord_fast.dtypes`, with what TensorFlow's have beside it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes

__all__ = ["DType", "as_dtype", "named"]

_INTEGERS = "iu"


class DType(dtypes.DType):
    """A type of values; equal to, and hashed as, the NumPy dtype and the `tfrecord_fast` dtype of the same kind."""

    __slots__ = ()
    _is_numeric = True  # what np.testing asks of the class of an array's dtype

    @property
    def base_dtype(self) -> DType:
        """The dtype itself: there are no references."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The dtype of the parts of complex numbers; of others, the dtype itself."""
        return {"complex64": _BY_NAME["float32"], "complex128": _BY_NAME["float64"]}.get(self.name, self)

    @property
    def is_integer(self) -> bool:
        """Whether values are integers, and no bools."""
        return self.dtype.kind in _INTEGERS

    @property
    def is_unsigned(self) -> bool:
        """Whether values are integers from 0 on."""
        return self.dtype.kind == "u"

    @property
    def is_floating(self) -> bool:
        """Whether values are floating-point numbers."""
        return self.dtype.kind == "f" or self.name == "bfloat16"

    @property
    def is_complex(self) -> bool:
        """Whether values are complex numbers."""
        return self.dtype.kind == "c"

    @property
    def is_bool(self) -> bool:
        """Whether values are bools."""
        return self.name == "bool"

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether NumPy has such values."""
        return True

    @property
    def limits(self) -> tuple[Any, Any]:
        """From what to what the values of a picture go."""
        if self.name in ("float32", "float64"):
            return 0, 1
        if self.is_bool or self.is_integer:
            return 0, True if self.is_bool else self.max
        raise ValueError(f"{self} does not have defined limits.")

    def is_compatible_with(self, other: Any) -> bool:
        """Whether it is the same dtype."""
        return bool(self == other)

    def __getattr__(self, name: str) -> Any:
        """What NumPy's own functions ask an array's dtype for: kind, char, itemsize and so on."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.dtype, name)

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


_BY_NAME = {name: DType(name) for name in dtypes.DATA_TYPES}


def as_dtype(value: Any) -> DType:
    """The DType that `value` means: a dtype of any library, a name, a Python type, the number of TensorFlow's enum.

    Raises:
      TypeError: it means none.
    """
    if type(value) is DType:
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        for name, number in dtypes.DATA_TYPES.items():
            if number == value:
                return _BY_NAME[name]
    try:
        return _BY_NAME[dtypes.as_dtype(value).name]
    except TypeError:
        raise TypeError(f"Cannot convert the argument `type_value`: {value!r} to a TensorFlow DType.") from None


def named(name: str) -> DType:
    """The DType of that name."""
    return _BY_NAME[name]


def dtype_of(array: np.ndarray[Any, Any]) -> DType:
    """The DType of an array's values."""
    dtype = array.dtype
    found = _known.get(dtype)
    if found is None:
        found = _BY_NAME["string"] if dtype.kind in "OSUT" else as_dtype(dtype)
        if dtype.isbuiltin:
            _known[dtype] = found
    return found


_known: dict[np.dtype[Any], DType] = {}
