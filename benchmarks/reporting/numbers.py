"""Numbers as text."""

from __future__ import annotations


def number(value: float) -> str:
    """Three significant digits, thousands separated."""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
    return f"{value:,.{digits}f}"
