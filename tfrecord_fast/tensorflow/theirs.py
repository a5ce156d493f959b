"""TensorFlow's own tensors among the face's: functions that get one are TensorFlow's, which follow its gradients, and
TensorFlow's functions get the face's tensors as their own."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

from .composites import RaggedTensor, SparseTensor
from .tensors import Tensor

__all__ = ["either", "given_ours", "has_theirs", "theirs_of"]

_NAMES = ("Tensor", "Variable", "SparseTensor", "RaggedTensor")
_kinds: tuple[type, ...] = ()


def has_theirs(values: Any) -> bool:
    """Whether one of the values, or of those in a list or tuple among them, is a tensor or variable of TensorFlow's."""
    if "tensorflow" not in sys.modules:
        return False
    global _kinds
    if not _kinds:
        theirs = sys.modules["tensorflow"]
        _kinds = tuple(getattr(theirs, name) for name in _NAMES) if hasattr(theirs, _NAMES[-1]) else ()
    return any(
        isinstance(value, _kinds) or (type(value) in (list, tuple) and any(isinstance(item, _kinds) for item in value))
        for value in values
    )


def theirs_of(value: Any) -> Any:
    """The value, or structure of values, with TensorFlow's sparse and ragged tensors in the place of the face's."""
    kind = type(value)
    if kind is SparseTensor:
        parts = (value.indices, value.values, value.dense_shape)
        return sys.modules["tensorflow"].SparseTensor(*(part.numpy() for part in parts))
    if kind is RaggedTensor:
        splits = [part.numpy() for part in value.nested_row_splits]
        theirs = sys.modules["tensorflow"].RaggedTensor
        return theirs.from_nested_row_splits(value.flat_values.numpy(), splits)
    if kind in (list, tuple):
        return kind(map(theirs_of, value))
    if isinstance(value, dict):
        return {key: theirs_of(item) for key, item in value.items()}
    return value.numpy() if isinstance(value, Tensor) else value


def _as_argument(value: Any) -> Any:
    """As `theirs_of`, with a tensor of TensorFlow's for each tensor: some functions ask what they get for its shape."""
    if isinstance(value, Tensor):
        return sys.modules["tensorflow"].constant(value.numpy(), value.dtype.name)
    if type(value) in (list, tuple):
        return type(value)(map(_as_argument, value))
    if isinstance(value, dict):
        return {key: _as_argument(item) for key, item in value.items()}
    return theirs_of(value)


def given_ours(found: Any) -> Any:
    """A function of TensorFlow's, which takes the face's tensors too; anything else as it is."""
    if not inspect.isroutine(found):
        return found

    @functools.wraps(found)
    def of_both(*args: Any, **kwargs: Any) -> Any:
        return found(*map(_as_argument, args), **{name: _as_argument(value) for name, value in kwargs.items()})

    return of_both


def either(function: Callable[..., Any], name: str, of_tensorflow: Callable[[str], Any]) -> Callable[..., Any]:
    """A function of the face; TensorFlow's of that name for TensorFlow's tensors."""

    @functools.wraps(function)
    def of_both(*args: Any, **kwargs: Any) -> Any:
        if has_theirs(args) or (kwargs and has_theirs(kwargs.values())):
            return of_tensorflow(name)(*args, **kwargs)
        return function(*args, **kwargs)

    return of_both
