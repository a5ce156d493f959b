"""Functions that call functions: conditions, loops, Python functions; and no-ops for graphs."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from typing import Any

from ...errors import InvalidArgumentError
from ...values.elements import nests
from ..tensors.ragged_tensor import RaggedTensor
from ..tensors.sparse_tensor import SparseTensor
from ..tensors.tensor import Tensor
from ..tensors.wrapping import unwrap, wrap
from .arguments import as_array, tensor
from .arrays import constant, convert_to_tensor
from .rows import over_flat_values

_print = print


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
    **old: Any,
) -> Any:
    """Call one of two functions."""
    first, second = true_fn or old.get("fn1"), false_fn or old.get("fn2")
    if first is None or second is None:
        raise TypeError("cond() needs true_fn and false_fn")
    return first() if bool(as_array(pred)) else second()


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """Call the function of the first true condition."""
    pairs = pred_fn_pairs.items() if hasattr(pred_fn_pairs, "items") else pred_fn_pairs
    functions = [function for condition, function in pairs if bool(as_array(condition))]
    if exclusive and len(functions) > 1:
        raise InvalidArgumentError("case: more than one condition is true")
    if not functions and default is None:
        raise InvalidArgumentError("case: no condition is true, and no default is set")
    chosen: Any = functions[0] if functions else default
    return chosen()


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, maximum_iterations: Any = None, **unused: Any
) -> Any:
    """Return the variables after the loop."""
    values: Any = _as_tensors(tuple(loop_vars) if isinstance(loop_vars, list | tuple) else (loop_vars,))
    left = None if maximum_iterations is None else int(as_array(maximum_iterations))
    while (left is None or left > 0) and bool(as_array(cond(*values))):
        result = body(*values)
        values = _as_tensors(tuple(result) if isinstance(result, list | tuple) else (result,))
        left = None if left is None else left - 1
    return list(values) if isinstance(loop_vars, list) else values if isinstance(loop_vars, tuple) else values[0]


def _as_tensors(value: Any) -> Any:
    return wrap(nests.normalize(unwrap(value)))


def py_function(
    func: Callable[..., Any] | None = None, inp: Iterable[Any] | None = None, Tout: Any = None, name: str | None = None
) -> Any:
    """Call a function with tensors; without them, return a decorator."""
    return _called(func, inp, Tout, lambda value: tensor(as_array(value)), casts=True)


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Iterable[Any] | None = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """Call a function with NumPy values; without them, return a decorator."""
    return _called(func, inp, Tout, lambda value: as_array(value)[()], casts=False)


def _called(func: Any, inp: Any, dtypes: Any, as_argument: Callable[[Any], Any], casts: bool) -> Any:
    if func is None:
        return lambda func: functools.wraps(func)(lambda *args: _called(func, args, dtypes, as_argument, casts))
    return _typed(func(*map(as_argument, inp)), dtypes, casts)


def _typed(result: Any, dtypes: Any, casts: bool) -> Any:
    """Convert a result to tensors of these dtypes; only `py_function` casts NumPy values."""
    if dtypes is None:
        return _as_tensors(tuple(result) if isinstance(result, list) else result)
    if isinstance(dtypes, list | tuple):
        if len(dtypes) == 0:
            return None
        results = result if isinstance(result, list | tuple) else (result,)
        return [_typed(item, dtype, casts) for item, dtype in zip(results, dtypes, strict=True)]
    if hasattr(dtypes, "value_type"):
        return (
            convert_to_tensor(result)
            if hasattr(result, "row_splits") or isinstance(result, RaggedTensor)
            else _typed(result, dtypes.dtype, casts)
        )
    value = unwrap(result)
    is_strict = isinstance(result, Tensor) or (hasattr(value, "dtype") and not casts)
    value_tensor = constant(value, None if is_strict else dtypes)
    if value_tensor.dtype != dtypes:
        raise InvalidArgumentError(f"the function returned {value_tensor.dtype.name}, expected {dtypes!r}")
    return value_tensor


def function(func: Any = None, **options: Any) -> Any:
    """Return the function itself: everything is eager. Works as a decorator, with or without arguments."""
    return function if func is None else func


def executing_eagerly() -> bool:
    """Return True."""
    return True


def is_tensor(x: Any) -> bool:
    """Return True for a Tensor, a SparseTensor or a RaggedTensor."""
    return isinstance(x, Tensor | SparseTensor | RaggedTensor) or type(x).__module__.startswith("tensorflow.")


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """Return the plain value."""
    return unwrap(tensor)


@over_flat_values
def stop_gradient(input: Any, name: str | None = None) -> Any:
    """Return the tensor itself."""
    return tensor(as_array(input))


def no_op(name: str | None = None) -> None:
    """Do nothing."""


def group(*inputs: Any, name: str | None = None) -> None:
    """Do nothing: operations have run already."""


def print(
    *inputs: Any,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> None:
    """Print the values of tensors, by default to standard error."""
    texts = [_print_text(value) for value in inputs]
    stream = sys.stdout if output_stream == "stdout" or output_stream is sys.stdout else sys.stderr
    _print(*texts, sep=sep, end=end, file=stream)


def _print_text(value: Any) -> str:
    plain = unwrap(value)
    if isinstance(plain, bytes):
        return plain.decode(errors="replace")
    return str(plain)


class _NoEffect:
    """A context without effect."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.name = args[0] if args else kwargs.get("name")

    def __enter__(self) -> Any:
        return self.name

    def __exit__(self, *error: Any) -> None:
        return None


name_scope = device = control_dependencies = init_scope = _NoEffect
