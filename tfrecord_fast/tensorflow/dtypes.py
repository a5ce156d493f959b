"""`tf.dtypes`."""

from .modules import module_lazy_names
from .ops.arrays import cast
from .tensors.tensor_dtypes import DType, as_dtype, named

bool, string = named("bool"), named("string")
int8, int16, int32, int64 = named("int8"), named("int16"), named("int32"), named("int64")
uint8, uint16, uint32, uint64 = named("uint8"), named("uint16"), named("uint32"), named("uint64")
float16 = half = named("float16")
bfloat16, float32 = named("bfloat16"), named("float32")
float64 = double = named("float64")
complex64, complex128 = named("complex64"), named("complex128")

__all__ = [
    "DType", "as_dtype", "bfloat16", "bool", "cast", "complex64", "complex128", "double", "float16", "float32",
    "float64", "half", "int8", "int16", "int32", "int64", "string", "uint8", "uint16", "uint32", "uint64",
]  # fmt: skip
_names = module_lazy_names(__name__, {}, "tf.dtypes")
__getattr__ = _names.getattr
__dir__ = _names.dir
