"""Columns of a block: one value per element."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ..columns.bytes_array import BytesArray
from ..columns.sparse import SparseTensor
from ..columns.strings import object_array
from ..elements.nests import stack
from ..elements.owned import read_only

_Array = npt.NDArray[Any]
Rows = slice | npt.NDArray[np.int64]


class Column(ABC):
    """One value per element."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def __iter__(self) -> Iterator[Any]: ...

    @abstractmethod
    def take(self, rows: Rows) -> Column:
        """Return the values of these elements; a slice of step 1 shares their memory."""

    def row(self, number: int) -> Any:
        """Return the value of one element."""
        return next(iter(self.take(slice(number, number + 1))))

    def stacked(self) -> Any:
        """Return the values with a new first axis, as `batch` does; raise its error if they do not fit."""
        return stack(list(self))

    def join(self, others: Sequence[Any]) -> Column | None:
        """Return the values of this column and of others of its class; None if they need a general one."""
        return None

    def freeze(self) -> None:  # noqa: B027 - most have nothing to freeze
        """Make the arrays read-only."""

    def copied_bytes(self) -> int:
        """Return how many bytes are copied when a large value is."""
        return 0

    def value_bytes(self) -> int:
        """Return about the size of a value; 0 if that is unknown, or small."""
        return 0

    def settle(self) -> None:  # noqa: B027
        """Compute what would need more memory while it waits."""


class Dense(Column):
    """Values of one shape and dtype: an array `[n, *shape]`; strings are objects."""

    def __init__(self, array: _Array) -> None:
        self.array = array

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of each value."""
        return self.array.shape[1:]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.array.dtype

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.array)

    def row(self, number: int) -> Any:
        return self.array[number]

    def take(self, rows: Rows) -> Dense:
        return Dense(self.array[rows])

    def stacked(self) -> Any:
        array = self.array
        if array.flags.writeable and array.flags.c_contiguous:
            return array
        return array.copy() if array.dtype == object else _copied_rows([array], *_all_rows(array))

    def join(self, others: Sequence[Dense]) -> Dense | None:
        array = self.array
        if not _are_alike([self, *others]):
            return None
        arrays = [array, *(other.array for other in others)]
        if array.dtype == object:
            return Dense(np.concatenate(arrays))
        sources = np.repeat(np.arange(len(arrays)), [*map(len, arrays)])
        return Dense(_copied_rows(arrays, sources, np.concatenate([np.arange(len(array)) for array in arrays])))

    def copied_bytes(self) -> int:
        return self.array[:1].nbytes

    def value_bytes(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64)) * self.dtype.itemsize

    def freeze(self) -> None:
        self.array = read_only(self.array)


class Strings(Column):
    """Byte strings that stay in the records, or in the buffers of a column."""

    def __init__(self, source: _core.RecordBatch | BytesArray) -> None:
        self.source = source

    def __len__(self) -> int:
        return len(self.source)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.source)

    def row(self, number: int) -> Any:
        return self.source[number]

    def array(self) -> _Array:
        return np.asarray(self.source)

    def take(self, rows: Rows) -> Column:
        if isinstance(rows, slice) or isinstance(self.source, BytesArray):
            source: Any = self.source[rows]
            return Strings(source)
        return Dense(self.array()[rows])

    def stacked(self) -> Any:
        return self.array()

    def join(self, others: Sequence[Strings]) -> Column:
        sources: list[Any] = [self.source, *(other.source for other in others)]
        if all(isinstance(source, _core.RecordBatch) for source in sources):
            return Strings(_core.concatenate(sources))
        return Dense(np.concatenate([np.asarray(source) for source in sources]))


class Uneven(Column):
    """Arrays of one dtype and rank, whose shapes differ; they lie in one array, or each in its own.

    Args:
      arrays: the values.
      flat: a 1-D array, in which value i starts at `starts[i]` and has the shape `shapes[i]`.
    """

    def __init__(self, arrays: Sequence[_Array]) -> None:
        self._arrays: Sequence[_Array] | None = arrays
        self.dtype, self.rank = arrays[0].dtype, arrays[0].ndim
        self._flat: _Array | None = None
        self._shapes: npt.NDArray[np.int64] | None = None
        self._starts: npt.NDArray[np.int64] | None = None

    @classmethod
    def of_flat(cls, flat: _Array, starts: npt.NDArray[np.int64], shapes: npt.NDArray[np.int64]) -> Uneven:
        column = cls.__new__(cls)
        column._arrays = None
        column.dtype, column.rank = flat.dtype, shapes.shape[1]
        column._flat, column._starts, column._shapes = flat, starts, shapes
        return column

    @property
    def is_flat(self) -> bool:
        return self._flat is not None

    @property
    def shapes(self) -> npt.NDArray[np.int64]:
        """int64 `[n, rank]`."""
        if self._shapes is None:
            assert self._arrays is not None
            shapes = [array.shape for array in self._arrays]
            self._shapes = np.array(shapes, np.int64).reshape(len(shapes), self.rank)
        return self._shapes

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        shapes = self.shapes
        sizes: npt.NDArray[np.int64] = shapes[:, 0] if self.rank == 1 else shapes.prod(axis=1)
        return sizes

    def parts(self) -> tuple[_Array, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return flat, starts and shapes."""
        if self._flat is None:
            assert self._arrays is not None
            self._flat = np.concatenate([array.ravel() for array in self._arrays])
            self._starts = starts_of(self.sizes)
            self._arrays = None
        assert self._starts is not None
        return self._flat, self._starts, self.shapes

    def compact(self) -> _Array:
        """Return the values of all elements in order, without gaps."""
        flat, starts, _ = self.parts()
        sizes = self.sizes
        places = starts_of(sizes)
        total = int(sizes.sum())
        if np.array_equal(starts, places):
            return flat[:total]
        if flat.dtype != object and flat.flags.c_contiguous and total:
            rows = _core.join_rows(flat.view(np.uint8), starts, sizes, flat.itemsize)
            return rows.view(flat.dtype).reshape(-1)
        return flat[np.repeat(starts - places, sizes) + np.arange(total)]

    def __len__(self) -> int:
        return len(self.shapes)

    def __iter__(self) -> Iterator[Any]:
        if self._arrays is not None:
            return iter(self._arrays)
        flat, starts, shapes = self.parts()
        ends = (starts + self.sizes).tolist()
        pieces = map(flat.__getitem__, map(slice, starts.tolist(), ends))
        if self.rank == 1:
            return pieces
        return (piece.reshape(shape) for piece, shape in zip(pieces, shapes.tolist(), strict=True))

    def row(self, number: int) -> Any:
        if self._arrays is not None:
            return self._arrays[number]
        return super().row(number)

    def take(self, rows: Rows) -> Column:
        if self._arrays is None:
            flat, starts, shapes = self.parts()
            return Uneven.of_flat(flat, starts[rows], shapes[rows])
        arrays = self._arrays
        chosen = arrays[rows] if isinstance(rows, slice) else [arrays[row] for row in rows.tolist()]
        if not len(chosen):
            none = np.zeros((0, self.rank), np.int64)
            return Uneven.of_flat(np.empty(0, self.dtype), np.zeros(0, np.int64), none)
        return of_arrays(chosen)

    def join(self, others: Sequence[Uneven]) -> Column | None:
        columns = [self, *others]
        if any(column.dtype != self.dtype or column.rank != self.rank for column in columns):
            return None
        if not all(column.is_flat for column in columns):
            return Uneven([array for column in columns for array in column])
        shapes = np.concatenate([column.shapes for column in columns])
        flat = np.concatenate([column.compact() for column in columns])
        sizes = shapes[:, 0] if self.rank == 1 else shapes.prod(axis=1)
        return Uneven.of_flat(flat, starts_of(sizes), shapes)

    def stacked(self) -> Any:
        shapes = self.shapes
        if not len(shapes) or (shapes != shapes[0]).any():
            return super().stacked()
        if self._arrays is not None:
            return np.stack(self._arrays)
        return self.compact().reshape(len(shapes), *shapes[0].tolist()).copy()

    def value_bytes(self) -> int:
        return int(self.sizes.max(initial=0)) * self.dtype.itemsize

    def padded(self, lengths: Sequence[int], value: Any) -> _Array:
        """Return an array `[n, *lengths]` with the values, and `value` after them."""
        shapes = self.shapes
        shape = (len(shapes), *lengths)
        if self._arrays is None and self.dtype != object and (shapes[:, 1:] == lengths[1:]).all() and all(lengths):
            flat, starts, _ = self.parts()
            if flat.flags.c_contiguous:
                step = int(np.prod(lengths[1:], dtype=np.int64))
                filling = np.full(1, value, self.dtype).tobytes()
                sizes = shapes[:, 0] * step
                rows = _core.join_rows(flat.view(np.uint8), starts, sizes, flat.itemsize, lengths[0] * step, filling)
                return rows.view(self.dtype).reshape(shape)
        batch = np.full(shape, value, dtype=self.dtype)
        for number, array in enumerate(self):
            area: Any = (number, *map(slice, array.shape))
            batch[area] = array
        return batch

    def freeze(self) -> None:
        if self._arrays is None:
            self._flat = read_only(self.parts()[0])
        else:
            self._arrays = [read_only(array) for array in self._arrays]


class Sparse(Column):
    """SparseTensors of one dimension whose values leave no gaps, as parsed for a VarLenFeature.

    Args:
      values: numbers as one-dimensional arrays, or strings as BytesArrays.
    """

    def __init__(self, values: Column) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return map(_sparse, self.values)

    def take(self, rows: Rows) -> Column:
        return Sparse(self.values.take(rows))

    def join(self, others: Sequence[Sparse]) -> Column | None:
        values = joined([self.values, *(other.values for other in others)])
        return Sparse(values)

    def stacked(self) -> Any:
        if not isinstance(self.values, Uneven) or self.values.dtype == object or not len(self):
            return super().stacked()
        sizes = self.values.sizes
        splits = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
        return SparseTensor.from_row_splits(self.values.compact(), splits, [len(sizes), int(sizes.max())])

    def freeze(self) -> None:
        self.values.freeze()


def _sparse(values: Any) -> SparseTensor:
    count = len(values)
    return SparseTensor.from_row_splits(values, np.array([0, count], np.int64), [count])


class Items(Column):
    """Values of any kind."""

    def __init__(self, items: list[Any]) -> None:
        self.items = items

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.items)

    def row(self, number: int) -> Any:
        return self.items[number]

    def take(self, rows: Rows) -> Items:
        if isinstance(rows, slice):
            return Items(self.items[rows])
        return Items([self.items[row] for row in rows.tolist()])

    def join(self, others: Sequence[Items]) -> Column:
        return Items([*self.items, *(item for other in others for item in other.items)])


class Constant(Column):
    """The same value for each element."""

    def __init__(self, value: Any, count: int) -> None:
        # Records share the value: whoever gets it makes a copy to write into.
        self.value = read_only(value) if isinstance(value, np.ndarray) else value
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[Any]:
        return iter([self.value] * self.count)

    def row(self, number: int) -> Any:
        return self.value

    def take(self, rows: Rows) -> Constant:
        count = len(range(self.count)[rows]) if isinstance(rows, slice) else len(rows)
        return Constant(self.value, count)

    def join(self, others: Sequence[Constant]) -> Column | None:
        if any(other.value is not self.value for other in others):
            return None
        return Constant(self.value, self.count + sum(other.count for other in others))


def of_values(values: list[Any]) -> Column:
    """Return the column of these values."""
    first = values[0]
    cls = type(first)
    if cls is bytes and all(type(value) is bytes for value in values):
        return Dense(object_array(values, (len(values),)))
    if cls is np.ndarray:
        if all(
            type(value) is np.ndarray and value.dtype == first.dtype and value.ndim == first.ndim for value in values
        ):
            return of_arrays(values)
    elif isinstance(first, np.generic) and all(type(value) is cls for value in values):
        return Dense(np.array(values, dtype=first.dtype))
    return Items(values)


def of_arrays(arrays: Sequence[_Array]) -> Column:
    """Return the column of arrays of one dtype and rank; there is at least one."""
    shape = arrays[0].shape
    if all(array.shape == shape for array in arrays):
        return Dense(np.stack(arrays))
    return Uneven(arrays)


def joined(columns: Sequence[Column]) -> Column:
    """Return the values of several columns as one."""
    first = columns[0]
    if len(columns) == 1:
        return first
    if all(isinstance(column, type(first)) for column in columns):
        column = first.join(columns[1:])
        if column is not None:
            return column
    uneven = [as_uneven(column) for column in columns]
    if uneven[0] is not None and all(column is not None for column in uneven):
        together = uneven[0].join([column for column in uneven[1:] if column is not None])
        if together is not None:
            return together
    return of_values([value for column in columns for value in column])


def as_uneven(column: Column) -> Uneven | None:
    """Return arrays of one shape as arrays whose shapes may differ; None for other columns."""
    if isinstance(column, Uneven):
        return column
    if not isinstance(column, Dense) or len(column.shape) == 0 or column.dtype == object:
        return None
    size = int(np.prod(column.shape, dtype=np.int64))
    shapes = np.tile(np.array(column.shape, np.int64), (len(column), 1))
    return Uneven.of_flat(column.array.reshape(-1), np.arange(len(column), dtype=np.int64) * size, shapes)


def gathered(columns: Sequence[Column], sources: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> Column:
    """Return the value of row `rows[i]` of column `sources[i]`, for each i."""
    first = columns[0]
    are_dense = type(first) is Dense and _are_alike(columns)
    if are_dense and isinstance(first, Dense) and first.array.dtype != object:
        return Dense(_copied_rows([column.array for column in columns if isinstance(column, Dense)], sources, rows))
    if len(columns) == 1:
        return first.take(rows)
    order = np.argsort(sources, kind="stable")
    bounds = np.searchsorted(sources[order], np.arange(len(columns) + 1)).tolist()
    places = [order[start:stop] for start, stop in pairwise(bounds)]
    if are_dense and isinstance(first, Dense):
        result = np.empty((len(rows), *first.array.shape[1:]), first.array.dtype)
        for column, place in zip(columns, places, strict=True):
            result[place] = column.array[rows[place]]  # type: ignore[attr-defined]
        return Dense(result)
    taken = [column.take(rows[place]) for column, place in zip(columns, places, strict=True) if len(place)]
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return joined(taken).take(back)


_FEW = 8  # values along the last axis that are not worth a loop


def _all_rows(array: _Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    return np.zeros(len(array), np.int64), np.arange(len(array))


def _are_alike(columns: Sequence[Column]) -> bool:
    """Return True for dense columns of one dtype and shape."""
    first = columns[0]
    return isinstance(first, Dense) and all(
        isinstance(column, Dense) and column.dtype == first.dtype and column.shape == first.shape for column in columns
    )


def _copied_rows(arrays: list[_Array], sources: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> _Array:
    """Copy rows of several arrays, each at once."""
    first = arrays[0]
    shape = (len(rows), *first.shape[1:])
    row_bytes = first[:1].nbytes
    if not row_bytes or not len(rows):
        return np.empty(shape, first.dtype)
    if all(array.flags.c_contiguous for array in arrays):
        contents = [array.reshape(len(array), -1).view(np.uint8) for array in arrays]
        return _core.gather_rows(contents, sources, rows).view(first.dtype).reshape(shape)
    if first.ndim == 1:
        return np.array([arrays[source][row] for source, row in zip(sources, rows, strict=True)], first.dtype)
    result: _Array = _core.room(len(rows), row_bytes).view(first.dtype).reshape(shape)
    # NumPy's innermost loop runs along the last axis of the result: of few values, it takes longer than the copy.
    channels = first.shape[-1] if first.ndim > 2 and first.shape[-1] <= _FEW and not first[0].flags.c_contiguous else 0
    for target, source, row in zip(result, sources.tolist(), rows.tolist(), strict=True):
        if not channels:
            target[...] = arrays[source][row]
        for channel in range(channels):
            target[..., channel] = arrays[source][row, ..., channel]
    return result


def starts_of(sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where values of these sizes start that lie one after the other."""
    starts = np.zeros(len(sizes), np.int64)
    np.cumsum(sizes[:-1], out=starts[1:])
    return starts
