"""Arrays as serialized TensorProtos, and Examples from JSON. Both need protobuf."""

from __future__ import annotations

import itertools
import math
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
    """Serialize an array as a TensorProto, with the same bytes as TensorFlow.

    Args:
      tensor: a number, bytes, str, an ndarray, a BytesArray, or lists of them.

    Raises:
      TypeError: a TensorProto cannot hold the dtype.

    >>> import numpy as np, tfrecord_fast as tf
    >>> tf.io.parse_tensor(tf.io.serialize_tensor(np.arange(3)), tf.int64)
    array([0, 1, 2])
    """
    serialized: bytes = _proto(as_ndarray(normalize(tensor))).SerializeToString()
    return serialized


def _proto(array: npt.NDArray[Any]) -> Any:
    dtype = as_dtype(array.dtype).name
    proto = message("TensorProto")(dtype=DATA_TYPES[dtype])
    proto.tensor_shape.SetInParent()
    for length in array.shape:
        proto.tensor_shape.dim.add(size=length)
    if dtype == "string":
        proto.string_val.extend(strings(array, "a value of the tensor").ravel().tolist())
    else:
        proto.tensor_content = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    return proto


def make_tensor_proto(array: npt.NDArray[Any]) -> Any:
    """Return the TensorProto of an array, as TensorFlow makes it: a single number is a field of its own."""
    proto = _proto(array)
    field = _VALUES.get(as_dtype(array.dtype).name)
    if array.size == 1 and field is not None and array.dtype.kind != "c":
        proto.ClearField("tensor_content")
        getattr(proto, field).append(array.item())
    return proto


def make_ndarray(proto: Any) -> Any:
    """Return the array of a TensorProto, of this package or of TensorFlow; strings are an object array of bytes."""
    names = {number: name for name, number in DATA_TYPES.items()}
    if proto.dtype not in names:
        raise TypeError(f"Unsupported tensor type: {proto.dtype}")
    array = np.asarray(parse_tensor(proto.SerializeToString(), names[proto.dtype]))
    return array if array.flags.writeable else array.copy()


def parse_tensor(serialized: BytesLike, out_type: DTypeLike, name: str | None = None) -> Any:
    """Parse the bytes of a TensorProto.

    Args:
      serialized: bytes.
      out_type: the dtype of the tensor.

    Returns:
      An ndarray, which is read-only if it is a view of the message; strings are an object array of bytes. A tensor
      without dimensions is a NumPy scalar or bytes.

    Raises:
      errors.InvalidArgumentError: not a TensorProto, or one of another dtype or size.

    >>> import tfrecord_fast as tf
    >>> parse_tensor(tf.io.serialize_tensor([1, 2]), "int32").tolist()
    [1, 2]
    """
    try:
        proto = message("TensorProto").FromString(as_bytes(serialized, "serialized"))
    except decode_error() as error:
        raise InvalidArgumentError(f"Could not parse `serialized` as TensorProto: {error}") from None
    dtype = as_dtype(out_type)
    if proto.dtype != DATA_TYPES[dtype.name]:
        stored = {number: name for name, number in DATA_TYPES.items()}.get(proto.dtype, f"number {proto.dtype}")
        raise InvalidArgumentError(f"Type mismatch between parsed tensor ({stored}) and dtype ({dtype.name})")
    shape = [dim.size for dim in proto.tensor_shape.dim]
    if any(length < 0 for length in shape):
        raise InvalidArgumentError(f"a TensorProto with an unknown shape: {shape}")
    count = math.prod(shape)
    values = _values_of(proto, dtype.name, np.dtype(dtype.as_numpy_dtype), count)
    # One value for all is a broadcast view: never allocate based on an unverified length.
    array = values.reshape(shape) if len(values) == count else np.broadcast_to(values[0], shape)
    return array[()] if not shape else array


def _values_of(proto: Any, name: str, dtype: np.dtype[Any], count: int) -> npt.NDArray[Any]:
    if name == "string":
        texts = list(proto.string_val) or _strings_of(proto.tensor_content, count)
        if len(texts) != count:
            raise InvalidArgumentError(f"a TensorProto of {count} strings has {len(texts)}")
        return object_array(texts, (count,))
    if proto.tensor_content:
        if len(proto.tensor_content) != count * dtype.itemsize:
            raise InvalidArgumentError(
                f"a TensorProto of {count} values of {name} has {len(proto.tensor_content)} bytes of content"
            )
        return np.frombuffer(proto.tensor_content, dtype=dtype.newbyteorder("<")).astype(dtype, copy=False)
    if name in ("float16", "bfloat16"):
        values = np.array(proto.half_val, dtype=np.uint16).view(dtype)
    elif dtype.kind == "c":
        halves = np.array(getattr(proto, _VALUES[name]), dtype=f"f{dtype.itemsize // 2}")
        if len(halves) % 2:
            raise InvalidArgumentError(f"a TensorProto of {name} has half a value")
        values = halves.view(dtype)
    else:
        values = np.array(getattr(proto, _VALUES[name]), dtype=dtype)
    if len(values) == count:
        return values
    if len(values) > count:
        raise InvalidArgumentError(f"a TensorProto of {count} values of {name} has {len(values)}")
    # The last value is repeated for the missing ones.
    if len(values) <= 1:
        return values if len(values) else np.zeros(1, dtype=dtype)
    if count > 1 << 28:
        raise InvalidArgumentError(f"a TensorProto of {count} values of {name} has only {len(values)}")
    return np.concatenate([values, np.full(count - len(values), values[-1], dtype=dtype)])


def _strings_of(content: bytes, count: int) -> list[bytes]:
    """Split the content that TensorFlow's `serialize_sparse` writes: all lengths as varints, then the bytes."""
    lengths: list[int] = []
    position = 0
    while position < len(content) and len(lengths) < count:
        length = shift = 0
        while position < len(content) and content[position] >= 128 and shift < 63:
            length |= (content[position] & 127) << shift
            position, shift = position + 1, shift + 7
        lengths.append(length | int.from_bytes(content[position : position + 1], "big") << shift)
        position += 1
    if position + sum(lengths) != len(content):
        raise InvalidArgumentError(f"a TensorProto of {count} strings has {len(content)} bytes of content")
    ends = itertools.accumulate(lengths, initial=position)
    return [content[start:end] for start, end in itertools.pairwise(ends)]


def decode_json_example(json_examples: Any, name: str | None = None) -> Any:
    """Serialize Examples from their JSON form (protobuf's mapping: bytes are base64).

    Args:
      json_examples: bytes or str, or a (nested) sequence of them.

    Returns:
      bytes, or an object array of the same shape.

    Raises:
      errors.InvalidArgumentError: the text is not the JSON of an Example.

    >>> import tfrecord_fast as tf
    >>> tf.io.decode_json_example('{"features": {"feature": {"a": {"int64List": {"value": ["1"]}}}}}')
    b'\\n\\x0c\\n\\n\\n\\x01a\\x12\\x05\\x1a\\x03\\n\\x01\\x01'
    """
    json_format = optional("google.protobuf.json_format", NEED)

    def serialized(text: bytes) -> Any:
        try:
            return json_format.Parse(text, message("Example")()).SerializeToString(deterministic=True)
        except (json_format.ParseError, UnicodeDecodeError) as error:
            raise InvalidArgumentError(f"Error while parsing JSON: {error}") from None

    texts = strings(json_examples, "json_examples")
    examples = object_array([serialized(text) for text in texts.ravel()], texts.shape)
    return examples if texts.ndim else examples.item()
