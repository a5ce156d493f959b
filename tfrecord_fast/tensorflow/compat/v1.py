"""`tf.compat.v1` of the face: the face, and TensorFlow 1's names and orders of arguments, as far as they make sense
without graphs and sessions. Scripts of TensorFlow 1 find these names at the top of the face too."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ...compat import v1 as plain
from ...compat.io import decode_raw as _decode_raw
from ...compat.io import parse_example as _parse_example
from ...compat.io import parse_single_example as _parse_single_example
from ...errors import InvalidArgumentError
from ...io import decode_json_example as _decode_json_example
from ...io import matching_files as _matching_files
from ...io import parse_sequence_example as _parse_sequence_example
from ...io import parse_single_sequence_example as _parse_single_sequence_example
from ...io import parse_tensor as _parse_tensor
from ...io import read_file as _read_file
from ...io import serialize_tensor as _serialize_tensor
from ...io import write_file as _write_file
from ...sparse import to_dense as _to_dense
from ...values.elements.nests import map_leaves
from .. import logging
from ..border import lifted
from ..composites import SparseTensor
from ..datasets import Dataset, Elements
from ..fallback import face_names, installed, of_tensorflow, part_of_face
from ..machine import __all__ as WHERE_ABSENT
from ..ops import arguments, arrays, control, filled, numbers, picked, randoms
from ..ops import strings as _strings
from ..ops.pictures import resize_by_corners

__all__ = [
    "TFRecordReader", "arg_max", "arg_min", "ceil", "data", "decode_json_example", "decode_raw",
    "disable_eager_execution",
    "enable_eager_execution", "enable_v2_behavior", "executing_eagerly_outside_functions", "image", "io", "lin_space",
    "log", "logging", "matching_files", "parse_example", "parse_sequence_example", "parse_single_example",
    "parse_single_sequence_example", "parse_tensor", "placeholder", "py_func", "random_crop", "random_normal",
    "random_shuffle", "random_uniform", "read_file", "reduce_join", "serialize_tensor", "set_random_seed",
    "sparse_tensor_to_dense", "string_join", "string_split", "string_strip", "string_to_number", "substr", "to_double",
    "to_float", "to_float32", "to_int32", "to_int64", "where", "write_file",
]  # fmt: skip

parse_example = lifted(_parse_example)
parse_single_example = lifted(_parse_single_example)
parse_sequence_example = lifted(_parse_sequence_example)
parse_single_sequence_example = lifted(_parse_single_sequence_example)
decode_raw = lifted(_decode_raw)
decode_json_example = lifted(_decode_json_example)
parse_tensor = lifted(_parse_tensor)
serialize_tensor = lifted(_serialize_tensor)
matching_files = lifted(_matching_files)
read_file = lifted(_read_file)
write_file = lifted(_write_file)
sparse_tensor_to_dense = lifted(_to_dense)
ceil, log = numbers.ceil, numbers.log
arg_max, arg_min = numbers.argmax, numbers.argmin
lin_space = filled.linspace
random_uniform, random_normal, random_shuffle = randoms.uniform, randoms.normal, randoms.shuffle
set_random_seed = randoms.set_seed
string_join, string_strip, string_to_number = _strings.join, _strings.strip, _strings.to_number
substr = _strings.substr


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """As `tf.where`, but a condition of one dimension chooses whole rows, and no shape is broadcast."""
    if x is None or y is None:
        return picked.where(condition, x, y)
    chosen, first, second = arguments.array_of(condition), arguments.array_of(x), arguments.array_of(y)
    if first.shape != second.shape or chosen.shape not in ((), first.shape, first.shape[:1]):
        raise InvalidArgumentError(
            f"Inputs to operation Select must have the same size and shape. Input 0: {[*chosen.shape]} != input 1: "
            f"{[*first.shape]}, input 2: {[*second.shape]}"
        )
    if chosen.shape != first.shape and chosen.ndim == 1:
        condition = chosen.reshape(-1, *[1] * (first.ndim - 1))
    return picked.where(condition, x, y)


def _converter(name: str) -> Callable[..., Any]:
    def convert(x: Any, name: str | None = None) -> Any:
        return arrays.cast(x, kind)

    kind = name
    convert.__doc__ = f"The values as {name}."
    return convert


to_float = to_float32 = _converter("float32")
to_double = _converter("float64")
to_int32 = _converter("int32")
to_int64 = _converter("int64")


def random_crop(value: Any, size: Any, seed: Any = None, name: str | None = None) -> Any:
    """A part of that size, somewhere."""
    return part_of_face("image").random_crop(value, size, seed)


def py_func(func: Callable[..., Any], inp: Any, Tout: Any, stateful: bool = True, name: str | None = None) -> Any:
    """`numpy_function`; of a single dtype, a single result."""
    return control.numpy_function(func, inp, Tout)


def reduce_join(
    inputs: Any, axis: Any = None, keep_dims: bool = False, separator: str = "", name: str | None = None,
    reduction_indices: Any = None, keepdims: bool = False,
) -> Any:  # fmt: skip
    """`strings.reduce_join`."""
    return _strings.reduce_join(
        inputs, axis if reduction_indices is None else reduction_indices, keepdims or keep_dims, separator
    )


def string_split(
    source: Any = None,
    sep: Any = None,
    skip_empty: bool = True,
    delimiter: Any = " ",
    result_type: str = "SparseTensor",
    name: str | None = None,
    input: Any = None,
) -> Any:
    """The parts of strings: a SparseTensor with a row for each string."""
    strings = arrays.convert_to_tensor(source if input is None else input, "string")
    at = arrays.convert_to_tensor(delimiter if sep is None else sep, "string").numpy()
    parts = [_parts(text, at, skip_empty) for text in arrays.reshape(strings, [-1]).numpy().tolist()]
    if result_type == "RaggedTensor":
        return part_of_face("ragged").constant(parts, dtype="string", ragged_rank=1)
    places = [[row, column] for row, items in enumerate(parts) for column in range(len(items))]
    values = arrays.constant([part for row in parts for part in row], "string")
    longest = max(map(len, parts), default=0)
    return SparseTensor(arrays.reshape(arrays.constant(places, "int64"), [-1, 2]), values, [len(parts), longest])


def _parts(text: bytes, delimiter: bytes, skip_empty: bool) -> list[bytes]:
    """Between bytes that are one of the delimiter's; each byte, if it has none. An empty string has no parts."""
    if not delimiter:
        return [text[i : i + 1] for i in range(len(text))]
    found = re.split(b"[" + re.escape(delimiter) + b"]", text) if text else []
    return [part for part in found if part or not skip_empty]


def enable_eager_execution(*args: Any, **kwargs: Any) -> None:
    """Has no effect: everything is eager."""


enable_v2_behavior = enable_resource_variables = enable_tensor_equality = enable_control_flow_v2 = (
    enable_eager_execution
)


def disable_eager_execution() -> None:
    """Raises NotImplementedError: there are no graphs."""
    raise NotImplementedError("tfrecord_fast has no graphs: leave out disable_eager_execution() and sessions")


disable_v2_behavior = disable_eager_execution


def placeholder(*args: Any, **kwargs: Any) -> Any:
    """Raises NotImplementedError: there are no graphs."""
    raise NotImplementedError("tfrecord_fast has no graphs, so no placeholders: give the values at once")


def executing_eagerly_outside_functions() -> bool:
    """True."""
    return True


class TFRecordReader:
    """Raises NotImplementedError: readers with queues need graphs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("TFRecordReader and its queues need graphs: use tf.data.TFRecordDataset")


class _Data:
    """`tf.compat.v1.data`: `tf.data`, and iterators made by functions."""

    @staticmethod
    def make_one_shot_iterator(dataset: Dataset) -> Elements:
        """An iterator; `get_next()` gives the next element."""
        return iter(dataset)

    make_initializable_iterator = make_one_shot_iterator

    @staticmethod
    def get_output_shapes(dataset: Dataset) -> Any:
        """The shapes of the components."""
        return _of_specs(dataset, "shape")

    @staticmethod
    def get_output_types(dataset: Dataset) -> Any:
        """The dtypes of the components."""
        return _of_specs(dataset, "dtype")

    @staticmethod
    def get_output_classes(dataset: Dataset) -> Any:
        """The types of the components."""
        return _of_specs(dataset, "value_type")

    def __getattr__(self, name: str) -> Any:
        return getattr(part_of_face("data"), name)


def _of_specs(dataset: Dataset, name: str) -> Any:

    return map_leaves(lambda spec: getattr(spec, name), dataset.element_spec)


class _Io:
    """`tf.compat.v1.io`: `tf.io` with TensorFlow 1's order of arguments."""

    parse_example = staticmethod(parse_example)
    parse_single_example = staticmethod(parse_single_example)
    decode_raw = staticmethod(decode_raw)
    tf_record_iterator = staticmethod(plain.io.tf_record_iterator)

    def __getattr__(self, name: str) -> Any:
        return getattr(part_of_face("io"), name)


def _with_floats(images: Any) -> Any:
    return arrays.cast(images, "float32")


def _refuse_both(align_corners: bool) -> None:
    if align_corners:
        raise InvalidArgumentError("If half_pixel_centers is True, align_corners must be False.")


class _Image:
    """`tf.compat.v1.image`: `tf.image`, and TensorFlow 1's names."""

    resize_images = resize = staticmethod(resize_by_corners)

    @classmethod
    def resize_bilinear(
        cls,
        images: Any,
        size: Any,
        align_corners: bool = False,
        name: str | None = None,
        half_pixel_centers: bool = False,
    ) -> Any:
        """`resize_images`, bilinear; float32."""
        given = arrays.convert_to_tensor(images)
        if not half_pixel_centers:
            return cls.resize_images(_with_floats(given), size, 0, align_corners)
        _refuse_both(align_corners)
        return part_of_face("image").resize(_with_floats(given), size, "bilinear")

    @classmethod
    def resize_nearest_neighbor(
        cls,
        images: Any,
        size: Any,
        align_corners: bool = False,
        name: str | None = None,
        half_pixel_centers: bool = False,
    ) -> Any:
        """`resize_images`, nearest."""
        if not half_pixel_centers:
            return cls.resize_images(images, size, 1, align_corners)
        _refuse_both(align_corners)
        return part_of_face("image").resize(images, size, "nearest")

    def __getattr__(self, name: str) -> Any:
        return getattr(part_of_face("image"), name)


class _Room:
    """A module of the face, and what TensorFlow has beyond it under `tf.compat.v1`."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        try:
            return getattr(part_of_face(self._name), name)
        except AttributeError:
            return of_tensorflow(f"tf.compat.v1.{self._name}.{name}")


data, io, image, train = _Data(), _Io(), _Image(), _Room("train")
_names = face_names(__name__, "tf.compat.v1")
__dir__ = _names.dir


def __getattr__(name: str) -> Any:
    face = part_of_face()
    if name in face.__all__ or (name in WHERE_ABSENT and not installed()):
        return getattr(face, name)
    return _names.getattr(name)
