"""The fields of a record of comma-separated values, and fields as numbers; RFC 4180, as strictly as TensorFlow.

Python's csv module takes what is damaged without a word (`"a"b` is `ab` to it), and `int` takes `1_0`.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
import struct
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from ..dtypes import as_dtype
from ..errors import InvalidArgumentError
from .columns.strings import object_array

__all__ = ["Fields", "Unclosed", "number_reader", "split_record", "stays_open"]

_INTEGER = re.compile(rb"\s*([+-]?)(?:0*(?=[0-9]))([0-9]+)\s*")
_DIGITS = 20  # no integer of 64 bits has more; a number of a million would take its time
_DECIMAL = re.compile(
    rb"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf(?:inity)?|nan))\s*", re.I
)
_HEXADECIMAL = re.compile(rb"\s*([+-]?0x[0-9a-f]+(?:\.[0-9a-f]*)?(?:p[+-]?[0-9]+)?)\s*", re.I)
_END = re.compile(rb"[\r\n]")


class Unclosed(InvalidArgumentError):
    """The record ends inside a quoted field: it may go on in the next line."""


class Fields:
    """What the fields of records are read as.

    Args:
      defaults: for each field a dtype, if it is required, or what is taken for one that is empty: a number, bytes, or
        an array of at most one of them. None for an array without any.
      delimiter: one character.
      quotes: whether fields may be quoted.
      missing: a field that is taken for an empty one, too.
      select: the numbers of the fields that are read, in ascending order; None: all.

    Raises:
      ValueError: a default of another kind, or of several values; numbers that are no ascending ones, or not as many as
        there are defaults; a delimiter of another size.
    """

    def __init__(
        self,
        defaults: Sequence[Any],
        delimiter: str | bytes = ",",
        quotes: bool = True,
        missing: str | bytes = "",
        select: Sequence[int] | None = None,
    ) -> None:
        self.dtypes = []
        self._defaults: list[Any] = []
        self._readers: list[Callable[[bytes], Any]] = []
        for default in defaults:
            dtype, value = _default(default)
            self.dtypes.append(dtype)
            self._defaults.append(value)
            self._readers.append(bytes if dtype.kind == "O" else number_reader(dtype))
        self.delimiter = delimiter.encode() if isinstance(delimiter, str) else delimiter
        if len(self.delimiter) != 1:
            raise InvalidArgumentError(f"field_delim should be only 1 char, got {delimiter!r}")
        self.quotes = bool(quotes)
        self._missing = missing.encode() if isinstance(missing, str) else missing
        self._select = None if select is None else [operator.index(place) for place in select]
        if self._select is not None:
            if len(self._select) != len(self._defaults):
                raise InvalidArgumentError(
                    f"select_cols and record_defaults differ in length: {len(self._select)} and {len(self._defaults)}"
                )
            if any(b <= a for a, b in itertools.pairwise([-1, *self._select])):
                raise InvalidArgumentError(f"select_cols should be strictly increasing indices, got {self._select}")

    def of(self, record: bytes) -> list[Any]:
        """The values of one record.

        Raises:
          errors.InvalidArgumentError: it is not well formed, has more or fewer fields, or one of another kind.
        """
        fields = split_record(record, self.delimiter, self.quotes)
        if self._select is None:
            if len(fields) != len(self._defaults):
                got = "more" if len(fields) > len(self._defaults) else len(fields)
                raise InvalidArgumentError(f"Expect {len(self._defaults)} fields but have {got} in record")
        elif self._select and self._select[-1] >= len(fields):
            have = sum(place < len(fields) for place in self._select)
            raise InvalidArgumentError(f"Expect {len(self._defaults)} fields but have {have} in record")
        else:
            fields = [fields[place] for place in self._select]
        return [self._value(place, field) for place, field in enumerate(fields)]

    def _value(self, place: int, field: bytes) -> Any:
        if not field or field == self._missing:
            if self._defaults[place] is None:
                raise InvalidArgumentError(f"Field {place} is required but missing in record!")
            return self._defaults[place]
        try:
            return self._readers[place](field)
        except ValueError:
            text = field.decode("utf-8", "backslashreplace")
            kind = as_dtype(self.dtypes[place]).name
            raise InvalidArgumentError(f"Field {place} in record is not a valid {kind}: {text:.100}") from None

    def columns(self, rows: Sequence[Sequence[Any]]) -> list[Any]:
        """The values of several records, one array for each field."""
        columns: Any = zip(*rows, strict=True) if rows else [[] for _ in self.dtypes]
        return [
            object_array(list(column), (len(rows),)) if dtype.kind == "O" else np.array(column, dtype=dtype)
            for column, dtype in zip(columns, self.dtypes, strict=True)
        ]


def _default(given: Any) -> tuple[np.dtype[Any], Any]:
    if hasattr(given, "as_numpy_dtype"):
        return _kind(np.dtype(given.as_numpy_dtype)), None
    if isinstance(given, str | bytes):
        return np.dtype(object), given.encode() if isinstance(given, str) else given
    array = np.asarray(given)
    if isinstance(given, int | float | list | tuple) and not isinstance(given, np.generic) and array.dtype.kind in "if":
        # As `constant` makes it.
        fits = array.dtype.kind == "i" and ((array >= -(1 << 31)) & (array < 1 << 31)).all()
        array = array if array.dtype.kind == "i" and not fits else np.asarray(given, np.int32 if fits else np.float32)
    if array.size > 1 or array.ndim > 1:
        raise InvalidArgumentError(f"a default is one value or none, got {given!r:.100}")
    if array.dtype.kind in "OSU":
        values = array.ravel().tolist()
        if not all(isinstance(one, str | bytes) for one in values):
            raise InvalidArgumentError(f"a default is a number or a string, got {given!r:.100}")
        return np.dtype(object), (values[0].encode() if isinstance(values[0], str) else values[0]) if values else None
    return _kind(array.dtype), array.item() if array.size else None


def _kind(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype not in (np.int32, np.int64, np.float32, np.float64, object):
        raise InvalidArgumentError(
            f"record_defaults are of float32, float64, int32, int64 or string, not of {dtype.name}"
        )
    return dtype


def split_record(record: bytes, delimiter: bytes, quotes: bool = True) -> list[bytes]:
    """The fields of one record, which has no end of line; quoted fields without their quotes.

    Args:
      quotes: whether a field may be quoted; if not, quotes are part of fields.

    Raises:
      Unclosed: there is no quote after a quoted field.
      errors.InvalidArgumentError: a quote or an end of line in a field that is not quoted, or anything after a quoted
        one.

    >>> split_record(b'a,"b,""c"', b",")
    [b'a', b'b,"c']
    """
    if not quotes or b'"' not in record:
        if _END.search(record):
            raise InvalidArgumentError("Unquoted fields cannot have CRLFs inside")
        return record.split(delimiter)
    fields = []
    at = 0
    while True:
        if record[at : at + 1] == b'"':
            field, at = _quoted(record, at + 1)
            if record[at : at + 1] not in (b"", delimiter):
                raise InvalidArgumentError("Quoted field has to end with delim, CRLF, or EOF")
        else:
            end = record.find(delimiter, at)
            field = record[at:] if end < 0 else record[at:end]
            at += len(field)
            if b'"' in field:
                raise InvalidArgumentError("Unquoted fields cannot have quotes inside")
            if _END.search(field):
                raise InvalidArgumentError("Unquoted fields cannot have CRLFs inside")
        fields.append(field)
        if at >= len(record):
            return fields
        at += 1


def _quoted(record: bytes, start: int) -> tuple[bytes, int]:
    """The field whose first quote is before `start`, and the place after its last quote."""
    parts = []
    while True:
        end = record.find(b'"', start)
        if end < 0:
            raise Unclosed("Reached end of record without closing quoted field")
        if record[end + 1 : end + 2] != b'"':
            parts.append(record[start:end])
            return b'"'.join(parts), end + 1
        parts.append(record[start:end])
        start = end + 2


def stays_open(line: bytes, delimiter: bytes, inside: bool) -> bool:
    """Whether a quoted field goes on after the line.

    Args:
      inside: whether the line begins inside one.
    """
    at = 0
    try:
        while True:
            if inside or line[at : at + 1] == b'"':
                _, at = _quoted(line, at if inside else at + 1)
                inside = False
                if line[at : at + 1] != delimiter:
                    return False  # the end, or damage
            else:
                at = line.find(delimiter, at)
                if at < 0:
                    return False
            at += 1
    except Unclosed:
        return True


def number_reader(dtype: np.dtype[Any]) -> Callable[[bytes], Any]:
    """A function from a field to a number of the dtype.

    Raises (the function):
      ValueError: the field is no number, or no integer of the dtype. Floats out of range are infinite.
    """
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)

        def integer(field: bytes) -> Any:
            found = _INTEGER.fullmatch(field)
            if found is None or len(found[2]) > _DIGITS:
                raise ValueError(field)
            value = int(found[1] + found[2])
            if not bounds.min <= value <= bounds.max:
                raise ValueError(field)
            return value

        return integer
    return _float32 if dtype == np.float32 else _float


def _float(field: bytes) -> float:
    if found := _DECIMAL.fullmatch(field):
        return float(found[1])
    if found := _HEXADECIMAL.fullmatch(field):
        try:
            return float.fromhex(found[1].decode())
        except OverflowError:
            return float("-inf" if found[1].startswith(b"-") else "inf")
    raise ValueError(field)


def _float32(field: bytes) -> Any:
    """The nearest float32. By way of a float, that would be rounded twice, if the float is halfway between two."""
    value = _float(field)
    if _is_halfway(value) and b"x" not in field.lower():
        exact = Fraction(field.strip().decode())
        if exact != Fraction(value):
            value = float(np.nextafter(value, np.inf if exact > Fraction(value) else -np.inf))
    with np.errstate(over="ignore"):
        return np.float32(value)


def _is_halfway(value: float) -> bool:
    """Between two neighbouring float32s."""
    if abs(value) < 2.0**-126:  # they are 2**-149 apart
        return math.ldexp(value, 150) % 2 == 1
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return bool(bits & 0x1FFFFFFF == 0x10000000)
