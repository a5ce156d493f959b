"""RaggedTensor: the package's, with tensors for components."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...values.columns import ragged
from ...values.columns.typed import as_values, typed
from .arithmetic import convert
from .ragged_items import ragged_item
from .ragged_rows import (
    UniformRows,
    as_partition,
    merge_axes,
    uniform_rows,
    with_same_rows,
    with_splits_dtype,
    without_uniform_lengths,
)
from .sparse_tensor import SparseTensor
from .tensor import Tensor
from .tensor_dtypes import DType, array_dtype, as_dtype
from .tensor_shape import TensorShape
from .wrapping import register_unwrapper, register_wrapper, unwrap, wrap, wrap_function


class RaggedTensor:
    """Rows of different lengths, made by `from_row_splits` and the like, `tf.ragged.constant`, or by parsing."""

    __slots__ = ("plain",)

    def __init__(self, plain: ragged.RaggedTensor) -> None:
        self.plain = plain

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the package's RaggedTensor, as tensors."""
        if name.startswith("__") or name == "plain":
            raise AttributeError(name)
        attribute = getattr(self.plain, name)
        return wrap_function(attribute) if callable(attribute) else wrap(attribute)

    @property
    def shape(self) -> TensorShape:
        """The lengths; None where they differ."""
        lengths = list(self.plain.shape)
        return TensorShape([None if depth and length is None else length for depth, length in enumerate(lengths)])

    def get_shape(self) -> TensorShape:
        """Return the lengths; None where they differ."""
        return self.shape

    @property
    def dtype(self) -> DType:
        """The dtype of the values."""
        return as_dtype(self.plain.dtype)

    @property
    def ragged_rank(self) -> int:
        """The number of dimensions whose lengths differ."""
        return self.plain.ragged_rank

    def numpy(self) -> Any:
        """Return nested object arrays of rows, or one array if all rows have one length."""
        return _nested_array(self.plain)

    def to_list(self) -> list[Any]:
        """Return nested lists of Python values."""
        return self.plain.to_list()

    def __getitem__(self, key: Any) -> Any:
        return wrap(ragged_item(self.plain, key))

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """Return the same values in a SparseTensor."""
        indices = _value_indices(self.plain)
        lengths = self.bounding_shape().numpy()
        return SparseTensor(indices, wrap(np.asarray(self.plain.flat_values).reshape(-1)), lengths)

    def nrows(self, out_type: Any = None, name: str | None = None) -> Any:
        """Return the number of rows."""
        dtype = self.plain.row_splits.dtype if out_type is None else as_dtype(out_type).as_numpy_dtype
        return wrap(np.asarray(len(self.plain), dtype=dtype))

    def value_rowids(self, name: str | None = None) -> Any:
        """Return the row number of each value."""
        splits = self.plain.row_splits
        return wrap(np.repeat(np.arange(len(self.plain), dtype=splits.dtype), np.diff(splits)))

    def bounding_shape(self, axis: Any = None, name: str | None = None, out_type: Any = None) -> Any:
        """Return the lengths of the smallest dense tensor that holds all values."""
        lengths = [len(self.plain)]
        inner: Any = self.plain
        while isinstance(inner, ragged.RaggedTensor):
            lengths.append(int(np.diff(inner.row_splits).max(initial=0)))
            inner = inner.values
        dtype = self.plain.row_splits.dtype if out_type is None else as_dtype(out_type).as_numpy_dtype
        shape = np.array([*lengths, *inner.shape[1:]], dtype=dtype)
        if axis is None:
            return wrap(shape)
        axes = np.asarray(unwrap(axis))
        if np.any(axes < 0) or np.any(axes >= len(shape)):
            raise InvalidArgumentError(f"axis={axis} is not in [0, {len(shape)})")
        return wrap(shape[axes])

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Return other values in the same rows."""
        plain = new_values.plain if isinstance(new_values, RaggedTensor) else unwrap(wrap(new_values))
        return RaggedTensor(with_same_rows(self.plain, as_values(plain)))

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Return other innermost values in the same rows."""
        if isinstance(self.plain.values, ragged.RaggedTensor):
            return self.with_values(RaggedTensor(self.plain.values).with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """Return the same rows with row splits of int32 or int64."""
        return RaggedTensor(with_splits_dtype(self.plain, as_dtype(dtype).as_numpy_dtype))

    @property
    def uniform_row_length(self) -> Any:
        """The length of all rows if it is known to be the same, else None."""
        plain = self.plain
        return wrap(plain.row_splits.dtype.type(plain.length)) if isinstance(plain, UniformRows) else None

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """Return the length of each row; for an axis from 2 on, those of the rows within them, as a RaggedTensor."""
        axis = axis + len(self.shape) if axis < 0 else axis
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return wrap(np.diff(self.plain.row_splits))
        inner = self.values
        if isinstance(inner, RaggedTensor):
            return self.with_values(inner.row_lengths(axis - 1))
        lengths = np.full(len(inner), inner.shape[axis - 1], self.plain.row_splits.dtype)
        return self.with_values(wrap(lengths))

    def nested_row_lengths(self, name: str | None = None) -> tuple[Any, ...]:
        """Return the row lengths of all ragged dimensions, the outermost first."""
        return tuple(wrap(np.diff(splits)) for splits in self.plain.nested_row_splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Any, ...]:
        """Return the row numbers of the values of all ragged dimensions, the outermost first."""
        inner = self.values
        return (self.value_rowids(), *(inner.nested_value_rowids() if isinstance(inner, RaggedTensor) else ()))

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """Merge the dimensions from one axis to another."""
        return wrap(merge_axes(self.plain, outer_axis, inner_axis))

    def __iter__(self) -> Iterator[Any]:
        return map(wrap, self.plain)

    def __neg__(self) -> RaggedTensor:
        return self.with_flat_values(-_flat(self))

    def __invert__(self) -> RaggedTensor:
        return self.with_flat_values(~_bools(self))

    def __abs__(self) -> RaggedTensor:
        return self.with_flat_values(abs(_flat(self)))

    def __bool__(self) -> bool:
        raise TypeError("RaggedTensor may not be used as a boolean.")

    def __repr__(self) -> str:
        return f"<tf.RaggedTensor {self.to_list()!r}>"

    def __reduce__(self) -> Any:
        return RaggedTensor, (self.plain,)


def _value_indices(plain: Any) -> Any:
    """Return the indices of the innermost values, int64 `[number of values, number of dimensions]`."""
    if not isinstance(plain, ragged.RaggedTensor):
        return np.argwhere(np.ones(np.shape(plain), bool))
    inner = _value_indices(plain.values)
    splits = np.asarray(plain.row_splits, np.int64)
    rows = np.searchsorted(splits, inner[:, 0], "right") - 1
    return np.column_stack([rows, inner[:, 0] - splits[rows], inner[:, 1:]])


def _nested_array(plain: Any) -> Any:
    if not isinstance(plain, ragged.RaggedTensor):
        return np.asarray(plain)
    values = _nested_array(plain.values)
    rows = [values[start:end] for start, end in pairwise(plain.row_splits.tolist())]
    if not rows:
        return np.zeros((0, 0, *values.shape[1:]), values.dtype)
    if len({len(row) for row in rows}) == 1:
        return np.stack(rows)
    array = np.empty(len(rows), dtype=object)
    for number, row in enumerate(rows):
        array[number] = row
    return array


def _flat(value: Any) -> Any:
    return wrap(np.asarray(value.plain.flat_values)) if isinstance(value, RaggedTensor) else value


def _bools(value: RaggedTensor) -> Any:
    if value.dtype != "bool":
        raise InvalidArgumentError(f"expected a bool tensor but got one of {value.dtype.name}")
    return _flat(value)


def _operator(name: str, flat: Any = _flat) -> Any:
    def operate(self: RaggedTensor, other: Any) -> Any:
        result = getattr(flat(self), name)(over_values(self, other))
        return result if result is NotImplemented else self.with_flat_values(result)

    return operate


def _equality(name: str, otherwise: bool) -> Any:
    compare = _operator(name)

    def operate(self: RaggedTensor, other: Any) -> Any:
        try:
            return otherwise if other is None else compare(self, other)
        except (TypeError, ValueError):  # another dtype, or other row lengths
            return otherwise

    return operate


def over_values(tensor: RaggedTensor, other: Any) -> Any:
    """Return the other operand of an operation on the innermost values: a value for each row is repeated."""
    plain = tensor.plain
    if isinstance(other, RaggedTensor):
        if not _have_same_rows(plain, other.plain):
            raise InvalidArgumentError("the RaggedTensors have different row lengths")
        return _flat(other)
    value = unwrap(other)
    shape: tuple[int, ...] = () if other is None else np.shape(value)
    flat = np.asarray(plain.flat_values)
    if len(shape) < flat.ndim:
        return other
    # Lists take the dtype of the values. A tensor keeps its own, which the operator may refuse.
    array = np.asarray(value) if isinstance(other, Tensor) else convert(value, array_dtype(flat))
    if set(shape) == {1} and len(shape) <= len(plain.shape):
        return wrap(array.reshape(-1)[0])
    if plain.ragged_rank == 1 and len(shape) == flat.ndim + 1 and shape[0] == len(plain):
        lengths = np.diff(plain.row_splits)
        if shape[1] == 1:
            return wrap(np.repeat(array.reshape(len(plain), *shape[2:]), lengths, axis=0))
        if np.all(lengths == shape[1]):
            return wrap(array.reshape(len(flat), *shape[2:]))
    raise InvalidArgumentError(f"a tensor of shape {list(shape)} does not broadcast to the rows of a RaggedTensor")


def _have_same_rows(first: Any, second: Any) -> bool:
    if not isinstance(first, ragged.RaggedTensor) or not isinstance(second, ragged.RaggedTensor):
        return not isinstance(first, ragged.RaggedTensor) and not isinstance(second, ragged.RaggedTensor)
    return np.array_equal(first.row_splits, second.row_splits) and _have_same_rows(first.values, second.values)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow"):
    for _side in ("", "r"):
        setattr(RaggedTensor, f"__{_side}{_name}__", _operator(f"__{_side}{_name}__"))
for _name in ("lt", "le", "gt", "ge"):
    setattr(RaggedTensor, f"__{_name}__", _operator(f"__{_name}__"))
for _name in ("and", "or", "xor", "rand", "ror", "rxor"):
    setattr(RaggedTensor, f"__{_name}__", _operator(f"__{_name}__", _bools))
RaggedTensor.__hash__ = None  # type: ignore[assignment]
for _name in ("eq", "ne"):
    setattr(RaggedTensor, f"__{_name}__", _equality(f"__{_name}__", _name == "ne"))


# ---- Constructors ----


def _constructor(name: str) -> Any:
    make = getattr(ragged.RaggedTensor, f"from_{name}")

    def construct(values: Any, *args: Any, **kwargs: Any) -> RaggedTensor:
        if len(args) > 3:
            raise TypeError(f"from_{name} takes values, {name}, name and validate, got {len(args) + 1} arguments")
        arguments = dict(zip((name, "name", "validate"), args, strict=False))
        if arguments.keys() & kwargs.keys():
            raise TypeError(f"from_{name} got several values for {sorted(arguments.keys() & kwargs.keys())}")
        named = {key: unwrap(value) for key, value in (arguments | kwargs).items() if key != "name"}
        named |= {key: as_partition(value) for key, value in named.items() if key == name}
        return RaggedTensor(make(unwrap(values), **named))

    construct.__doc__ = make.__doc__
    return staticmethod(construct)


def _from_value_rowids(
    values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None, validate: bool = True
) -> RaggedTensor:
    """Make rows from the ascending row number of each value; the last of `nrows` rows may be empty."""
    plain = ragged.RaggedTensor.from_value_rowids(unwrap(values), as_partition(unwrap(value_rowids)), validate)
    return RaggedTensor(_with_rows(plain, nrows))


def _with_rows(plain: ragged.RaggedTensor, nrows: Any) -> ragged.RaggedTensor:
    """Add empty rows at the end, up to `nrows`."""
    if nrows is None:
        return plain
    count = np.asarray(unwrap(nrows))
    if count.ndim or count.dtype.kind not in "iu":
        raise InvalidArgumentError(f"nrows must be one integer, got {nrows!r}")
    if count < len(plain):
        raise InvalidArgumentError(f"nrows={count} is less than the number of rows, {len(plain)}")
    splits = plain.row_splits
    more = np.full(int(count) - len(plain), splits[-1], splits.dtype)
    return ragged.RaggedTensor.from_row_splits(plain.values, np.concatenate([splits, more]), validate=False)


def _from_sparse(st_input: Any, name: str | None = None, row_splits_dtype: Any = "int64") -> RaggedTensor:
    """Make rows from a SparseTensor of two dimensions, whose values must be the first of their rows."""
    if not isinstance(st_input, SparseTensor):
        raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}")
    plain = st_input.plain
    indices = np.asarray(plain.indices)
    if len(plain.dense_shape) != 2:
        raise ValueError(f"rank(st_input) must be 2, got {len(plain.dense_shape)}")
    counts = np.bincount(indices[:, 0], minlength=int(plain.dense_shape[0]))
    splits = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]).astype(
        as_dtype(row_splits_dtype).as_numpy_dtype
    )
    if not np.array_equal(indices[:, 1], np.arange(len(indices)) - splits[indices[:, 0]]):
        raise InvalidArgumentError("SparseTensor is not right-ragged")
    return RaggedTensor(ragged.RaggedTensor.from_row_splits(plain.values, splits))


def _from_uniform_row_length(
    values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True, name: str | None = None
) -> RaggedTensor:
    """Make rows of one length."""
    plain, length = _plain_values(values), int(unwrap(uniform_row_length))
    rows = ragged.RaggedTensor.from_uniform_row_length(plain, length, np.int64, validate)
    if nrows is not None and length and int(unwrap(nrows)) != len(rows):
        raise InvalidArgumentError(f"nrows={nrows}, but {len(plain)} values make {len(rows)} rows of {length}")
    return RaggedTensor(uniform_rows(plain, length, len(_with_rows(rows, nrows))))


def _plain_values(values: Any) -> Any:
    """Return an array, or the plain RaggedTensor with its uniform rows."""
    if isinstance(values, RaggedTensor):
        return values.plain
    return np.asarray(unwrap(wrap(typed(unwrap(values)))))


def _nested_constructor(name: str) -> Any:
    make = getattr(ragged.RaggedTensor, f"from_{name}")

    def construct(flat_values: Any, *args: Any, **kwargs: Any) -> Any:
        """Make rows from the partitions of all ragged dimensions, the outermost first."""
        arguments = {**dict(zip((f"nested_{name}", "name", "validate"), args, strict=False)), **kwargs}
        partitions = list(arguments[f"nested_{name}"])
        if not partitions:
            return flat_values
        values = unwrap(flat_values)
        for partition in reversed(partitions):
            values = make(values, as_partition(unwrap(partition)), arguments.get("validate", True))
        return RaggedTensor(values)

    return staticmethod(construct)


def _from_nested_value_rowids(
    flat_values: Any, nested_value_rowids: Any, nested_nrows: Any = None, name: str | None = None, validate: bool = True
) -> RaggedTensor:
    """Make rows from the row numbers of the values of all ragged dimensions, the outermost first."""
    row_ids = list(nested_value_rowids)
    counts = [None] * len(row_ids) if nested_nrows is None else list(nested_nrows)
    if len(counts) != len(row_ids):
        raise ValueError(f"nested_nrows has {len(counts)} numbers for {len(row_ids)} nested_value_rowids")
    rows: Any = flat_values
    for ids, count in zip(reversed(row_ids), reversed(counts), strict=True):
        rows = _from_value_rowids(rows, ids, count, None, validate)
    return rows  # type: ignore[no-any-return]


def tensor_rows(
    tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1, name: str | None = None,
    row_splits_dtype: Any = "int64",
) -> RaggedTensor:  # fmt: skip
    """Make rows from a dense tensor: whole, cut to `lengths`, or without the `padding` at their ends."""
    values, dtype = _plain_values(tensor), as_dtype(row_splits_dtype).as_numpy_dtype
    if not 0 < ragged_rank < values.ndim:
        raise ValueError(f"ragged_rank must be in [1, {values.ndim - 1}], got {ragged_rank}")
    if lengths is None and padding is None:
        uniform: Any = values.reshape(int(np.prod(values.shape[: ragged_rank + 1])), *values.shape[ragged_rank + 1 :])
        for axis in range(ragged_rank, 0, -1):
            uniform = uniform_rows(uniform, values.shape[axis], int(np.prod(values.shape[:axis])), dtype)
        return RaggedTensor(uniform)
    if lengths is not None and padding is not None:
        raise ValueError("Specify only one of lengths and padding")
    rows = values.reshape(int(np.prod(values.shape[:ragged_rank])), *values.shape[ragged_rank:])
    counts = _unpadded_lengths(rows, padding) if lengths is None else np.asarray(unwrap(lengths)).clip(0, rows.shape[1])
    flat = np.concatenate(
        [rows[:0].reshape(0, *rows.shape[2:]), *(row[:count] for row, count in zip(rows, counts, strict=True))]
    )
    cut: Any = ragged.RaggedTensor.from_row_lengths(flat, counts.astype(dtype))
    for axis in range(ragged_rank - 1, 0, -1):
        cut = uniform_rows(cut, values.shape[axis], int(np.prod(values.shape[:axis])), dtype)
    return RaggedTensor(cut)


def _unpadded_lengths(rows: Any, padding: Any) -> Any:
    """Count the values of each row up to the last that is not padding."""
    filler = convert(unwrap(padding), array_dtype(rows))
    if filler.shape != rows.shape[2:]:
        raise InvalidArgumentError(f"padding of shape {filler.shape} does not fit values of shape {rows.shape[2:]}")
    differs = np.any(rows != filler, axis=tuple(range(2, rows.ndim)))
    return np.max(np.arange(1, rows.shape[1] + 1) * differs, axis=1, initial=0)


for _name in ("row_splits", "row_lengths", "row_starts", "row_limits"):
    setattr(RaggedTensor, f"from_{_name}", _constructor(_name))
for _name in ("row_splits", "row_lengths"):
    setattr(RaggedTensor, f"from_nested_{_name}", _nested_constructor(_name))
_constructors: dict[str, Any] = {
    "uniform_row_length": _from_uniform_row_length,
    "tensor": tensor_rows,
    "value_rowids": _from_value_rowids,
    "nested_value_rowids": _from_nested_value_rowids,
    "sparse": _from_sparse,
}
for _name, _function in _constructors.items():
    setattr(RaggedTensor, f"from_{_name}", staticmethod(_function))


for _class in (ragged.RaggedTensor, UniformRows):
    register_wrapper(_class, RaggedTensor)
register_unwrapper(RaggedTensor, lambda tensor: without_uniform_lengths(tensor.plain))
