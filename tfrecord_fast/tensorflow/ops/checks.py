"""Functions that raise unless a condition holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ..tensors.tensor_dtypes import array_dtype
from .arguments import as_array, as_arrays, named
from .arguments import tensor as as_tensor


def Assert(condition: Any, data: Any, summarize: Any = None, name: str | None = None) -> None:
    """Raise InvalidArgumentError unless the condition is true."""
    if not np.all(as_array(condition)):
        raise InvalidArgumentError(f"Expected '{name or 'condition'}' to be true. Summarized data: {data}")


def _check(name: str, function: Callable[..., Any], sign: str) -> Callable[..., Any]:
    def check(
        x: Any, y: Any, message: str | None = None, summarize: Any = None, name: str | None = None, **old: Any
    ) -> None:
        first, second = as_arrays(x, y)
        if not np.all(function(first, second)):
            raise InvalidArgumentError(
                f"{message or ''}Condition x {sign} y did not hold. x: {first!r:.200} y: {second!r:.200}"
            )

    return named(check, name, f"Raise InvalidArgumentError unless x {sign} y everywhere.")


assert_equal = _check("assert_equal", np.equal, "==")
assert_greater = _check("assert_greater", np.greater, ">")
assert_greater_equal = _check("assert_greater_equal", np.greater_equal, ">=")
assert_less = _check("assert_less", np.less, "<")
assert_less_equal = _check("assert_less_equal", np.less_equal, "<=")


def _check_sign(name: str, function: Callable[[Any], Any], sign: str) -> Callable[..., Any]:
    def check(x: Any, message: str | None = None, summarize: Any = None, name: str | None = None, **old: Any) -> None:
        array = as_array(x)
        if not np.all(function(array)):
            raise InvalidArgumentError(f"{message or ''}Condition x {sign} 0 did not hold element-wise: {array!r:.200}")

    return named(check, name, f"Raise InvalidArgumentError unless x {sign} 0 everywhere.")


assert_positive = _check_sign("assert_positive", lambda x: x > 0, ">")
assert_negative = _check_sign("assert_negative", lambda x: x < 0, "<")
assert_non_negative = _check_sign("assert_non_negative", lambda x: x >= 0, ">=")
assert_non_positive = _check_sign("assert_non_positive", lambda x: x <= 0, "<=")


def assert_shapes(
    shapes: Any, data: Any = None, summarize: Any = None, message: str | None = None, name: str | None = None
) -> None:
    """Raise ValueError unless tensors have these shapes.

    Args:
      shapes: a dict, or pairs, of tensors and shapes. A length is a number, None or "*" for any length, or a name,
        which means the same length everywhere. A leading "..." means any number of lengths.
    """
    known: dict[Any, int] = {}
    for value, wanted in shapes.items() if hasattr(shapes, "items") else shapes:
        shape = tuple(as_array(value).shape)
        lengths = [wanted] if isinstance(wanted, int | str) else list(wanted)
        compared = shape
        if lengths[:1] in ([Ellipsis], ["..."]):
            lengths = lengths[1:]
            compared = shape[max(len(shape) - len(lengths), 0) :]
        fits = len(compared) == len(lengths) and all(
            expected in (None, "*") or known.setdefault(expected, length) == length
            if isinstance(expected, str)
            else expected in (None, length)
            for expected, length in zip(lengths, compared, strict=True)
        )
        if not fits:
            raise ValueError(f"{message or ''}Specified by tensor of shape {shape}: expected {wanted}, known {known}")


def assert_rank(
    x: Any, rank: Any, message: str | None = None, summarize: Any = None, name: str | None = None, **old: Any
) -> None:
    """Raise ValueError unless x has that many dimensions."""
    actual = as_array(x).ndim
    if actual != int(as_array(rank)):
        raise ValueError(f"{message or ''} Tensor must have rank {rank}. Received rank {actual}")


def check_numerics(tensor: Any, message: str, name: str | None = None) -> Any:
    """Return the tensor; raise InvalidArgumentError if it holds NaN or infinity."""
    array = as_array(tensor)
    if array.dtype.kind not in "fV":
        raise InvalidArgumentError(f"check_numerics needs floats, got {array_dtype(array).name}")
    faults = [word for word, test in (("NaN", np.isnan), ("Inf", np.isinf)) if test(array).any()]
    if faults:
        raise InvalidArgumentError(f"{message} : Tensor had {' and '.join(faults)} values")
    return as_tensor(array)


def do_nothing(*args: Any, **kwargs: Any) -> None:
    """Do nothing: placement and tracebacks can't be set."""
