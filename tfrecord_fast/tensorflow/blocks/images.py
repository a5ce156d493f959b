"""Rules of images: they are decoded on threads, and drawn in one pass when their array is needed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _core
from ...base.threads import default_threads
from ...base.workers import Workers
from ...images.decoding import core_options, is_in_core
from ...values.blocks.columns import Dense, Uneven
from ...values.blocks.images import (
    HALF_PIXELS,
    MIRRORED,
    MULTIPLY,
    NEAREST,
    Images,
    Plan,
    Resizing,
    can_be_drawn,
    of_images,
    resize_nearest,
)
from ..ops.arguments import as_array
from ..ops.pictures import new_size, resize_method
from ..tensors.arithmetic import convert
from ..tensors.tensor import Tensor, as_tensor
from ..tensors.tensor_dtypes import as_dtype
from ..tensors.wrapping import unwrap
from . import axes, elementwise
from .block_tensor import block_value, is_block_value
from .calls import combine, common, has_block_values, rows_of, selected
from .frames import Frame
from .randomness import draw_uniform

Operation = Callable[..., Any]
_MAP_THREADS = "tfrecord_fast.map"  # which run other blocks at the same time


def _images(value: Any, frame: Frame) -> Images | None:
    """Return the images of a block tensor that are still to be drawn."""
    column = selected(value, frame) if is_block_value(value) else None
    return column if isinstance(column, Images) and not column.is_drawn else None


def _arrays(value: Any, frame: Frame) -> list[Any] | None:
    """Return the images of a block tensor, of one dtype and number of channels; None if it has other values."""
    column = selected(value, frame) if is_block_value(value) else None
    if not isinstance(column, Dense | Uneven) or column.dtype.kind not in "buif":
        return None
    arrays = list(column)
    first = arrays[0]
    are_images = all(array.ndim == 3 and array.shape[2] == first.shape[2] and 0 not in array.shape for array in arrays)
    return arrays if are_images else None


# ---- Decoding ----


def decode(function: Operation, frame: Frame, *args: Any, **kwargs: Any) -> Any:
    """Decode the images of a block on threads, unless other threads run other blocks."""
    images = _decode_in_core(function, frame, *args, **kwargs)
    if images is not None:
        return images
    names = list(kwargs)
    columns = [rows_of(value, frame) for value in (*args, *kwargs.values())]
    rows = [row for _, row in zip(range(frame.count), zip(*columns, strict=False), strict=False)]

    def call(row: Any) -> Any:
        return function(*row[: len(args)], **dict(zip(names, row[len(args) :], strict=True)))

    threads = _decoding_threads(frame)
    if threads == 1:
        results = [*map(call, rows)]
    else:
        pool = Workers(threads, "tfrecord_fast.decode")
        try:
            results = [*pool.map(call, rows)]
        finally:
            pool.stop()
    column = of_images([unwrap(result) for result in results])
    return combine(results, frame) if column is None else block_value(column, frame)


def _decode_in_core(function: Operation, frame: Frame, *args: Any, **kwargs: Any) -> Any:
    """Decode JPEGs and PNGs with the same options on the core's threads; return None for all else."""
    contents = selected(args[0], frame) if args and is_block_value(args[0]) else None
    if contents is None or has_block_values((*args[1:], *kwargs.values())):
        return None
    files = [*contents]
    if not all(isinstance(file, bytes) and is_in_core(file) for file in files):
        return None
    options = core_options(function.__name__, *unwrap(args[1:]), **unwrap(kwargs))
    if options is None:
        return None
    arrays = [*_core.decode_images(files, options, num_threads=_decoding_threads(frame))]
    column = of_images(arrays)
    return combine([as_tensor(array) for array in arrays], frame) if column is None else block_value(column, frame)


def _decoding_threads(frame: Frame) -> int:
    is_mapping = threading.current_thread().name.startswith(_MAP_THREADS)
    return 1 if is_mapping else min(default_threads(), frame.count)


# ---- Sizes ----


def resize(
    function: Operation,
    frame: Frame,
    images: Any,
    size: Any,
    method: Any = "bilinear",
    preserve_aspect_ratio: Any = False,
    antialias: Any = False,
    name: Any = None,
) -> Any:
    size = common(size, frame)
    if size is NotImplemented or has_block_values((method, preserve_aspect_ratio, antialias)):
        return NotImplemented
    resizing = Resizing(resize_method(method).number, HALF_PIXELS, bool(antialias))
    is_nearest = resizing.method == NEAREST
    waiting = _images(images, frame)
    shape = waiting.shape if waiting is not None else _common_shape(images, frame)
    if shape is None and preserve_aspect_ratio:
        return NotImplemented
    target = new_size(size, shape or (1, 1), preserve_aspect_ratio)
    resized = None if waiting is None or is_nearest else waiting.resized(target, resizing)
    if resized is not None:
        return block_value(resized, frame)
    arrays = _arrays(images, frame)
    if arrays is None:
        return NotImplemented
    if is_nearest:
        return block_value(Dense(resize_nearest(arrays, target, HALF_PIXELS)), frame)
    if not can_be_drawn(arrays[0]):
        arrays = [array.astype(np.float32) for array in arrays]
    plan = Plan((*target, arrays[0].shape[2]), np.dtype(np.float32), resizing)
    return block_value(Images.of_plan(arrays, plan), frame)


def _common_shape(value: Any, frame: Frame) -> tuple[int, ...] | None:
    """Return the shape of all tensors of a block, or None."""
    column = selected(value, frame) if is_block_value(value) else None
    return column.shape if isinstance(column, Dense) else None


def reshape(function: Operation, frame: Frame, tensor: Any, shape: Any, name: Any = None) -> Any:
    """Leave images of this shape as they are."""
    images = _images(tensor, frame)
    lengths = None if images is None or has_block_values((shape,)) else as_array(shape).tolist()
    return tensor if images is not None and lengths == [*images.shape] else axes.reshape(function, frame, tensor, shape)


# ---- Flips ----


def flip(bit: int) -> Operation:
    """Return the rule of a flip."""

    def rule(function: Operation, frame: Frame, image: Any) -> Any:
        images = _images(image, frame)
        if images is None:
            return elementwise.same_shape(function, frame, image)
        return block_value(images.flipped(np.full(frame.count, bit, np.uint8)), frame)

    return rule


def _flipped(image: Any, axis: int) -> Any:
    array = as_array(image)
    if array.ndim not in (3, 4):
        raise ValueError(f"'image' (shape {array.shape}) must have either 3 or 4 dimensions.")
    return as_tensor(np.flip(array, axis))


def random_flip(bit: int) -> Operation:
    """Return the rule of a random flip."""

    def rule(function: Operation, frame: Frame, image: Any, seed: Any = None) -> Any:
        numbers = draw_uniform(frame, seed)
        images = _images(image, frame)
        if images is None:
            column = of_images(_arrays(image, frame) or [np.empty(0)])
            if not isinstance(column, Images):  # the same images are mirrored as of other dtypes, such as masks
                axis = -2 if bit == MIRRORED else -3
                rows = zip(numbers, rows_of(image, frame), strict=False)
                return combine([_flipped(row, axis) if number < 0.5 else row for number, row in rows], frame)
            images = column
        return block_value(images.flipped(np.where(numbers < 0.5, bit, 0).astype(np.uint8)), frame)

    return rule


# ---- Values ----


def cast(function: Operation, frame: Frame, x: Any, dtype: Any, name: Any = None) -> Any:
    images = _images(x, frame)
    if images is not None and as_dtype(dtype) == "float32":
        return block_value(images.as_floats(), frame)
    return elementwise.cast(function, frame, x, dtype)


def convert_image_dtype(
    function: Operation, frame: Frame, image: Any, dtype: Any, saturate: Any = False, name: Any = None
) -> Any:
    images = _images(image, frame)
    if images is None or as_dtype(dtype) != "float32":
        return elementwise.same_shape(function, frame, image, dtype, saturate)
    if images.dtype == np.float32:
        return image
    factor = np.full(images.shape[2], 1.0 / 255, np.float32)
    return block_value(images.as_floats().with_step(MULTIPLY, factor), frame)


def arithmetic(step: int) -> Operation:
    """Return the rule of a step of arithmetic, on images and a constant."""

    def rule(function: Operation, frame: Frame, x: Any, y: Any, name: Any = None) -> Any:
        images = _images(x, frame)
        operands = None if images is None or is_block_value(y) else _operands(function, images, y)
        if images is None or operands is None:
            return elementwise.elementwise(function, frame, x, y)
        return block_value(images.with_step(step, operands), frame)

    return rule


def _operands(function: Operation, images: Images, value: Any) -> Any:
    """Return a constant as float32, one per channel; None if the result would have another shape or dtype."""
    if images.dtype != np.float32 or has_block_values((value,)):
        return None
    sample = function(as_tensor(np.zeros((1, 1, images.shape[2]), np.float32)), value)
    if not isinstance(sample, Tensor) or sample.dtype != "float32" or sample.get_shape() != (1, 1, images.shape[2]):
        return None
    array = as_array(value) if isinstance(value, Tensor) else convert(value, "float32")
    return np.broadcast_to(array.astype(np.float32), (1, 1, images.shape[2])).ravel()
