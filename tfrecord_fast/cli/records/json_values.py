"""Values of records in strict JSON: what JSON has no form for is marked, so that it comes back as it was.

Bytes that are not UTF-8 are {"base64": "…"}; floats that are no numbers {"f": "NaN"}, "Infinity" or "-Infinity".
"""

from __future__ import annotations

import base64
import math
from typing import Any

from ...examples.messages.wire import Value

__all__ = ["NANS", "marked", "marked_bytes", "marked_float"]

NANS = ("mark", "null", "string")  # what becomes of floats that are no numbers


def marked_float(value: float, nan: str = "mark") -> Any:
    """The number, or what stands for it if it is none; `nan` is one of NANS."""
    if math.isfinite(value):
        return value
    if nan == "null":
        return None
    name = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return name if nan == "string" else {"f": name}


def marked_bytes(value: bytes) -> Any:
    """Text, or base64 if the bytes are not UTF-8."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def marked(value: Any) -> Any:
    """A tree of records.decode, with all values as JSON has them; a feature is a list, or null if it has no kind."""
    if isinstance(value, Value):
        return None if value.kind == "none" else [marked(one) for one in value.values]
    if isinstance(value, dict):
        return {key: marked(one) for key, one in value.items()}
    if isinstance(value, list):
        return [marked(one) for one in value]
    if isinstance(value, float):
        return marked_float(value)
    return marked_bytes(value) if isinstance(value, bytes) else value
