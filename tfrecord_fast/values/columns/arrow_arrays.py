"""Columns to pyarrow arrays of given types, for tables. arrow.py exports columns without pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
import numpy.typing as npt

from ... import _core
from ...base.optional import optional
from ...dtypes import DType
from ...errors import InvalidArgumentError
from .arrow import Capsules, TableStrings
from .bytes_array import BytesArray
from .ragged import RaggedTensor
from .sparse import SparseTensor

_FORMATS = {"plain": "z", "view": "vz", "text": "z"}
_MOST = np.iinfo(np.int32).max  # values that one array of lists holds


class ArrowArrays:
    """Maker of Arrow types and arrays.

    Args:
      strings: "plain" for Arrow's binary, which is a copy; "view" for binary_view, whose arrays share the buffers of
        the records; "text" for Arrow's string, which must be UTF-8.
    """

    def __init__(self, strings: TableStrings = "plain") -> None:
        if strings not in get_args(TableStrings):
            raise InvalidArgumentError(f'strings must be "plain", "view" or "text", got {strings!r}')
        self.strings = strings
        self._pa = optional("pyarrow", "Arrow tables need pyarrow")

    def __reduce__(self) -> tuple[type[ArrowArrays], tuple[TableStrings]]:
        return ArrowArrays, (self.strings,)

    # ---- Types ----

    def type_of(self, dtype: DType) -> Any:
        """Return the type of one value. Arrow has no bfloat16; its values become float32 without loss."""
        if dtype.name == "string":
            makers = {"plain": self._pa.binary, "view": self._pa.binary_view, "text": self._pa.string}
            return makers[self.strings]()
        return self._pa.float32() if dtype.name == "bfloat16" else self._pa.from_numpy_dtype(dtype.as_numpy_dtype)

    def fixed(self, type: Any, shape: Sequence[int]) -> Any:
        """Return the type of a dense array: nested lists of fixed size; the type itself for the shape []."""
        for length in reversed(shape):
            type = self._pa.list_(type, length)
        return type

    def list(self, type: Any) -> Any:
        return self._pa.list_(type)

    def entries(self, type: Any, dimensions: int) -> Any:
        """Return the type of a row of a SparseTensor: a list of {index, value}; several indices are a list."""
        index = self._pa.int64() if dimensions == 1 else self._pa.list_(self._pa.int64(), dimensions)
        return self._pa.list_(self._pa.struct([("index", index), ("value", type)]))

    def schema(self, fields: Sequence[tuple[str, Any]]) -> Any:
        return self._pa.schema(fields)

    # ---- Arrays ----

    def record_batch(self, arrays: Sequence[Any], schema: Any) -> Any:
        return self._pa.RecordBatch.from_arrays(arrays, schema=schema)

    def array(self, type: Any, column: Any, present: npt.NDArray[np.uint8] | None = None) -> Any:
        """Convert a parsed column to an array.

        Args:
          type: the type for such a column, from the methods above.
          column: an ndarray or BytesArray `[n, …]`, a RaggedTensor, or a SparseTensor with row splits.
          present: uint8 `[n]`, 0 for null rows.
        """
        valid = self._bits(present)
        if isinstance(column, RaggedTensor):
            return self._lists(type, column.row_splits, self.array(type.value_type, column.values), valid)
        if isinstance(column, SparseTensor):
            return self._sparse(type, column, valid)
        if column.ndim > 1:
            rows, length, *inner = column.shape
            child = self.array(type.value_type, column.reshape(rows * length, *inner))
            return self._pa.Array.from_buffers(type, len(column), [valid], children=[child])
        if isinstance(column, BytesArray):
            array = self._pa.array(_Exported(column, _FORMATS[self.strings]))
            if self.strings == "text":
                array = self._text(array)
            if valid is None:
                return array
            return self._pa.Array.from_buffers(type, len(array), [valid, *array.buffers()[1:]])
        return self._pa.Array.from_buffers(type, len(column), [valid, self._numbers(type, column)])

    def _text(self, array: Any) -> Any:
        try:
            return array.cast(self._pa.string())
        except self._pa.ArrowInvalid:
            raise InvalidArgumentError('not all values are UTF-8 text; strings="plain" reads them as bytes') from None

    def _sparse(self, type: Any, column: SparseTensor, valid: Any) -> Any:
        item = type.value_type
        if self._pa.types.is_struct(item):
            index, value = (
                self.array(field.type, values) for field, values in zip(item, _entries(column), strict=True)
            )
            child = self._pa.StructArray.from_arrays([index, value], fields=list(item))
        elif column.row_steps is not None:
            child = self._lists(item, column.row_splits, self.array(item.value_type, column.values), None)
            return self._lists(type, column.row_steps, child, valid)
        else:
            child = self.array(item, column.values)
        return self._lists(type, column.row_splits, child, valid)

    def _lists(self, type: Any, splits: npt.NDArray[Any], child: Any, valid: Any) -> Any:
        if splits[-1] > _MOST:
            raise InvalidArgumentError(
                f"a column has {splits[-1]} values, more than the {_MOST} of one Arrow array of lists; "
                "use a smaller batch_size"
            )
        offsets = self._pa.py_buffer(splits.astype(np.int32, copy=False))
        return self._pa.Array.from_buffers(type, len(splits) - 1, [valid, offsets], children=[child])

    def _numbers(self, type: Any, values: npt.NDArray[Any]) -> Any:
        if values.dtype == np.bool_:
            return self._pa.py_buffer(np.packbits(values, bitorder="little"))
        widened = type.to_pandas_dtype() if values.dtype.kind == "V" else None  # bfloat16
        return self._pa.py_buffer(np.ascontiguousarray(values, widened))

    def _bits(self, present: npt.NDArray[np.uint8] | None) -> Any:
        if present is None or np.count_nonzero(present) == len(present):
            return None
        return self._pa.py_buffer(np.packbits(present, bitorder="little"))


def _entries(column: SparseTensor) -> tuple[npt.NDArray[np.int64], Any]:
    indices = column.indices[:, 1:]
    return np.ascontiguousarray(indices[:, 0] if indices.shape[1] == 1 else indices), column.values


class _Exported:
    def __init__(self, strings: BytesArray, format: str) -> None:
        self._strings = strings
        self._format = format

    def __arrow_c_array__(self, requested_schema: object | None = None) -> Capsules:
        return _core.arrow_export(self._strings, [], strings=self._format)
