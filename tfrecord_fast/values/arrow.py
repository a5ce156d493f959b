"""`__arrow_c_array__` of the columns: lists as large_list, byte strings as binary_view over the record buffers.

Types are those of the tfx-bsl decoder where there is a choice: large_list of int64, float or bytes. A consumer that
asks for large_binary gets it, copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from .. import _core
from ..errors import InvalidArgumentError

__all__ = ["Capsules", "arrow_columns", "export"]

Capsules = tuple[object, object]  # of an ArrowSchema and an ArrowArray
_Key = TypeVar("_Key")


def export(
    values: npt.NDArray[Any] | _core.BytesArrayBase, offsets: list[npt.NDArray[Any]], requested_schema: object | None
) -> Capsules:
    """The two capsules for `values` in lists cut at `offsets`, the innermost first.

    Raises:
      errors.InvalidArgumentError: offsets that descend, or reach past the values.
    """
    count = len(values)
    for splits in offsets:
        if len(splits) and (splits[0] < 0 or splits[-1] > count or (splits[1:] < splits[:-1]).any()):
            raise InvalidArgumentError(
                f"row splits that descend or reach past the {count} values: Arrow has no such lists"
            )
        count = max(len(splits) - 1, 0)
    copy = requested_schema is not None and _core.arrow_requested_format(requested_schema) in ("Z", "U")
    return _core.arrow_export(values, offsets, copy_strings=copy)


class _ArrayColumn:
    """An array of several dimensions, with rows that Arrow sees as lists of fixed size."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __arrow_c_array__(self, requested_schema: object | None = None) -> Capsules:
        return export(self._values, [], requested_schema)


def arrow_columns(columns: Mapping[_Key, Any]) -> dict[_Key, Any]:
    """Columns as `pyarrow.table`, polars and DuckDB take them.

    Args:
      columns: what `parse_example`, `parse_sequence_example` or a ShardReader gave.

    Returns:
      The same columns, except that arrays of two or more dimensions, which NumPy does not hand to Arrow, are wrapped
      in objects that do (`__arrow_c_array__`), as lists of fixed size and without a copy.

    >>> import numpy as np, tfrecord_fast as tf
    >>> columns = tf.io.arrow_columns({"box": np.zeros((3, 4), np.float32), "id": np.arange(3)})
    >>> hasattr(columns["box"], "__arrow_c_array__"), columns["id"]
    (True, array([0, 1, 2]))
    """
    return {
        key: _ArrayColumn(value) if isinstance(value, np.ndarray) and value.ndim > 1 else value
        for key, value in columns.items()
    }
