"""`tf.strings`: functions of byte strings; and `tf.io.decode_csv`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError, OutOfRangeError, UnimplementedError
from ...values.columns.ragged import RaggedTensor as PlainRagged
from ...values.columns.strings import object_array
from ...values.csv_fields import Fields, number_reader
from ..fallback import from_tensorflow
from ..tensors.ragged_rows import uniform_rows
from ..tensors.ragged_tensor import RaggedTensor, over_values
from ..tensors.tensor_dtypes import as_dtype
from .arguments import as_array, as_arrays, as_axes, integer, tensor
from .expressions import compile_expression
from .rows import over_flat_values


def _each(function: Callable[[bytes], Any], input: Any, dtype: Any = object) -> Any:
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(_each(function, _flat(input), dtype))
    array = as_array(input, "string")
    results = [function(item) for item in array.ravel().tolist()]
    return tensor(
        object_array(results, array.shape) if dtype is object else np.array(results, dtype=dtype).reshape(array.shape)
    )


def _flat(input: RaggedTensor) -> Any:
    return tensor(np.asarray(input.plain.flat_values))


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """Return the number of bytes, or of UTF-8 characters, int32."""
    _check_unit(unit)
    # Count all bytes but continuation bytes, even in invalid UTF-8.
    return _each(len if unit == "BYTE" else lambda item: sum(byte & 0xC0 != 0x80 for byte in item), input, np.int32)


def strip(input: Any, name: str | None = None) -> Any:
    """Remove white space at both ends."""
    return _each(bytes.strip, input)


@over_flat_values
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """Return `len` bytes or characters from `pos` on, which counts from the end if negative.

    Like TensorFlow: a negative number of bytes means all that follow. A negative number of characters means none, and
    is an error if `pos` is negative as well.
    """
    _check_unit(unit)
    array = as_array(input, "string")
    positions, lengths = as_arrays(pos, len)
    if positions.dtype not in (np.int32, np.int64):
        raise InvalidArgumentError(f"pos and len must be int32 or int64, got {positions.dtype} [Op:Substr]")
    if positions.shape != lengths.shape:
        raise InvalidArgumentError(
            f"pos and len have different shapes: {positions.shape} and {lengths.shape} [Op:Substr]"
        )
    if positions.ndim and positions.shape != array.shape and max(positions.ndim, array.ndim) > 2:
        raise UnimplementedError(f"substr does not broadcast {array.shape} and {positions.shape} [Op:Substr]")
    strings, starts, counts = np.broadcast_arrays(array, positions, lengths)
    pieces = [
        _part(*item, unit)
        for item in zip(strings.ravel().tolist(), starts.ravel().tolist(), counts.ravel().tolist(), strict=True)
    ]
    return tensor(object_array(pieces, strings.shape))


def _check_unit(unit: str) -> None:
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise InvalidArgumentError(f"unit must be BYTE or UTF8_CHAR, got {unit!r}")


def _part(item: bytes, start: int, count: int, unit: str) -> bytes:
    # In invalid UTF-8, continuation bytes stay with the byte before them.
    units: Any = item if unit == "BYTE" else re.findall(rb"[\x00-\xff][\x80-\xbf]*", item)
    if not -len(units) <= start <= len(units) or (start < 0 and count < 0 and unit != "BYTE"):
        raise InvalidArgumentError(f"pos {start} out of range for string {item!r}, or len {count} is negative")
    begin = start if start >= 0 else len(units) + start
    piece: Any = units[begin:] if count < 0 and unit == "BYTE" else units[begin : begin + max(count, 0)]
    return piece if unit == "BYTE" else b"".join(piece)


def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """Concatenate the strings of several tensors, with a separator between them."""
    rows = next((item for item in inputs if isinstance(item, RaggedTensor)), None)
    if rows is not None:
        return rows.with_flat_values(join([over_values(rows, item) for item in inputs], separator))
    if isinstance(inputs, str | bytes) or not isinstance(separator, str | bytes):
        raise TypeError(f"join needs a list of tensors and a separator, got {inputs!r:.100} and {separator!r:.100}")
    arrays = [as_array(item, "string") for item in inputs]
    shapes = {item.shape for item in arrays if item.ndim}
    if len(shapes) > 1:
        raise InvalidArgumentError(f"Input shapes do not match: {sorted(shapes)} [Op:StringJoin]")
    if not arrays:
        return tensor(b"")
    broadcast = np.broadcast_arrays(*arrays)
    between = as_array(separator).item()
    strings = [between.join(arrays) for arrays in zip(*(item.ravel().tolist() for item in broadcast), strict=True)]
    return tensor(object_array(strings, broadcast[0].shape))


def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: str | None = None
) -> Any:
    """Concatenate the strings along axes, by default all, with a separator between them.

    The first axis is joined first: its strings are neighbours in the result.
    """
    between = as_array(separator).item()
    if isinstance(inputs, RaggedTensor):
        return _reduce_join_rows(inputs, as_axes(axis), keepdims, between)
    array = as_array(inputs, "string")
    axes = tuple(range(array.ndim))[::-1] if axis is None else as_axes(axis)
    axes = (axes,) if isinstance(axes, int) else axes
    for number in axes:
        if not -array.ndim <= number < array.ndim:
            raise OutOfRangeError(f"Invalid reduction dimension {number} for input with {array.ndim} dimension(s)")
    chosen = [number % array.ndim for number in axes]
    kept = [number for number in range(array.ndim) if number not in chosen]
    lengths = [array.shape[number] for number in kept]
    rows = np.transpose(array, [*kept, *reversed(chosen)])
    rows = rows.reshape(math.prod(lengths), math.prod(array.shape[number] for number in chosen))
    strings = object_array([between.join(row) for row in rows.tolist()], lengths)
    return tensor(
        strings.reshape([1 if number in chosen else array.shape[number] for number in range(array.ndim)])
        if keepdims
        else strings
    )


def _reduce_join_rows(inputs: RaggedTensor, axis: Any, keepdims: bool, between: Any) -> Any:
    plain, rank = inputs.plain, len(inputs.shape)
    if axis is None:
        joined = between.join(np.asarray(plain.flat_values).ravel().tolist())
        return tensor(object_array([joined], (1,) * rank if keepdims else ()))
    axes = axis if isinstance(axis, tuple) else (axis,)
    for number in axes:
        if not -rank <= number < rank:
            raise ValueError(f"axis={number} out of bounds: expected {-rank}<=axis<{rank}")
    if not axes:
        return inputs
    *others, last = sorted(number % rank for number in axes)
    if others:  # the last axis is joined first
        return reduce_join(_reduce_join_rows(inputs, last, keepdims, between), others, keepdims, between)
    if last > 1:  # within the rows
        return inputs.with_values(reduce_join(inputs.values, last - 1, keepdims, between))
    if rank != 2:
        raise UnimplementedError("reduce_join supports RaggedTensors of two dimensions, or axes within the rows")
    rows = plain.to_list()
    if last == 0:
        longest = max(map(len, rows), default=0)
        rows = [[row[last] for row in rows if last < len(row)] for last in range(longest)]
    strings = object_array([between.join(row) for row in rows], (len(rows),))
    return tensor(strings if not keepdims else np.expand_dims(strings, last))


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """Split at separators, by default white space: a tensor for one string, rows for several.

    After `maxsplit` splits, the remaining string is the last item, even if it is empty.
    """
    between = None if sep is None or as_array(sep).item() == b"" else as_array(sep).item()
    return _split_by(input, lambda item: _parts(item, between, maxsplit))


def _parts(item: bytes, between: bytes | None, most: int) -> list[bytes]:
    if between is None and most == 0:
        return [item]
    parts = item.split(between, most)
    return [*parts, b""] if between is None and len(parts) == most else parts


def bytes_split(input: Any, name: str | None = None) -> Any:
    """Split strings into bytes: a tensor for one string, rows for several."""
    return _split_by(_strings(input), lambda item: [item[i : i + 1] for i in range(len(item))])


def _strings(input: Any) -> Any:
    """Return the input; refuse values other than strings, such as an empty list, which has floats."""
    strings = input if isinstance(input, RaggedTensor) else tensor(as_array(input))
    if strings.dtype != "string":
        raise InvalidArgumentError(f"expected a tensor of strings, got {strings.dtype.name}")
    return strings


def _split_by(input: Any, parts_of: Callable[[bytes], list[bytes]]) -> Any:
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(_split_by(_flat(input), parts_of))
    array = as_array(input, "string")
    parts = [parts_of(item) for item in array.ravel().tolist()]
    flat = [piece for row in parts for piece in row]
    values = object_array(flat, (len(flat),))
    if array.ndim == 0:
        return tensor(values)
    rows: Any = PlainRagged.from_row_lengths(values, np.array([*map(len, parts)], np.int64))
    for axis in range(array.ndim - 1, 0, -1):
        rows = uniform_rows(rows, array.shape[axis], math.prod(array.shape[:axis]))
    return RaggedTensor(rows)


def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None) -> Any:
    r"""Replace matches; in `rewrite`, \0 is the match, and \1 to \9 are its groups.

    Patterns are RE2's, on UTF-8. All but simple patterns on ASCII need google-re2.
    """
    expression, by = compile_expression(_scalar(pattern, "Pattern")), _scalar(rewrite, "Rewrite")
    return _each(lambda item: expression.replaced(item, by, replace_global), input)


def _scalar(value: Any, argument: str) -> bytes:
    array = as_array(value, "string")
    if array.ndim:
        raise InvalidArgumentError(f"{argument} must be scalar, but received {list(array.shape)}")
    return bytes(array.item())


def to_number(input: Any, out_type: Any = "float32", name: str | None = None) -> Any:
    """Parse strings as numbers."""
    number_dtype = as_dtype(out_type)
    if number_dtype.name not in ("float32", "float64", "int32", "int64", "uint32", "uint64"):
        raise InvalidArgumentError(
            f"Value for attr 'out_type' of {number_dtype.name} is not allowed [Op:StringToNumber]"
        )
    read = number_reader(np.dtype(number_dtype.as_numpy_dtype))

    def number(item: bytes) -> Any:
        try:
            return read(item)
        except ValueError:
            raise InvalidArgumentError(
                f"StringToNumberOp could not correctly convert string: {item.decode(errors='replace')}"
            ) from None

    return _each(number, input, number_dtype.as_numpy_dtype)


@over_flat_values
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Any:
    """Format numbers, bools and strings as text.

    Args:
      precision, width: those of C's `printf`; -1 means none.
      scientific, shortest: format floats with "%e" or "%g" instead of "%f".
      fill: a flag of `printf`: "0", "-", "+", " " or "#".
    """
    array = as_array(input)
    floats = array.dtype.kind in "fcV"  # V: bfloat16
    if fill not in ("", "0", "-", "+", " ", "#"):
        raise InvalidArgumentError(f"Fill argument not supported: {fill!r}; use '0', '-', '+', ' ' or '#'")
    if scientific and shortest:
        raise InvalidArgumentError("Cannot select both scientific and shortest notation")
    if (scientific or shortest or precision > -1) and not floats and array.dtype.kind != "O":
        raise InvalidArgumentError(f"scientific, shortest and precision are not supported for {array.dtype.name}")
    form = "e" if scientific else "g" if shortest else "f" if floats else "d"
    shape = (fill, width if width > -1 else "", f".{precision}" if precision > -1 else "")
    if array.dtype.kind == "u":
        shape = (fill.strip("+ "), *shape[1:])  # unsigned numbers show no sign
    return tensor(object_array([_printed(value, shape, form) for value in array.ravel().tolist()], array.shape))


def _printed(value: Any, shape: tuple[Any, ...], form: str) -> bytes:
    """Format like C's `printf`; Python's % pads infinities with zeros and drops the sign of NaN."""
    fill, width, precision = shape
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, bytes):
        string = f"%{fill.strip('0+ #')}{width}{precision}s".encode() % value if width else value
        return bytes(string)
    if isinstance(value, complex):
        return b"(%b,%b)" % (_printed(value.real, shape, form), _printed(value.imag, shape, form))
    if not math.isfinite(value):
        value = "-nan" if value != value and math.copysign(1, value) < 0 else value
        fill, precision, form = fill.strip("0"), "", "s" if isinstance(value, str) else form
    text: str = f"%{fill}{width}{precision}{form}" % value
    return text.encode()


@over_flat_values
def to_hash_bucket_fast(input: Any, num_buckets: Any, name: str | None = None) -> Any:
    """Hash strings with TensorFlow's function; without TensorFlow, raise AttributeError."""
    return from_tensorflow("tf.strings.to_hash_bucket_fast")(as_array(input), integer(num_buckets))


def decode_csv(
    records: Any, record_defaults: Any, field_delim: str = ",", use_quote_delim: bool = True, na_value: str = "",
    select_cols: Any = None, name: str | None = None,
) -> list[Any]:  # fmt: skip
    """Parse lines of CSV, and return a tensor for each column.

    Args:
      record_defaults: a tensor for each column. It sets the dtype; its value, if any, replaces empty fields.
    """
    lines = as_array(records, "string")
    defaults = [value if hasattr(value, "as_numpy_dtype") else as_array(value) for value in record_defaults]
    fields = Fields(defaults, field_delim, use_quote_delim, na_value, select_cols)
    rows = []
    for number, line in enumerate(lines.ravel().tolist()):
        try:
            if not line:  # an empty line has no fields
                raise InvalidArgumentError(f"Expect {len(record_defaults)} fields but have 0 in record")
            rows.append(fields.of(line))
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"record {number}: {error}") from None
    return [tensor(column.reshape(lines.shape)) for column in fields.columns(rows)]
