"""Images of a block: their pixels are resized, mirrored and scaled in one pass, when the array is needed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ... import _core
from .columns import Column, Dense, Rows

_Array = npt.NDArray[Any]

# The numbers of methods, alignments of pixels, and steps in the core.
BILINEAR, NEAREST, BICUBIC, AREA, LANCZOS3, LANCZOS5, GAUSSIAN, MITCHELLCUBIC = range(8)
SAME_SIZE, HALF_PIXELS, TOP_LEFT, CORNERS = range(4)
MULTIPLY, DIVIDE, ADD, SUBTRACT = range(4)
MIRRORED, UPSIDE_DOWN = 1, 2  # bits of flips

_Step = tuple[int, tuple[float, ...]]  # with an operand per channel


def can_be_drawn(array: _Array) -> bool:
    """Return True for an image of uint8 or float32 that has pixels."""
    is_drawable = array.dtype == np.uint8 or array.dtype == np.float32
    return is_drawable and array.ndim == 3 and bool(array.shape[0] and array.shape[1])


def _adjacent(array: _Array) -> _Array:
    """Return an image whose rows consist of adjacent pixels, copied if necessary."""
    pixel = array.itemsize * array.shape[2]
    is_adjacent = array.strides[2] == array.itemsize and array.strides[1] == pixel
    return array if is_adjacent else np.ascontiguousarray(array)


class Resizing(NamedTuple):
    """How images get their size."""

    method: int = BILINEAR
    alignment: int = HALF_PIXELS
    antialias: bool = False


def resize_as_floats(images: Iterable[_Array], size: tuple[int, int], resizing: Resizing) -> _Array:
    """Resize images of one number of channels, all uint8 or all float32, to float32 `[n, *size, channels]`."""
    pixels = [*map(_adjacent, images)]
    out = _new_floats(len(pixels), (*size, pixels[0].shape[2]))
    _core.draw_images(pixels, out, *resizing, b"", [], [])
    return out


def _new_floats(count: int, shape: tuple[int, int, int]) -> npt.NDArray[np.float32]:
    """Return an array `[count, *shape]`, contents undefined, in memory that is used again."""
    room = _core.room(count, 4 * int(np.prod(shape, dtype=np.int64)))
    return room.view(np.float32).reshape(count, *shape) if room.size else np.empty((count, *shape), np.float32)


def resize_nearest(images: Iterable[_Array], size: tuple[int, int], alignment: int, flips: bytes = b"") -> _Array:
    """Resize images of one dtype and number of channels to `[n, *size, channels]`, by the nearest pixels."""
    pixels = [*map(_adjacent, images)]
    out = np.empty((len(pixels), *size, pixels[0].shape[2]), pixels[0].dtype)
    _core.draw_nearest(pixels, out, alignment, flips)
    return out


class Plan(NamedTuple):
    """Steps for all images of a column.

    Args:
      shape: (height, width, channels) of the results.
      dtype: uint8 or float32; uint8 images keep their size and values.
      before: arithmetic on the pixels that are resized.
      after: arithmetic on the results.
    """

    shape: tuple[int, int, int]
    dtype: np.dtype[Any]
    resizing: Resizing = Resizing(alignment=SAME_SIZE)
    before: tuple[_Step, ...] = ()
    after: tuple[_Step, ...] = ()


class Images(Dense):
    """Images of one shape that are drawn when their array is needed.

    Args:
      pixels: arrays `[height, width, channels]` of uint8, or of float32.
      flips: bits of MIRRORED and UPSIDE_DOWN for each image.
    """

    def __init__(self, pixels: Sequence[_Array], plan: Plan, flips: npt.NDArray[np.uint8] | None = None) -> None:
        self._pixels = pixels
        self._plan = plan
        self._flips = np.zeros(len(pixels), np.uint8) if flips is None else flips
        self._array: _Array | None = None

    @classmethod
    def of_pixels(cls, pixels: Sequence[_Array]) -> Images:
        """Return the column of images of one shape and dtype."""
        first = pixels[0]
        return cls.of_plan(pixels, Plan(first.shape, first.dtype))

    @classmethod
    def of_plan(cls, pixels: Sequence[_Array], plan: Plan) -> Images:
        """Return the column of images that can be drawn."""
        return cls([*map(_adjacent, pixels)], plan)

    # ---- Steps ----

    @property
    def is_drawn(self) -> bool:
        return self._array is not None

    def _waiting(self) -> Sequence[_Array] | None:
        """Return the pixels, or None if the images are drawn, perhaps by another thread."""
        pixels = self._pixels
        return pixels if self._array is None else None

    def as_floats(self) -> Images:
        """Return the images as float32."""
        return Images(self._pixels, self._plan._replace(dtype=np.dtype(np.float32)), self._flips)

    def with_step(self, number: int, operands: _Array) -> Images:
        """Return float32 images after a step of arithmetic with an operand per channel."""
        after = (*self._plan.after, (number, tuple(operands.tolist())))
        return Images(self._pixels, self._plan._replace(after=after), self._flips)

    def flipped(self, bits: npt.NDArray[np.uint8]) -> Images:
        return Images(self._pixels, self._plan, self._flips ^ bits)

    def resized(self, size: tuple[int, int], resizing: Resizing) -> Images | None:
        """Return the images in another size, as float32; None if they must be drawn before."""
        plan = self._plan
        if plan.resizing.alignment != SAME_SIZE or self._flips.any():
            return None
        shape = (*size, plan.shape[2])
        return Images(self._pixels, Plan(shape, np.dtype(np.float32), resizing, before=plan.after), self._flips)

    # ---- The column ----

    @property
    def array(self) -> _Array:
        pixels = self._waiting()
        if pixels is not None:
            self._array = self._draw([*pixels])
            self._pixels = ()
        assert self._array is not None
        return self._array

    @array.setter
    def array(self, array: _Array) -> None:
        self._array = array

    def _draw(self, pixels: list[_Array]) -> _Array:
        plan = self._plan
        flips = self._flips.tobytes() if self._flips.any() else b""
        if plan.dtype == np.uint8:
            return resize_nearest(pixels, plan.shape[:2], SAME_SIZE, flips) if flips else np.stack(pixels)
        out = _new_floats(len(pixels), plan.shape)
        _core.draw_images(pixels, out, *plan.resizing, flips, plan.before, plan.after)
        return out

    @property
    def shape(self) -> tuple[int, ...]:
        return self._plan.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self._plan.dtype

    def __len__(self) -> int:
        return len(self._flips)

    def take(self, rows: Rows) -> Dense:
        pixels = self._waiting()
        if pixels is None:
            return Dense(self.array[rows])
        chosen = pixels[rows] if isinstance(rows, slice) else [pixels[row] for row in rows.tolist()]
        return Images(chosen, self._plan, self._flips[rows])

    def join(self, others: Sequence[Dense]) -> Dense | None:
        columns = [self, *(column for column in others if isinstance(column, Images) and column._plan == self._plan)]
        waiting = [column._waiting() for column in columns]
        if len(columns) <= len(others) or None in waiting:
            return super().join(others)
        pixels = [image for images in waiting for image in images or ()]
        return Images(pixels, self._plan, np.concatenate([column._flips for column in columns]))

    def copied_bytes(self) -> int:
        return 0 if self._waiting() is not None else super().copied_bytes()

    def settle(self) -> None:
        """Draw the images if their pixels take more memory than the results."""
        roots = {id(root): root.nbytes for root in map(_root, self._waiting() or ())}
        if sum(roots.values()) > len(self) * int(np.prod(self.shape)) * self.dtype.itemsize:
            self.array  # noqa: B018


def _root(array: _Array) -> _Array:
    """Return the array that owns an array's memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def of_images(arrays: Sequence[_Array]) -> Column | None:
    """Return the column of images that can be drawn; None if there are others, or if shapes differ."""
    first = arrays[0]
    if all(can_be_drawn(array) and array.shape == first.shape and array.dtype == first.dtype for array in arrays):
        return Images.of_pixels(arrays)
    return None
