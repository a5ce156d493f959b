"""Values of TensorFlow among those of this package.

A function here that gets a tensor of TensorFlow's calls TensorFlow's function, which follows its gradients.
TensorFlow's functions get tensors of this package as their own.
"""

from __future__ import annotations

import functools
import inspect
import operator
import sys
from collections.abc import Callable
from typing import Any

from .blocks.frames import current, needs_records
from .tensors.ragged_tensor import RaggedTensor
from .tensors.sparse_tensor import SparseTensor
from .tensors.tensor import Tensor

_NAMES = ("Tensor", "Variable", "SparseTensor", "RaggedTensor")
_classes: tuple[type, ...] = ()


def has_tensorflow_values(values: Any) -> bool:
    """Return True if a value, or an item of a list or tuple among them, is a tensor or variable of TensorFlow's."""
    if "tensorflow" not in sys.modules:
        return False
    global _classes
    if not _classes:
        tensorflow = sys.modules["tensorflow"]
        _classes = tuple(getattr(tensorflow, name) for name in _NAMES) if hasattr(tensorflow, _NAMES[-1]) else ()
    return any(
        isinstance(value, _classes)
        or (type(value) in (list, tuple) and any(isinstance(item, _classes) for item in value))
        for value in values
    )


def to_tensorflow_value(value: Any, as_array: Callable[[Any], Any] = operator.methodcaller("numpy")) -> Any:
    """Return a value, or structure of values, with TensorFlow's sparse and ragged tensors, and arrays for tensors."""
    if isinstance(value, SparseTensor):
        components = (value.indices, value.values, value.dense_shape)
        return sys.modules["tensorflow"].SparseTensor(*(component.numpy() for component in components))
    if isinstance(value, RaggedTensor):
        splits = [row_splits.numpy() for row_splits in value.nested_row_splits]
        ragged = sys.modules["tensorflow"].RaggedTensor
        return ragged.from_nested_row_splits(value.flat_values.numpy(), splits)
    if type(value) in (list, tuple):
        return type(value)(to_tensorflow_value(item, as_array) for item in value)
    if isinstance(value, dict):
        return {key: to_tensorflow_value(item, as_array) for key, item in value.items()}
    return as_array(value) if isinstance(value, Tensor) else value


def _as_argument(value: Any) -> Any:
    """Convert to tensors, not arrays: some functions read their argument's shape."""
    return to_tensorflow_value(
        value, lambda tensor: sys.modules["tensorflow"].constant(tensor.numpy(), tensor.dtype.name)
    )


def accept_our_tensors(value: Any) -> Any:
    """Let a function of TensorFlow's take tensors of this package as well; return anything else unchanged."""
    if not inspect.isroutine(value):
        return value

    @functools.wraps(value)
    def call(*args: Any, **kwargs: Any) -> Any:
        if current.frame is not None:
            raise needs_records("TensorFlow's own function is called for each record")
        return value(*map(_as_argument, args), **{name: _as_argument(item) for name, item in kwargs.items()})

    return call


def dispatch(function: Callable[..., Any], name: str, find: Callable[[str], Any]) -> Callable[..., Any]:
    """Return a function that calls `find(name)` for TensorFlow's own tensors, and `function` otherwise."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if "tensorflow" not in sys.modules:
            return function(*args, **kwargs)
        if has_tensorflow_values(args) or (kwargs and has_tensorflow_values(kwargs.values())):
            return find(name)(*args, **kwargs)
        return function(*args, **kwargs)

    return call
