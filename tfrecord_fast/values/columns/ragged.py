"""RaggedTensor: values cut into rows of different lengths by row splits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InvalidArgumentError
from ..text import SHOWN_ROWS, html_table
from .arrow import Capsules, export
from .conversion import fill_value
from .typed import as_values

Splits = npt.NDArray[Any]


class RaggedTensor:
    """Rows of different lengths: row i is `values[row_splits[i]:row_splits[i + 1]]`.

    Attributes:
      values: ndarray, BytesArray, or, where there is more than one ragged dimension, a RaggedTensor.
      row_splits: int32 or int64 `[n + 1]`.

    `rt[i]` is a view of row i, `rt[a:b]` a RaggedTensor that shares the values; iteration yields rows. Lists get the
    dtypes that TensorFlow chooses.

    Raises:
      errors.InvalidArgumentError: row_splits do not start with 0, do not ascend, or do not end at the number of values.

    >>> import tfrecord_fast as tf
    >>> ragged = RaggedTensor.from_row_splits([1, 2, 3], [0, 2, 3])
    >>> ragged.to_list(), ragged.row_lengths().tolist()
    ([[1, 2], [3]], [2, 1])
    """

    __slots__ = ("row_splits", "values")

    def __init__(self, values: Any, row_splits: npt.ArrayLike) -> None:
        self.values = as_values(values)
        self.row_splits = _integers(row_splits, "row_splits")
        self._check()

    def _check(self) -> None:
        splits = self.row_splits
        _require(splits.size > 0 and splits[0] == 0, "row_splits must start with 0")
        _require(bool(np.all(splits[1:] >= splits[:-1])), "row_splits must not decrease")
        _require(splits[-1] == len(self.values), f"row_splits must end at {len(self.values)} values, got {splits[-1]}")

    # ---- Construction ----

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: npt.ArrayLike, validate: bool = True) -> RaggedTensor:
        """Make a RaggedTensor from row splits: 0, then the end of each row."""
        tensor = ragged_of(as_values(values), _integers(row_splits, "row_splits"))
        if validate:
            tensor._check()
        return tensor

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: npt.ArrayLike, validate: bool = True) -> RaggedTensor:
        """Make a RaggedTensor from the length of each row."""
        lengths = _integers(row_lengths, "row_lengths")
        if validate:
            _require(bool(np.all(lengths >= 0)), "row_lengths must not be negative")
            total = lengths.sum()
            _require(total == len(values), f"row_lengths must sum to {len(values)}, the number of values, got {total}")
        splits = np.zeros(len(lengths) + 1, dtype=lengths.dtype)
        np.cumsum(lengths, out=splits[1:])
        return ragged_of(as_values(values), splits)

    @classmethod
    def from_row_starts(cls, values: Any, row_starts: npt.ArrayLike, validate: bool = True) -> RaggedTensor:
        """Make a RaggedTensor from the start of each row."""
        starts = _integers(row_starts, "row_starts")
        if validate:
            _require(bool(np.all(starts >= 0)), "row_starts must not be negative")
            _require(starts.size > 0 or len(values) == 0, "row_starts is empty, but values are not")
            _require(starts.size == 0 or starts[0] == 0, "row_starts must start with 0")
        return cls.from_row_splits(values, np.append(starts, starts.dtype.type(len(values))), validate)

    @classmethod
    def from_row_limits(cls, values: Any, row_limits: npt.ArrayLike, validate: bool = True) -> RaggedTensor:
        """Make a RaggedTensor from the end of each row."""
        limits = _integers(row_limits, "row_limits")
        return cls.from_row_splits(values, np.concatenate([np.zeros(1, limits.dtype), limits]), validate)

    @classmethod
    def from_value_rowids(cls, values: Any, value_rowids: npt.ArrayLike, validate: bool = True) -> RaggedTensor:
        """Make a RaggedTensor from the row of each value, in ascending order."""
        rowids = _integers(value_rowids, "value_rowids")
        _require(len(rowids) == len(values), f"expected {len(values)} row ids, one per value, got {len(rowids)}")
        if validate:
            _require(bool(np.all(rowids[1:] >= rowids[:-1])), "value_rowids must be sorted")
        if rowids.size and (rowids.min() < 0 or rowids[-1] < rowids.max()):
            raise InvalidArgumentError("value_rowids must be sorted and not negative")
        nrows = int(rowids[-1]) + 1 if rowids.size else 0
        if nrows > max(len(rowids), len(values)) * 1024 + 1024:
            raise InvalidArgumentError(f"value_rowids make {nrows} rows of {len(rowids)} values, which is too sparse")
        lengths = np.bincount(rowids).astype(rowids.dtype)
        return cls.from_row_lengths(values, lengths, validate=False)

    @classmethod
    def from_uniform_row_length(cls, values: Any, length: int, dtype: type[Any], validate: bool = True) -> RaggedTensor:
        """Make a RaggedTensor of rows of one length."""
        count = len(values)
        _require(length > 0 or count == 0, "a uniform row length of 0 does not fit the values")
        rows = count // length if length > 0 else 0
        if validate:
            _require(rows * length == count, f"{count} values cannot be cut into rows of {length}")
        return ragged_of(as_values(values), np.arange(rows + 1, dtype=dtype) * dtype(length))

    # ---- Shape ----

    def __len__(self) -> int:
        return max(len(self.row_splits) - 1, 0)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values; object for strings."""
        return self.values.dtype  # type: ignore[no-any-return]

    @property
    def ragged_rank(self) -> int:
        """The number of ragged dimensions."""
        return 1 + (self.values.ragged_rank if isinstance(self.values, RaggedTensor) else 0)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The lengths of the dimensions, None for ragged ones."""
        return (len(self), None, *self.values.shape[1:])

    @property
    def flat_values(self) -> Any:
        """The innermost values, all rows end to end."""
        return self.values.flat_values if isinstance(self.values, RaggedTensor) else self.values

    @property
    def nested_row_splits(self) -> tuple[Splits, ...]:
        """The row splits of all ragged dimensions, the outermost first."""
        inner = self.values.nested_row_splits if isinstance(self.values, RaggedTensor) else ()
        return (self.row_splits, *inner)

    def nrows(self) -> int:
        """Return the number of rows."""
        return len(self)

    def row_lengths(self) -> Splits:
        """Return the length of each row."""
        return np.diff(self.row_splits)

    def row_starts(self) -> Splits:
        """Return the start of each row in `values`."""
        return self.row_splits[:-1]

    def row_limits(self) -> Splits:
        """Return the end of each row in `values`."""
        return self.row_splits[1:]

    # ---- Access ----

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step != 1:
                raise ValueError("a RaggedTensor is sliced with a step of 1")
            stop = max(start, stop)
            splits = self.row_splits[start : stop + 1]
            return ragged_of(self.values[int(splits[0]) : int(splits[-1])], splits - splits[0])
        row = int(key)
        if row < 0:
            row += len(self)
        if not 0 <= row < len(self):
            raise IndexError(f"row {key} of a RaggedTensor of {len(self)} rows")
        return self.values[int(self.row_splits[row]) : int(self.row_splits[row + 1])]

    def __iter__(self) -> Iterator[Any]:
        return (self[row] for row in range(len(self)))

    def to_list(self) -> list[Any]:
        """Return nested lists of Python values."""
        inner = self.values.to_list() if isinstance(self.values, RaggedTensor) else self.values.tolist()
        splits = self.row_splits.tolist()
        return [inner[start:end] for start, end in pairwise(splits)]

    tolist = to_list

    def to_tensor(self, default_value: object = None, name: str | None = None, shape: Any = None) -> npt.NDArray[Any]:
        """Return a dense array `[n, longest, …]`, with rows padded with `default_value` (0 or b"" when None).

        Args:
          shape: the shape of the result, to which rows are cut and padded. None, for it or a length: as needed.
        """
        if isinstance(self.values, RaggedTensor):
            values: Any = self.values.to_tensor(default_value)
        else:
            values = np.asarray(self.values)
        lengths = self.row_lengths()
        longest = int(lengths.max()) if len(lengths) else 0
        filling = fill_value(default_value, values.dtype)
        dense = np.full((len(self), longest, *values.shape[1:]), filling, dtype=values.dtype)
        dense[np.arange(longest) < lengths[:, None]] = values[int(self.row_splits[0]) : int(self.row_splits[-1])]
        return dense if shape is None else _fitted(dense, shape, self.ragged_rank, filling)

    def __arrow_c_array__(self, requested_schema: object | None = None) -> Capsules:
        return export(self.flat_values, list(reversed(self.nested_row_splits)), requested_schema)

    def __repr__(self) -> str:
        return f"<RaggedTensor {self[:3].to_list()!r}{' …' if len(self) > 3 else ''}, shape={self.shape}>"

    def _repr_html_(self) -> str:
        title = f"RaggedTensor of shape {self.shape}, {self.flat_values.dtype}"
        return html_table(title, enumerate(self[:SHOWN_ROWS].to_list()))

    def __reduce__(self) -> tuple[Callable[..., RaggedTensor], tuple[Any, Splits]]:
        return ragged_of, (self.values, self.row_splits)


def ragged_of(values: Any, row_splits: Splits) -> RaggedTensor:
    """Make a RaggedTensor without checks. TensorFlow also passes partitions on as they are in records."""
    tensor = RaggedTensor.__new__(RaggedTensor)
    tensor.values = values
    tensor.row_splits = row_splits
    return tensor


def _integers(partition: npt.ArrayLike, what: str) -> Splits:
    array = np.asarray(partition)
    if array.dtype.kind not in "iu":
        _require(array.size == 0, f"{what} must be integers, not {array.dtype}")
        array = array.astype(np.int64)
    _require(array.ndim == 1, f"{what} must have one dimension, not {array.ndim}")
    return (
        array if array.dtype in (np.int32, np.int64) else array.astype(np.int64)
    )  # sums of narrower integers could wrap


def _fitted(dense: npt.NDArray[Any], shape: Any, ragged_rank: int, filling: object) -> npt.NDArray[Any]:
    """Cut and pad to the shape, along the first axis and the ragged ones."""
    requested = shape.as_list() if hasattr(shape, "as_list") else np.atleast_1d(np.asarray(shape, object)).tolist()
    free = 1 + ragged_rank
    pairs = list(zip(requested, dense.shape, strict=False))
    if len(requested) != dense.ndim or any(length not in (None, own) for length, own in pairs[free:]):
        actual = [*[None] * free, *dense.shape[free:]]
        raise InvalidArgumentError(f"to_tensor: the shape {requested} does not fit a RaggedTensor of shape {actual}")
    lengths = [own if length is None else int(length) for length, own in pairs]
    fitted = np.full(lengths, filling, dtype=dense.dtype)
    common = tuple(slice(length) for length in map(min, lengths, dense.shape))
    fitted[common] = dense[common]
    return fitted


def _require(condition: bool | np.bool_, message: str) -> None:
    if not condition:
        raise InvalidArgumentError(f"invalid partition: {message}")
