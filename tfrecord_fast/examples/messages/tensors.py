"""Arrays as serialized TensorProto messages, and Examples from JSON; both need protobuf."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt

from ...base.optional import optional
from ...dtypes import DATA_TYPES, as_dtype
from ...errors import InvalidArgumentError
from ...typing import BytesLike, DTypeLike
from ...values.columns.strings import as_bytes, object_array, strings
from ...values.columns.typed import as_ndarray
from ...values.elements.nests import normalize
from .protobuf import NEED, decode_error, message

__all__ = ["decode_json_example", "parse_tensor", "serialize_tensor"]

_VALUES = {
    "float32": "float_val",
    "float64": "double_val",
    "int64": "int64_val",
    "uint32": "uint32_val",
    "uint64": "uint64_val",
    "bool": "bool_val",
    "complex64": "scomplex_val",
    "complex128": "dcomplex_val",
    **dict.fromkeys(["int32", "uint8", "int16", "int8", "uint16"], "int_val"),
}


def serialize_tensor(tensor: Any, name: str | None = None) -> bytes:
    """An array as the bytes of a TensorProto, the same bytes as TensorFlow's.

    Args:
      tensor: a number, bytes, str, an ndarray, a BytesArray, or lists of them.

    Raises:
      TypeError: a dtype that a TensorProto does not hold.

    >>> import numpy as np, tfrecord_fast as tf
    >>> tf.io.parse_tensor(tf.io.serialize_tensor(np.arange(3)), tf.int64)
    array([0, 1, 2])
    """
    array = as_ndarray(normalize(tensor))
    kind = as_dtype(array.dtype).name
    proto = message("TensorProto")(dtype=DATA_TYPES[kind])
    proto.tensor_shape.SetInParent()
    for length in array.shape:
        proto.tensor_shape.dim.add(size=length)
    if kind == "string":
        proto.string_val.extend(strings(array, "a value of the tensor").ravel().tolist())
    else:
        proto.tensor_content = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    serialized: bytes = proto.SerializeToString()
    return serialized


def parse_tensor(serialized: BytesLike, out_type: DTypeLike, name: str | None = None) -> Any:
    """The array in the bytes of a TensorProto.

    Args:
      serialized: bytes.
      out_type: its dtype.

    Returns:
      An ndarray, read-only if it is a view of the message; strings as an object array of bytes. A NumPy scalar, or
      bytes, for a tensor without dimensions.

    Raises:
      errors.InvalidArgumentError: not a TensorProto, or one of another dtype or size.
    """
    try:
        proto = message("TensorProto").FromString(as_bytes(serialized, "serialized"))
    except decode_error() as error:
        raise InvalidArgumentError(f"Could not parse `serialized` as TensorProto: {error}") from None
    wanted = as_dtype(out_type)
    if proto.dtype != DATA_TYPES[wanted.name]:
        found = {number: name for name, number in DATA_TYPES.items()}.get(proto.dtype, f"number {proto.dtype}")
        raise InvalidArgumentError(f"Type mismatch between parsed tensor ({found}) and dtype ({wanted.name})")
    shape = [dim.size for dim in proto.tensor_shape.dim]
    if any(length < 0 for length in shape):
        raise InvalidArgumentError(f"a TensorProto with an unknown shape: {shape}")
    count = 1
    for length in shape:
        count *= length
    values = _values_of(proto, wanted.name, np.dtype(wanted.as_numpy_dtype), count)
    # One value for all is a broadcast view: nothing is allocated because a length claims it.
    array = values.reshape(shape) if len(values) == count else np.broadcast_to(values[0], shape)
    return array[()] if not shape else array


def _values_of(proto: Any, name: str, kind: np.dtype[Any], count: int) -> npt.NDArray[Any]:
    if name == "string":
        found = list(proto.string_val) or _strings_of(proto.tensor_content, count)
        if len(found) != count:
            raise InvalidArgumentError(f"a TensorProto of {count} strings has {len(found)}")
        return object_array(found, (count,))
    if proto.tensor_content:
        if len(proto.tensor_content) != count * kind.itemsize:
            raise InvalidArgumentError(
                f"a TensorProto of {count} values of {name} has {len(proto.tensor_content)} bytes of content"
            )
        return np.frombuffer(proto.tensor_content, dtype=kind.newbyteorder("<")).astype(kind, copy=False)
    if name in ("float16", "bfloat16"):
        given = np.array(proto.half_val, dtype=np.uint16).view(kind)
    elif kind.kind == "c":
        parts = np.array(getattr(proto, _VALUES[name]), dtype=f"f{kind.itemsize // 2}")
        if len(parts) % 2:
            raise InvalidArgumentError(f"a TensorProto of {name} has half a value")
        given = parts.view(kind)
    else:
        given = np.array(getattr(proto, _VALUES[name]), dtype=kind)
    if len(given) == count:
        return given
    if len(given) > count:
        raise InvalidArgumentError(f"a TensorProto of {count} values of {name} has {len(given)}")
    # The last value stands for those that are missing.
    if len(given) <= 1:
        return given if len(given) else np.zeros(1, dtype=kind)
    if count > 1 << 28:
        raise InvalidArgumentError(f"a TensorProto of {count} values of {name} has only {len(given)}")
    return np.concatenate([given, np.full(count - len(given), given[-1], dtype=kind)])


def _strings_of(content: bytes, count: int) -> list[bytes]:
    """The strings of what TensorFlow's `serialize_sparse` writes: their lengths as varints, then their bytes."""
    lengths: list[int] = []
    place = 0
    while place < len(content) and len(lengths) < count:
        length = shift = 0
        while place < len(content) and content[place] >= 128 and shift < 63:
            length |= (content[place] & 127) << shift
            place, shift = place + 1, shift + 7
        lengths.append(length | int.from_bytes(content[place : place + 1], "big") << shift)
        place += 1
    if place + sum(lengths) != len(content):
        raise InvalidArgumentError(f"a TensorProto of {count} strings has {len(content)} bytes of content")
    ends = itertools.accumulate(lengths, initial=place)
    return [content[start:end] for start, end in itertools.pairwise(ends)]


def decode_json_example(json_examples: Any, name: str | None = None) -> Any:
    """Serialized Examples from their JSON form (protobuf's mapping: bytes are base64).

    Args:
      json_examples: bytes or str, or a (nested) sequence of them.

    Returns:
      bytes, or an object array of the same shape.

    Raises:
      errors.InvalidArgumentError: not the JSON of an Example.

    >>> import tfrecord_fast as tf
    >>> tf.io.decode_json_example('{"features": {"feature": {"a": {"int64List": {"value": ["1"]}}}}}')
    b'\\n\\x0c\\n\\n\\n\\x01a\\x12\\x05\\x1a\\x03\\n\\x01\\x01'
    """
    json_format = optional("google.protobuf.json_format", NEED)

    def one(text: bytes) -> bytes:
        try:
            made: bytes = json_format.Parse(text, message("Example")()).SerializeToString(deterministic=True)
        except (json_format.ParseError, UnicodeDecodeError) as error:
            raise InvalidArgumentError(f"Error while parsing JSON: {error}") from None
        return made

    texts = strings(json_examples, "json_examples")
    made = object_array([one(text) for text in texts.ravel()], texts.shape)
    return made if texts.ndim else made.item()
