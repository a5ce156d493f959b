"""`tf.TensorArray`: a list of tensors of one dtype, as loops of TensorFlow fill it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidArgumentError, OutOfRangeError
from .fallback import tf_module
from .tensors.tensor_dtypes import DType, as_dtype
from .tensors.tensor_shape import TensorShape


class TensorArray:
    """A list of tensors of one dtype. Methods that write return the list itself.

    Args:
      dtype: that of the tensors.
      size: the number of tensors.
      dynamic_size: True if writing at the end makes the list longer.
      clear_after_read: accepted, and without effect: a tensor can be read more than once.
      infer_shape, element_shape: the shape of tensors that were not written, which are zeros.
    """

    def __init__(
        self,
        dtype: Any,
        size: Any = None,
        dynamic_size: bool | None = None,
        clear_after_read: bool | None = None,
        tensor_array_name: str | None = None,
        handle: Any = None,
        flow: Any = None,
        infer_shape: bool = True,
        element_shape: Any = None,
        colocate_with_first_write_call: bool = True,
        name: str | None = None,
    ) -> None:
        self.dtype: DType = as_dtype(dtype)
        self.dynamic_size = bool(dynamic_size)
        self.element_shape = TensorShape(element_shape)
        self._infer_shape = infer_shape
        self._tensors: list[Any] = [None] * (0 if size is None else int(size))

    def size(self, name: str | None = None) -> Any:
        """Return the number of tensors."""
        return tf_module().constant(len(self._tensors))

    def write(self, index: Any, value: Any, name: str | None = None) -> TensorArray:
        """Set the tensor at an index."""
        number = int(index)
        if number < 0 or (number >= len(self._tensors) and not self.dynamic_size):
            raise OutOfRangeError(
                f"Tried to write to index {number} but array is not resizeable and size is: {len(self._tensors)}"
            )
        tensor = tf_module().convert_to_tensor(value, preferred_dtype=self.dtype)
        if tensor.dtype != self.dtype:
            raise InvalidArgumentError(
                f"TensorArray dtype is {self.dtype.name} but Op is trying to write dtype {tensor.dtype.name}"
            )
        if not self.element_shape.is_compatible_with(tensor.shape):
            raise ValueError(f"Incompatible shape for value ({tensor.shape}), expected ({self.element_shape})")
        if self._infer_shape:
            self.element_shape = self.element_shape.merge_with(tensor.shape)
        self._tensors.extend([None] * (number + 1 - len(self._tensors)))
        self._tensors[number] = tensor
        return self

    def read(self, index: Any, name: str | None = None) -> Any:
        """Return the tensor at an index."""
        number = int(index)
        if not 0 <= number < len(self._tensors):
            raise OutOfRangeError(f"Tried to read from index {number} but array size is: {len(self._tensors)}")
        tensor = self._tensors[number]
        if tensor is not None:
            return tensor
        if not self.element_shape.is_fully_defined():
            raise InvalidArgumentError(f"Could not read index {number}: it was not written, and its shape is not known")
        return tf_module().zeros(self.element_shape.as_list(), self.dtype)

    def stack(self, name: str | None = None) -> Any:
        """Return all tensors as one, along a new first axis."""
        if not self._tensors:
            shape = self.element_shape
            lengths = [length or 0 for length in shape.as_list()] if shape.rank is not None else []
            return tf_module().zeros([0, *lengths], self.dtype)
        return tf_module().stack([self.read(number) for number in range(len(self._tensors))])

    def gather(self, indices: Any, name: str | None = None) -> Any:
        """Return some tensors as one, along a new first axis."""
        return tf_module().stack([self.read(number) for number in np.asarray(indices).tolist()])

    def concat(self, name: str | None = None) -> Any:
        """Return all tensors as one, along their first axis."""
        return tf_module().concat([self.read(number) for number in range(len(self._tensors))], 0)

    def unstack(self, value: Any, name: str | None = None) -> TensorArray:
        """Set the tensors to the slices of one, along its first axis."""
        rows = tf_module().unstack(value)
        if not self.dynamic_size and len(rows) > len(self._tensors):
            raise ValueError(
                f"Cannot unstack {len(rows)} tensors into a TensorArray of static size {len(self._tensors)}"
            )
        return self.scatter(range(len(rows)), rows)

    def scatter(self, indices: Any, value: Any, name: str | None = None) -> TensorArray:
        """Set the tensors at some indices to the slices of one."""
        rows = value if isinstance(value, list) else tf_module().unstack(value)
        for number, row in zip(np.asarray(indices).tolist(), rows, strict=True):
            self.write(number, row)
        return self

    def split(self, value: Any, lengths: Any, name: str | None = None) -> TensorArray:
        """Set the tensors to pieces of one, of these lengths."""
        pieces = tf_module().split(value, np.asarray(lengths).tolist())
        return self.scatter(range(len(pieces)), pieces)

    def identity(self) -> TensorArray:
        """Return the list itself."""
        return self

    def close(self, name: str | None = None) -> None:
        """Remove the tensors."""
        self._tensors = []

    mark_used = identity
