"""Columns to Arrow without pyarrow: lists as large_list, byte strings as binary_view over the record buffers.

Where there is a choice, types are those of the tfx-bsl decoder: large_list of int64, float or bytes. A consumer may
request large_binary, which is a copy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeVar, get_args

import numpy as np
import numpy.typing as npt

from ... import _core
from ...errors import InvalidArgumentError
from .conversion import unmasked

Strings = Literal["plain", "view"]  # copies with offsets, or views into the buffers of the records
TableStrings = Literal["plain", "view", "text"]

Capsules = tuple[object, object]  # of an ArrowSchema and an ArrowArray
_Key = TypeVar("_Key")


def export(
    values: npt.NDArray[Any] | _core.BytesArrayBase, offsets: list[npt.NDArray[Any]], requested_schema: object | None
) -> Capsules:
    """Return the two capsules for `values` in lists with these `offsets`, the innermost first."""
    if isinstance(values, np.ndarray):
        values = _native(values)
    count = len(values)
    for splits in offsets:
        if len(splits) and (splits[0] < 0 or splits[-1] > count or (splits[1:] < splits[:-1]).any()):
            raise InvalidArgumentError(
                f"Arrow lists need row splits that ascend and do not reach past the {count} values"
            )
        count = max(len(splits) - 1, 0)
    requested = "" if requested_schema is None else _core.arrow_requested_format(requested_schema)
    strings = "Z" if requested in ("Z", "U") else "z" if requested in ("z", "u") else "vz"
    return _core.arrow_export(values, offsets, strings=strings)


def _native(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    values = unmasked(values, "a column")
    if values.dtype.kind not in "biufO":
        raise TypeError(f"Arrow has no type for {values.dtype}")
    return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


class _ArrayColumn:
    """An array of several dimensions, whose rows are lists of fixed size in Arrow."""

    def __init__(self, values: npt.NDArray[Any]) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __arrow_c_array__(self, requested_schema: object | None = None) -> Capsules:
        return export(self._values, [], requested_schema)


class _StringColumn:
    """A column of strings, nested or not, that exports copies unless the consumer requests views."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    def __arrow_c_array__(self, requested_schema: object | None = None) -> Capsules:
        if requested_schema is None:
            empty: _core.BytesArrayBase = _core.bytes_from_list([], [0])
            requested_schema = _core.arrow_export(empty, [], strings="Z")[0]
        capsules: Capsules = self._column.__arrow_c_array__(requested_schema)
        return capsules


def arrow_columns(columns: Mapping[_Key, Any], *, strings: Strings = "plain") -> dict[_Key, Any]:
    """Prepare columns for `pyarrow.table`, pandas (through it), polars and DuckDB.

    Args:
      columns: the columns from `parse_example`, `parse_sequence_example` or a ShardReader.
      strings: "plain" for large_binary, which is a copy; "view" for binary_view, which shares the record buffers.
        pandas and Spark do not support views inside lists.

    Returns:
      The same columns. Arrays of two or more dimensions, and plain strings, are wrapped in objects with
      `__arrow_c_array__`. Such arrays become lists of fixed size, without a copy.

    Raises:
      errors.InvalidArgumentError: `strings` is neither "plain" nor "view".

    >>> import numpy as np, tfrecord_fast as tf
    >>> columns = tf.io.arrow_columns({"box": np.zeros((3, 4), np.float32), "id": np.arange(3)})
    >>> hasattr(columns["box"], "__arrow_c_array__"), columns["id"]
    (True, array([0, 1, 2]))
    """
    if strings not in get_args(Strings):
        raise InvalidArgumentError(f'strings must be "plain" or "view", got {strings!r}')
    return {key: _exporting(value, strings) for key, value in columns.items()}


def _exporting(column: Any, strings: Strings) -> Any:
    if isinstance(column, np.ndarray):
        return _ArrayColumn(column) if column.ndim > 1 else column
    is_text = hasattr(column, "__arrow_c_array__") and getattr(column, "dtype", None) == np.dtype(object)
    return _StringColumn(column) if is_text and strings == "plain" else column
