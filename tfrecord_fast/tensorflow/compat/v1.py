"""`tf.compat.v1`: `tf`, and TensorFlow 1's names and orders of arguments, as far as they make sense without graphs.

Scripts for TensorFlow 1 find these names in `tf` itself as well.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ...compat import io as plain_io
from ...errors import InvalidArgumentError
from ...sparse import to_dense
from ...values.elements.nests import map_leaves
from ..blocks.rules import on_blocks
from ..data.datasets import Dataset, Iterator
from ..fallback import from_tensorflow, installed, tf_module
from ..machine import __all__ as STAND_INS
from ..modules import module_lazy_names
from ..ops import arguments, arrays, control, picked, randoms
from ..ops import strings as string_ops
from ..ops.composites import ragged_constant
from ..ops.pictures import resize_by_corners
from ..tensors.sparse_tensor import SparseTensor
from ..tensors.wrapping import wrap_function

sparse_tensor_to_dense = on_blocks(wrap_function(to_dense), to_dense)


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """Choose as `tf.where` does, but a 1-D condition chooses whole rows, and nothing is broadcast."""
    if x is None or y is None:
        return picked.where(condition, x, y)
    chosen, first, second = arguments.as_array(condition), arguments.as_array(x), arguments.as_array(y)
    if first.shape != second.shape or chosen.shape not in ((), first.shape, first.shape[:1]):
        raise InvalidArgumentError(
            f"Inputs to operation Select must have the same size and shape. Input 0: {[*chosen.shape]} != input 1: "
            f"{[*first.shape]}, input 2: {[*second.shape]}"
        )
    if chosen.shape != first.shape and chosen.ndim == 1:
        condition = chosen.reshape(-1, *[1] * (first.ndim - 1))
    return picked.where(condition, x, y)


def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
    name: str | None = None,
) -> Any:
    """Return a tensor of this shape with values at some indices; one value may be for all indices."""
    indices = arguments.as_array(sparse_indices)
    shape = arguments.as_lengths(output_shape)
    indices = indices.reshape(-1, len(shape) if indices.ndim == 2 else 1)
    values = arguments.as_array(sparse_values)
    values = values if values.ndim else arguments.as_array(arrays.broadcast_to(values, [len(indices)]))
    return sparse_tensor_to_dense(SparseTensor(indices.astype("int64"), values, shape), default_value, validate_indices)


variable_scope = control.name_scope


def _cast_to(dtype: str) -> Callable[..., Any]:
    def cast(x: Any, name: str | None = None) -> Any:
        return arrays.cast(x, dtype)

    cast.__doc__ = f"Cast to {dtype}."
    return on_blocks(cast, cast)


to_float = to_float32 = _cast_to("float32")
to_double = _cast_to("float64")
to_int32 = _cast_to("int32")
to_int64 = _cast_to("int64")


def py_func(func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: str | None = None) -> Any:
    """Call a function on NumPy values; return one result for a single dtype."""
    return control.numpy_function(func, inp, Tout)


def reduce_join(
    inputs: Any, axis: Any = None, keep_dims: bool = False, separator: str = "", name: str | None = None,
    reduction_indices: Any = None, keepdims: bool = False,
) -> Any:  # fmt: skip
    """Join strings as `strings.reduce_join` does."""
    axes = axis if reduction_indices is None else reduction_indices
    return string_ops.reduce_join(inputs, axes, keepdims or keep_dims, separator)


where, py_func, reduce_join = on_blocks(where, where), on_blocks(py_func, py_func), on_blocks(reduce_join, reduce_join)


def string_split(
    source: Any = None, sep: Any = None, skip_empty: bool = True, delimiter: Any = " ",
    result_type: str = "SparseTensor", name: str | None = None, input: Any = None,
) -> Any:  # fmt: skip
    """Split strings at any byte of the delimiter into a SparseTensor with a row for each string."""
    strings = arrays.convert_to_tensor(source if input is None else input, "string")
    delimiters = arrays.convert_to_tensor(delimiter if sep is None else sep, "string").numpy()
    rows = [_split(text, delimiters, skip_empty) for text in arrays.reshape(strings, [-1]).numpy().tolist()]
    if result_type == "RaggedTensor":
        return ragged_constant(rows, dtype="string", ragged_rank=1)
    indices = [[number, column] for number, row in enumerate(rows) for column in range(len(row))]
    values = arrays.constant([text for row in rows for text in row], "string")
    longest = max(map(len, rows), default=0)
    return SparseTensor(arrays.reshape(arrays.constant(indices, "int64"), [-1, 2]), values, [len(rows), longest])


string_split = on_blocks(string_split, string_split)


def _split(text: bytes, delimiters: bytes, skip_empty: bool) -> list[bytes]:
    """Split a string; without a delimiter, into bytes. An empty string has none."""
    if not delimiters:
        return [text[i : i + 1] for i in range(len(text))]
    strings = re.split(b"[" + re.escape(delimiters) + b"]", text) if text else []
    return [string for string in strings if string or not skip_empty]


# ---- Graphs ----


def enable_eager_execution(*args: Any, **kwargs: Any) -> None:
    """Do nothing: everything is eager."""


enable_v2_behavior = enable_resource_variables = enable_tensor_equality = enable_control_flow_v2 = (
    enable_eager_execution
)


def disable_eager_execution() -> None:
    """Raise NotImplementedError: graphs are not supported."""
    raise NotImplementedError("tfrecord_fast has no graphs: remove disable_eager_execution() and sessions")


disable_v2_behavior = disable_eager_execution


def placeholder(*args: Any, **kwargs: Any) -> Any:
    """Raise NotImplementedError: graphs are not supported."""
    raise NotImplementedError("tfrecord_fast has no graphs, so no placeholders: pass the values directly")


def executing_eagerly_outside_functions() -> bool:
    """Return True."""
    return True


class TFRecordReader:
    """Raises NotImplementedError: readers with queues need graphs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("TFRecordReader and its queues need graphs: use tf.data.TFRecordDataset")


# ---- Modules ----


class _Module:
    """A module of `tf` with TensorFlow 1's names added."""

    def __init__(self, name: str, **names: Any) -> None:
        self._name = name
        vars(self).update(names)

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(tf_module(self._name), name)
        except AttributeError:
            return from_tensorflow(f"tf.compat.v1.{self._name}.{name}")


def _make_iterator(dataset: Dataset) -> Iterator:
    """Return an iterator, whose `get_next()` returns the next element."""
    return iter(dataset)


def _spec_attribute(attribute: str) -> Callable[[Dataset], Any]:
    def get(dataset: Dataset) -> Any:
        return map_leaves(lambda spec: getattr(spec, attribute), dataset.element_spec)

    return get


def _resize(method: str, number: int) -> Callable[..., Any]:
    def resize(
        images: Any, size: Any, align_corners: bool = False, name: str | None = None, half_pixel_centers: bool = False
    ) -> Any:
        pixels = arrays.cast(arrays.convert_to_tensor(images), "float32") if method != "nearest" else images
        if not half_pixel_centers:
            return resize_by_corners(pixels, size, number, align_corners)
        if align_corners:
            raise InvalidArgumentError("If half_pixel_centers is True, align_corners must be False.")
        return tf_module("image").resize(pixels, size, method)

    resize.__doc__ = f"Resize images with the method {method!r}."
    return on_blocks(resize, resize)


data = _Module(
    "data",
    make_one_shot_iterator=_make_iterator,
    make_initializable_iterator=_make_iterator,
    get_output_shapes=_spec_attribute("shape"),
    get_output_types=_spec_attribute("dtype"),
    get_output_classes=_spec_attribute("value_type"),
)
io = _Module(
    "io",
    parse_example=on_blocks(wrap_function(plain_io.parse_example), plain_io.parse_example),
    parse_single_example=on_blocks(wrap_function(plain_io.parse_single_example), plain_io.parse_single_example),
    decode_raw=on_blocks(wrap_function(plain_io.decode_raw), plain_io.decode_raw),
    tf_record_iterator=plain_io.tf_record_iterator,
)
image = _Module(
    "image",
    resize=on_blocks(resize_by_corners, resize_by_corners),
    resize_images=on_blocks(resize_by_corners, resize_by_corners),
    resize_area=_resize("area", 3),
    resize_bicubic=_resize("bicubic", 2),
    resize_bilinear=_resize("bilinear", 0),
    resize_nearest_neighbor=_resize("nearest", 1),
)
random = _Module("random", set_random_seed=randoms.set_seed)
train = _Module("train")

_names = module_lazy_names(
    __name__,
    {
        ".ops.checks": "check_numerics",
        ".ops.filled": "lin_space=linspace",
        ".ops.math": "arg_max=argmax arg_min=argmin ceil log",
        ".ops.pictures": "random_crop",
        ".ops.randoms": "random_normal=normal random_shuffle=shuffle random_uniform=uniform set_random_seed=set_seed",
        ".ops.strings": "string_join=join string_strip=strip string_to_number=to_number substr",
        ".tensors.sparse_tensor": "SparseTensorValue=SparseTensor",
    },
    "tf.compat.v1",
    "tfrecord_fast.compat.v1",
)
__dir__ = _names.dir


def __getattr__(name: str) -> Any:
    tf = tf_module()
    if name in tf.__all__ or (name in STAND_INS and not installed()):
        return getattr(tf, name)
    return _names.getattr(name)
