"""Functions that call functions, and structures of tensors."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable
from typing import Any

from ...errors import InvalidArgumentError
from ...values.elements import nests
from .. import border
from ..composites import RaggedTensor, SparseTensor
from ..tensors import Tensor
from .arguments import array_of, tensor
from .arrays import constant, convert_to_tensor
from .rows import of_flat_values

__all__ = [
    "case", "cond", "control_dependencies", "device", "executing_eagerly", "function",
    "get_static_value", "group", "init_scope", "is_tensor", "name_scope", "no_op", "numpy_function",
    "print", "py_function", "stop_gradient", "switch_case", "while_loop",
]  # fmt: skip

_print = print


def cond(
    pred: Any,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
    **old: Any,
) -> Any:
    """What one of two functions gives."""
    first, second = true_fn or old.get("fn1"), false_fn or old.get("fn2")
    if first is None or second is None:
        raise TypeError("cond() takes two functions")
    return first() if bool(array_of(pred)) else second()


def case(
    pred_fn_pairs: Any,
    default: Callable[[], Any] | None = None,
    exclusive: bool = False,
    strict: bool = False,
    name: str = "case",
) -> Any:
    """What the function of the first true condition gives."""
    pairs = pred_fn_pairs.items() if hasattr(pred_fn_pairs, "items") else pred_fn_pairs
    found = [function for condition, function in pairs if bool(array_of(condition))]
    if exclusive and len(found) > 1:
        raise InvalidArgumentError("case: more than one condition is true")
    if not found and default is None:
        raise InvalidArgumentError("case: no condition is true, and there is no default")
    chosen: Any = found[0] if found else default
    return chosen()


def switch_case(
    branch_index: Any, branch_fns: Any, default: Callable[[], Any] | None = None, name: str = "switch_case"
) -> Any:
    """What the function of that number gives."""
    functions: dict[int, Callable[[], Any]] = (
        dict(branch_fns)
        if not isinstance(branch_fns, list | tuple) or isinstance(branch_fns[0], tuple)
        else dict(enumerate(branch_fns))
    )
    last = default if default is not None else functions[max(functions)]
    return functions.get(int(array_of(branch_index)), last)()


def while_loop(
    cond: Callable[..., Any], body: Callable[..., Any], loop_vars: Any, maximum_iterations: Any = None, **unused: Any
) -> Any:
    """The variables after the loop."""
    values: Any = _as_tensors(tuple(loop_vars) if isinstance(loop_vars, list | tuple) else (loop_vars,))
    left = None if maximum_iterations is None else int(array_of(maximum_iterations))
    while (left is None or left > 0) and bool(array_of(cond(*values))):
        made = body(*values)
        values = _as_tensors(tuple(made) if isinstance(made, list | tuple) else (made,))
        left = None if left is None else left - 1
    return list(values) if isinstance(loop_vars, list) else values if isinstance(loop_vars, tuple) else values[0]


def _as_tensors(value: Any) -> Any:
    return border.raised(nests.normalize(border.lowered(value)))


def py_function(
    func: Callable[..., Any] | None = None, inp: Iterable[Any] | None = None, Tout: Any = None, name: str | None = None
) -> Any:
    """The function's result for these tensors; without them, a decorator."""
    return _called(func, inp, Tout, lambda value: tensor(array_of(value)), converts=True)


def numpy_function(
    func: Callable[..., Any] | None = None,
    inp: Iterable[Any] | None = None,
    Tout: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """The function's result for these tensors as NumPy's values; without them, a decorator."""
    return _called(func, inp, Tout, lambda value: array_of(value)[()], converts=False)


def _called(func: Any, inp: Any, kinds: Any, given: Callable[[Any], Any], converts: bool) -> Any:
    if func is None:
        return functools.partial(_decorated, kinds=kinds, given=given, converts=converts)
    return _typed(func(*map(given, inp)), kinds, converts)


def _decorated(func: Any, kinds: Any, given: Callable[[Any], Any], converts: bool) -> Any:
    @functools.wraps(func)
    def of_tensors(*args: Any) -> Any:
        return _typed(func(*map(given, args)), kinds, converts)

    return of_tensors


def _typed(result: Any, kinds: Any, converts: bool) -> Any:
    """The result as tensors of these dtypes; NumPy's values are converted to them by `py_function` alone."""
    if kinds is None:
        return _as_tensors(tuple(result) if isinstance(result, list) else result)
    if isinstance(kinds, list | tuple):
        if len(kinds) == 0:
            return None
        results = result if isinstance(result, list | tuple) else (result,)
        return [_typed(one, kind, converts) for one, kind in zip(results, kinds, strict=True)]
    if hasattr(kinds, "value_type"):
        return (
            convert_to_tensor(result)
            if hasattr(result, "row_splits") or isinstance(result, RaggedTensor)
            else _typed(result, kinds.dtype, converts)
        )
    value = border.lowered(result)
    is_strict = isinstance(result, Tensor) or (hasattr(value, "dtype") and not converts)
    made = constant(value, None if is_strict else kinds)
    if made.dtype != kinds:
        raise InvalidArgumentError(f"the function returned {made.dtype.name}, expected {kinds!r}")
    return made


def function(func: Any = None, **options: Any) -> Any:
    """The function itself: everything is eager. A decorator, with or without arguments."""
    if func is None:
        return function
    return func


def executing_eagerly() -> bool:
    """True."""
    return True


def is_tensor(x: Any) -> bool:
    """Whether it is a Tensor, a SparseTensor or a RaggedTensor."""

    return isinstance(x, Tensor | SparseTensor | RaggedTensor) or type(x).__module__.startswith("tensorflow.")


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value."""
    return border.lowered(tensor)


@of_flat_values
def stop_gradient(input: Any, name: str | None = None) -> Any:
    """The tensor itself."""
    return tensor(array_of(input))


def no_op(name: str | None = None) -> None:
    """Nothing."""


def group(*inputs: Any, name: str | None = None) -> None:
    """Nothing: what was to be run has run."""


def print(
    *inputs: Any,
    output_stream: Any = None,
    summarize: int = 3,
    sep: str = " ",
    end: str = "\n",
    name: str | None = None,
) -> None:
    """Prints tensors' values, by default to standard error."""
    shown = [_print_text(one) for one in inputs]
    stream = sys.stdout if output_stream == "stdout" or output_stream is sys.stdout else sys.stderr
    _print(*shown, sep=sep, end=end, file=stream)


def _print_text(value: Any) -> str:
    given = border.lowered(value)
    if isinstance(given, bytes):
        return given.decode(errors="replace")
    return str(given)


class _Nothing:
    """A context that does nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.name = args[0] if args else kwargs.get("name")

    def __enter__(self) -> Any:
        return self.name

    def __exit__(self, *error: Any) -> None:
        return None


name_scope = device = control_dependencies = init_scope = _Nothing
