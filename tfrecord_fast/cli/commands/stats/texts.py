"""Figures as readable text: numbers with significant digits, percentages, sizes, values."""

from __future__ import annotations

import math

from ....images.headers import image_of
from ...records.showing import escaped
from .figures import Frequent, Numbers

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def count(value: float) -> str:
    """Format a count.

    >>> count(1234567)
    '1,234,567'
    """
    return f"{round(value):,}"


def about(value: float, exact: bool, most: int) -> str:
    """Format an exact count, or an estimate with three significant digits, of at most `most`.

    >>> about(193765.2, False, 200_000), about(30047.1, False, 30_047), about(512.0, True, 600)
    ('≈ 194,000', '≈ 30,000', '512')
    """
    if exact or value < 100:
        return count(value)
    digits = math.floor(math.log10(value)) - 2
    return f"≈ {min(round(round(value / 10**digits) * 10**digits), most):,}"


def number(value: float | int | None, digits: int = 4) -> str:
    """Format a number with `digits` significant digits.

    >>> number(3), number(0.123456), number(None), number(2**63 - 1), number(123456.789)
    ('3', '0.1235', '-', '9,223,372,036,854,775,807', '123,457')
    """
    if value is None:
        return "-"
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "-∞"}.get(value, "NaN")
    if 1000 <= abs(value) < 1e12 and (abs(value) >= 10 ** (digits - 1) or value == int(value)):
        return f"{value:,.0f}"
    if abs(value) < 1e12:
        return f"{value:.{digits if abs(value) >= 1e-4 else digits - 1}g}"
    return f"{value:.{digits - 1}e}"


def percent(amount: float, whole: float) -> str:
    """Format a share of the whole.

    >>> percent(1, 3), percent(0, 3), percent(1, 100000), percent(996, 1000), percent(99999, 100000), percent(3, 3)
    ('33 %', '0 %', '< 0.1 %', '99.6 %', '> 99.9 %', '100 %')
    """
    if not whole or not amount:
        return "0 %"
    share = 100 * amount / whole
    if share < 0.1:
        return "< 0.1 %"
    if 99.9 < share < 100:
        return "> 99.9 %"
    return f"{share:.1f} %" if share < 10 or 99 < share < 100 else f"{share:.0f} %"


def bytes_of(size: float | None) -> str:
    """Format a size in bytes.

    >>> bytes_of(613), bytes_of(122_600_000)
    ('613 B', '123 MB')
    """
    if size is None:
        return "-"
    unit = 0
    while size >= 999.5 and unit < len(_UNITS) - 1:
        size /= 1000
        unit += 1
    return f"{size:.0f} {_UNITS[unit]}" if unit == 0 or size >= 99.5 else f"{size:.3g} {_UNITS[unit]}"


def shown_bytes(start: bytes, size: int | None = None, most: int = 40) -> str:
    """Format bytes as quoted text or in hexadecimal; long values are truncated, and their size is added.

    >>> shown_bytes(b"train"), shown_bytes(bytes([255, 0]), 9)
    ('"train"', 'ff 00… (9 bytes)')
    """
    whole = len(start) if size is None else size
    image = image_of(start)
    if image is not None:
        return f"{image[0]} image {image[1]}×{image[2]}, {bytes_of(whole)}"
    try:
        text = start.decode()
    except UnicodeDecodeError as error:
        # The last character may be truncated.
        is_cut = whole > len(start) and error.start > len(start) - 4 and error.reason == "unexpected end of data"
        text = start[: error.start].decode() if is_cut else ""
        if not text:
            more = "…" if whole > 12 or whole > len(start) else ""
            return f"{start[:12].hex(' ')}{more} ({whole:,} bytes)"
    shown = text[:most]
    quoted = escaped(shown)
    is_all = len(shown) == len(text) and whole == len(start)
    return quoted if is_all else f"{quoted}… ({whole:,} bytes)"


def value_of(value: Frequent, most: int = 40) -> str:
    if isinstance(value.value, bytes):
        return shown_bytes(value.value, value.size, most)
    return number(value.value, 6)


def middle_of(numbers: Numbers) -> str:
    return number(numbers.quantile(0.5))
