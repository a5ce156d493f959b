"""`tf.io`: text and compressed bytes as values, and JPEG files without decoding them whole."""

from __future__ import annotations

import gzip
import inspect
import zlib
from typing import Any

import numpy as np

from ...errors import DataLossError, InvalidArgumentError
from ...examples.messages import tensors as messages
from ...images import decoding
from ...values.columns.strings import object_array
from ...values.csv_fields import Fields
from ...values.elements.composites import stack_rows
from .. import border
from ..composites import SparseTensor
from .arguments import array_of, lengths_of, tensor
from .strings import decode_base64, encode_base64

__all__ = [
    "decode_and_crop_jpeg", "decode_base64", "decode_compressed", "decode_csv", "deserialize_many_sparse",
    "encode_base64", "extract_jpeg_shape", "is_jpeg", "serialize_sparse",
]  # fmt: skip


def is_jpeg(contents: Any, name: str | None = None) -> Any:
    """Whether the bytes begin like a JPEG, as a tensor."""
    return tensor(np.bool_(decoding.is_jpeg(border.lowered(contents))))


def decode_csv(
    records: Any, record_defaults: Any, field_delim: str = ",", use_quote_delim: bool = True, na_value: str = "",
    select_cols: Any = None, name: str | None = None,
) -> list[Any]:  # fmt: skip
    """The fields of lines, a tensor for each.

    Args:
      record_defaults: for each field a tensor: its dtype is that of the field, its value, if it has one, is taken for
        an empty field.
    """
    lines = array_of(records, "string")
    fields = Fields([_default(one) for one in record_defaults], field_delim, use_quote_delim, na_value, select_cols)
    rows = []
    for number, line in enumerate(lines.ravel().tolist()):
        try:
            if not line:  # it has no field, not one that is empty
                raise InvalidArgumentError(f"Expect {len(record_defaults)} fields but have 0 in record")
            rows.append(fields.of(line))
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"record {number}: {error}") from None
    return [tensor(column.reshape(lines.shape)) for column in fields.columns(rows)]


def _default(value: Any) -> Any:
    return value if hasattr(value, "as_numpy_dtype") else array_of(value)


def decode_compressed(bytes: Any, compression_type: str = "", name: str | None = None) -> Any:
    """What was compressed with "GZIP" or "ZLIB"."""
    given = array_of(bytes, "string")
    if compression_type not in ("", "GZIP", "ZLIB"):
        raise InvalidArgumentError(f"Unsupported compression type: {compression_type!r}; use '', 'GZIP' or 'ZLIB'")
    functions: Any = {"": _same, "GZIP": gzip.decompress, "ZLIB": zlib.decompress}
    function = functions[compression_type]
    try:
        return tensor(object_array([function(item) for item in given.ravel().tolist()], given.shape))
    except (OSError, EOFError, zlib.error) as error:
        raise DataLossError(message=f"decode_compressed: {error}") from None


def _same(item: bytes) -> bytes:
    return item


def serialize_sparse(sp_input: SparseTensor, out_type: Any = "string", name: str | None = None) -> Any:
    """Three strings: the indices, the values and the dense shape, each as of `serialize_tensor`."""
    parts = (sp_input.plain.indices, sp_input.plain.values, sp_input.plain.dense_shape)
    return tensor(object_array([messages.serialize_tensor(np.asarray(part)) for part in parts], (3,)))


def deserialize_many_sparse(
    serialized_sparse: Any, dtype: Any, rank: Any = None, name: str | None = None
) -> SparseTensor:
    """Rows of three strings as one SparseTensor, in which the row is the first dimension."""
    rows = []
    for one in array_of(serialized_sparse, "string"):
        indices, values, shape = one.tolist()
        rows.append(
            border.lowered(
                SparseTensor(
                    messages.parse_tensor(indices, np.int64),
                    messages.parse_tensor(values, dtype),
                    messages.parse_tensor(shape, np.int64),
                )
            )
        )

    made = SparseTensor.of(stack_rows(rows))  # type: ignore[arg-type]
    if rank is not None and made.shape.rank != rank:
        raise ValueError(f"the SparseTensors have {made.shape.rank} dimensions with that of the rows, not {rank}")
    return made


def extract_jpeg_shape(contents: Any, output_type: Any = "int32", name: str | None = None) -> Any:
    """(height, width, channels) of a JPEG file, from its header."""
    data: bytes = array_of(contents, "string").item()
    place = 2
    if data[:2] != b"\xff\xd8":
        raise InvalidArgumentError("Expected image (JPEG), got something else [Op:ExtractJpegShape]")
    while place + 9 < len(data):
        if data[place] != 0xFF:
            break
        marker = data[place + 1]
        if marker == 0xFF:
            place += 1
            continue
        if marker in (*range(0xC0, 0xC4), *range(0xC5, 0xC8), *range(0xC9, 0xCC), *range(0xCD, 0xD0)):
            height, width = (int.from_bytes(data[place + at : place + at + 2], "big") for at in (5, 7))
            return tensor(
                np.array([height, width, data[place + 9]], dtype=np.dtype(getattr(output_type, "name", output_type)))
            )
        place += 2 if marker == 1 or 0xD0 <= marker <= 0xD8 else 2 + int.from_bytes(data[place + 2 : place + 4], "big")
    raise InvalidArgumentError("Invalid JPEG data or crop window [Op:ExtractJpegShape]")


def decode_and_crop_jpeg(contents: Any, crop_window: Any, *options: Any, **named: Any) -> Any:
    """Part of a JPEG image, (top, left, height, width), decoded. The options are those of `decode_jpeg`."""
    top, left, height, width = lengths_of(crop_window)
    data = array_of(contents, "string").item()
    whole = decoding.decode_jpeg(data, *border.lowered(options), **border.lowered(named))
    if min(top, left) < 0 or min(height, width) <= 0 or top + height > whole.shape[0] or left + width > whole.shape[1]:
        raise InvalidArgumentError("Invalid JPEG data or crop window [Op:DecodeAndCropJpeg]")
    return tensor(whole[top : top + height, left : left + width])


def _signature_with_a_window() -> inspect.Signature:
    first, *options = inspect.signature(decoding.decode_jpeg).parameters.values()
    return inspect.Signature([first, first.replace(name="crop_window", annotation="Any"), *options])


decode_and_crop_jpeg.__signature__ = _signature_with_a_window()  # type: ignore[attr-defined]
