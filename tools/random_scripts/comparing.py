"""Comparison of what a script does in two packages, and the differences that are known."""

from __future__ import annotations

import math
import re
from typing import NamedTuple

import numpy as np

__all__ = ["ALLOWED", "Difference", "allowed", "difference"]

TOLERANCE = {"float32": 2e-5, "float64": 2e-5}  # float64 may be cast from float32


class Difference(NamedTuple):
    """Where two outcomes differ: "built", "spec", "cardinality", "element", "error" or "count", and a text."""

    what: str
    text: str


def difference(script, ours, theirs):
    """Return the first Difference of two outcomes, or None. `theirs` was built."""
    if not ours["built"]:
        return Difference("built", f"refused here: {ours['text']}")
    mine, others = ours["elements"], theirs["elements"]
    if "shuffle" in script.tags and not script.ordered:
        mine, others = _paired(mine, others)
    for number, (one, other) in enumerate(zip(mine, others, strict=False)):
        text = _unequal(one, other)
        if text:
            is_error = _is_error(one) or _is_error(other)
            return Difference("error" if is_error else "element", f"element {number}: {text}")
    if len(mine) != len(others):
        return Difference("count", f"{len(mine)} elements, expected {len(others)}")
    if isinstance(ours["spec"], str) and not isinstance(theirs["spec"], str):
        return Difference("no spec", ours["spec"])
    text = _unequal_specs(ours["spec"], theirs["spec"])
    if text:
        return Difference("spec", text)
    if ours["cardinality"] != theirs["cardinality"] and -2 not in (ours["cardinality"], theirs["cardinality"]):
        return Difference("cardinality", f"{ours['cardinality']}, expected {theirs['cardinality']}")
    return None


def _paired(mine, others):
    """Return elements in an order in which equal ones are at the same place, as far as there are any."""
    mine, others = sorted(mine, key=_order), sorted(others, key=_order)
    if not any(map(_unequal, mine, others)):
        return mine, others
    left, pairs = list(mine), []  # close floats may be sorted apart
    for other in others:
        match = next((number for number, element in enumerate(left) if not _unequal(element, other)), None)
        if match is not None:
            pairs.append((left.pop(match), other))
    unpaired = [other for other in others if not any(other is partner for _, partner in pairs)]
    return [one for one, _ in pairs] + left, [other for _, other in pairs] + unpaired


def _is_error(element):
    return isinstance(element, tuple) and element[0] == "error"


def _order(element):
    """Return a key by which equal elements come together; floats are rounded."""
    if isinstance(element, dict):
        return str([(key, _order(item)) for key, item in sorted(element.items())])
    if isinstance(element, list):
        return str([_order(item) for item in element])
    if isinstance(element, tuple) and isinstance(element[-1], np.ndarray) and element[-1].dtype.kind == "f":
        return str((*element[:-1], [f"{value:.3g}" for value in element[-1].ravel()], element[-1].shape))
    return str(element)


def _unequal(one, other):
    """Return how two values differ; an empty text if they do not."""
    if _is_error(one) or _is_error(other):
        return "" if one == other else f"{_short(one)}, expected {_short(other)}"
    if type(one) is not type(other):
        return f"{_short(one)}, expected {_short(other)}"
    if isinstance(one, dict):
        if list(one) != list(other):
            return f"keys {list(one)}, expected {list(other)}"
        return next(filter(None, (_unequal(one[key], other[key]) for key in one)), "")
    if isinstance(one, list):
        if len(one) != len(other):
            return f"{len(one)} components, expected {len(other)}"
        return next(filter(None, map(_unequal, one, other)), "")
    if isinstance(one, str):
        return "" if one == other else f"{one}, expected {other}"
    if one[:2] != other[:2]:
        return f"{one[:2]}, expected {other[:2]}"
    if one[0] == "ragged":
        return (
            "" if _lists_equal(one[2], other[2], TOLERANCE.get(one[1])) else f"{_short(one)}, expected {_short(other)}"
        )
    mine, others = one[2], other[2]
    if mine.shape != others.shape:
        return f"shape {mine.shape}, expected {others.shape}"
    tolerance = TOLERANCE.get(one[1])
    if tolerance:
        equal = np.allclose(mine, others, rtol=tolerance, atol=tolerance, equal_nan=True)
    else:
        equal = np.array_equal(mine, others)
    return "" if equal else f"{_short(one)}, expected {_short(other)}"


def _lists_equal(one, other, tolerance):
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(lambda a, b: _lists_equal(a, b, tolerance), one, other))
    if tolerance and isinstance(one, float):
        return math.isclose(one, other, rel_tol=tolerance, abs_tol=tolerance) or (one != one and other != other)
    return one == other


def _short(value):
    return re.sub(r"\s+", " ", f"{value!r}")[:300]


def _unequal_specs(one, other):
    if type(one) is not type(other):
        return f"spec {_short(one)}, expected {_short(other)}"
    if isinstance(one, dict):
        if list(one) != list(other):
            return f"spec with {list(one)}, expected {list(other)}"
        return next(filter(None, (_unequal_specs(one[key], other[key]) for key in one)), "")
    if isinstance(one, list):
        if len(one) != len(other):
            return f"spec {_short(one)}, expected {_short(other)}"
        return next(filter(None, map(_unequal_specs, one, other)), "")
    return "" if one == other else f"spec {one}, expected {other}"


class Allowed(NamedTuple):
    """A known difference: its reason, and a function of script, ours, theirs and Difference that recognises it."""

    reason: str
    fits: object


def _is_learnt(script, ours, theirs, unlike):
    return unlike.what == "spec" and _compatible(ours["spec"], theirs["spec"])


def _compatible(one, other):
    """Return True if two specs differ only in that one knows more lengths."""
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(_compatible(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_compatible, one, other))
    if isinstance(one, tuple) and isinstance(other, tuple) and one[:2] == other[:2]:
        return len(one[2]) == len(other[2]) and all(
            a == b or None in (a, b) for a, b in zip(one[2], other[2], strict=True)
        )
    return False


def _errors_are_counted(script, ours, theirs, unlike):
    """Return True if both agree up to the first error, in a script in which TensorFlow counts errors as elements."""
    if not any(step in script.text for step in (".skip(", ".shard(")):
        return False
    return _are_alike_before_errors(script, ours, theirs, unlike)


def _identity_is_left_out(script, ours, theirs, unlike):
    """Return True if both agree up to the first error, in a script that batches after a function that does nothing."""
    functions = [r"lambda ([\w, ]+): \(\1\)"]
    functions += re.findall(r"def (\w+)\(([\w, ]+)\):\n    return \2\n", script.text)
    names = "|".join(function if isinstance(function, str) else function[0] for function in functions)
    if not re.search(rf"map\((?:{names}).*\ndataset = dataset\.batch", script.text):
        return False
    return _are_alike_before_errors(script, ours, theirs, unlike)


def _are_alike_before_errors(script, ours, theirs, unlike):
    if unlike.what not in ("element", "error", "count"):
        return False
    mine, others = ours["elements"], theirs["elements"]
    first = next(
        (number for number, pair in enumerate(zip(mine, others, strict=False)) if any(map(_is_error, pair))), None
    )
    if first is None:
        return "ignore_errors" in script.text or ("shuffle" in script.tags and any(map(_is_error, mine)))
    return not any(map(_unequal, mine[:first], others[:first]))


def _last_batch_is_dropped(script, ours, theirs, unlike):
    return (
        "drop_remainder=True" in script.text
        and unlike.what == "count"
        and len(theirs["elements"]) == len(ours["elements"]) + 1
        and _is_error(theirs["elements"][-1])
        and "Cannot add tensor to the batch" in theirs["messages"][-1]
    )


ALLOWED = [
    Allowed("skip and shard count errors in TensorFlow", _errors_are_counted),
    Allowed("TensorFlow leaves out a function that returns its argument, before batch", _identity_is_left_out),
    Allowed("element_spec is learnt from elements, so other lengths may be known", _is_learnt),
    Allowed(
        "element_spec is an error if the function fails for the first element, or there is none",
        lambda script, ours, theirs, unlike: unlike.what == "no spec" and "InvalidArgument" in ours["spec"],
    ),
    Allowed(
        "TensorFlow can't show an error whose text is not UTF-8",
        lambda script, ours, theirs, unlike: unlike.text.endswith(
            "('error', 'InvalidArgumentError'), expected ('error', 'UnicodeDecodeError')"
        ),
    ),
    Allowed(
        "map_fn over no slices: TensorFlow's tracing knows the shape of a result",
        lambda script, ours, theirs, unlike: (
            "map_fn" in script.text and re.search(r"shape \(.*\b0.*\), expected \(.*\b0.*\)", unlike.text) is not None
        ),
    ),
    Allowed(
        "boolean_mask takes a mask of another length if TensorFlow's tracing does not know the lengths",
        lambda script, ours, theirs, unlike: (
            "boolean_mask" in script.text and any("are incompatible" in message for message in ours["messages"])
        ),
    ),
    Allowed(
        "TensorFlow does not sort numbers around NaN",
        lambda script, ours, theirs, unlike: "sort(" in script.text and "nan" in unlike.text,
    ),
    Allowed("TensorFlow checks the last batch, which is dropped", _last_batch_is_dropped),
]


def allowed(script, ours, theirs, unlike):
    """Return the reason of a known difference, or None."""
    return next((known.reason for known in ALLOWED if known.fits(script, ours, theirs, unlike)), None)
