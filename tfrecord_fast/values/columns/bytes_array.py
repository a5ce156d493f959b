"""BytesArray: columns of byte strings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ... import _core
from ...dtypes import DTypeLike, as_dtype
from ...errors import InvalidArgumentError
from ..text import SHOWN_ROWS, html_table
from .arrow import Capsules, export
from .strings import strings


class BytesArray(_core.BytesArrayBase):
    """Byte strings of any shape, as views into the buffers of the records they were parsed from.

    Bytes are copied only on demand: `col[i]` returns bytes (or a BytesArray, if there are more axes), `col.view(i)` a
    read-only memoryview, `np.asarray(col)` an object array, `col.tolist()` lists of bytes. Slices, index arrays and
    masks return a BytesArray over the same buffers. The array keeps the record buffers alive; `col.copy()` does not.

    `BytesArray(values)` takes a (nested) sequence of bytes-like objects, an array of strings or objects, or the rows of
    an array of uint8. Raises TypeError for other values.

    >>> import tfrecord_fast as tf
    >>> records = tf.encode_examples({"name": ["a", "bc"]})
    >>> names = tf.parse_example(records, {"name": tf.FixedLenFeature([], tf.string)})["name"]
    >>> names[1], names.tolist()
    (b'bc', [b'a', b'bc'])
    """

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    dtype = np.dtype(object)

    def __new__(cls, values: Any) -> BytesArray:
        array = strings(values, "an element of a BytesArray")
        return cast(BytesArray, _core.bytes_from_list(array.ravel().tolist(), list(array.shape)))

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("converting a BytesArray to an object array always copies; use copy=None or copy=True")
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
        """Return the same elements in another shape, without a copy. One length may be -1."""
        requested: Any = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        lengths = list(np.empty(self.shape, dtype=np.bool_).reshape(requested).shape)
        return _core.bytes_reshape(self, lengths) if lengths else self[(0,) * self.ndim]

    def ravel(self) -> BytesArray:
        """Return the same elements as one dimension, without a copy."""
        return _core.bytes_reshape(self, [self.size])

    def copy(self) -> BytesArray:
        """Return the same elements in memory of their own, which does not keep the record buffers alive."""
        return _core.bytes_copy(self)

    def lengths(self) -> npt.NDArray[np.int64]:
        """Return the size of each element in bytes, in the array's shape."""
        return _core.bytes_lengths(self).reshape(self.shape)

    def decode_raw(self, dtype: DTypeLike, shape: Sequence[int] | int | None = None) -> npt.NDArray[Any]:
        """Reinterpret the elements' bytes as one dense array of little-endian numbers.

        Args:
          dtype: a numeric dtype.
          shape: the shape of one element. None for 1-D; then all elements must have the same number of bytes.

        Returns:
          An ndarray `[*self.shape, *shape]`.

        Raises:
          errors.InvalidArgumentError: an element has a different number of bytes.
        """
        target = np.dtype(as_dtype(dtype).as_numpy_dtype)
        if target.hasobject:
            raise ValueError("decode_raw needs a numeric dtype")
        if shape is None:
            width = int(_core.bytes_lengths(self)[0]) if self.size else 0
            if width % target.itemsize:
                raise InvalidArgumentError(
                    f"decode_raw: element 0 has {width} bytes, not a multiple of {target.itemsize} for {target.name}"
                )
            inner: tuple[int, ...] = (width // target.itemsize,)
        else:
            inner = (int(shape),) if isinstance(shape, int | np.integer) else tuple(shape)
            width = target.itemsize * int(np.prod(inner, dtype=np.int64))
        rows = np.empty((self.size, width), dtype=np.uint8)
        wrong = _core.bytes_copy_rows(self, rows, exact=True)
        if wrong >= 0:
            size = int(_core.bytes_lengths(self)[wrong])
            raise InvalidArgumentError(
                f"decode_raw: element {wrong} has {size} bytes, expected {width} ({target.name} of shape {list(inner)})"
            )
        return rows.view(target).reshape(self.shape + inner) if width else np.empty(self.shape + inner, target)

    def __eq__(self, other: object) -> Any:
        """Compare element by element, as an object array does. Text is compared as UTF-8."""
        return np.asarray(self) == _text_encoded(other)

    def __ne__(self, other: object) -> Any:
        return ~(self == other)

    def __contains__(self, item: object) -> bool:
        return bool(np.any(self == item))

    def __arrow_c_array__(self, requested_schema: object | None = None) -> Capsules:
        return export(self, [], requested_schema)

    def __repr__(self) -> str:
        shown = ", ".join(repr(item) for item in self[:3].tolist()) if self.size else ""
        more = ", …" if len(self) > 3 else ""
        return f"BytesArray([{shown}{more}], shape={self.shape})"

    def _repr_html_(self) -> str:
        return html_table(
            f"BytesArray of shape {self.shape}", enumerate(self[:SHOWN_ROWS].tolist() if self.size else ())
        )

    def __reduce__(self) -> tuple[Callable[..., BytesArray], tuple[bytes, bytes, tuple[int, ...]]]:
        return _restore, (_core.bytes_joined(self), _core.bytes_lengths(self).tobytes(), self.shape)

    def __copy__(self) -> BytesArray:
        return self  # immutable

    def __deepcopy__(self, memo: object) -> BytesArray:
        return self.copy()


def _text_encoded(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, list | tuple | np.ndarray | BytesArray):
        return np.frompyfunc(lambda item: item.encode() if isinstance(item, str) else item, 1, 1)(
            np.asarray(value, object)
        )
    return value


def _restore(joined: bytes, lengths: bytes, shape: tuple[int, ...]) -> BytesArray:
    ends = np.cumsum(np.frombuffer(lengths, dtype=np.int64)).tolist()
    whole = memoryview(joined)
    items = [whole[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return cast(BytesArray, _core.bytes_from_list(items, list(shape)))


_core.register_bytes_array(BytesArray)
