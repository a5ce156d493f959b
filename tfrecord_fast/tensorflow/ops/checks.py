"""Functions that raise unless something holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ..types import as_dtype, dtype_of
from .arguments import array_of, arrays_of, tensor

__all__ = [
    "Assert",
    "assert_all_finite",
    "assert_equal",
    "assert_greater",
    "assert_greater_equal",
    "assert_integer",
    "assert_less",
    "assert_less_equal",
    "assert_near",
    "assert_negative",
    "assert_non_negative",
    "assert_non_positive",
    "assert_positive",
    "assert_rank",
    "assert_rank_at_least",
    "assert_scalar",
    "assert_shapes",
    "assert_type",
    "without_effect",
]  # fmt: skip


def Assert(condition: Any, data: Any, summarize: Any = None, name: str | None = None) -> None:
    """Raises InvalidArgumentError unless the condition is true."""
    if not np.all(array_of(condition)):
        raise InvalidArgumentError(f"Expected '{name or 'condition'}' to be true. Summarized data: {data}")


def _check(name: str, function: Callable[..., Any], sign: str) -> Callable[..., Any]:
    def check(
        x: Any, y: Any, message: str | None = None, summarize: Any = None, name: str | None = None, **old: Any
    ) -> None:
        first, second = arrays_of(x, y)
        if not np.all(function(first, second)):
            raise InvalidArgumentError(
                f"{message or ''}Condition x {sign} y did not hold. x: {first!r:.200} y: {second!r:.200}"
            )

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"Raises InvalidArgumentError unless x {sign} y everywhere."
    return check


assert_equal = _check("assert_equal", np.equal, "==")
assert_greater = _check("assert_greater", np.greater, ">")
assert_greater_equal = _check("assert_greater_equal", np.greater_equal, ">=")
assert_less = _check("assert_less", np.less, "<")
assert_less_equal = _check("assert_less_equal", np.less_equal, "<=")


def _check_sign(name: str, function: Callable[[Any], Any], sign: str) -> Callable[..., Any]:
    def check(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None, **old: Any) -> None:
        given = array_of(x)
        if not np.all(function(given)):
            raise InvalidArgumentError(f"{message or ''}Condition x {sign} 0 did not hold element-wise: {given!r:.200}")

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"Raises InvalidArgumentError unless x {sign} 0 everywhere."
    return check


assert_positive = _check_sign("assert_positive", lambda x: x > 0, ">")
assert_negative = _check_sign("assert_negative", lambda x: x < 0, "<")
assert_non_negative = _check_sign("assert_non_negative", lambda x: x >= 0, ">=")
assert_non_positive = _check_sign("assert_non_positive", lambda x: x <= 0, "<=")


def assert_all_finite(x: Any, message: str, name: str | None = None) -> Any:
    """The tensor itself; raises InvalidArgumentError if it has NaN or infinite values."""
    given = array_of(x)
    if not np.all(np.isfinite(given)):
        raise InvalidArgumentError(f"{message} : Tensor had NaN or Inf values [Op:CheckNumerics]")
    return tensor(given)


def assert_shapes(
    shapes: Any, data: Any = None, summarize: Any = None, message: str | None = None, name: str | None = None
) -> None:
    """Raises ValueError unless tensors have these shapes.

    Args:
      shapes: a dict, or pairs, of tensors and shapes: lengths, None or "*" for any, and names, which stand for one
        length everywhere. "..." in front stands for any number of lengths.
    """
    known: dict[Any, int] = {}
    for value, wanted in shapes.items() if hasattr(shapes, "items") else shapes:
        found = tuple(array_of(value).shape)
        lengths = [wanted] if isinstance(wanted, int | str) else list(wanted)
        compared = found
        if lengths[:1] in ([Ellipsis], ["..."]):
            lengths = lengths[1:]
            compared = found[max(len(found) - len(lengths), 0) :]
        fits = len(compared) == len(lengths) and all(
            one in (None, "*") or known.setdefault(one, length) == length
            if isinstance(one, str)
            else one in (None, length)
            for one, length in zip(lengths, compared, strict=True)
        )
        if not fits:
            raise ValueError(f"{message or ''}Specified by tensor of shape {found}: expected {wanted}, known {known}")


def assert_rank(
    x: Any, rank: Any, message: str | None = None, summarize: Any = None, name: str | None = None, **old: Any
) -> None:
    """Raises ValueError unless x has that many dimensions."""
    found = array_of(x).ndim
    if found != int(array_of(rank)):
        raise ValueError(f"{message or ''} Tensor must have rank {rank}. Received rank {found}")


def assert_rank_at_least(x: Any, rank: Any, message: str | None = None, name: str | None = None, **old: Any) -> None:
    """Raises ValueError unless x has that many dimensions or more."""
    found = array_of(x).ndim
    if found < int(array_of(rank)):
        raise ValueError(f"{message or ''} Tensor must have rank at least {rank}. Received rank {found}")


def assert_scalar(tensor: Any, name: str | None = None, message: str | None = None) -> None:
    """Raises ValueError unless it is a scalar."""
    given = array_of(tensor)
    if given.ndim:
        raise ValueError(f"{message or ''}Expected scalar shape, saw shape: {given.shape}.")


def assert_type(tensor: Any, tf_type: Any, message: str | None = None, name: str | None = None) -> None:
    """Raises TypeError unless the tensor is of that dtype."""
    found = dtype_of(array_of(tensor))
    if found != as_dtype(tf_type):
        raise TypeError(f"{message or ''} tensor must be of type {as_dtype(tf_type)!r}; got {found!r}")


def assert_integer(x: Any, message: str | None = None, name: str | None = None) -> None:
    """Raises TypeError unless x is of integers."""
    found = dtype_of(array_of(x))
    if not found.is_integer:
        raise TypeError(f'{message or ""} Expected "x" to be integer type. Found: {found!r}')


def assert_near(
    x: Any, y: Any, rtol: Any = None, atol: Any = None, message: str | None = None, summarize: Any = None, **old: Any
) -> None:
    """Raises InvalidArgumentError unless x and y are close everywhere."""
    first, second = arrays_of(x, y)
    smallest = 10 * np.finfo(first.dtype).eps
    near = np.abs(first - second) <= (smallest if atol is None else atol) + (
        smallest if rtol is None else rtol
    ) * np.abs(second)
    if not np.all(near):
        raise InvalidArgumentError(f"{message or ''}x and y not equal to tolerance: {first!r:.200}, {second!r:.200}")


def without_effect(*args: Any, **kwargs: Any) -> None:
    """Has no effect: there is one device, and tracebacks are Python's."""
