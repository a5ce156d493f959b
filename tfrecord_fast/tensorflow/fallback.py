"""Access to TensorFlow where it is installed: names that are missing here, functions for TensorFlow's own tensors.

TensorFlow is imported when such a name is first used. Modules are imported by name in this file and in `modules.py`.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from typing import Any

from .interop import accept_our_tensors, dispatch


def tf_module(name: str = "") -> Any:
    """Return `tfrecord_fast.tensorflow`, or a module of it, for code that can't import it at its top."""
    return importlib.import_module(f"{__package__}.{name}" if name else str(__package__))


def import_package(name: str) -> Any:
    return importlib.import_module(name)


def is_installed(name: str) -> bool:
    if name in sys.modules:
        return sys.modules[name] is not None
    return importlib.util.find_spec(name) is not None


def installed() -> bool:
    """Return True if TensorFlow can be imported."""
    return not _is_masked and is_installed("tensorflow")


_is_masked = False


@contextlib.contextmanager
def without_tensorflow() -> Iterator[None]:
    """Behave as if TensorFlow were not installed."""
    global _is_masked
    before, _is_masked = _is_masked, True
    try:
        yield
    finally:
        _is_masked = before


def from_tensorflow(name: str) -> Any:
    """Return what TensorFlow has under a name such as "tf.math.softmax"."""
    if not installed():
        raise AttributeError(f"{name} is not implemented by tfrecord_fast, and TensorFlow is not installed.")
    value = importlib.import_module("tensorflow")
    for attribute in name.split(".")[1:]:
        try:
            value = getattr(value, attribute)
        except AttributeError:
            raise AttributeError(
                f"{name} exists neither in tfrecord_fast nor in the TensorFlow that is installed."
            ) from None
    if name.startswith("tf.distribute"):
        tf_module("dataset_methods").teach_strategies()
    return accept_our_tensors(value)


def is_tensor_function(value: Any) -> bool:
    """Return True for a function on tensors, which `ops/` defines."""
    return inspect.isfunction(value) and value.__module__.startswith(f"{__package__}.ops.")


def with_dispatch(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return the function; for TensorFlow's own tensors and variables, it calls TensorFlow's function of that name."""
    return dispatch(function, name, from_tensorflow)
