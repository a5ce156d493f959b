"""`tf.dtypes` of the face."""

from .fallback import face_names
from .ops.arrays import cast
from .types import DType, as_dtype, named

bool = named("bool")
int8 = named("int8")
int16 = named("int16")
int32 = named("int32")
int64 = named("int64")
uint8 = named("uint8")
uint16 = named("uint16")
uint32 = named("uint32")
uint64 = named("uint64")
float16 = half = named("float16")
bfloat16 = named("bfloat16")
float32 = named("float32")
float64 = double = named("float64")
complex64 = named("complex64")
complex128 = named("complex128")
string = named("string")

__all__ = [
    "DType",
    "as_dtype",
    "bfloat16",
    "bool",
    "cast",
    "complex64",
    "complex128",
    "double",
    "float16",
    "float32",
    "float64",
    "half",
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
_names = face_names(__name__, "tf.dtypes")
__getattr__ = _names.getattr
__dir__ = _names.dir
