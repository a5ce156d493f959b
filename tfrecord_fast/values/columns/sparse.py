"""SparseTensor, and its conversion to dense arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidArgumentError
from .arrow import Capsules, export
from .conversion import as_array, fill_value
from .ragged import RaggedTensor
from .typed import as_values


class SparseTensor:
    """Values, and their indices in a dense array of `dense_shape`.

    Attributes:
      indices: int64 `[number of values, number of dimensions]`, in row-major order; computed on first use.
      values: 1-D ndarray or BytesArray.
      dense_shape: int64 `[number of dimensions]`.
      row_splits: int64; the values of row i are `values[row_splits[i]:row_splits[i + 1]]`. In a feature list of a
        SequenceExample a row is a step, and `row_steps` are the row splits of records over steps.

    Python's values get the dtypes that TensorFlow chooses: ints become int32, floats float32, str bytes.

    Raises:
      ValueError: indices, values and dense_shape do not fit together.
      TypeError: indices are not integers.

    >>> import tfrecord_fast as tf
    >>> tf.sparse.to_dense(SparseTensor([[0, 1]], [5], [1, 3])).tolist()
    [[0, 5, 0]]
    """

    __slots__ = ("_are_given", "_indices", "_row_splits", "dense_shape", "row_steps", "values")

    def __init__(self, indices: npt.ArrayLike, values: Any, dense_shape: npt.ArrayLike) -> None:
        self._indices: npt.NDArray[np.int64] | None = as_array(indices, np.int64, "indices")
        self.values = as_values(values)
        self.dense_shape = as_array(dense_shape, np.int64, "dense_shape")
        _check_parts(self._indices, self.values, self.dense_shape)
        self._row_splits: npt.NDArray[np.int64] | None = None
        self.row_steps: npt.NDArray[np.int64] | None = None
        self._are_given = True

    @classmethod
    def from_row_splits(
        cls,
        values: Any,
        row_splits: npt.NDArray[np.int64],
        dense_shape: npt.ArrayLike,
        row_steps: npt.NDArray[np.int64] | None = None,
    ) -> SparseTensor:
        """Make a SparseTensor of the parser's columns, whose values fill each row from its start."""
        tensor = cls.__new__(cls)
        tensor._indices = None
        tensor.values = values
        tensor.dense_shape = np.asarray(dense_shape, dtype=np.int64)
        tensor._row_splits = row_splits
        tensor.row_steps = row_steps
        tensor._are_given = False
        return tensor

    @property
    def indices(self) -> npt.NDArray[np.int64]:
        if self._indices is None:
            self._indices = self._make_indices()
        return self._indices

    @property
    def has_indices(self) -> bool:
        """True if the indices were passed in or changed in place, False if they follow from the row splits."""
        if self._are_given or self._indices is None:
            return self._are_given
        return not np.array_equal(self._indices, self._make_indices())

    @property
    def is_packed(self) -> bool:
        """True while the indices follow from the row splits and nothing outside can have changed them."""
        return not self._are_given and self._indices is None

    @property
    def row_splits(self) -> npt.NDArray[np.int64]:
        if self._row_splits is None:
            rows = int(self.dense_shape[0]) if len(self.dense_shape) > 1 else 1
            indices = self.indices
            check_indices(indices, tuple(self.dense_shape.tolist()))
            row_of = indices[:, 0] if len(self.dense_shape) > 1 else np.zeros(len(indices), np.int64)
            self._row_splits = np.searchsorted(row_of, np.arange(rows + 1)).astype(np.int64)
        return self._row_splits

    def _make_indices(self) -> npt.NDArray[np.int64]:
        splits = self._row_splits
        assert splits is not None
        lengths = np.diff(splits)
        indices = np.empty((len(self.values), len(self.dense_shape)), dtype=np.int64)
        indices[:, -1] = np.arange(len(self.values)) - np.repeat(splits[:-1], lengths)
        if self.row_steps is not None:
            steps = np.diff(self.row_steps)
            step_in_row = np.arange(len(lengths)) - np.repeat(self.row_steps[:-1], steps)
            indices[:, -2] = np.repeat(step_in_row, lengths)
            if indices.shape[1] == 3:
                indices[:, 0] = np.repeat(np.repeat(np.arange(len(steps)), steps), lengths)
        elif indices.shape[1] == 2:
            indices[:, 0] = np.repeat(np.arange(len(lengths)), lengths)
        return indices

    if not TYPE_CHECKING:  # else type checkers would accept any name

        def __getattr__(self, name: str) -> Any:
            hint = "; sparse.to_dense(x) makes an array" if name in ("to_dense", "to_tensor", "numpy") else ""
            raise AttributeError(f"'SparseTensor' object has no attribute {name!r}{hint}", name=name, obj=self)

    @property
    def shape(self) -> tuple[int, ...]:
        """`dense_shape` as a tuple."""
        return tuple(self.dense_shape.tolist())

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values; object for strings."""
        return self.values.dtype  # type: ignore[no-any-return]

    def __len__(self) -> int:
        return int(self.dense_shape[0])

    def __iter__(self) -> Iterator[Any]:
        """Unpack to (indices, values, dense_shape)."""
        return iter((self.indices, self.values, self.dense_shape))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Refuse conversion to an array; with dtype=object, the tensor is one object.

        Without this, pandas would read the three attributes of the tensor as three rows.
        """
        if dtype is None or np.dtype(dtype) != object:
            raise TypeError(
                "a SparseTensor is not an array; convert it with sparse.to_dense(x), or cut x.values by x.row_splits. "
                "For pandas, use read_table(files).to_pandas() or pyarrow.table(io.arrow_columns(columns))"
            )
        array = np.empty((), object)
        array[()] = self
        return array

    def __arrow_c_array__(self, requested_schema: object | None = None) -> Capsules:
        """Export lists of the values of each row, without their indices."""
        offsets = [self.row_splits] if self.row_steps is None else [self.row_splits, self.row_steps]
        return export(self.values, offsets, requested_schema)

    def __repr__(self) -> str:
        return f"SparseTensor({len(self.values)} values, dtype={self.dtype}, dense_shape={self.shape})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.has_indices:
            parts = self._indices, self.values, self.dense_shape, self._row_splits, self.row_steps
            return restored, parts
        return SparseTensor.from_row_splits, (self.values, self._row_splits, self.dense_shape, self.row_steps)


def restored(indices: Any, values: Any, dense_shape: Any, row_splits: Any, row_steps: Any) -> SparseTensor:
    """Restore a SparseTensor from its attributes; None for indices or splits that follow from the others."""
    if indices is None:
        return SparseTensor.from_row_splits(values, row_splits, dense_shape, row_steps)
    tensor = sparse_of(indices, values, dense_shape, row_splits)
    tensor.row_steps = row_steps
    return tensor


def steps_of(tensor: SparseTensor) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the row splits of records over steps, and of steps over values, of a tensor [rows, steps, values].

    The last step of a row is its last step with a value.
    """
    if tensor.row_steps is not None:
        return tensor.row_steps, tensor.row_splits
    indices = tensor.indices
    check_indices(indices, tuple(tensor.dense_shape.tolist()))
    steps = np.zeros(int(tensor.dense_shape[0]), np.int64)
    np.maximum.at(steps, indices[:, 0], indices[:, 1] + 1)
    row_steps = np.concatenate([[0], np.cumsum(steps)]).astype(np.int64)
    step_of = row_steps[indices[:, 0]] + indices[:, 1]
    return row_steps, np.searchsorted(step_of, np.arange(int(row_steps[-1]) + 1)).astype(np.int64)


def sparse_of(
    indices: npt.NDArray[np.int64], values: Any, dense_shape: npt.ArrayLike, row_splits: npt.NDArray[np.int64]
) -> SparseTensor:
    tensor = SparseTensor(indices, values, dense_shape)
    tensor._row_splits = row_splits
    return tensor


def to_dense(
    x: SparseTensor | RaggedTensor | None = None,
    default_value: object = None,
    validate_indices: bool = True,
    name: str | None = None,
    *,
    sp_input: SparseTensor | RaggedTensor | None = None,
) -> npt.NDArray[Any]:
    """Convert a SparseTensor or RaggedTensor to a dense array.

    Args:
      x: the tensor; TensorFlow calls it `sp_input`.
      default_value: the value where the tensor has none; 0 or b"" when None.
      validate_indices: check that the indices are sorted and none is repeated, as TensorFlow does.

    Returns:
      An ndarray; of dtype object, holding bytes, for strings.

    Raises:
      errors.InvalidArgumentError: an index is out of bounds, out of order or repeated.
      TypeError: a default_value of a different kind from the values.
    """
    tensor: Any = sp_input if x is None else x
    if isinstance(tensor, RaggedTensor):
        return tensor.to_tensor(default_value)
    values = np.asarray(tensor.values)
    fill, shape, is_packed = fill_value(default_value, values.dtype), tensor.shape, tensor.is_packed
    if is_packed and shape == values.shape:
        packed: npt.NDArray[Any] = values.copy()
        return packed
    dense = np.full(shape, fill, dtype=values.dtype)
    if is_packed and len(shape) == 2:
        dense[np.arange(shape[1]) < np.diff(tensor.row_splits)[:, None]] = values
        return dense
    indices = tensor.indices
    if validate_indices and not is_packed:
        check_indices(indices, shape)
    dense[tuple(indices.T)] = values
    return dense


def _check_parts(indices: npt.NDArray[Any], values: Any, dense_shape: npt.NDArray[Any]) -> None:
    ranks = (indices.ndim, len(values.shape), dense_shape.ndim)
    if ranks != (2, 1, 1):
        raise ValueError(f"indices, values and dense_shape must have 2, 1 and 1 dimensions, not {ranks}")
    if indices.shape != (len(values), len(dense_shape)):
        raise ValueError(
            f"indices of shape {list(indices.shape)} do not fit {len(values)} values in {len(dense_shape)} dimensions"
        )


def check_indices(indices: npt.NDArray[np.int64], shape: tuple[int, ...]) -> None:
    """Raise errors.InvalidArgumentError unless the indices are unique, inside the shape and in row-major order."""
    if not len(indices):
        return
    outside = np.nonzero(((indices < 0) | (indices >= np.asarray(shape))).any(axis=1))[0]
    if len(outside):
        i = int(outside[0])
        raise InvalidArgumentError(f"indices[{i}] = {indices[i].tolist()} is out of bounds for shape {list(shape)}")
    if not indices.shape[1]:
        indices = np.zeros((len(indices), 1), np.int64)  # a scalar has one element
    steps = indices[1:] - indices[:-1]
    moved = steps != 0
    first = np.argmax(moved, axis=1)  # the first axis that changes; 0 if none does
    bad = np.nonzero(steps[np.arange(len(steps)), first] <= 0)[0]
    if len(bad):
        i = int(bad[0]) + 1
        fault = "is out of order" if moved[i - 1].any() else "is repeated"
        raise InvalidArgumentError(f"indices[{i}] = {indices[i].tolist()} {fault}")
