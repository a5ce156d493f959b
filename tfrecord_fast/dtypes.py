"""Types of values, with TensorFlow's names and NumPy's meaning.

Records hold `tf.int64`, `tf.float32` and `tf.string`; the other dtypes are casts during decoding. Every function that
takes a dtype also accepts TensorFlow's and NumPy's dtypes, their names, `bytes` and `str`.
"""

from __future__ import annotations

import builtins
import functools
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from .base.optional import optional

__all__ = [
    "DType",
    "as_dtype",
    "bfloat16",
    "bool",
    "complex64",
    "complex128",
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "string",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

_bool: TypeAlias = builtins.bool


class _Named(Protocol):
    """A dtype of another library, recognised by its name."""

    @property
    def name(self) -> str: ...


# Numbers in TensorFlow's enum DataType.
DATA_TYPES = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "string": 7,
    "complex64": 8,
    "int64": 9,
    "bool": 10,
    "bfloat16": 14,
    "uint16": 17,
    "complex128": 18,
    "float16": 19,
    "uint32": 22,
    "uint64": 23,
}


class DType:
    """A type of values, equal to the NumPy dtype of the same type, with the same hash; `np.dtype(tf.int64)` works.

    Attributes: `name`, such as "int64"; `as_numpy_dtype`, such as `np.int64` (`np.object_` for strings). complex64 and
    complex128 are for `decode_raw` and tensors, not for features.

    >>> import tfrecord_fast as tf
    >>> tf.int64.name, tf.int64.as_numpy_dtype
    ('int64', <class 'numpy.int64'>)
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def as_numpy_dtype(self) -> type[Any]:
        return _numpy_dtype(self.name).type

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype; NumPy itself reads this attribute."""
        return _numpy_dtype(self.name)

    @property
    def size(self) -> int:
        """Bytes of one value; 0 for strings, as in TensorFlow."""
        return 0 if self.name == "string" else self.dtype.itemsize

    @property
    def min(self) -> Any:
        """The lowest value of a numeric type; TypeError for bool, string and complex."""
        return self._limits("minimum").min

    @property
    def max(self) -> Any:
        """The highest value of a numeric type; TypeError for bool, string and complex."""
        return self._limits("maximum").max

    @property
    def as_datatype_enum(self) -> int:
        """The type's number in TensorFlow."""
        return DATA_TYPES[self.name]

    def _limits(self, what: str) -> Any:
        if self.name == "bfloat16":
            return _ml_dtypes().finfo(self.as_numpy_dtype)
        if self.dtype.kind == "f":
            return np.finfo(self.dtype)
        if self.dtype.kind in "iu":
            return np.iinfo(self.dtype)
        raise TypeError(f"Cannot find {what} value of {self!r}.")

    def __eq__(self, other: object) -> _bool:
        if isinstance(other, DType):
            return self.name == other.name
        try:
            return self.name == as_dtype(other).name  # type: ignore[arg-type]
        except TypeError:
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"tfrecord_fast.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


# The arguments of `as_dtype`.
DTypeLike: TypeAlias = DType | np.dtype[Any] | type[Any] | str | _Named


def _ml_dtypes() -> Any:
    return optional("ml_dtypes", "bfloat16 needs the package ml_dtypes")


@functools.cache
def _numpy_dtype(name: str) -> np.dtype[Any]:
    if name == "string":
        return np.dtype(object)
    return np.dtype(_ml_dtypes().bfloat16 if name == "bfloat16" else name)


bool = DType("bool")
int8 = DType("int8")
int16 = DType("int16")
int32 = DType("int32")
int64 = DType("int64")
uint8 = DType("uint8")
uint16 = DType("uint16")
uint32 = DType("uint32")
uint64 = DType("uint64")
float16 = DType("float16")
bfloat16 = DType("bfloat16")
float32 = DType("float32")
float64 = DType("float64")
complex64 = DType("complex64")
complex128 = DType("complex128")
string = DType("string")

_BY_NAME = {
    dtype.name: dtype
    for dtype in (
        *(bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64),
        *(float16, bfloat16, float32, float64, complex64, complex128, string),
    )
}
_BY_NAME |= {"half": float16, "float": float32, "double": float64, "str": string, "bytes": string, "object": string}


def as_dtype(value: DTypeLike | None) -> DType:
    """Return the DType for a DType of TensorFlow, a NumPy dtype or scalar type, a name, or a Python type.

    Raises:
      TypeError: `value` is not a dtype, or records cannot hold its values.

    >>> import tfrecord_fast as tf
    >>> tf.as_dtype("int64")
    tfrecord_fast.int64
    """
    if isinstance(value, DType):
        return value
    if value is None:
        raise TypeError("None is not a dtype")
    if value in (str, bytes, object):
        return string
    if value is float:
        return float32  # as in TensorFlow
    name = value if isinstance(value, str) else getattr(value, "name", None)
    if not isinstance(name, str):
        try:
            name = np.dtype(cast(Any, value)).name
        except TypeError:
            raise TypeError(f"expected a dtype, got {value!r}") from None
    if name.startswith(("bytes", "str")) and name not in _BY_NAME:
        name = "string"
    dtype = _BY_NAME.get(name)
    if dtype is None:
        raise TypeError(f"records cannot hold values of dtype {name}; expected one of {', '.join(sorted(_BY_NAME))}")
    return dtype
