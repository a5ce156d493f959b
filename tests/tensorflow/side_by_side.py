"""Expressions and functions evaluated with this package and with TensorFlow."""

import types

import numpy as np

import tfrecord_fast.tensorflow as tf_compat
from tests.support import live_tensorflow

__all__ = ["differences", "listed", "of_both", "outcomes", "same"]


def outcomes(expressions, setup=""):
    """Return (type, dtype, shape, values) for each expression, or the class of its error."""

    def described(value):
        if type(value).__name__ == "TensorShape":
            return str(value)
        if isinstance(value, (list, tuple)):
            return [described(item) for item in value]
        if isinstance(value, dict):
            return {key: described(item) for key, item in sorted(value.items())}
        if hasattr(value, "dense_shape"):
            return ["sparse", described(value.indices), described(value.values), described(value.dense_shape)]
        if hasattr(value, "row_splits") and hasattr(value, "to_list"):
            return ["ragged", value.dtype.name, str(value.shape), value.to_list()]
        if hasattr(value, "numpy"):
            array = np.asarray(value.numpy())
            return ["tensor", value.dtype.name, str(value.shape), array.tolist()]
        if isinstance(value, np.ndarray):
            return ["array", str(np.asarray(value).dtype), np.asarray(value).tolist()]
        return value if isinstance(value, (int, float, bool, bytes, str, type(None))) else str(value)

    space = {"tf": tf, "np": np}  # noqa: F821
    exec(setup, space)
    results = []
    for expression in expressions:
        try:
            results.append(described(eval(expression, space)))
        except Exception as error:
            results.append(["error", type(error).__name__])
    return results


def of_both(function, *arguments, package=tf_compat):
    """Return what a function returns with `tf` being a package, and with TensorFlow."""
    names = {"tf": package, "np": np, "__builtins__": __builtins__}
    mine = types.FunctionType(function.__code__, names, function.__name__)
    mine.__defaults__ = function.__defaults__
    return mine(*arguments), live_tensorflow.call(function, *arguments)


_ALIKE = {  # equivalent classes of errors: some of ours are Python's own
    "InvalidArgumentError": "wrong",
    "ValueError": "wrong",
    "TypeError": "wrong",
    "UnimplementedError": "wrong",
    "IndexError": "wrong",
    "AttributeError": "wrong",
    "NotFoundError": "wrong",
    "AxisError": "wrong",
    "OverflowError": "wrong",
    "FailedPreconditionError": "wrong",
}


def same(ours, theirs, tolerance):
    """Return True if two outcomes are alike."""
    if isinstance(theirs, list) and theirs[:1] == ["error"]:
        return isinstance(ours, list) and ours[:1] == ["error"] and _class(ours) == _class(theirs)
    if isinstance(ours, list) and isinstance(theirs, list):
        return len(ours) == len(theirs) and all(same(*pair, tolerance) for pair in zip(ours, theirs, strict=True))
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[key], theirs[key], tolerance) for key in ours)
    if isinstance(ours, float) and isinstance(theirs, float):
        return bool(np.isclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True))
    return type(ours) is type(theirs) and ours == theirs


def _class(outcome):
    return _ALIKE.get(outcome[1], outcome[1])


def differences(expressions, setup="", tolerance=1e-5):
    """Return the expressions whose outcomes differ, with both outcomes."""
    ours, theirs = of_both(outcomes, expressions, setup)
    for expression, other in zip(expressions, theirs, strict=True):
        # An expression with a typo would fail alike in both.
        failed = isinstance(other, list) and other[:1] == ["error"]
        assert not failed or other[1] not in ("SyntaxError", "NameError"), f"{expression}: {other[1]}"
    return [
        f"{expression}\n  ours   {mine!r:.300}\n  theirs {other!r:.300}"
        for expression, mine, other in zip(expressions, ours, theirs, strict=True)
        if not same(mine, other, tolerance)
    ]


def listed(text):
    """Split a text into expressions, which are separated by "; " or line breaks."""
    return [expression.strip() for line in text.split("\n") for expression in line.split("; ") if expression.strip()]
