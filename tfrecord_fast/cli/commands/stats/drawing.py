"""Histograms as SVG: bars for one set, and an outline for a second."""

from __future__ import annotations

import math
from html import escape

import numpy as np

from .figures import Bars, Numbers, edges_of
from .texts import count, number, percent

_WIDTH, _HEIGHT = 320.0, 84.0


def histogram(what: str, first: Numbers, second: Numbers | None = None) -> str:
    """Draw the values of one set as bars and those of another as an outline, both as shares of their set.

    Returns "" without finite values.
    """
    bars = edges_of([first] if second is None else [first, second])
    if bars is None:
        return ""
    counts = bars.counts(first)
    total = max(1.0, float(first.weights.sum()))
    others = None if second is None else bars.counts(second) / max(1.0, float(second.weights.sum()))
    shares = counts / total
    most = max(float(shares.max()), 0.0 if others is None else float(others.max()))
    width = _WIDTH / len(shares)
    gap = min(1.5, width / 8)
    drawn = []
    for i, share in enumerate(shares):
        height = round(float(share) / most * _HEIGHT, 1)
        if share and height < 1:
            height = 1.0  # visible
        title = f"{_range(bars, i)}: {percent(float(counts[i]), total)}"
        if first.figures.exact:
            title += f", {count(counts[i])}"
        if others is not None:
            title += f"; second set {percent(float(others[i]), 1.0)}"
        extent = f'x="{i * width + gap / 2:.1f}" width="{max(0.5, width - gap):.1f}"'
        drawn.append(
            f'<g><title>{escape(title)}</title><rect class="hit" {extent} y="0" height="{_HEIGHT:.0f}"/>'
            f'<rect class="a" {extent} y="{_HEIGHT - height:.1f}" height="{height:.1f}"/></g>'
        )
    outline = "" if others is None else _outline(others / most, width)
    label = escape(f"Histogram of {what}: {_in_words(bars, shares)}", quote=True)
    left, right = _ends(bars)
    middle = "log scale" if bars.is_log else ""
    return (
        f'<svg class="plot" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" preserveAspectRatio="none" role="img" '
        f'aria-label="{label}">{"".join(drawn)}{outline}'
        f'<line class="base" x1="0" x2="{_WIDTH:.0f}" y1="{_HEIGHT:.0f}" y2="{_HEIGHT:.0f}"/></svg>'
        f'<div class="axis" aria-hidden="true"><span>{left}</span><span>{middle}</span><span>{right}</span></div>'
    )


def _outline(heights: np.ndarray[tuple[int], np.dtype[np.float64]], width: float) -> str:
    points = [f"M0 {_HEIGHT:.0f}"]
    for i, height in enumerate(heights):
        points.append(f"V{_HEIGHT * (1 - float(height)):.1f}H{(i + 1) * width:.1f}")
    return f'<path class="b" d="{"".join(points)}V{_HEIGHT:.0f}"/>'


def _range(bars: Bars, i: int) -> str:
    low, high = float(bars.edges[i]), float(bars.edges[i + 1])
    if bars.single:
        return number(round((low + high) / 2))
    if bars.whole:
        return f"{number(math.ceil(low))} to {number(math.floor(high))}"
    return f"{number(low)} to {number(high)}"


def _ends(bars: Bars) -> tuple[str, str]:
    low, high = float(bars.edges[0]), float(bars.edges[-1])
    if bars.whole:
        return number(round(low + 0.5)), number(min(round(high - 0.5), bars.most))
    return number(low), number(high)


def _in_words(bars: Bars, shares: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    left, right = _ends(bars)
    top = int(shares.argmax())
    return (
        f"values from {left} to {right}, the highest bar is {_range(bars, top)} with {percent(float(shares[top]), 1.0)}"
    )
