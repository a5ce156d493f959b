"""`tf.lookup`: tables from strings or integers to values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import FailedPreconditionError, InvalidArgumentError
from .fallback import tf_module
from .modules import module_lazy_names
from .ops import arrays, strings
from .ops.arguments import as_array, tensor
from .ops.rows import over_flat_values
from .tensors.sparse_tensor import SparseTensor
from .tensors.tensor_dtypes import array_dtype, as_dtype
from .tensors.wrapping import unwrap

__all__ = [
    "KeyValueTensorInitializer", "StaticHashTable", "TextFileIndex", "TextFileInitializer",
]  # fmt: skip


class TextFileIndex:
    """The parts of a line that TextFileInitializer takes instead of a column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class KeyValueTensorInitializer:
    """Keys and values as tensors, arrays or lists."""

    def __init__(
        self, keys: Any, values: Any, key_dtype: Any = None, value_dtype: Any = None, name: str | None = None
    ) -> None:
        self.keys, self.values = (
            as_array(arrays.constant(keys, key_dtype)),
            as_array(arrays.constant(values, value_dtype)),
        )
        if self.keys.shape != self.values.shape:
            raise ValueError(f"keys of shape {self.keys.shape} and values of shape {self.values.shape} do not fit")
        self.key_dtype, self.value_dtype = array_dtype(self.keys), array_dtype(self.values)


class TextFileInitializer:
    """Keys and values from the lines of a text file.

    Args:
      key_index, value_index: the number of a column, or a constant of TextFileIndex.
      vocab_size: the number of lines, for a check.
      value_index_offset: added to the numbers of lines that are values.
    """

    def __init__(
        self,
        filename: Any,
        key_dtype: Any,
        key_index: int,
        value_dtype: Any,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
        value_index_offset: int = 0,
    ) -> None:
        path = unwrap(filename)
        with tf_module("io").gfile.GFile(path, "rb") as file:
            lines = file.read().split(b"\n")
        if not lines[-1]:
            lines.pop()
        if vocab_size is not None and len(lines) != vocab_size:
            raise InvalidArgumentError(f"{path!r} has {len(lines)} lines, but vocab_size is {vocab_size}")
        self.key_dtype, self.value_dtype = as_dtype(key_dtype), as_dtype(value_dtype)
        self.keys = _column(lines, key_index, self.key_dtype, delimiter)
        self.values = _column(lines, value_index, self.value_dtype, delimiter)
        if value_index == TextFileIndex.LINE_NUMBER:
            self.values = self.values + value_index_offset


def _column(lines: list[bytes], index: int, dtype: Any, delimiter: str) -> Any:
    if index == TextFileIndex.LINE_NUMBER:
        return np.arange(len(lines), dtype=np.int64)
    texts = lines
    if index != TextFileIndex.WHOLE_LINE:
        rows = [line.split(delimiter.encode()) for line in lines]
        for number, row in enumerate(rows):
            if len(row) <= index:
                raise InvalidArgumentError(f"line {number} has {len(row)} columns, and column {index} is needed")
        texts = [row[index] for row in rows]
    column = as_array(arrays.constant(texts, "string"))
    return column if dtype.name == "string" else as_array(strings.to_number(column, dtype))


class StaticHashTable:
    """A table whose values are looked up by key, with a default for other keys.

    Args:
      initializer: a KeyValueTensorInitializer or a TextFileInitializer.
      default_value: the value for keys that the table lacks.
    """

    def __init__(
        self,
        initializer: Any,
        default_value: Any,
        name: str | None = None,
        experimental_is_anonymous: bool = False,
    ) -> None:
        self.key_dtype, self.value_dtype, self.name = initializer.key_dtype, initializer.value_dtype, name
        self.default_value = arrays.constant(default_value, self.value_dtype)
        self._default = as_array(self.default_value)[()]
        self._values: dict[Any, Any] = {}
        for key, value in zip(initializer.keys.ravel().tolist(), initializer.values.ravel(), strict=True):
            if self._values.setdefault(key, value) != value:
                raise FailedPreconditionError(
                    f"HashTable has different value for same key. Key {key!r} has {self._values[key]!r} and trying to "
                    f"add value {value!r}"
                )

    def lookup(self, keys: Any, name: str | None = None) -> Any:
        """Return the value of each key, in a tensor of the same shape; in SparseTensors, of each value."""
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, self.lookup(keys.values), keys.dense_shape)
        return _lookup(keys, self)

    __getitem__ = lookup

    def find(self, keys: Any) -> Any:
        """Return the values of an array of keys, as an array."""
        values = [self._values.get(key, self._default) for key in keys.ravel().tolist()]
        dtype: Any = self.value_dtype.as_numpy_dtype
        return np.array(values, object if self.value_dtype.name == "string" else dtype).reshape(keys.shape)

    def size(self, name: str | None = None) -> Any:
        """Return the number of keys."""
        return arrays.constant(len(self._values), "int64")

    def export(self, name: str | None = None) -> tuple[Any, Any]:
        """Return all keys and values."""
        keys = arrays.constant(list(self._values), self.key_dtype)
        return keys, arrays.constant(list(self._values.values()), self.value_dtype)


@over_flat_values
def _lookup(keys: Any, table: Any) -> Any:
    array = as_array(keys, None if hasattr(keys, "dtype") else table.key_dtype)
    if array_dtype(array) != table.key_dtype:
        raise TypeError(f"Dtype of argument `keys` must be {table.key_dtype}, received: {array_dtype(array).name}")
    return tensor(table.find(array))


_names = module_lazy_names(__name__, {}, "tf.lookup")
__getattr__ = _names.getattr
__dir__ = _names.dir
