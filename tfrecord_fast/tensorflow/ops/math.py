"""Functions of numbers: arithmetic, comparisons, products of matrices, reductions over axes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ..tensors import arithmetic
from ..tensors.ragged_tensor import RaggedTensor, over_values
from ..tensors.tensor_dtypes import array_dtype, as_dtype
from ..tensors.wrapping import wrap
from .arguments import as_array, as_arrays, as_axes, named, tensor
from .rows import over_flat_values

# ---- Two tensors ----


def _pair(name: str, operation: arithmetic.Operation, first_decides: bool = False) -> Callable[..., Any]:
    def compute(x: Any, y: Any, name: str | None = None) -> Any:
        if isinstance(x, RaggedTensor) or isinstance(y, RaggedTensor):
            return _ragged_pair(compute, x, y)
        first, second = as_arrays(tensor(as_array(x)) if first_decides and isinstance(x, int | float | list) else x, y)
        return tensor(np.asarray(operation(first, tensor(second), False)))

    return named(compute, name, f"Compute `tf.{name}` of two tensors of one dtype.")


def _ragged_pair(function: Callable[..., Any], x: Any, y: Any) -> RaggedTensor:
    if isinstance(x, RaggedTensor):
        return x.with_flat_values(function(tensor(np.asarray(x.plain.flat_values)), over_values(x, y)))
    return y.with_flat_values(function(over_values(y, x), tensor(np.asarray(y.plain.flat_values))))  # type: ignore[no-any-return]


def _logical(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def compute(x: Any, y: Any, name: str | None = None) -> Any:
        if isinstance(x, RaggedTensor) or isinstance(y, RaggedTensor):
            return _ragged_pair(compute, x, y)
        return tensor(np.asarray(function(as_array(x, "bool"), as_array(y, "bool"))))

    return named(compute, name, f"Compute `tf.{name}` of bools.")


add = _pair("add", arithmetic.add, first_decides=True)
subtract = _pair("subtract", arithmetic.subtract)
multiply = _pair("multiply", arithmetic.multiply_numbers)
divide = _pair("divide", arithmetic.divide)
truediv = _pair("truediv", arithmetic.divide, first_decides=True)
floordiv = _pair("floordiv", arithmetic.floordiv)
floormod = _pair("floormod", arithmetic.mod)
pow = _pair("pow", arithmetic.power)
maximum = _pair("maximum", arithmetic.binary("Maximum", np.maximum, "iufV"))
minimum = _pair("minimum", arithmetic.binary("Minimum", np.minimum, "iufV"))
equal = _pair("equal", arithmetic.binary("Equal", np.equal, "biufcVO"))
not_equal = _pair("not_equal", arithmetic.binary("NotEqual", np.not_equal, "biufcVO"))
less = _pair("less", arithmetic.less)
less_equal = _pair("less_equal", arithmetic.less_equal)
greater = _pair("greater", arithmetic.greater)
greater_equal = _pair("greater_equal", arithmetic.greater_equal)
atan2 = _pair("atan2", arithmetic.binary("Atan2", np.arctan2, "fV"))
squared_difference = _pair(
    "squared_difference", arithmetic.binary("SquaredDifference", lambda x, y: (x - y) * np.conj(x - y), "ifcV")
)
logical_and = _logical("logical_and", np.logical_and)
logical_or = _logical("logical_or", np.logical_or)
logical_xor = _logical("logical_xor", np.logical_xor)


@over_flat_values
def logical_not(x: Any, name: str | None = None) -> Any:
    """Invert bools."""
    return tensor(np.logical_not(as_array(x, "bool")))


def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Any:
    """Return x / y, and 0 where y is 0."""
    if isinstance(x, RaggedTensor) or isinstance(y, RaggedTensor):
        return _ragged_pair(divide_no_nan, x, y)
    first, second = as_arrays(x, y)
    if first.dtype.kind in "bO":
        raise TypeError(f"divide_no_nan is not supported for {array_dtype(first).name}")
    if first.dtype.kind in "iu":
        wide = np.float32 if first.dtype.itemsize <= 2 else np.float64
        first, second = first.astype(wide), second.astype(wide)
    with np.errstate(all="ignore"):
        return tensor(np.where(second == 0, first.dtype.type(0), np.divide(first, second)).astype(first.dtype))


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, name: str | None = None) -> Any:
    """Multiply matrices."""
    first, second = as_arrays(a, b)
    first = np.swapaxes(first, -1, -2) if transpose_a else first
    second = np.swapaxes(second, -1, -2) if transpose_b else second
    return tensor(np.asarray(arithmetic.matmul(first, tensor(second), False)))


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """Multiply and sum over these axes."""
    first, second = as_arrays(a, b)
    numbers = axes if isinstance(axes, int) else [as_axes(axis) for axis in axes]
    return tensor(np.tensordot(first, second, numbers))  # type: ignore[arg-type]


def add_n(inputs: Any, name: str | None = None) -> Any:
    """Add tensors of one shape."""
    arrays = as_arrays(*inputs)
    if len({array.shape for array in arrays}) > 1:
        raise InvalidArgumentError("add_n: the tensors must have one shape [Op:AddN]")
    return tensor(np.asarray(sum(arrays[1:], arrays[0]), dtype=arrays[0].dtype))


# ---- One tensor ----


def _single(name: str, function: Callable[[Any], Any], kinds: str = "fcV") -> Callable[..., Any]:
    def compute(x: Any, name: str | None = None) -> Any:
        array = as_array(x)
        if array.dtype.kind not in kinds:
            raise InvalidArgumentError(
                f"Value for attr 'T' of {array_dtype(array).name} is not in the list of allowed values [Op:{op}]"
            )
        with np.errstate(all="ignore"):
            result = np.asarray(function(array))
        is_other = result.dtype == bool or (array.dtype.kind == "c" and result.dtype.kind == "f")
        return tensor(result if is_other else result.astype(array.dtype))

    op = name.capitalize()
    return over_flat_values(named(compute, name, f"Compute `tf.{name}` of each value."))


abs = _single("abs", np.abs, "ifcV")
negative = _single("negative", np.negative, "ifcV")
sign = _single("sign", np.sign, "ifcV")
square = _single("square", np.square, "iufcV")
round = _single("round", np.round, "iufV")
floor = _single("floor", np.floor, "fV")
ceil = _single("ceil", np.ceil, "fV")
sqrt = _single("sqrt", np.sqrt)
rsqrt = _single("rsqrt", lambda x: 1 / np.sqrt(x))
reciprocal = _single("reciprocal", lambda x: 1 / x)
exp = _single("exp", np.exp)
expm1 = _single("expm1", np.expm1)
log = _single("log", np.log)
log1p = _single("log1p", np.log1p)
sin = _single("sin", np.sin)
cos = _single("cos", np.cos)
tan = _single("tan", np.tan)
asin = _single("asin", np.arcsin)
acos = _single("acos", np.arccos)
atan = _single("atan", np.arctan)
sinh = _single("sinh", np.sinh)
cosh = _single("cosh", np.cosh)
tanh = _single("tanh", np.tanh)
sigmoid = _single("sigmoid", lambda x: 1 / (1 + np.exp(-x)))
is_nan = _single("is_nan", np.isnan, "fV")
is_inf = _single("is_inf", np.isinf, "fV")
is_finite = _single("is_finite", np.isfinite, "fV")
acosh = _single("acosh", np.arccosh)
asinh = _single("asinh", np.arcsinh)
atanh = _single("atanh", np.arctanh)
rint = _single("rint", np.rint, "fV")
softplus = _single("softplus", lambda x: np.logaddexp(x, 0), "fV")


@over_flat_values
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Clip values to a range."""
    array, least, greatest = as_arrays(t, clip_value_min, clip_value_max)
    if array.dtype.kind not in "iufV":
        raise InvalidArgumentError(f"clip_by_value needs real numbers, got {array_dtype(array).name}")
    if np.broadcast_shapes(array.shape, least.shape, greatest.shape) != array.shape:
        raise ValueError(f"clip_by_value: limits of shapes {least.shape} and {greatest.shape} do not fit {array.shape}")
    return tensor(np.maximum(np.minimum(array, greatest), least))


# ---- Over axes ----


def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Any:
    """Return the running sums along an axis."""
    number, array = as_axes(axis), as_array(x)
    if array.dtype.kind in "bO" or not array.ndim:
        raise InvalidArgumentError(f"cumsum needs numbers and an axis, got {array_dtype(array).name} of {array.ndim}-D")
    ordered = np.flip(array, number) if reverse else array
    sums = np.cumsum(ordered, axis=number, dtype=array.dtype)
    if exclusive:
        sums = np.roll(sums, 1, axis=number)
        np.moveaxis(sums, number, 0)[:1] = 0
    return tensor(np.flip(sums, number) if reverse else sums)


def _reduced(function: Callable[..., Any], array: Any, axis: Any, keepdims: bool) -> Any:
    if array.size:
        return function(array, axis=axis, keepdims=keepdims)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about empty slices
        return function(array, axis=axis, keepdims=keepdims)


def _over_axes(name: str, function: Callable[..., Any], kinds: str, of_bools: bool = False) -> Callable[..., Any]:
    def reduced(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
        if isinstance(input_tensor, RaggedTensor):
            return _over_rows(reduced, input_tensor, axis, keepdims)
        array = as_array(input_tensor, "bool" if of_bools else None)
        if array.dtype.kind not in kinds:
            raise InvalidArgumentError(
                f"Value for attr 'T' of {array_dtype(array).name} is not in the list of allowed values [Op:{op}]"
            )
        try:
            if array.ndim == 0 and as_axes(axis) not in (None, ()):
                raise InvalidArgumentError(f"Invalid reduction dimension {axis} for a scalar [Op:{op}]")
            with np.errstate(all="ignore"):
                result = _reduced(function, array, as_axes(axis), bool(keepdims))
        except np.exceptions.AxisError as error:
            raise InvalidArgumentError(f"Invalid reduction dimension: {error} [Op:{op}]") from None
        return tensor(np.asarray(result).astype(array.dtype))

    op = name.removeprefix("reduce_").capitalize()
    return named(reduced, name, f"Compute `tf.{name}` over these axes, by default all.")


def _over_rows(function: Callable[..., Any], ragged: Any, axis: Any, keepdims: bool) -> Any:
    axis = as_axes(axis)
    if isinstance(axis, tuple | list):
        both = len(ragged.shape) == 2 and sorted(axis) in ([0, 1], [-2, -1], [-2, 1], [-1, 0])
        axis = axis[0] if len(axis) == 1 else None if both else axis
    if function is reduce_mean and ragged.plain.dtype.kind in "iu":  # a true division for RaggedTensors
        wide = np.float32 if ragged.plain.dtype.itemsize <= 2 else np.float64
        ragged = ragged.with_flat_values(np.asarray(ragged.plain.flat_values).astype(wide))
    if axis is None:
        result = function(tensor(np.asarray(ragged.plain.flat_values)))
        return tensor(result.numpy().reshape([1] * len(ragged.shape))) if keepdims else result
    rank = len(ragged.shape)
    if isinstance(axis, int) and -rank <= axis < rank and axis % rank > 1:  # an axis within the rows
        return ragged.with_values(function(ragged.values, axis % rank - 1, keepdims))
    if axis not in (0, 1, -1, -2) or ragged.ragged_rank != 1 or len(ragged.shape) != 2:
        raise InvalidArgumentError(
            f"a RaggedTensor of two dimensions can be reduced over one axis or all, got {axis!r}"
        )
    groups = [np.asarray(row) for row in ragged.plain]
    if axis in (0, -2):
        longest = max(map(len, groups), default=0)
        groups = [np.array([row[column] for row in groups if column < len(row)]) for column in range(longest)]
    result = np.array([function(tensor(group), 0).numpy() for group in groups], None if groups else ragged.plain.dtype)
    return tensor(np.expand_dims(result, axis) if keepdims else result)


def _limit(array: Any, greatest: bool) -> Any:
    if array.dtype.kind in "fV":  # V: bfloat16
        return np.inf if greatest else -np.inf
    info = np.iinfo(array.dtype)
    return info.max if greatest else info.min


def _mean(array: Any, axis: Any, keepdims: bool) -> Any:
    if array.dtype.kind not in "iu":
        return np.mean(_wide(array), axis=axis, keepdims=keepdims).astype(array.dtype)
    # Like TensorFlow, sum in 64 bits for every dtype.
    total = np.sum(array, axis=axis, keepdims=keepdims, dtype=np.uint64 if array.dtype.kind == "u" else np.int64)
    count = array.size // max(np.size(total), 1)
    if not count:
        return total
    whole = np.floor_divide(total, total.dtype.type(count))
    return whole + ((total < 0) & (whole * count != total))  # cut off towards zero; the sum may have overflowed


def _wide(array: Any) -> Any:
    """Widen floats of 16 bits to float32: their sums would stop growing."""
    return array.astype(np.float32) if array.dtype.itemsize == 2 and array.dtype.kind in "fV" else array


def _sum(array: Any, axis: Any, keepdims: bool) -> Any:
    wide = _wide(array)
    return np.sum(wide, axis=axis, keepdims=keepdims, dtype=wide.dtype).astype(array.dtype)


reduce_sum = _over_axes("reduce_sum", _sum, "iufcV")
reduce_prod = _over_axes("reduce_prod", lambda array, **over: np.prod(array, dtype=array.dtype, **over), "iufcV")
reduce_mean = _over_axes("reduce_mean", _mean, "iufcV")
reduce_max = _over_axes("reduce_max", lambda array, **over: np.max(array, initial=_limit(array, False), **over), "iufV")
reduce_min = _over_axes("reduce_min", lambda array, **over: np.min(array, initial=_limit(array, True), **over), "iufV")
reduce_all = _over_axes("reduce_all", np.all, "b", of_bools=True)
reduce_any = _over_axes("reduce_any", np.any, "b", of_bools=True)


def _arg_extreme(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def find(input: Any, axis: Any = None, output_type: Any = "int64", name: str | None = None) -> Any:
        array = as_array(input)
        if array.ndim == 0:
            raise InvalidArgumentError("input must have at least one dimension [Op:ArgMax]")
        if array.dtype.kind in "Oc" or as_dtype(output_type).name not in kinds:
            raise InvalidArgumentError(
                f"{name} of {array_dtype(array).name} as {as_dtype(output_type).name} is not supported"
            )
        if array.dtype.kind in "fV":  # NaN is neither the greatest nor the least
            array = array.astype(np.float32) if array.dtype.kind == "V" else array
            array = np.where(np.isnan(array), -np.inf if function is np.argmax else np.inf, array)
        along: Any = 0 if axis is None else as_axes(axis)
        if -array.ndim <= along < array.ndim and not array.shape[along]:
            raise InvalidArgumentError(f"Reduction axis {along} is empty in shape {list(array.shape)} [Op:ArgMax]")
        result = function(array, axis=along)
        return tensor(np.asarray(result).astype(as_dtype(output_type).as_numpy_dtype))

    kinds = ("int32", "int64", "int16", "uint16") if function is np.argmax else ("int32", "int64")
    return named(find, name, f"Return the index that `tf.{name}` has along an axis, by default the first.")


argmax = _arg_extreme("argmax", np.argmax)
argmin = _arg_extreme("argmin", np.argmin)


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """Return the norm of vectors or matrices."""
    array = as_array(tensor)
    if array.dtype.kind not in "fcV":
        raise InvalidArgumentError(f"norm needs floats, got {array_dtype(array).name}")
    axes = as_axes(axis)
    is_matrix = isinstance(axes, tuple)
    if isinstance(axes, tuple) and len(axes) != 2:
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis!r}")
    if ord in ("euclidean", "fro") or (ord == 2 and not is_matrix):
        if ord == "fro" and not is_matrix:
            raise ValueError("'ord' must be a supported vector norm, got fro")
        total = _sum(np.square(np.abs(_wide(array))), axes, keepdims)
        return wrap(np.asarray(np.sqrt(total)).astype(array.dtype))
    flat = array.ravel() if axes is None else array
    length = np.linalg.norm(_wide(flat), ord=ord, axis=axes, keepdims=keepdims and axes is not None)
    length = np.reshape(length, (1,) * array.ndim) if keepdims and axes is None else length
    return wrap(np.asarray(length).astype(array.real.dtype if array.dtype.kind == "c" else array.dtype))


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """Sum products over axes by an equation such as "ij,jk->ik"."""
    arrays = as_arrays(*inputs)
    try:
        return tensor(np.einsum(equation, *arrays).astype(arrays[0].dtype))
    except ValueError as error:
        raise InvalidArgumentError(f"{error} [Op:Einsum]") from None


def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12, name: str | None = None) -> Any:
    """Divide by the Euclidean norm along an axis."""
    array = as_array(x)
    if array.dtype.kind not in "fcV":
        raise InvalidArgumentError(f"l2_normalize needs floats, got {array_dtype(array).name}")
    wide = _wide(array)
    total = np.sum(np.square(np.abs(wide)), axis=as_axes(axis), keepdims=True)
    return tensor((wide / np.sqrt(np.maximum(total, epsilon))).astype(array.dtype))
