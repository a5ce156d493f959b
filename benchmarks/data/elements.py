"""Comparison of the batches of pipelines, as `contenders/kit/scripted.py` describes them, and of images, as `photos.py`
describes them."""

from __future__ import annotations

import base64
import math
from typing import Any

ROUNDING = 1e-9  # of sums that are taken in another order
# Largest and mean difference of pixels, in levels: TensorFlow and Pillow round differently while decoding.
LEVELS, MEAN_LEVELS = 25, 2.0
CROPS, FEW_CROPS = 3.0, 60.0  # levels by which the mean of random crops may differ: of many, and more of few


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


def difference_of_images(expected: dict[str, Any], got: dict[str, Any]) -> str | None:
    """Describe the first difference between the images of two contenders, or return None."""
    wanted, images = expected["of"], got["of"]
    if wanted.keys() != images.keys():
        return f"labels: {len(wanted.keys() ^ images.keys())} of {len(wanted)} images are missing or have other labels"
    for label, (shape, levels) in wanted.items():
        if shape != images[label][0]:
            return f"image {label}: expected the shape {shape}, got {images[label][0]}"
        if wrong := difference_of_levels(levels, images[label][1]):
            return f"image {label}: {wrong}"
    around = CROPS + FEW_CROPS / math.sqrt(len(wanted)) if wanted else 0.0
    for key in ("mean", "deviation"):
        if abs(expected.get(key, 0.0) - got.get(key, 0.0)) > around:
            return f"{key} of the levels: expected {expected[key]:.1f}, got {got[key]:.1f}"
    return None


def difference_of_levels(expected: str, got: str) -> str | None:
    """Describe the difference between levels of some pixels, or return None."""
    apart = [abs(a - b) for a, b in zip(base64.b64decode(expected), base64.b64decode(got), strict=True)]
    if apart and (max(apart) > LEVELS or sum(apart) > MEAN_LEVELS * len(apart)):
        return f"up to {max(apart)} levels apart, {sum(apart) / len(apart):.2f} on average"
    return None
