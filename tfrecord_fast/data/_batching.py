"""The methods of Dataset that make batches, and take them apart."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    from .dataset import Dataset

__all__ = ["Batching"]


def _dataset(batching: Batching) -> Dataset[Any]:
    return cast("Dataset[Any]", batching)


class Batching:
    """Mixed into Dataset."""

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> Dataset[Any]:
        """Runs of `batch_size` elements, stacked; the last may be smaller, unless `drop_remainder`.

        Records give RecordBatch; arrays get a first axis; strings an object array; SparseTensors and RaggedTensors one
        dimension more. An error takes the place of the batch that it falls into. The other arguments are accepted.

        Raises:
          errors.InvalidArgumentError: batch_size is less than 1; when iterated: shapes that differ.

        >>> import tfrecord_fast as tf
        >>> [x.tolist() for x in tf.data.Dataset.range(5).batch(2)]
        [[0, 1], [2, 3], [4]]
        """
        from ._nodes import Batch, check_count

        return Batch(_dataset(self), check_count("batch_size", batch_size), bool(drop_remainder))

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset[Any]:
        """As `batch`, with arrays padded at their ends to one shape.

        Args:
          padded_shapes: a structure of shapes as elements have it, None or -1 for the longest of the batch; None: all
            lengths that of the longest.
          padding_values: a structure of scalars, or one for all; 0 or b"" by default.

        >>> import numpy as np, tfrecord_fast as tf
        >>> print(next(iter(tf.data.Dataset.range(1, 4).map(lambda n: np.full(n, n)).padded_batch(3))))
        [[1 0 0]
         [2 2 0]
         [3 3 3]]
        """
        from ._nodes import Batch, check_count
        from ._padding import padder

        join = padder(padded_shapes, padding_values)
        return Batch(_dataset(self), check_count("batch_size", batch_size), bool(drop_remainder), join, "padded_batch")

    def ragged_batch(
        self, batch_size: int, drop_remainder: bool = False, row_splits_dtype: Any = "int64", name: str | None = None
    ) -> Dataset[Any]:
        """As `batch`, with arrays as the rows of a RaggedTensor whose row splits are int64 or int32.

        >>> import numpy as np, tfrecord_fast as tf
        >>> next(iter(tf.data.Dataset.from_tensor_slices([1, 2]).map(lambda n: np.zeros(n)).ragged_batch(2))).to_list()
        [[0.0], [0.0, 0.0]]
        """
        from ..dtypes import as_dtype
        from ._nodes import Batch, check_count
        from ._padding import stack_ragged_arrays

        size = check_count("batch_size", batch_size)
        splits = np.dtype(as_dtype(row_splits_dtype).as_numpy_dtype)
        if splits not in (np.int32, np.int64):
            raise ValueError(f"row_splits_dtype is int32 or int64, got {splits}")
        join = partial(stack_ragged_arrays, splits=splits)
        return Batch(_dataset(self), size, bool(drop_remainder), join, "ragged_batch")

    def unbatch(self, name: str | None = None) -> Dataset[Any]:
        """The rows of elements: what `batch` has stacked, one by one.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.from_tensors([1, 2, 3]).unbatch()]
        [1, 2, 3]
        """
        from ._nodes import Unbatch

        return Unbatch(_dataset(self))

    def rebatch(self, batch_size: int, drop_remainder: bool = False, name: str | None = None) -> Dataset[Any]:
        """Batches of another size.

        >>> import tfrecord_fast as tf
        >>> [x.tolist() for x in tf.data.Dataset.range(5).batch(2).rebatch(3)]
        [[0, 1, 2], [3, 4]]
        """
        return self.unbatch().batch(batch_size, drop_remainder)

    def window(
        self,
        size: int,
        shift: int | None = None,
        stride: int = 1,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> Dataset[Any]:
        """Datasets of `size` elements, `stride` apart; each starts `shift` (`size` by default) elements further on.

        >>> import tfrecord_fast as tf
        >>> [[int(x) for x in window] for window in tf.data.Dataset.range(5).window(3, shift=2)]
        [[0, 1, 2], [2, 3, 4], [4]]
        """
        from ._joins import WindowDataset
        from ._nodes import check_count

        size = check_count("size", size)
        shift = size if shift is None else check_count("shift", shift)
        return WindowDataset(_dataset(self), size, shift, check_count("stride", stride), bool(drop_remainder))
