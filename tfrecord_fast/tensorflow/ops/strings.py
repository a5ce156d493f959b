"""`tf.strings`: functions of byte strings."""

from __future__ import annotations

import base64
import builtins
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import InvalidArgumentError
from ...values.csv_fields import number_reader
from ...values.ragged import RaggedTensor as PlainRagged
from ...values.strings import object_array
from ..composites import RaggedTensor
from ..fallback import of_tensorflow
from ..types import as_dtype
from .arguments import array_of, axes_of, integer, tensor
from .expressions import expression_of

__all__ = [
    "as_string", "bytes_split", "decode_base64", "encode_base64", "format", "join", "length", "lower", "reduce_join",
    "regex_full_match", "regex_replace", "split", "strip", "substr", "to_hash_bucket_fast", "to_number",
    "unicode_split", "upper",
]  # fmt: skip


def _each(function: Callable[[bytes], Any], input: Any, kind: Any = object) -> Any:
    if isinstance(input, RaggedTensor):
        values = _each(function, tensor(np.asarray(input.plain.flat_values)), kind).numpy()
        return RaggedTensor(PlainRagged.from_row_splits(values, input.plain.row_splits, validate=False))
    given = array_of(input, "string")
    made = [function(item) for item in given.ravel().tolist()]
    return tensor(
        object_array(made, given.shape) if kind is object else np.array(made, dtype=kind).reshape(given.shape)
    )


def length(input: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """How many bytes, or characters of UTF-8, int32."""
    return _each(len if unit == "BYTE" else lambda item: len(item.decode("utf-8", "replace")), input, np.int32)


def lower(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """In small letters: of ASCII, or of UTF-8 if the encoding says so."""
    return _each(bytes.lower if not encoding else lambda item: item.decode().lower().encode(), input)


def upper(input: Any, encoding: str = "", name: str | None = None) -> Any:
    """In capitals: of ASCII, or of UTF-8 if the encoding says so."""
    return _each(bytes.upper if not encoding else lambda item: item.decode().upper().encode(), input)


def strip(input: Any, name: str | None = None) -> Any:
    """Without white space at both ends."""
    return _each(bytes.strip, input)


def substr(input: Any, pos: Any, len: Any, unit: str = "BYTE", name: str | None = None) -> Any:
    """So many bytes, or characters, from a place on; from the end if the place is negative."""
    given = array_of(input, "string")
    strings, starts, counts = np.broadcast_arrays(given, array_of(pos), array_of(len))
    made = [
        _part(*one, unit)
        for one in zip(strings.ravel().tolist(), starts.ravel().tolist(), counts.ravel().tolist(), strict=True)
    ]
    return tensor(object_array(made, strings.shape))


def _part(item: bytes, start: int, count: int, unit: str) -> bytes:
    text: Any = item if unit == "BYTE" else item.decode()
    if not -len_of(text) <= start <= len_of(text):
        raise InvalidArgumentError(f"pos {start} out of range for string b{text!r}")
    begin = start if start >= 0 else len_of(text) + start
    part: Any = text[begin : begin + max(count, 0)]
    return bytes(part if unit == "BYTE" else part.encode())


len_of = len


def join(inputs: Any, separator: str = "", name: str | None = None) -> Any:
    """The strings of several tensors, one after the other, with a separator between them."""
    given = np.broadcast_arrays(*[array_of(one, "string") for one in inputs])
    between = array_of(separator).item()
    made = [between.join(parts) for parts in zip(*(one.ravel().tolist() for one in given), strict=True)]
    return tensor(object_array(made, given[0].shape))


def reduce_join(
    inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "", name: str | None = None
) -> Any:
    """The strings along an axis, by default all, with a separator between them."""
    if isinstance(inputs, RaggedTensor):
        return tensor(
            object_array([array_of(separator).item().join(row) for row in inputs.plain.to_list()], (len(inputs),))
        )
    given = array_of(inputs, "string")
    between = array_of(separator).item()
    if given.ndim == 0:
        return tensor(given)
    axes = tuple(range(given.ndim)) if axis is None else axes_of(axis)
    chosen = [one % given.ndim for one in ((axes,) if isinstance(axes, int) else axes)]
    kept = [one for one in range(given.ndim) if one not in chosen]
    rows = np.transpose(given, [*kept, *chosen]).reshape(*[given.shape[one] for one in kept], -1)
    made = object_array([between.join(row) for row in rows.reshape(-1, rows.shape[-1]).tolist()], rows.shape[:-1])
    return tensor(
        made.reshape([1 if one in chosen else given.shape[one] for one in range(given.ndim)]) if keepdims else made
    )


def split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The parts between separators, by default white space: a tensor for one string, rows for several."""
    given = array_of(input, "string")
    between = None if sep is None or array_of(sep).item() == b"" else array_of(sep).item()
    parts = [item.split(between, maxsplit) for item in given.ravel().tolist()]
    if given.ndim == 0:
        return tensor(object_array(parts[0], (len_of(parts[0]),)))
    lengths = np.array([len_of(one) for one in parts], dtype=np.int64)
    flat = [item for one in parts for item in one]
    ragged: Any = PlainRagged.from_row_lengths(object_array(flat, (len_of(flat),)), lengths)
    for size in reversed(given.shape[1:]):
        ragged = PlainRagged.from_uniform_row_length(ragged, size, np.int64)
    return RaggedTensor(ragged)


def bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of each string, one by one: of several strings a RaggedTensor."""
    return _split_by(input, lambda item: [item[i : i + 1] for i in range(builtins.len(item))])


def unicode_split(
    input: Any, input_encoding: str, errors: str = "replace", replacement_char: int = 65533, name: str | None = None
) -> Any:
    """The characters of each string, one by one: of several strings a RaggedTensor."""
    return _split_by(input, lambda item: [one.encode() for one in item.decode(input_encoding, errors)])


def _split_by(input: Any, parts_of: Callable[[bytes], list[bytes]]) -> Any:
    given = array_of(input)
    parts = [parts_of(item) for item in given.ravel().tolist()]
    flat = [part for row in parts for part in row]
    values = object_array(flat, (builtins.len(flat),))
    if given.ndim == 0:
        return tensor(values)
    if given.ndim > 1:
        raise InvalidArgumentError(f"strings of one dimension at most are split here, got {given.ndim}")
    return RaggedTensor(PlainRagged.from_row_lengths(values, np.array([*map(builtins.len, parts)], np.int64)))


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
    read = number_reader(np.dtype(kind.as_numpy_dtype))

    def number(item: bytes) -> Any:
        try:
            return read(item)
        except ValueError:
            raise InvalidArgumentError(
                f"StringToNumberOp could not correctly convert string: {item.decode(errors='replace')}"
            ) from None

    return _each(number, input, kind.as_numpy_dtype)


def as_string(
    input: Any,
    precision: int = -1,
    scientific: bool = False,
    shortest: bool = False,
    width: int = -1,
    fill: str = "",
    name: str | None = None,
) -> Any:
    """Numbers and bools as text."""
    given = array_of(input)

    def text(value: Any) -> bytes:
        if isinstance(value, bytes):
            return value
        if isinstance(value, bool):
            made = str(value).lower()
        elif isinstance(value, int):
            made = str(value)
        else:
            digits = 6 if precision < 0 else precision
            made = f"{value:.{digits}{'e' if scientific else 'g' if shortest else 'f'}}"
        return (made.rjust(width, fill or " ") if width > 0 else made).encode()

    return tensor(object_array([text(value) for value in given.ravel().tolist()], given.shape))


def format(template: str, inputs: Any, placeholder: str = "{}", summarize: int = 3, name: str | None = None) -> Any:
    """The template with the inputs in the places."""
    given = list(inputs) if isinstance(inputs, list | tuple) else [inputs]
    if template.count(placeholder) != len_of(given):
        raise ValueError(f"the template has {template.count(placeholder)} places for {len_of(given)} inputs")
    shown, text = "", template
    for one in given:
        before, _, text = text.partition(placeholder)
        shown += before + _shown(array_of(one), summarize)
    return tensor((shown + text).encode("utf-8", "surrogateescape"))


def _shown(array: Any, most: int, depth: int = 1) -> str:
    """As TensorFlow prints it: strings in quotes, of each axis the first and the last `most` items."""
    if array.ndim == 0:
        item = array.item()
        if isinstance(item, bytes):
            return f'"{item.decode("utf-8", "surrogateescape")}"'
        return _shown_float(item, array.dtype) if isinstance(item, float) else str(int(item))
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * depth
    count = len_of(array)
    if most < 0 or count <= 2 * most:
        return f"[{between.join(_shown(array[row, ...], most, depth + 1) for row in range(count))}]"
    ends = [_shown(array[row, ...], most, depth + 1) for row in (*range(most), *range(-most, 0))]
    return f"[{between.join([*ends[:most], '...', *ends[most:]])}]"


def _shown_float(item: float, dtype: Any) -> str:
    few, all_digits = (15, 17) if dtype == np.float64 else (6, 9)
    short = f"{item:.{few}g}"
    return short if dtype.type(short) == item or item != item else f"{item:.{all_digits}g}"


def encode_base64(input: Any, pad: bool = False, name: str | None = None) -> Any:
    """In base64 for URLs."""
    return _each(
        lambda item: base64.urlsafe_b64encode(item) if pad else base64.urlsafe_b64encode(item).rstrip(b"="), input
    )


def decode_base64(input: Any, name: str | None = None) -> Any:
    """What was written in base64 for URLs."""

    def decoded(item: bytes) -> bytes:
        text = item.rstrip(b"=")
        if not re.fullmatch(rb"[A-Za-z0-9_-]*", text) or len_of(text) % 4 == 1:
            raise InvalidArgumentError(f"Invalid character found in base64: {item!r:.100}")
        return base64.urlsafe_b64decode(text + b"=" * (-len_of(text) % 4))

    return _each(decoded, input)


def to_hash_bucket_fast(input: Any, num_buckets: Any, name: str | None = None) -> Any:
    """Raises NotImplementedError without TensorFlow: the numbers would be others."""

    return of_tensorflow("tf.strings.to_hash_bucket_fast")(array_of(input), integer(num_buckets))
