"""Values of records in strict JSON, without loss.

Bytes that are not UTF-8 are {"base64": "…"}; NaN and infinities are {"f": "NaN"}, "Infinity" or "-Infinity".
"""

from __future__ import annotations

import base64
import math
from typing import Any

from ...examples.messages.wire import Value

NANS = ("mark", "null", "string")  # forms of NaN and infinities


def marked_float(value: float, nan: str = "mark") -> Any:
    """Return a float for JSON; `nan`, one of NANS, selects the form of NaN and infinities."""
    if math.isfinite(value):
        return value
    if nan == "null":
        return None
    name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return name if nan == "string" else {"f": name}


def marked_bytes(value: bytes) -> Any:
    """Return bytes as text, or as base64 if they are not UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def marked(value: Any) -> Any:
    """Convert a tree of `decode` for JSON; a feature becomes a list, or null if it has no kind."""
    if isinstance(value, Value):
        return None if value.kind == "none" else [marked(item) for item in value.values]
    if isinstance(value, dict):
        return {key: marked(item) for key, item in value.items()}
    if isinstance(value, list):
        return [marked(item) for item in value]
    if isinstance(value, float):
        return marked_float(value)
    return marked_bytes(value) if isinstance(value, bytes) else value
