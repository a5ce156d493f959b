"""BytesArray: the string columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ... import _core
from ...dtypes import DTypeLike, as_dtype
from ...errors import InvalidArgumentError
from .arrow import Capsules, export
from .strings import strings

__all__ = ["BytesArray"]


class BytesArray(_core.BytesArrayBase):
    """Byte strings of any shape, as views into the buffers of the records they were parsed from.

    Nothing is copied until asked for: `col[i]` gives bytes (or a BytesArray, if there are more axes),
    `col.view(i)` a read-only memoryview, `np.asarray(col)` an object array, `col.tolist()` lists of bytes. Slices,
    index arrays and masks give a BytesArray over the same buffers. The record buffers live as long as the array
    does; `col.copy()` lets go of them.

    `BytesArray(values)` makes one of a (nested) sequence of bytes-like objects, of an array of strings or objects, or
    of the rows of an array of uint8. Raises TypeError for anything else.
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    dtype = np.dtype(object)

    def __new__(cls, values: Any) -> BytesArray:
        array = strings(values, "an element of a BytesArray")
        made: BytesArray = _core.bytes_from_list(array.ravel().tolist(), list(array.shape))
        return made

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("a BytesArray holds no Python objects: an object array of it is always a copy")
        flat = np.empty(self.size, dtype=object)
        flat[:] = _core.bytes_reshape(self, [self.size]).tolist()
        array = flat.reshape(self.shape)
        return array if dtype is None else array.astype(dtype)

    def _index(self, key: Any) -> Any:
        positions = np.arange(self.size, dtype=np.int64).reshape(self.shape)[key]
        if np.ndim(positions) == 0:
            return _core.bytes_take(self, np.asarray([positions]))[0]
        return _core.bytes_take(self, positions)

    def reshape(self, *shape: int | Sequence[int]) -> BytesArray:
        """The same elements in another shape; no copy. One length may be -1."""
        wanted: Any = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        lengths = list(np.empty(self.shape, dtype=np.bool_).reshape(wanted).shape)
        if not lengths:
            one: BytesArray = self[(0,) * self.ndim]
            return one
        return _core.bytes_reshape(self, lengths)

    def ravel(self) -> BytesArray:
        """The same elements, 1-D; no copy."""
        return _core.bytes_reshape(self, [self.size])

    def copy(self) -> BytesArray:
        """The same elements in memory of their own, which lets go of the record buffers."""
        return _core.bytes_copy(self)

    def lengths(self) -> npt.NDArray[np.int64]:
        """The size of each element in bytes, in the array's shape."""
        return _core.bytes_lengths(self).reshape(self.shape)

    def decode_raw(self, dtype: DTypeLike, shape: Sequence[int] | int | None = None) -> npt.NDArray[Any]:
        """The elements' bytes as one dense, little-endian array.

        Args:
          dtype: numeric.
          shape: of one element. None: 1-D; the elements must all have the same number of bytes.

        Returns:
          An ndarray `[*self.shape, *shape]`.

        Raises:
          errors.InvalidArgumentError: an element has a different number of bytes.
        """
        kind = np.dtype(as_dtype(dtype).as_numpy_dtype)
        if kind.hasobject:
            raise ValueError("decode_raw needs a numeric dtype")
        if shape is None:
            width = int(_core.bytes_lengths(self)[0]) if self.size else 0
            if width % kind.itemsize:
                raise InvalidArgumentError(
                    f"decode_raw: element 0 has {width} bytes, not a multiple of {kind.itemsize} for {kind.name}"
                )
            inner: tuple[int, ...] = (width // kind.itemsize,)
        else:
            inner = (int(shape),) if isinstance(shape, int | np.integer) else tuple(shape)
            width = kind.itemsize * int(np.prod(inner, dtype=np.int64))
        rows = np.empty((self.size, width), dtype=np.uint8)
        wrong = _core.bytes_copy_rows(self, rows, exact=True)
        if wrong >= 0:
            got = int(_core.bytes_lengths(self)[wrong])
            raise InvalidArgumentError(
                f"decode_raw: element {wrong} has {got} bytes, expected {width} ({kind.name} of shape {list(inner)})"
            )
        return rows.view(kind).reshape(self.shape + inner) if width else np.empty(self.shape + inner, kind)

    def __eq__(self, other: object) -> Any:
        """Element by element, as an object array would."""
        return np.asarray(self) == (np.asarray(other, object) if isinstance(other, list | BytesArray) else other)

    def __ne__(self, other: object) -> Any:
        return ~(self == other)

    def __arrow_c_array__(self, requested_schema: object | None = None) -> Capsules:
        return export(self, [], requested_schema)

    def __repr__(self) -> str:
        shown = ", ".join(repr(item) for item in self[:3].tolist()) if self.size else ""
        more = ", …" if len(self) > 3 else ""
        return f"BytesArray([{shown}{more}], shape={self.shape})"

    def __reduce__(self) -> tuple[Callable[..., BytesArray], tuple[bytes, bytes, tuple[int, ...]]]:
        return _restore, (_core.bytes_joined(self), _core.bytes_lengths(self).tobytes(), self.shape)

    def __copy__(self) -> BytesArray:
        return self  # immutable

    def __deepcopy__(self, memo: object) -> BytesArray:
        return self.copy()


def _restore(joined: bytes, lengths: bytes, shape: tuple[int, ...]) -> BytesArray:
    ends = np.cumsum(np.frombuffer(lengths, dtype=np.int64)).tolist()
    whole = memoryview(joined)
    items = [whole[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    made: BytesArray = _core.bytes_from_list(items, list(shape))
    return made


_core.register_bytes_array(BytesArray)
