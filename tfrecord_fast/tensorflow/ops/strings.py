"""`tf.strings`: functions of byte strings."""

from __future__ import annotations

import base64
import builtins
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError, OutOfRangeError, UnimplementedError
from ...values.columns.ragged import RaggedTensor as PlainRagged
from ...values.columns.strings import object_array
from ...values.csv_fields import number_reader
from ..composites import RaggedTensor, over_values
from ..fallback import of_tensorflow
from ..tensors import Tensor
from ..types import as_dtype
from ..uniform import uniform_rows
from .arguments import array_of, arrays_of, axes_of, integer, tensor
from .characters import characters_of
from .expressions import expression_of
from .rows import of_flat_values

__all__ = [
    "as_string", "bytes_split", "decode_base64", "encode_base64", "format", "join", "length", "lower", "reduce_join",
    "regex_full_match", "regex_replace", "split", "strip", "substr", "to_hash_bucket_fast", "to_number",
    "unicode_split", "upper",
]  # fmt: skip


def _each(function: Callable[[bytes], Any], input: Any, kind: Any = object) -> Any:
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(_each(function, _flat(input), kind))
    given = array_of(input, "string")
    made = [function(item) for item in given.ravel().tolist()]
    return tensor(
        object_array(made, given.shape) if kind is object else np.array(made, dtype=kind).reshape(given.shape)
    )


def _flat(input: RaggedTensor) -> Any:
    return tensor(np.asarray(input.plain.flat_values))


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """How many bytes, or characters of UTF-8, int32."""
    _check_unit(unit)
    # All bytes count but those that continue a character, whether they make sense or not.
    return _each(len if unit == "BYTE" else lambda item: sum(byte & 0xC0 != 0x80 for byte in item), input, np.int32)


def lower(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """In small letters: of ASCII, or of UTF-8 if the encoding says so."""
    return _each(bytes.lower if not _is_utf8(encoding) else lambda item: _text(item).lower().encode(), input)


def upper(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """In capitals: of ASCII, or of UTF-8 if the encoding says so."""
    return _each(bytes.upper if not _is_utf8(encoding) else lambda item: _text(item).upper().encode(), input)


def _is_utf8(encoding: str) -> bool:
    if encoding not in ("", "utf-8"):
        raise InvalidArgumentError(f"only utf-8 or '' (no encoding) is supported, received {encoding}")
    return encoding == "utf-8"


def _text(item: bytes) -> str:
    return item.decode(errors="replace")


def strip(input: Any, name: str | None = None) -> Any:
    """Without white space at both ends."""
    return _each(bytes.strip, input)


@of_flat_values
def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """So many bytes, or characters, from a place on; from the end if the place is negative.

    A negative number of bytes is all that follow; of characters, none, and an error where the place is negative too.
    So it is in TensorFlow.
    """
    _check_unit(unit)
    given = array_of(input, "string")
    places, lengths = arrays_of(pos, len)
    if places.dtype not in (np.int32, np.int64):
        raise InvalidArgumentError(f"pos and len are int32 or int64, got {places.dtype} [Op:Substr]")
    if places.shape != lengths.shape:
        raise InvalidArgumentError(f"pos and len have different shapes: {places.shape} and {lengths.shape} [Op:Substr]")
    if places.ndim and places.shape != given.shape and max(places.ndim, given.ndim) > 2:
        raise UnimplementedError(f"substr does not broadcast {given.shape} and {places.shape} [Op:Substr]")
    strings, starts, counts = np.broadcast_arrays(given, places, lengths)
    made = [
        _part(*one, unit)
        for one in zip(strings.ravel().tolist(), starts.ravel().tolist(), counts.ravel().tolist(), strict=True)
    ]
    return tensor(object_array(made, strings.shape))


def _check_unit(unit: str) -> None:
    if unit not in ("BYTE", "UTF8_CHAR"):
        raise InvalidArgumentError(f"unit is BYTE or UTF8_CHAR, got {unit!r}")


def _part(item: bytes, start: int, count: int, unit: str) -> bytes:
    units: Any = item if unit == "BYTE" else _characters(item)
    if not -len_of(units) <= start <= len_of(units) or (start < 0 and count < 0 and unit != "BYTE"):
        raise InvalidArgumentError(f"pos {start} out of range for string b{item!r}, or len {count} is negative")
    begin = start if start >= 0 else len_of(units) + start
    part: Any = units[begin:] if count < 0 and unit == "BYTE" else units[begin : begin + max(count, 0)]
    return part if unit == "BYTE" else b"".join(part)


def _characters(item: bytes) -> list[bytes]:
    """The characters of UTF-8. Of bytes that are none, those that continue one go with what is before them."""
    return re.findall(rb"[\x00-\xff][\x80-\xbf]*", item)


len_of = len


def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """The strings of several tensors, one after the other, with a separator between them."""
    rows = next((one for one in inputs if isinstance(one, RaggedTensor)), None)
    if rows is not None:
        return rows.with_flat_values(join([over_values(rows, one) for one in inputs], separator))
    if isinstance(inputs, str | bytes) or not isinstance(separator, str | bytes):
        raise TypeError(f"join takes a list of tensors, and a separator, got {inputs!r:.100} and {separator!r:.100}")
    parts = [array_of(one, "string") for one in inputs]
    shapes = {one.shape for one in parts if one.ndim}
    if len_of(shapes) > 1:
        raise InvalidArgumentError(f"Input shapes do not match: {sorted(shapes)} [Op:StringJoin]")
    if not parts:
        return tensor(b"")
    given = np.broadcast_arrays(*parts)
    between = array_of(separator).item()
    made = [between.join(parts) for parts in zip(*(one.ravel().tolist() for one in given), strict=True)]
    return tensor(object_array(made, given[0].shape))


def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: str | None = None
) -> Any:
    """The strings along an axis, by default all, with a separator between them.

    Of several axes, the first one is joined first: its strings are next to each other in the result.
    """
    between = array_of(separator).item()
    if isinstance(inputs, RaggedTensor):
        return _reduce_join_rows(inputs, axes_of(axis), keepdims, between)
    given = array_of(inputs, "string")
    axes = tuple(range(given.ndim))[::-1] if axis is None else axes_of(axis)
    axes = (axes,) if isinstance(axes, int) else axes
    for one in axes:
        if not -given.ndim <= one < given.ndim:
            raise OutOfRangeError(f"Invalid reduction dimension {one} for input with {given.ndim} dimension(s)")
    chosen = [one % given.ndim for one in axes]
    kept = [one for one in range(given.ndim) if one not in chosen]
    lengths = [given.shape[one] for one in kept]
    rows = np.transpose(given, [*kept, *reversed(chosen)])
    rows = rows.reshape(math.prod(lengths), math.prod(given.shape[one] for one in chosen))
    made = object_array([between.join(row) for row in rows.tolist()], lengths)
    return tensor(
        made.reshape([1 if one in chosen else given.shape[one] for one in range(given.ndim)]) if keepdims else made
    )


def _reduce_join_rows(inputs: RaggedTensor, axis: Any, keepdims: bool, between: Any) -> Any:
    plain, rank = inputs.plain, len_of(inputs.shape)
    if axis is None:
        joined = between.join(np.asarray(plain.flat_values).ravel().tolist())
        return tensor(object_array([joined], (1,) * rank if keepdims else ()))
    axes = axis if isinstance(axis, tuple) else (axis,)
    for one in axes:
        if not -rank <= one < rank:
            raise ValueError(f"axis={one} out of bounds: expected {-rank}<=axis<{rank}")
    if not axes:
        return inputs
    *others, place = sorted(one % rank for one in axes)
    if others:  # the last one is joined first
        return reduce_join(_reduce_join_rows(inputs, place, keepdims, between), others, keepdims, between)
    if place > 1:  # within the rows
        return inputs.with_values(reduce_join(inputs.values, place - 1, keepdims, between))
    if rank != 2:
        raise UnimplementedError("reduce_join takes RaggedTensors of two dimensions, or the axes within their rows")
    rows = plain.to_list()
    if place == 0:
        longest = max(map(len_of, rows), default=0)
        rows = [[row[place] for row in rows if place < len_of(row)] for place in range(longest)]
    made = object_array([between.join(row) for row in rows], (len_of(rows),))
    return tensor(made if not keepdims else np.expand_dims(made, place))


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The parts between separators, by default white space: a tensor for one string, rows for several.

    White space is not looked for any more after `maxsplit` parts: what is left is the last part, even if it is empty.
    """
    between = None if sep is None or array_of(sep).item() == b"" else array_of(sep).item()
    return _split_by(input, lambda item: _parts(item, between, maxsplit))


def _parts(item: bytes, between: bytes | None, most: int) -> list[bytes]:
    if between is None and most == 0:
        return [item]
    parts = item.split(between, most)
    return [*parts, b""] if between is None and len_of(parts) == most else parts


def bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of each string, one by one: of several strings a RaggedTensor."""
    return _split_by(_strings(input), lambda item: [item[i : i + 1] for i in range(builtins.len(item))])


def unicode_split(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533, name: str | None = None
) -> Any:
    """The characters of each string, one by one: of several strings a RaggedTensor."""
    return _split_by(_strings(input), characters_of(input_encoding, errors, replacement_char))


def _strings(input: Any) -> Any:
    """The input, which is of strings: an empty list is of floats."""
    given = input if isinstance(input, RaggedTensor) else tensor(array_of(input))
    if given.dtype != "string":
        raise InvalidArgumentError(f"a tensor of strings was expected, got {given.dtype.name}")
    return given


def _split_by(input: Any, parts_of: Callable[[bytes], list[bytes]]) -> Any:
    if isinstance(input, RaggedTensor):
        return input.with_flat_values(_split_by(_flat(input), parts_of))
    given = array_of(input, "string")
    parts = [parts_of(item) for item in given.ravel().tolist()]
    flat = [part for row in parts for part in row]
    values = object_array(flat, (builtins.len(flat),))
    if given.ndim == 0:
        return tensor(values)
    rows: Any = PlainRagged.from_row_lengths(values, np.array([*map(builtins.len, parts)], np.int64))
    for axis in range(given.ndim - 1, 0, -1):
        rows = uniform_rows(rows, given.shape[axis], math.prod(given.shape[:axis]))
    return RaggedTensor(rows)


def regex_replace(input: Any, pattern: Any, rewrite: Any, replace_global: bool = True, name: str | None = None) -> Any:
    r"""With matches replaced; in `rewrite`, \0 stands for the match, and \1 to \9 for its groups.

    Expressions are RE2's, in UTF-8. All but simple ones on ASCII need google-re2.
    """
    expression, by = expression_of(_scalar(pattern, "Pattern")), _scalar(rewrite, "Rewrite")
    return _each(lambda item: expression.replaced(item, by, replace_global), input)


def regex_full_match(input: Any, pattern: Any, name: str | None = None) -> Any:
    """Whether the whole string matches. Expressions are RE2's, as in `regex_replace`."""
    return _each(expression_of(_scalar(pattern, "Pattern")).matches, input, bool)


def _scalar(value: Any, what: str) -> bytes:
    given = array_of(value, "string")
    if given.ndim:
        raise InvalidArgumentError(f"{what} must be scalar, but received {list(given.shape)}")
    return bytes(given.item())


def to_number(input: Any, out_type: Any = "float32", name: str | None = None) -> Any:
    """The number that a string says."""
    kind = as_dtype(out_type)
    if kind.name not in ("float32", "float64", "int32", "int64", "uint32", "uint64"):
        raise InvalidArgumentError(f"Value for attr 'out_type' of {kind.name} is not allowed [Op:StringToNumber]")
    read = number_reader(np.dtype(kind.as_numpy_dtype))

    def number(item: bytes) -> Any:
        try:
            return read(item)
        except ValueError:
            raise InvalidArgumentError(
                f"StringToNumberOp could not correctly convert string: {item.decode(errors='replace')}"
            ) from None

    return _each(number, input, kind.as_numpy_dtype)


@of_flat_values
def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Any:
    """Numbers, bools and strings as text.

    Args:
      precision, width: as of C's `printf`; -1: none.
      scientific, shortest: floats as of "%e" and "%g", in place of "%f".
      fill: one of the flags of `printf`: "0", "-", "+", " " or "#".

    Raises:
      errors.InvalidArgumentError: another fill, or a form that the dtype does not have.
    """
    given = array_of(input)
    floats = given.dtype.kind in "fcV"  # V: bfloat16
    if fill not in ("", "0", "-", "+", " ", "#"):
        raise InvalidArgumentError(f"Fill argument not supported: {fill!r}; it is one of '0', '-', '+', ' ', '#'")
    if scientific and shortest:
        raise InvalidArgumentError("Cannot select both scientific and shortest notation")
    if (scientific or shortest or precision > -1) and not floats and given.dtype.kind != "O":
        raise InvalidArgumentError(f"scientific, shortest and precision are not supported for {given.dtype.name}")
    form = "e" if scientific else "g" if shortest else "f" if floats else "d"
    shape = (fill, width if width > -1 else "", f".{precision}" if precision > -1 else "")
    if given.dtype.kind == "u":
        shape = (fill.strip("+ "), *shape[1:])  # what has no sign shows none
    return tensor(object_array([_printed(value, shape, form) for value in given.ravel().tolist()], given.shape))


def _printed(value: Any, shape: tuple[Any, ...], form: str) -> bytes:
    """As C's `printf` does it, from which Python's % differs for what is not finite: zeros, and the sign of NaN."""
    fill, width, precision = shape
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, bytes):
        made = f"%{fill.strip('0+ #')}{width}{precision}s".encode() % value if width else value
        return bytes(made)
    if isinstance(value, complex):
        return b"(%b,%b)" % (_printed(value.real, shape, form), _printed(value.imag, shape, form))
    if not math.isfinite(value):
        value = "-nan" if value != value and math.copysign(1, value) < 0 else value
        fill, precision, form = fill.strip("0"), "", "s" if isinstance(value, str) else form
    text: str = f"%{fill}{width}{precision}{form}" % value
    return text.encode()


def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None) -> Any:
    """The template with the inputs in the places."""
    given = [inputs] if isinstance(inputs, Tensor | RaggedTensor) else list(inputs)
    if template.count(placeholder) != len_of(given):
        raise ValueError(f"the template has {template.count(placeholder)} places for {len_of(given)} inputs")
    shown, text = "", template
    for one in given:
        before, _, text = text.partition(placeholder)
        shown += before + (_shown_rows(one, summarize) if isinstance(one, RaggedTensor) else _shown(one, summarize))
    return tensor((shown + text).encode("utf-8", "surrogateescape"))


def _shown_rows(rows: RaggedTensor, most: int) -> str:
    """As TensorFlow prints it: on one line, strings in quotes, numbers as `as_string` has them."""
    texts = rows if rows.dtype == "string" else as_string(rows)
    quote = "'" if rows.dtype == "string" else ""

    def shown(item: Any) -> str:
        if isinstance(item, bytes):
            return f"{quote}{item.decode('utf-8', 'surrogateescape')}{quote}"
        ends = [shown(one) for one in item]
        if 0 <= most and len_of(ends) > 2 * most:
            ends = [*ends[:most], "...", *ends[len_of(ends) - most :]]
        return f"[{', '.join(ends)}]"

    return shown(texts.to_list())


def _shown(value: Any, most: int, depth: int = 1) -> str:
    """As TensorFlow prints it: strings in quotes, of each axis the first and the last `most` items."""
    array = array_of(value)
    if array.ndim == 0:
        if not most:
            return "..."
        item = array.item()
        if isinstance(item, bytes):
            return f'"{item.decode("utf-8", "surrogateescape")}"'
        if isinstance(item, complex):
            return "?"  # so TensorFlow has it
        return _shown_float(item, array.dtype) if isinstance(item, float) else str(int(item))
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * depth
    count = len_of(array)
    if count and (not most or not array.size):
        return f"[{between}...]"
    if most < 0 or count <= 2 * most:
        return f"[{between.join(_shown(array[row, ...], most, depth + 1) for row in range(count))}]"
    ends = [_shown(array[row, ...], most, depth + 1) for row in (*range(most), *range(-most, 0))]
    return f"[{between.join([*ends[:most], '...', *ends[most:]])}]"


def _shown_float(item: float, dtype: Any) -> str:
    few, all_digits = (15, 17) if dtype == np.float64 else (6, 9)
    short = f"{item:.{few}g}"
    kind = np.float64 if dtype == np.float64 else np.float32
    return short if kind(short) == item or item != item else f"{item:.{all_digits}g}"


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Any:
    """In base64 for URLs."""
    return _each(
        lambda item: base64.urlsafe_b64encode(item) if pad else base64.urlsafe_b64encode(item).rstrip(b"="), input
    )


def decode_base64(input: Any, name: str | None = None) -> Any:
    """What was written in base64 for URLs."""

    def decoded(item: bytes) -> bytes:
        text = item.rstrip(b"=")
        padding = len_of(item) - len_of(text)
        if (
            padding > 2
            or (padding and len_of(item) % 4)
            or not re.fullmatch(rb"[A-Za-z0-9_-]*", text)
            or len_of(text) % 4 == 1
        ):
            raise InvalidArgumentError(f"Invalid character found in base64: {item!r:.100}")
        return base64.urlsafe_b64decode(text + b"=" * (-len_of(text) % 4))

    return _each(decoded, input)


@of_flat_values
def to_hash_bucket_fast(input: Any, num_buckets: Any, name: str | None = None) -> Any:
    """Raises NotImplementedError without TensorFlow: the numbers would be others."""

    return of_tensorflow("tf.strings.to_hash_bucket_fast")(array_of(input), integer(num_buckets))
