"""Comparison of the batches of pipelines, as `contenders/kit/scripted.py` describes them."""

from __future__ import annotations

import math
from typing import Any

ROUNDING = 1e-9  # of sums that are taken in another order


def difference_of_elements(expected: dict[str, Any], got: dict[str, Any]) -> str | None:
    """Describe the first difference between the batches of two contenders, or return None."""
    tolerance = expected["tolerance"]
    first, other = expected["first file"], got["first file"]
    if len(first) != len(other):
        return f"batches of the first file: expected {len(first)}, got {len(other)}"
    for i, (batch, another) in enumerate(zip(first, other, strict=True)):
        if wrong := difference_of_leaves(batch, another, tolerance):
            return f"batch {i}{wrong}"
    wrong = difference_of_leaves(expected["all"], got["all"], tolerance)
    return f"all batches{wrong}" if wrong else None


def difference_of_leaves(expected: dict[str, Any], got: dict[str, Any], tolerance: float) -> str | None:
    if expected.keys() != got.keys():
        return f": expected {', '.join(expected)}, got {', '.join(got)}"
    for path, leaf in expected.items():
        for key, value in leaf.items():
            close = key in ("sums", "weighted")
            if are_close(value, got[path][key], tolerance) if close else value == got[path][key]:
                continue
            return f", {path or 'element'}, {key}: expected {value}, got {got[path][key]}"
    return None


def are_close(expected: list[float], got: list[float], tolerance: float) -> bool:
    """Compare sums, of which the first is of absolute values: the others may cancel out. The sum of squares is on a
    scale of its own."""
    around = max(tolerance, ROUNDING) * abs(expected[0])
    return all(
        math.isclose(value, other, rel_tol=2 * max(tolerance, ROUNDING), abs_tol=around if i < 2 else 0.0)
        for i, (value, other) in enumerate(zip(expected, got, strict=True))
    )
