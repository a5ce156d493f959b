"""DType: the dtypes of `tfrecord_fast.dtypes` with TensorFlow's further attributes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import dtypes


class DType(dtypes.DType):
    """A type of values. It equals, and hashes like, the same NumPy dtype and `tfrecord_fast` dtype."""

    __slots__ = ()

    @property
    def base_dtype(self) -> DType:
        """The dtype itself."""
        return self

    @property
    def real_dtype(self) -> DType:
        """The dtype of the real part."""
        return {"complex64": _BY_NAME["float32"], "complex128": _BY_NAME["float64"]}.get(self.name, self)

    @property
    def is_integer(self) -> bool:
        """True for integers; False for bools."""
        return self.dtype.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        """True for unsigned integers."""
        return self.dtype.kind == "u"

    @property
    def is_floating(self) -> bool:
        """True for floating-point numbers."""
        return self.dtype.kind == "f" or self.name == "bfloat16"

    @property
    def is_complex(self) -> bool:
        """True for complex numbers."""
        return self.dtype.kind == "c"

    @property
    def is_bool(self) -> bool:
        """True for bools."""
        return self.name == "bool"

    @property
    def is_numpy_compatible(self) -> bool:
        """True: all dtypes have a NumPy dtype."""
        return True

    @property
    def limits(self) -> tuple[Any, Any]:
        """The least and the greatest value in an image."""
        if self.name in ("float32", "float64"):
            return 0, 1
        if self.is_bool or self.is_integer:
            return 0, True if self.is_bool else self.max
        raise ValueError(f"{self} does not have defined limits.")

    def is_compatible_with(self, other: Any) -> bool:
        """Return True for the same dtype."""
        return bool(self == other)

    def __str__(self) -> str:
        return f"<dtype: {self.name!r}>"

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


_BY_NAME = {name: DType(name) for name in dtypes.DATA_TYPES}


def as_dtype(value: Any) -> DType:
    """Return the DType for a dtype of any library, a name, a Python type, or a number of TensorFlow's enum.

    Raises:
      TypeError: `value` is none of these.
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
    """Return the DType of that name."""
    return _BY_NAME[name]


def array_dtype(array: np.ndarray[Any, Any]) -> DType:
    """Return the DType of an array's values."""
    numpy_dtype = array.dtype
    dtype = _by_numpy_dtype.get(numpy_dtype)
    if dtype is None:
        dtype = _BY_NAME["string"] if numpy_dtype.kind in "OSUT" else as_dtype(numpy_dtype)
        if numpy_dtype.isbuiltin:
            _by_numpy_dtype[numpy_dtype] = dtype
    return dtype


_by_numpy_dtype: dict[np.dtype[Any], DType] = {}
