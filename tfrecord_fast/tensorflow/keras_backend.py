"""`tf.keras.backend`: the functions that Keras 3 keeps for older scripts, which need TensorFlow there.

Here they compute with this package's functions. Tensors of Keras' backend go to `keras.ops`, so that losses and
metrics of models can use them, and tensors of TensorFlow go to TensorFlow.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .dataset_methods import keras_package, with_globals
from .fallback import import_package, installed, tf_module
from .interop import accept_our_tensors, has_tensorflow_values

# Functions of `keras.ops` with the same parameters, some of them under other names.
_OPS = {
    alias: name or alias
    for alias, _, name in (
        entry.partition("=")
        for entry in "abs all any argmax argmin binary_crossentropy cast categorical_crossentropy clip concatenate cos "
        "cumprod cumsum dot elu equal exp expand_dims flatten=ravel greater greater_equal int_shape=shape less "
        "less_equal log max maximum mean min minimum not_equal one_hot ones_like permute_dimensions=transpose "
        "pow=power prod reshape round shape sigmoid sign sin softmax softplus softsign sqrt square squeeze stack std "
        "stop_gradient sum tanh tile transpose var zeros_like".split()
    )
}


def _constant(value: Any, dtype: Any = None, name: str | None = None, constraint: Any = None) -> Any:
    """Return a tensor, in place of a variable."""
    return tf_module().constant(value, dtype)


def _as_floats(x: Any) -> Any:
    floatx = import_package("keras").config.floatx()
    return tf_module().cast(x, floatx) if tf_module().is_tensor(x) else np.asarray(x, floatx)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    function = getattr(keras_package().backend, name)
    if not inspect.isfunction(function) or function.__module__ != "keras.src.legacy.backend":
        return function
    return _function(function)


def __dir__() -> list[str]:
    return dir(keras_package().backend)


@functools.cache
def _function(function: Any) -> Callable[..., Any]:
    """Return one of Keras' functions for the tensors of each library."""
    keras = import_package("keras")
    name, signature = function.__name__, inspect.signature(function)
    with_tensorflow, here = accept_our_tensors(function), _copies(function.__module__)[name]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        values = [*args, *kwargs.values()]
        if has_tensorflow_values(values):
            return with_tensorflow(*args, **kwargs)
        if name in _OPS and any(_is_of_keras(keras, value) for value in values):
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            bound.arguments.pop("name", None)
            return getattr(keras.ops, _OPS[name])(*bound.arguments.values())
        return here(*args, **kwargs)

    return call


def _is_of_keras(keras: Any, value: Any) -> bool:
    items = value if isinstance(value, list | tuple) else [value]
    return any(keras.ops.is_tensor(item) or isinstance(item, keras.KerasTensor | keras.Variable) for item in items)


@functools.cache
def _copies(module: str) -> dict[str, Any]:
    """Return copies of the functions of Keras' module, which find this package where they look for TensorFlow."""
    names = dict(vars(import_package(module)))
    for name, value in names.items():
        if inspect.isfunction(value) and value.__module__ == module:
            names[name] = with_globals(value, names)
    names["tf"] = tf_module()
    if not installed():
        names.update(cast_to_floatx=_as_floats, variable=_constant)
    return names
