"""Functions of numbers: element by element, over axes, and comparisons."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...errors import InvalidArgumentError
from .. import arithmetic, border
from ..composites import RaggedTensor, over_values
from ..types import as_dtype, dtype_of
from .arguments import array_of, arrays_of, axes_of, tensor
from .rows import of_flat_values

__all__ = [
    "abs", "accumulate_n", "acos", "add", "add_n", "argmax", "argmin", "asin", "atan", "atan2", "ceil", "clip_by_norm",
    "clip_by_value", "cos", "cosh", "count_nonzero", "cumprod", "cumsum", "divide", "divide_no_nan", "equal", "exp",
    "expm1", "floor", "floordiv", "floormod", "greater", "greater_equal", "is_finite", "is_inf", "is_nan", "less",
    "less_equal", "log", "log1p", "logical_and", "logical_not", "logical_or", "logical_xor", "matmul", "maximum",
    "minimum", "mod", "multiply", "negative", "norm", "not_equal", "pow", "reciprocal", "reduce_all", "reduce_any",
    "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_std", "reduce_sum",
    "reduce_variance", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "softmax", "sqrt", "square",
    "squared_difference", "subtract", "tan", "tanh", "tensordot", "top_k", "truediv",
]  # fmt: skip


# ---- Two numbers ----


def _is_plain(value: Any) -> bool:
    return isinstance(value, int | float | list)


def _pair(name: str, operation: arithmetic.Operation, first_decides: bool = False) -> Callable[..., Any]:
    def of_two(x: Any, y: Any, name: str | None = None) -> Any:
        if isinstance(x, RaggedTensor) or isinstance(y, RaggedTensor):
            return _ragged_pair(of_two, x, y)
        first, second = arrays_of(tensor(array_of(x)) if first_decides and _is_plain(x) else x, y)
        return tensor(np.asarray(operation(first, tensor(second), False)))

    of_two.__name__ = of_two.__qualname__ = name
    of_two.__doc__ = f"As TensorFlow's `tf.{name}`, of two tensors of one dtype that broadcast."
    return of_two


def _ragged_pair(function: Callable[..., Any], x: Any, y: Any) -> RaggedTensor:
    if isinstance(x, RaggedTensor):
        return x.with_flat_values(function(tensor(np.asarray(x.plain.flat_values)), over_values(x, y)))
    return y.with_flat_values(function(over_values(y, x), tensor(np.asarray(y.plain.flat_values))))  # type: ignore[no-any-return]


def _chosen(name: str, function: Callable[..., Any]) -> arithmetic.Operation:
    return arithmetic.binary(name, function, "iufV")


def _logical(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def of_two(x: Any, y: Any, name: str | None = None) -> Any:
        if isinstance(x, RaggedTensor) or isinstance(y, RaggedTensor):
            return _ragged_pair(of_two, x, y)
        return tensor(np.asarray(function(array_of(x, "bool"), array_of(y, "bool"))))

    of_two.__name__ = of_two.__qualname__ = name
    of_two.__doc__ = f"As TensorFlow's `tf.{name}`, of bools."
    return of_two


add = _pair("add", arithmetic.add, first_decides=True)
subtract = _pair("subtract", arithmetic.subtract)
multiply = _pair("multiply", arithmetic.multiply_numbers)
divide = _pair("divide", arithmetic.divide)
truediv = _pair("truediv", arithmetic.divide, first_decides=True)
floordiv = _pair("floordiv", arithmetic.floordiv)
floormod = mod = _pair("floormod", arithmetic.mod)
pow = _pair("pow", arithmetic.power)
matmul_of_two = _pair("matmul", arithmetic.matmul)
maximum = _pair("maximum", _chosen("Maximum", np.maximum))
minimum = _pair("minimum", _chosen("Minimum", np.minimum))
equal = _pair("equal", arithmetic.binary("Equal", np.equal, "biufcVO"))
not_equal = _pair("not_equal", arithmetic.binary("NotEqual", np.not_equal, "biufcVO"))
less = _pair("less", arithmetic.compare("Less", np.less))
less_equal = _pair("less_equal", arithmetic.compare("LessEqual", np.less_equal))
greater = _pair("greater", arithmetic.compare("Greater", np.greater))
greater_equal = _pair("greater_equal", arithmetic.compare("GreaterEqual", np.greater_equal))
atan2 = _pair("atan2", arithmetic.binary("Atan2", np.arctan2, "fV"))
squared_difference = _pair(
    "squared_difference", arithmetic.binary("SquaredDifference", lambda x, y: (x - y) * np.conj(x - y), "ifcV")
)
logical_and = _logical("logical_and", np.logical_and)
logical_or = _logical("logical_or", np.logical_or)
logical_xor = _logical("logical_xor", np.logical_xor)


@of_flat_values
def logical_not(x: Any, name: str | None = None) -> Any:
    """The other truth value."""
    return tensor(np.logical_not(array_of(x, "bool")))


def divide_no_nan(x: Any, y: Any, name: str | None = None) -> Any:
    """x / y; 0 where y is 0."""
    if isinstance(x, RaggedTensor) or isinstance(y, RaggedTensor):
        return _ragged_pair(divide_no_nan, x, y)
    first, second = arrays_of(x, y)
    if first.dtype.kind in "bO":
        raise TypeError(f"divide_no_nan of {dtype_of(first).name}")
    if first.dtype.kind in "iu":
        wide = np.float32 if first.dtype.itemsize <= 2 else np.float64
        first, second = first.astype(wide), second.astype(wide)
    with np.errstate(all="ignore"):
        return tensor(np.where(second == 0, first.dtype.type(0), np.divide(first, second)).astype(first.dtype))


def matmul(a: Any, b: Any, transpose_a: bool = False, transpose_b: bool = False, name: str | None = None) -> Any:
    """The product of matrices."""
    first, second = arrays_of(a, b)
    first = np.swapaxes(first, -1, -2) if transpose_a else first
    second = np.swapaxes(second, -1, -2) if transpose_b else second
    return tensor(np.asarray(arithmetic.matmul(first, tensor(second), False)))


def tensordot(a: Any, b: Any, axes: Any, name: str | None = None) -> Any:
    """The product over these axes."""
    first, second = arrays_of(a, b)
    given = axes if isinstance(axes, int) else [axes_of(one) for one in axes]
    return tensor(np.tensordot(first, second, given))  # type: ignore[arg-type]


def add_n(inputs: Any, name: str | None = None) -> Any:
    """The sum of tensors of one shape."""
    given = arrays_of(*inputs)
    if len({one.shape for one in given}) > 1:
        raise InvalidArgumentError("add_n: tensors of different shapes [Op:AddN]")
    return tensor(np.asarray(sum(given[1:], given[0]), dtype=given[0].dtype))


accumulate_n = add_n


# ---- One number ----


def _single(name: str, function: Callable[[Any], Any], kinds: str = "fcV") -> Callable[..., Any]:
    def of_one(x: Any, name: str | None = None) -> Any:
        given = array_of(x)
        if given.dtype.kind not in kinds:
            raise InvalidArgumentError(
                f"Value for attr 'T' of {dtype_of(given).name} is not in the list of allowed values [Op:{op}]"
            )
        with np.errstate(all="ignore"):
            made = np.asarray(function(given))
        is_other = made.dtype == bool or (given.dtype.kind == "c" and made.dtype.kind == "f")
        return tensor(made if is_other else made.astype(given.dtype))

    op = name.capitalize()
    of_one.__name__ = of_one.__qualname__ = name
    of_one.__doc__ = f"As TensorFlow's `tf.{name}`, value by value."
    return of_flat_values(of_one)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


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
sigmoid = _single("sigmoid", _sigmoid)
is_nan = _single("is_nan", np.isnan, "fV")
is_inf = _single("is_inf", np.isinf, "fV")
is_finite = _single("is_finite", np.isfinite, "fV")


@of_flat_values
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Any:
    """Nothing below the least, nothing above the greatest."""
    given, least, greatest = arrays_of(t, clip_value_min, clip_value_max)
    if given.dtype.kind not in "iufV":
        raise InvalidArgumentError(f"clip_by_value takes numbers that have an order, got {dtype_of(given).name}")
    if np.broadcast_shapes(given.shape, least.shape, greatest.shape) != given.shape:
        raise ValueError(f"clip_by_value: limits of shapes {least.shape} and {greatest.shape} for {given.shape}")
    return tensor(np.maximum(np.minimum(given, greatest), least))


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Any:
    """Scaled down to at most this length."""
    given, most = arrays_of(t, clip_norm)
    if given.dtype.kind not in "fcV":
        raise InvalidArgumentError(f"clip_by_norm is of floats, got {dtype_of(given).name}")
    most = np.maximum(most, 0)  # a negative one is none
    length = np.sqrt(np.sum(np.square(_wide(given)), axis=axes_of(axes), keepdims=True))
    with np.errstate(invalid="ignore"):
        return tensor((given * most / np.maximum(length, most)).astype(given.dtype))


def softmax(logits: Any, axis: Any = -1, name: str | None = None) -> Any:
    """exp, divided by its sum along the axis."""
    given = logits_of(logits, "Softmax")
    if not given.size:
        return tensor(given)
    powers = np.exp(_wide(given) - np.max(_wide(given), axis=axis, keepdims=True))
    return tensor((powers / np.sum(powers, axis=axis, keepdims=True)).astype(given.dtype))


def logits_of(logits: Any, op: str) -> Any:
    """Floats of at least one dimension.

    Raises:
      errors.InvalidArgumentError: other values.
    """
    given = array_of(logits)
    if given.dtype.kind not in "fV" or not given.ndim:
        raise InvalidArgumentError(
            f"logits are floats of at least one dimension, got {dtype_of(given).name} of {given.ndim} [Op:{op}]"
        )
    return given


# ---- Over axes ----


def _over_axes(name: str, function: Callable[..., Any], kinds: str, of_bools: bool = False) -> Callable[..., Any]:
    def reduced(input_tensor: Any, axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
        if isinstance(input_tensor, RaggedTensor):
            return _over_rows(reduced, input_tensor, axis, keepdims)
        given = array_of(input_tensor, "bool" if of_bools else None)
        if given.dtype.kind not in kinds:
            raise InvalidArgumentError(
                f"Value for attr 'T' of {dtype_of(given).name} is not in the list of allowed values [Op:{op}]"
            )
        try:
            if given.ndim == 0 and axes_of(axis) not in (None, ()):
                raise InvalidArgumentError(f"Invalid reduction dimension {axis} for a scalar [Op:{op}]")
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about empty slices
                made = function(given, axis=axes_of(axis), keepdims=bool(keepdims))
        except np.exceptions.AxisError as error:
            raise InvalidArgumentError(f"Invalid reduction dimension: {error} [Op:{op}]") from None
        return tensor(np.asarray(made).astype(given.dtype))

    op = name.removeprefix("reduce_").capitalize()
    reduced.__name__ = reduced.__qualname__ = name
    reduced.__doc__ = f"As TensorFlow's `tf.{name}`: over these axes, by default all."
    return reduced


def _over_rows(function: Callable[..., Any], ragged: Any, axis: Any, keepdims: bool) -> Any:
    axis = axes_of(axis)
    if isinstance(axis, tuple | list):
        both = len(ragged.shape) == 2 and sorted(axis) in ([0, 1], [-2, -1], [-2, 1], [-1, 0])
        axis = axis[0] if len(axis) == 1 else None if both else axis
    if function is reduce_mean and ragged.plain.dtype.kind in "iu":  # of a RaggedTensor, it is a true division
        wide = np.float32 if ragged.plain.dtype.itemsize <= 2 else np.float64
        ragged = ragged.with_flat_values(np.asarray(ragged.plain.flat_values).astype(wide))
    if axis is None:
        made = function(tensor(np.asarray(ragged.plain.flat_values)))
        return tensor(made.numpy().reshape([1] * len(ragged.shape))) if keepdims else made
    rank = len(ragged.shape)
    if isinstance(axis, int) and -rank <= axis < rank and axis % rank > 1:  # within the rows
        return ragged.with_values(function(ragged.values, axis % rank - 1, keepdims))
    if axis not in (0, 1, -1, -2) or ragged.ragged_rank != 1 or len(ragged.shape) != 2:
        raise InvalidArgumentError(f"a RaggedTensor of two dimensions is reduced over one axis or all, got {axis!r}")
    groups = [np.asarray(row) for row in ragged.plain]
    if axis in (0, -2):
        longest = max(map(len, groups), default=0)
        groups = [np.array([row[place] for row in groups if place < len(row)]) for place in range(longest)]
    made = np.array([function(tensor(group), 0).numpy() for group in groups], None if groups else ragged.plain.dtype)
    return tensor(np.expand_dims(made, axis) if keepdims else made)


def _least(array: Any, axis: Any, keepdims: bool) -> Any:
    return np.min(array, axis=axis, keepdims=keepdims, initial=_limit(array, True))


def _greatest(array: Any, axis: Any, keepdims: bool) -> Any:
    return np.max(array, axis=axis, keepdims=keepdims, initial=_limit(array, False))


def _limit(array: Any, greatest: bool) -> Any:
    if array.dtype.kind in "fV":  # V: bfloat16
        return np.inf if greatest else -np.inf
    info = np.iinfo(array.dtype)
    return info.max if greatest else info.min


def _mean(array: Any, axis: Any, keepdims: bool) -> Any:
    if array.dtype.kind not in "iu":
        return np.mean(_wide(array), axis=axis, keepdims=keepdims).astype(array.dtype)
    # As exact as TensorFlow: sums of 64 bits, whatever the dtype.
    total = np.sum(array, axis=axis, keepdims=keepdims, dtype=np.uint64 if array.dtype.kind == "u" else np.int64)
    count = array.size // max(np.size(total), 1)
    if not count:
        return total
    whole = np.floor_divide(np.abs(total), total.dtype.type(count))
    return whole if array.dtype.kind == "u" else np.sign(total) * whole


def _wide(array: Any) -> Any:
    """Floats of 16 bits as float32: sums of many of them would stop growing."""
    return array.astype(np.float32) if array.dtype.itemsize == 2 and array.dtype.kind in "fV" else array


def _sum(array: Any, axis: Any, keepdims: bool) -> Any:
    wide = _wide(array)
    return np.sum(wide, axis=axis, keepdims=keepdims, dtype=wide.dtype).astype(array.dtype)


def _std(array: Any, axis: Any, keepdims: bool) -> Any:
    return np.std(_wide(array), axis=axis, keepdims=keepdims).astype(array.dtype)


def _variance(array: Any, axis: Any, keepdims: bool) -> Any:
    return np.var(_wide(array), axis=axis, keepdims=keepdims).astype(array.dtype)


def _product(array: Any, axis: Any, keepdims: bool) -> Any:
    return np.prod(array, axis=axis, keepdims=keepdims, dtype=array.dtype)


def _logsumexp(array: Any, axis: Any, keepdims: bool) -> Any:
    wide = _wide(array)
    greatest = np.max(wide, axis=axis, keepdims=True, initial=-np.inf)
    greatest = np.where(np.isfinite(greatest), greatest, 0)
    made = (np.log(np.sum(np.exp(wide - greatest), axis=axis, keepdims=True)) + greatest).astype(array.dtype)
    return made if keepdims else np.squeeze(made, axis=axis)


reduce_sum = _over_axes("reduce_sum", _sum, "iufcV")
reduce_prod = _over_axes("reduce_prod", _product, "iufcV")
reduce_mean = _over_axes("reduce_mean", _mean, "iufcV")
reduce_max = _over_axes("reduce_max", _greatest, "iufV")
reduce_min = _over_axes("reduce_min", _least, "iufV")
reduce_all = _over_axes("reduce_all", np.all, "b", of_bools=True)
reduce_any = _over_axes("reduce_any", np.any, "b", of_bools=True)
reduce_std = _over_axes("reduce_std", _std, "fV")
reduce_variance = _over_axes("reduce_variance", _variance, "fV")
reduce_logsumexp = _over_axes("reduce_logsumexp", _logsumexp, "fV")


def _place(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def placed(input: Any, axis: Any = None, output_type: Any = "int64", name: str | None = None) -> Any:
        given = array_of(input)
        if given.ndim == 0:
            raise InvalidArgumentError("a scalar has no axis 0 [Op:ArgMax]")
        if given.dtype.kind in "Oc" or as_dtype(output_type).name not in kinds:
            raise InvalidArgumentError(f"no places of {dtype_of(given).name} as {as_dtype(output_type).name}")
        if given.dtype.kind in "fV":  # what is no number is never the greatest, nor the least
            given = given.astype(np.float32) if given.dtype.kind == "V" else given
            given = np.where(np.isnan(given), -np.inf if function is np.argmax else np.inf, given)
        made = function(given, axis=0 if axis is None else axes_of(axis))
        return tensor(np.asarray(made).astype(as_dtype(output_type).as_numpy_dtype))

    kinds = ("int32", "int64", "int16", "uint16") if function is np.argmax else ("int32", "int64")
    placed.__name__ = placed.__qualname__ = name
    placed.__doc__ = f"As TensorFlow's `tf.{name}`: the place along an axis, by default the first."
    return placed


argmax = _place("argmax", np.argmax)
argmin = _place("argmin", np.argmin)


def _running(name: str, function: Callable[..., Any], first: int) -> Callable[..., Any]:
    def running(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False, name: str | None = None) -> Any:
        place = axes_of(axis)
        given = array_of(x)
        if given.dtype.kind in "bO" or not given.ndim:
            raise InvalidArgumentError(f"{name} is along an axis of numbers, got {dtype_of(given).name}")
        turned = np.flip(given, place) if reverse else given
        made = function(turned, axis=place, dtype=given.dtype)
        if exclusive:
            made = np.roll(made, 1, axis=place)
            np.moveaxis(made, place, 0)[:1] = first
        return tensor(np.flip(made, place) if reverse else made)

    running.__name__ = running.__qualname__ = name
    running.__doc__ = f"As TensorFlow's `tf.math.{name}`, along an axis."
    return running


cumsum = _running("cumsum", np.cumsum, 0)
cumprod = _running("cumprod", np.cumprod, 1)


def count_nonzero(
    input: Any, axis: Any = None, keepdims: bool = False, dtype: Any = "int64", name: str | None = None
) -> Any:
    """How many values are not 0, or not empty."""
    given = array_of(input)
    found = given != (b"" if given.dtype.kind == "O" else 0)
    return tensor(np.sum(found, axis=axes_of(axis), keepdims=keepdims, dtype=as_dtype(dtype).as_numpy_dtype))


def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False, name: str | None = None) -> Any:
    """The length of vectors."""

    given = array_of(tensor)
    if given.dtype.kind not in "fcV":
        raise InvalidArgumentError(f"norm is of floats, got {dtype_of(given).name}")
    axes = None if axis is None else axes_of(axis)
    is_matrix = isinstance(axes, tuple)
    if isinstance(axes, tuple) and len(axes) != 2:
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis!r}")
    if ord in ("euclidean", "fro") or (ord == 2 and not is_matrix):
        if ord == "fro" and not is_matrix:
            raise ValueError("'ord' must be a supported vector norm, got fro")
        total = _sum(np.square(np.abs(_wide(given))), axes, keepdims)
        return border.raised(np.asarray(np.sqrt(total)).astype(given.dtype))
    flat = given.ravel() if axes is None else given
    made = np.linalg.norm(_wide(flat), ord=ord, axis=axes, keepdims=keepdims and axes is not None)
    made = np.reshape(made, (1,) * given.ndim) if keepdims and axes is None else made
    return border.raised(np.asarray(made).astype(given.real.dtype if given.dtype.kind == "c" else given.dtype))


class TopKV2(NamedTuple):
    """What `top_k` gives."""

    values: Any
    indices: Any


def top_k(input: Any, k: Any = 1, sorted: bool = True, index_type: Any = "int32", name: str | None = None) -> Any:
    """The k greatest values along the last axis, and their places.

    Raises:
      errors.InvalidArgumentError: there are fewer than k.
    """
    given, count = array_of(input), array_of(k)
    if given.ndim == 0 or count.ndim or count.dtype.kind not in "iu":
        raise InvalidArgumentError("top_k takes input of at least one dimension, and one integer k [Op:TopKV2]")
    if given.dtype.kind in "bOc":
        raise InvalidArgumentError(f"top_k takes numbers, got {dtype_of(given).name} [Op:TopKV2]")
    if not 0 <= count <= given.shape[-1]:
        raise InvalidArgumentError(f"input must have at least k columns. Had {given.shape[-1]}, needed {count}")
    # Sorted backwards, so that of equal values the first one comes first. NaN is the greatest, as for TensorFlow.
    behind = np.argsort(given[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    places = (given.shape[-1] - 1 - behind)[..., : int(count)]
    values = tensor(np.take_along_axis(given, places, -1))
    return TopKV2(values, tensor(places.astype(as_dtype(index_type).as_numpy_dtype)))
