"""Methods of Dataset that join elements to batches, and split batches into rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from ...dtypes import as_dtype
from ...errors import InvalidArgumentError
from ...values.elements.composites import sparse_of_arrays, sparse_row
from ...values.elements.specs import SparseTensorSpec
from ..handle import Handle, OtherDataset, SameDataset, T, node_of
from ..nodes.batches.batching import Batch, Rebatch, Unbatch
from ..nodes.batches.padding import padded_specs, padder, ragged_specs, stack_ragged_arrays
from ..nodes.native.running import check_rows, row_count
from ..numbers import check_count


class Batches(Handle[T, SameDataset, OtherDataset]):
    """Mixed into Dataset."""

    def batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_calls: int | None = None,
        deterministic: bool | None = None,
        name: str | None = None,
    ) -> OtherDataset:
        """Stack runs of `batch_size` elements; the last may be smaller, unless `drop_remainder`.

        Records become a RecordBatch, strings an object array; arrays get a first axis, SparseTensors and RaggedTensors
        one more dimension. An error replaces the batch of its element. The other arguments are accepted.

        Raises:
          errors.InvalidArgumentError: batch_size is less than 1; when iterated: shapes differ.

        >>> import tfrecord_fast as tf
        >>> [x.tolist() for x in tf.data.Dataset.range(5).batch(2)]
        [[0, 1], [2, 3], [4]]
        """
        return self._other(Batch(node_of(self), check_count("batch_size", batch_size), bool(drop_remainder)))

    def padded_batch(
        self,
        batch_size: int,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: bool = False,
        name: str | None = None,
    ) -> OtherDataset:
        """Like `batch`, with arrays padded at their ends to one shape.

        Args:
          padded_shapes: a structure of shapes, with None or -1 for the greatest length in the batch; None: all lengths
            are the greatest.
          padding_values: a structure of scalars, or one scalar; 0 or b"" by default, and where it is None.

        >>> import numpy as np, tfrecord_fast as tf
        >>> print(next(iter(tf.data.Dataset.range(1, 4).map(lambda n: np.full(n, n)).padded_batch(3))))
        [[1 0 0]
         [2 2 0]
         [3 3 3]]
        """
        join = padder(padded_shapes, padding_values)
        size = check_count("batch_size", batch_size)
        return self._other(
            Batch(node_of(self), size, bool(drop_remainder), join, "padded_batch", padded_specs(padded_shapes))
        )

    def ragged_batch(
        self, batch_size: int, drop_remainder: bool = False, row_splits_dtype: Any = "int64", name: str | None = None
    ) -> OtherDataset:
        """Like `batch`, with arrays as the rows of a RaggedTensor whose row splits are int64 or int32.

        >>> import numpy as np, tfrecord_fast as tf
        >>> next(iter(tf.data.Dataset.from_tensor_slices([1, 2]).map(lambda n: np.zeros(n)).ragged_batch(2))).to_list()
        [[0.0], [0.0, 0.0]]
        """
        size = check_count("batch_size", batch_size)
        splits = np.dtype(as_dtype(row_splits_dtype).as_numpy_dtype)
        if splits not in (np.int32, np.int64):
            raise ValueError(f"row_splits_dtype must be int32 or int64, got {splits}")
        join = partial(stack_ragged_arrays, splits=splits)
        return self._other(
            Batch(node_of(self), size, bool(drop_remainder), join, "ragged_batch", ragged_specs(as_dtype(splits)))
        )

    def unbatch(self, name: str | None = None) -> OtherDataset:
        """Split elements into their rows: the inverse of `batch`.

        >>> import tfrecord_fast as tf
        >>> [int(x) for x in tf.data.Dataset.from_tensors([1, 2, 3]).unbatch()]
        [1, 2, 3]
        """
        check_rows(node_of(self), "unbatch")
        return self._other(Unbatch(node_of(self), row_count(node_of(self))))

    def rebatch(
        self, batch_size: int | Sequence[int], drop_remainder: bool = False, name: str | None = None
    ) -> OtherDataset:
        """Change the size of batches; several sizes alternate.

        >>> import tfrecord_fast as tf
        >>> [x.tolist() for x in tf.data.Dataset.range(5).batch(2).rebatch(3)]
        [[0, 1, 2], [3, 4]]
        >>> [x.tolist() for x in tf.data.Dataset.range(7).batch(4).rebatch([2, 1])]
        [[0, 1], [2], [3, 4], [5], [6]]
        """
        check_rows(node_of(self), "rebatch")
        rows = Unbatch(node_of(self))
        wanted: Any = batch_size
        if isinstance(wanted, str | bytes) or (not isinstance(wanted, Sequence) and not getattr(wanted, "shape", ())):
            size = check_count("batch_size", wanted)
            return self._other(Batch(rows, size, bool(drop_remainder), name="rebatch"))
        sizes = [check_count("a size of batch_size", size) for size in wanted]
        if not sizes:
            raise InvalidArgumentError("`batch_size` is an empty list")
        return self._other(Rebatch(rows, sizes, bool(drop_remainder)))

    def sparse_batch(self, batch_size: int, row_shape: Sequence[int | None], name: str | None = None) -> OtherDataset:
        """Like `batch`, with arrays as the rows of a SparseTensor, which includes all values, even zeros.

        Args:
          row_shape: the shape of a row, at least as large as each array; None for the greatest length in the batch.

        Raises:
          errors.DataLossError: when iterated: an array is larger.
          errors.InvalidArgumentError: when iterated: an array has another rank.

        >>> import tfrecord_fast as tf
        >>> rows = tf.data.Dataset.range(1, 3).map(lambda n: tf.constant([1] * int(n)))
        >>> next(iter(rows.sparse_batch(2, [4]))).indices.tolist()
        [[0, 0], [1, 0], [1, 1]]
        """
        shape = [
            None if length in (None, -1) else check_count("a length of row_shape", length, 0) for length in row_shape
        ]
        size = check_count("batch_size", batch_size)

        def specs(spec: Any, length: int | None) -> Any:
            return SparseTensorSpec((length, *shape), spec.dtype)

        join, check = partial(sparse_of_arrays, shape=shape), partial(sparse_row, shape=shape)
        return self._other(Batch(node_of(self), size, False, join, "sparse_batch", specs, check))
