"""TensorShape: the lengths of the dimensions, all, some or none of which are known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np


class TensorShape(tuple[Any, ...]):
    """The lengths of the dimensions, as a tuple; None for an unknown length.

    `TensorShape(None)` has an unknown number of dimensions, and therefore no `len()`.
    """

    _known = True

    def __new__(cls, dims: Any = None) -> TensorShape:
        if isinstance(dims, TensorShape):
            return dims
        if dims is None:
            unknown = super().__new__(cls)
            unknown._known = False
            return unknown
        if not isinstance(dims, tuple | list) and (not isinstance(dims, Iterable) or getattr(dims, "ndim", 1) == 0):
            dims = (dims,)
        return super().__new__(cls, map(_length, dims))

    @property
    def rank(self) -> int | None:
        """The number of dimensions, or None."""
        return tuple.__len__(self) if self._known else None

    ndims = rank

    @property
    def dims(self) -> list[int | None] | None:
        """The lengths, or None if the rank is unknown."""
        return list(tuple.__iter__(self)) if self._known else None

    def as_list(self) -> list[int | None]:
        """Return the lengths as a list."""
        if not self._known:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(tuple.__iter__(self))

    def num_elements(self) -> int | None:
        """Return the number of values, or None if a length is unknown."""
        if not self.is_fully_defined():
            return None
        return int(np.prod(tuple(self), dtype=np.int64))

    def is_fully_defined(self) -> bool:
        """Return True if all lengths are known."""
        return self._known and None not in tuple(self)

    # ---- With other shapes ----

    def is_compatible_with(self, other: Any) -> bool:
        """Return True if a tensor can have both shapes."""
        other = TensorShape(other)
        if not (self._known and other._known):
            return True
        return len(self) == len(other) and all(
            mine is None or theirs is None or mine == theirs for mine, theirs in zip(self, other, strict=True)
        )

    def assert_is_compatible_with(self, other: Any) -> None:
        """Raise ValueError unless a tensor can have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def merge_with(self, other: Any) -> TensorShape:
        """Return the known lengths of a tensor that has both shapes."""
        other = TensorShape(other)
        self.assert_is_compatible_with(other)
        if not (self._known and other._known):
            return other if other._known else self
        return TensorShape([theirs if mine is None else mine for mine, theirs in zip(self, other, strict=True)])

    def concatenate(self, other: Any) -> TensorShape:
        """Return the lengths of this shape, followed by those of the other."""
        other = TensorShape(other)
        if not (self._known and other._known):
            return TensorShape(None)
        return TensorShape([*self, *other])

    def with_rank(self, rank: int) -> TensorShape:
        """Return this shape, which must have or may have that many dimensions."""
        if not self._known:
            return TensorShape([None] * rank)
        self.assert_has_rank(rank)
        return self

    def with_rank_at_least(self, rank: int) -> TensorShape:
        """Return this shape, which must have at least that many dimensions."""
        if self._known and len(self) < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def assert_has_rank(self, rank: int) -> None:
        """Raise ValueError if the shape has another number of dimensions."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_is_fully_defined(self) -> None:
        """Raise ValueError unless all lengths are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    # ---- As a sequence ----

    def __len__(self) -> int:
        if not self._known:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return tuple.__len__(self)

    def __bool__(self) -> bool:
        return self._known

    def __iter__(self) -> Iterator[Any]:
        if not self._known:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return tuple.__iter__(self)

    def __getitem__(self, key: Any) -> Any:
        if not self._known:
            return _unknown_slice(key) if isinstance(key, slice) else None
        item = tuple.__getitem__(self, key)
        return TensorShape(item) if isinstance(key, slice) else item

    def __add__(self, other: Any) -> TensorShape:
        return self.concatenate(other)

    def __radd__(self, other: Any) -> TensorShape:
        return TensorShape(other).concatenate(self)

    def __eq__(self, other: object) -> bool:
        try:
            other = TensorShape(other)
        except (TypeError, ValueError):
            return NotImplemented
        return self._known == other._known and self.dims == other.dims

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self._known, tuple(tuple.__iter__(self))))

    def __str__(self) -> str:
        if not self._known:
            return "<unknown>"
        return str(tuple(tuple.__iter__(self)))

    def __repr__(self) -> str:
        return f"TensorShape({self.dims})"

    def __reduce__(self) -> tuple[type[TensorShape], tuple[Any]]:
        return TensorShape, (self.dims,)


def _unknown_slice(key: slice) -> TensorShape:
    """Slice a shape of unknown rank: the number of lengths is known if both bounds are."""
    if key.step is not None:
        raise ValueError("Steps are not yet handled")
    begin, end = key.start or 0, key.stop
    return TensorShape(None if end is None or begin < 0 or end < 0 else [None] * (end - begin))


def _length(length: Any) -> int | None:
    if length is None:
        return None
    value = getattr(length, "value", length)  # a Dimension of TensorFlow 1
    if value is None:
        return None
    if isinstance(value, str | bytes | float):
        raise TypeError(f"Dimension value must be integer or None or have an __index__ method, got value '{value!r}'")
    number = int(value)
    if number < 0:
        raise ValueError(f"Dimension {number} must be >= 0")
    return number
