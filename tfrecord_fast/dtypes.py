"""The types of values: TensorFlow's names, NumPy's meaning.

`tf.int64`, `tf.float32` and `tf.string` are the wire's own; the others are casts fused into the decoding. Wherever a
dtype is expected, these are accepted as well: TensorFlow's dtypes, NumPy's, their names, `bytes` and `str`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = [
    "DType",
    "as_dtype",
    "bfloat16",
    "bool",
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

_bool = bool


class DType:
    """A type of values. Equal to, and hashed as, the NumPy dtype of the same kind; `np.dtype(tf.int64)` works.

    Attributes: `name`, such as "int64"; `as_numpy_dtype`, such as `np.int64` (`np.object_` for strings).
    """

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    @property
    def as_numpy_dtype(self) -> type:
        if self.name == "string":
            return np.object_
        if self.name == "bfloat16":
            return _bfloat16()
        return np.dtype(self.name).type

    @property
    def dtype(self) -> np.dtype[Any]:
        """The NumPy dtype; NumPy itself looks here."""
        return np.dtype(self.as_numpy_dtype)

    def __eq__(self, other: object) -> _bool:
        if isinstance(other, DType):
            return self.name == other.name
        try:
            return self.name == as_dtype(other).name
        except TypeError:
            return NotImplemented

    def __hash__(self) -> int:
        return hash(self.dtype)

    def __repr__(self) -> str:
        return f"tfrecord_fast.{self.name}"

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)


def _bfloat16() -> type:
    try:
        import ml_dtypes
    except ImportError:
        raise ImportError("bfloat16 needs the package ml_dtypes: pip install ml_dtypes") from None
    return ml_dtypes.bfloat16  # type: ignore[no-any-return]


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
string = DType("string")

_BY_NAME = {
    dtype.name: dtype
    for dtype in (
        *(bool, int8, int16, int32, int64, uint8, uint16, uint32, uint64),
        *(float16, bfloat16, float32, float64, string),
    )
}
_BY_NAME |= {"half": float16, "float": float32, "double": float64, "str": string, "bytes": string, "object": string}


def as_dtype(value: Any) -> DType:
    """The DType that `value` means: one of ours or TensorFlow's, a NumPy dtype or scalar type, a name, a Python type.

    Raises:
      TypeError: it means none that a record can hold.
    """
    if isinstance(value, DType):
        return value
    if value is None:
        raise TypeError("None is not a dtype")
    if value in (str, bytes, object):
        return string
    if value is float:
        return float32  # TensorFlow's reading
    name = value if isinstance(value, str) else getattr(value, "name", None)
    if not isinstance(name, str):
        try:
            name = np.dtype(value).name
        except TypeError:
            raise TypeError(f"not a dtype: {value!r}") from None
    if name.startswith(("bytes", "str")) and name not in _BY_NAME:
        name = "string"
    found = _BY_NAME.get(name)
    if found is None:
        raise TypeError(f"no values of dtype {name!r} in records; expected one of {', '.join(sorted(_BY_NAME))}")
    return found
