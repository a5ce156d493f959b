"""RaggedTensor of the face: the package's, whose parts come as tensors; and SparseTensor, from its own file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InvalidArgumentError
from ..values.columns import ragged
from ..values.columns.typed import as_values, typed
from . import border
from .arithmetic import converted
from .shapes import TensorShape
from .slicing import item_of
from .sparse_tensor import SparseTensor, SparseTensorValue
from .tensors import Tensor
from .types import DType, as_dtype, dtype_of
from .uniform import UniformRows, merged, partition_of, uniform_rows, with_rows_of, with_splits_of, without_lengths

__all__ = ["RaggedTensor", "SparseTensor", "SparseTensorValue", "over_values", "rows_of_tensor"]


class RaggedTensor:
    """Rows of different lengths. Made by `from_row_splits` and the like, `tf.ragged.constant`, or by parsing."""

    __slots__ = ("plain",)

    def __init__(self, plain: ragged.RaggedTensor) -> None:
        self.plain = plain

    def __getattr__(self, name: str) -> Any:
        """What the package's RaggedTensor has, with its values as tensors."""
        if name.startswith("__") or name == "plain":
            raise AttributeError(name)
        found = getattr(self.plain, name)
        return border.lifted(found) if callable(found) else border.raised(found)

    @property
    def shape(self) -> TensorShape:
        """The lengths; None where they differ."""
        lengths = list(self.plain.shape)
        return TensorShape([None if depth and length is None else length for depth, length in enumerate(lengths)])

    def get_shape(self) -> TensorShape:
        """The lengths; None where they differ."""
        return self.shape

    @property
    def dtype(self) -> DType:
        """Of the values."""
        return as_dtype(self.plain.dtype)

    @property
    def ragged_rank(self) -> int:
        """The number of dimensions whose lengths differ."""
        return self.plain.ragged_rank

    def numpy(self) -> Any:
        """Nested object arrays of rows; one array if all rows have one length."""
        return _nested_array(self.plain)

    def to_list(self) -> list[Any]:
        """Nested lists of Python values."""
        return self.plain.to_list()

    def __getitem__(self, key: Any) -> Any:
        return border.raised(item_of(self.plain, key))

    def to_sparse(self, name: str | None = None) -> SparseTensor:
        """The same values in a SparseTensor."""
        places = _places(self.plain)
        lengths = self.bounding_shape().numpy()
        return SparseTensor(places, border.raised(np.asarray(self.plain.flat_values).reshape(-1)), lengths)

    def nrows(self, out_type: Any = None, name: str | None = None) -> Any:
        """The number of rows."""
        kind = self.plain.row_splits.dtype if out_type is None else as_dtype(out_type).as_numpy_dtype
        return border.raised(np.asarray(len(self.plain), dtype=kind))

    def value_rowids(self, name: str | None = None) -> Any:
        """For each value the number of its row."""
        splits = self.plain.row_splits
        return border.raised(np.repeat(np.arange(len(self.plain), dtype=splits.dtype), np.diff(splits)))

    def bounding_shape(self, axis: Any = None, name: str | None = None, out_type: Any = None) -> Any:
        """The lengths of the smallest dense tensor that holds it."""
        lengths = [len(self.plain)]
        inner: Any = self.plain
        while isinstance(inner, ragged.RaggedTensor):
            lengths.append(int(np.diff(inner.row_splits).max(initial=0)))
            inner = inner.values
        kind = self.plain.row_splits.dtype if out_type is None else as_dtype(out_type).as_numpy_dtype
        made = np.array([*lengths, *inner.shape[1:]], dtype=kind)
        if axis is None:
            return border.raised(made)
        wanted = np.asarray(border.lowered(axis))
        if np.any(wanted < 0) or np.any(wanted >= len(made)):
            raise InvalidArgumentError(f"axis={axis} is not in [0, {len(made)})")
        return border.raised(made[wanted])

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Other values in the same rows."""
        given = new_values.plain if isinstance(new_values, RaggedTensor) else border.lowered(border.raised(new_values))
        return RaggedTensor(with_rows_of(self.plain, as_values(given)))

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Other innermost values in the same rows."""
        if isinstance(self.plain.values, ragged.RaggedTensor):
            return self.with_values(RaggedTensor(self.plain.values).with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype: Any) -> RaggedTensor:
        """The same rows, counted in int32 or int64."""
        return RaggedTensor(with_splits_of(self.plain, as_dtype(dtype).as_numpy_dtype))

    @property
    def uniform_row_length(self) -> Any:
        """The length of all rows, where it is known to be one; None elsewhere."""
        plain = self.plain
        return border.raised(plain.row_splits.dtype.type(plain.length)) if isinstance(plain, UniformRows) else None

    def row_lengths(self, axis: int = 1, name: str | None = None) -> Any:
        """The length of each row; of the rows within them, as a RaggedTensor, for axes from 2 on."""
        axis = axis + len(self.shape) if axis < 0 else axis
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return border.raised(np.diff(self.plain.row_splits))
        inner = self.values
        if isinstance(inner, RaggedTensor):
            return self.with_values(inner.row_lengths(axis - 1))
        lengths = np.full(len(inner), inner.shape[axis - 1], self.plain.row_splits.dtype)
        return self.with_values(border.raised(lengths))

    def nested_row_lengths(self, name: str | None = None) -> tuple[Any, ...]:
        """The lengths of the rows of all ragged dimensions, the outermost first."""
        return tuple(border.raised(np.diff(splits)) for splits in self.plain.nested_row_splits)

    def nested_value_rowids(self, name: str | None = None) -> tuple[Any, ...]:
        """For each value of each ragged dimension, the outermost first, the number of its row."""
        inner = self.values
        return (self.value_rowids(), *(inner.nested_value_rowids() if isinstance(inner, RaggedTensor) else ()))

    def merge_dims(self, outer_axis: int, inner_axis: int) -> Any:
        """The dimensions from one axis to another as one.

        Raises:
          ValueError: there are no such axes, or not in this order.
        """
        return border.raised(merged(self.plain, outer_axis, inner_axis))

    def __iter__(self) -> Iterator[Any]:
        return map(border.raised, self.plain)

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


def _places(plain: Any) -> Any:
    """int64 `[number of values, number of dimensions]`: where each innermost value stands."""
    if not isinstance(plain, ragged.RaggedTensor):
        return np.argwhere(np.ones(np.shape(plain), bool))
    inner = _places(plain.values)
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
    made = np.empty(len(rows), dtype=object)
    for number, row in enumerate(rows):
        made[number] = row
    return made


def _flat(value: Any) -> Any:
    return border.raised(np.asarray(value.plain.flat_values)) if isinstance(value, RaggedTensor) else value


def _bools(value: RaggedTensor) -> Any:
    if value.dtype != "bool":
        raise InvalidArgumentError(f"expected a bool tensor but got one of {value.dtype.name}")
    return _flat(value)


def _operator(name: str, flat: Any = _flat) -> Any:
    def operate(self: RaggedTensor, other: Any) -> Any:
        made = getattr(flat(self), name)(over_values(self, other))
        return made if made is NotImplemented else self.with_flat_values(made)

    return operate


def _equality(name: str, otherwise: bool) -> Any:
    compare = _operator(name)

    def operate(self: RaggedTensor, other: Any) -> Any:
        try:
            return otherwise if other is None else compare(self, other)
        except (TypeError, ValueError):  # another dtype, or rows of other lengths
            return otherwise

    return operate


def over_values(tensor: RaggedTensor, other: Any) -> Any:
    """The other side as it goes with the innermost values: one for each row becomes one for each value.

    Raises:
      InvalidArgumentError: it has a number for each row or place, which the rows do not fit; rows of other lengths.
      TypeError, ValueError: it can't be of the dtype.
    """
    plain = tensor.plain
    if isinstance(other, RaggedTensor):
        if not _alike(plain, other.plain):
            raise InvalidArgumentError("RaggedTensors of different row lengths")
        return _flat(other)
    given = border.lowered(other)
    shape: tuple[int, ...] = () if other is None else np.shape(given)
    flat = np.asarray(plain.flat_values)
    if len(shape) < flat.ndim:
        return other
    # Lists take the dtype of the values. A tensor keeps its own, to which the operator says what it has to say.
    array = np.asarray(given) if isinstance(other, Tensor) else converted(given, dtype_of(flat))
    if set(shape) == {1} and len(shape) <= len(plain.shape):
        return border.raised(array.reshape(-1)[0])
    if plain.ragged_rank == 1 and len(shape) == flat.ndim + 1 and shape[0] == len(plain):
        lengths = np.diff(plain.row_splits)
        if shape[1] == 1:
            return border.raised(np.repeat(array.reshape(len(plain), *shape[2:]), lengths, axis=0))
        if np.all(lengths == shape[1]):
            return border.raised(array.reshape(len(flat), *shape[2:]))
    raise InvalidArgumentError(f"a tensor of shape {list(shape)} does not go with a RaggedTensor value by value")


def _alike(one: Any, other: Any) -> bool:
    if not isinstance(one, ragged.RaggedTensor) or not isinstance(other, ragged.RaggedTensor):
        return not isinstance(one, ragged.RaggedTensor) and not isinstance(other, ragged.RaggedTensor)
    return np.array_equal(one.row_splits, other.row_splits) and _alike(one.values, other.values)


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


def _maker(name: str) -> Any:
    make = getattr(ragged.RaggedTensor, f"from_{name}")

    def made(values: Any, *args: Any, **kwargs: Any) -> RaggedTensor:
        if len(args) > 3:
            raise TypeError(f"from_{name} takes values, {name}, name and validate, got {len(args) + 1} arguments")
        given = dict(zip((name, "name", "validate"), args, strict=False))
        if given.keys() & kwargs.keys():
            raise TypeError(f"from_{name} got several values for {sorted(given.keys() & kwargs.keys())}")
        named = {key: border.lowered(value) for key, value in (given | kwargs).items() if key != "name"}
        named |= {key: partition_of(value) for key, value in named.items() if key == name}
        return RaggedTensor(make(border.lowered(values), **named))

    made.__doc__ = make.__doc__
    return staticmethod(made)


def _from_value_rowids(
    values: Any, value_rowids: Any, nrows: Any = None, name: str | None = None, validate: bool = True
) -> RaggedTensor:
    """From the row that each value belongs to, ascending; `nrows` rows, the last of which may be empty."""
    plain = ragged.RaggedTensor.from_value_rowids(
        border.lowered(values), partition_of(border.lowered(value_rowids)), validate
    )
    return RaggedTensor(_with_rows(plain, nrows))


def _with_rows(plain: ragged.RaggedTensor, nrows: Any) -> ragged.RaggedTensor:
    """With empty rows at the end, up to so many."""
    if nrows is None:
        return plain
    count = np.asarray(border.lowered(nrows))
    if count.ndim or count.dtype.kind not in "iu":
        raise InvalidArgumentError(f"nrows is one integer, got {nrows!r}")
    if count < len(plain):
        raise InvalidArgumentError(f"nrows={count} is less than the {len(plain)} rows that there are")
    splits = plain.row_splits
    more = np.full(int(count) - len(plain), splits[-1], splits.dtype)
    return ragged.RaggedTensor.from_row_splits(plain.values, np.concatenate([splits, more]), validate=False)


def _from_sparse(st_input: Any, name: str | None = None, row_splits_dtype: Any = "int64") -> RaggedTensor:
    """From a SparseTensor of two dimensions, whose values are the first ones of their rows."""
    if not isinstance(st_input, SparseTensor):
        raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}")
    plain = st_input.plain
    places = np.asarray(plain.indices)
    if len(plain.dense_shape) != 2:
        raise ValueError(f"rank(st_input) must be 2, got {len(plain.dense_shape)}")
    counts = np.bincount(places[:, 0], minlength=int(plain.dense_shape[0]))
    splits = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)]).astype(
        as_dtype(row_splits_dtype).as_numpy_dtype
    )
    if not np.array_equal(places[:, 1], np.arange(len(places)) - splits[places[:, 0]]):
        raise InvalidArgumentError("SparseTensor is not right-ragged")
    return RaggedTensor(ragged.RaggedTensor.from_row_splits(plain.values, splits))


def _from_uniform_row_length(
    values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True, name: str | None = None
) -> RaggedTensor:
    """From one length for all rows."""
    plain, length = _values_of(values), int(border.lowered(uniform_row_length))
    made = ragged.RaggedTensor.from_uniform_row_length(plain, length, np.int64, validate)
    if nrows is not None and length and int(border.lowered(nrows)) != len(made):
        raise InvalidArgumentError(f"nrows={nrows}, but {len(plain)} values make {len(made)} rows of {length}")
    return RaggedTensor(uniform_rows(plain, length, len(_with_rows(made, nrows))))


def _values_of(values: Any) -> Any:
    """An array, or the plain RaggedTensor with all that it knows of its rows."""
    if isinstance(values, RaggedTensor):
        return values.plain
    return np.asarray(border.lowered(border.raised(typed(border.lowered(values)))))


def _from_nested(name: str) -> Any:
    make = getattr(ragged.RaggedTensor, f"from_{name}")

    def made(flat_values: Any, *args: Any, **kwargs: Any) -> Any:
        """From the partitions of all ragged dimensions, outermost first."""
        given = {**dict(zip((f"nested_{name}", "name", "validate"), args, strict=False)), **kwargs}
        parts = list(given[f"nested_{name}"])
        if not parts:
            return flat_values
        values = border.lowered(flat_values)
        for part in reversed(parts):
            values = make(values, partition_of(border.lowered(part)), given.get("validate", True))
        return RaggedTensor(values)

    return staticmethod(made)


def _from_nested_value_rowids(
    flat_values: Any, nested_value_rowids: Any, nested_nrows: Any = None, name: str | None = None, validate: bool = True
) -> RaggedTensor:
    """From the rows that the values of all ragged dimensions belong to, and their numbers of rows, outermost first."""
    parts = list(nested_value_rowids)
    counts = [None] * len(parts) if nested_nrows is None else list(nested_nrows)
    if len(counts) != len(parts):
        raise ValueError(f"nested_nrows has {len(counts)} numbers for {len(parts)} nested_value_rowids")
    made: Any = flat_values
    for part, count in zip(reversed(parts), reversed(counts), strict=True):
        made = _from_value_rowids(made, part, count, None, validate)
    return made  # type: ignore[no-any-return]


def rows_of_tensor(
    tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1, name: str | None = None,
    row_splits_dtype: Any = "int64",
) -> RaggedTensor:  # fmt: skip
    """From a dense tensor: all of its rows, or their first `lengths` values, or without `padding` at their ends."""
    given, kind = _values_of(tensor), as_dtype(row_splits_dtype).as_numpy_dtype
    if not 0 < ragged_rank < given.ndim:
        raise ValueError(f"ragged_rank must be in [1, {given.ndim - 1}], got {ragged_rank}")
    if lengths is None and padding is None:
        made: Any = given.reshape(int(np.prod(given.shape[: ragged_rank + 1])), *given.shape[ragged_rank + 1 :])
        for axis in range(ragged_rank, 0, -1):
            made = uniform_rows(made, given.shape[axis], int(np.prod(given.shape[:axis])), kind)
        return RaggedTensor(made)
    if lengths is not None and padding is not None:
        raise ValueError("Specify only one of lengths and padding")
    rows = given.reshape(int(np.prod(given.shape[:ragged_rank])), *given.shape[ragged_rank:])
    counts = _kept(rows, padding) if lengths is None else np.asarray(border.lowered(lengths)).clip(0, rows.shape[1])
    flat = np.concatenate(
        [rows[:0].reshape(0, *rows.shape[2:]), *(row[:count] for row, count in zip(rows, counts, strict=True))]
    )
    cut: Any = ragged.RaggedTensor.from_row_lengths(flat, counts.astype(kind))
    for axis in range(ragged_rank - 1, 0, -1):
        cut = uniform_rows(cut, given.shape[axis], int(np.prod(given.shape[:axis])), kind)
    return RaggedTensor(cut)


def _kept(rows: Any, padding: Any) -> Any:
    """How many values of each row there are up to the last one that is not padding."""
    nothing = converted(border.lowered(padding), dtype_of(rows))
    if nothing.shape != rows.shape[2:]:
        raise InvalidArgumentError(f"padding of shape {nothing.shape} for values of shape {rows.shape[2:]}")
    differs = np.any(rows != nothing, axis=tuple(range(2, rows.ndim)))
    return np.max(np.arange(1, rows.shape[1] + 1) * differs, axis=1, initial=0)


for _name in ("row_splits", "row_lengths", "row_starts", "row_limits"):
    setattr(RaggedTensor, f"from_{_name}", _maker(_name))
for _name in ("row_splits", "row_lengths"):
    setattr(RaggedTensor, f"from_nested_{_name}", _from_nested(_name))
_makers: dict[str, Any] = {
    "uniform_row_length": _from_uniform_row_length,
    "tensor": rows_of_tensor,
    "value_rowids": _from_value_rowids,
    "nested_value_rowids": _from_nested_value_rowids,
    "sparse": _from_sparse,
}
for _name, _made in _makers.items():
    setattr(RaggedTensor, f"from_{_name}", staticmethod(_made))


def _plain_of(tensor: RaggedTensor) -> ragged.RaggedTensor:
    return without_lengths(tensor.plain)


for _kind in (ragged.RaggedTensor, UniformRows):
    border.on_departure(_kind, RaggedTensor)
border.on_arrival(RaggedTensor, _plain_of)
