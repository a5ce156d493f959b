"""`__arrow_c_array__` of the columns: lists as large_list, byte strings as binary_view over the record buffers.

Types are those of the tfx-bsl decoder where there is a choice: large_list of int64, float or bytes. A consumer that
asks for large_binary gets it, copied.
"""

from __future__ import annotations

from typing import Any

from . import _core

__all__ = ["export"]


def export(values: Any, offsets: list[Any], requested_schema: Any) -> tuple[Any, Any]:
    """The two capsules for `values` in lists cut at `offsets`, the innermost first."""
    copy = requested_schema is not None and _core._arrow_requested_format(requested_schema) in ("Z", "U")
    return _core._arrow_export(values, offsets, copy)
