"""The weights of old pixels for each new one, when an image is resized."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_TABLE = 1024  # TensorFlow rounds positions to 1/1024 of a pixel for cubic kernels


def resize_weights(method: str, length: int, new: int, antialias: bool) -> Any:
    """Return weights `[new, length]`, float32, with half-pixel centres."""
    scale = length / new
    if method == "area":
        return corner_weights(method, length, new, scale)
    if method == "bicubic" and not antialias:
        centres = (np.arange(new, dtype=np.float32) + np.float32(0.5)) * np.float32(scale) - np.float32(0.5)
        weights = _cubic(centres, length, -0.5, is_bounded=False)
        return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)
    radius, kernel = _KERNELS[method]
    # In float32, like TensorFlow: a pixel at the radius is inside or not.
    step = np.float32(1) / (np.float32(new) / np.float32(length))
    wide = max(step, np.float32(1)) if antialias else np.float32(1)
    centres = (np.arange(new, dtype=np.float32) + np.float32(0.5)) * step
    distances = (np.arange(length, dtype=np.float32) + np.float32(0.5) - centres[:, None]) * (np.float32(1) / wide)
    weights = np.where(np.abs(distances) < radius, kernel(np.abs(distances)), 0)
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float32)


def corner_weights(method: str, length: int, new: int, step: float) -> Any:
    """Return weights `[new, length]`, float32, of TensorFlow 1's "area" and "bicubic"; a new pixel is `step` wide."""
    if method == "bicubic":
        return _cubic(np.arange(new, dtype=np.float32) * np.float32(step), length, -0.75, is_bounded=True)
    if length == 1:
        return np.ones((new, 1), np.float32)
    starts = (np.arange(new, dtype=np.float32) * np.float32(step))[:, None]
    ends = (np.arange(1, new + 1, dtype=np.float32) * np.float32(step))[:, None]
    left = np.arange(length)
    right = np.where(left == length - 1, np.inf, left + 1)  # the last pixel is repeated
    return (np.clip(np.minimum(ends, right) - np.maximum(starts, left), 0, None) / np.float32(step)).astype(np.float32)


def _cubic(positions: Any, length: int, slope: float, is_bounded: bool) -> Any:
    """Return the weights of four pixels around each position; beyond the border are repeated pixels, or none."""
    first = np.floor(positions).astype(np.int64)
    shares = np.rint((positions - first) * _TABLE) / _TABLE
    weights = np.zeros((len(positions), length))
    rows = np.arange(len(positions))
    for offset in (-1, 0, 1, 2):
        pixels = first + offset
        values = _cubic_kernel(np.abs(shares - offset), slope)
        inside = (pixels >= 0) & (pixels < length)
        np.add.at(
            weights, (rows, np.clip(pixels, 0, length - 1)), values if is_bounded else np.where(inside, values, 0)
        )
    return weights.astype(np.float32)


def _cubic_kernel(x: Any, slope: float) -> Any:
    near = ((slope + 2) * x - (slope + 3)) * x * x + 1
    far = ((slope * x - 5 * slope) * x + 8 * slope) * x - 4 * slope
    return np.where(x <= 1, near, np.where(x < 2, far, 0))


def _triangle(x: Any) -> Any:
    return np.maximum(0, 1 - x)


def _gaussian(x: Any) -> Any:
    return np.exp(-x * x / (2 * 0.5 * 0.5))


def _mitchell_cubic(x: Any) -> Any:
    near = (7 / 6 * x - 2) * x * x + 8 / 9
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _lanczos(radius: int) -> tuple[int, Callable[[Any], Any]]:
    return radius, lambda x: np.sinc(x) * np.sinc(x / radius)


# The radius of each kernel, and its value at a distance.
_KERNELS: dict[str, tuple[float, Callable[[Any], Any]]] = {
    "bicubic": (2, lambda x: _cubic_kernel(x, -0.5)),
    "bilinear": (1, _triangle),
    "gaussian": (1.5, _gaussian),
    "lanczos3": _lanczos(3),
    "lanczos5": _lanczos(5),
    "mitchellcubic": (2, _mitchell_cubic),
}
