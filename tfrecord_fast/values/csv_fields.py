"""The fields of records of comma-separated values (RFC 4180), parsed as strictly as by TensorFlow.

Python's csv module accepts damaged quotes silently (it reads `"a"b` as `ab`), and `int` accepts `1_0`.
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

_INTEGER = re.compile(rb"\s*([+-]?)(?:0*(?=[0-9]))([0-9]+)\s*")
_DIGITS = 20  # no integer of 64 bits has more, and converting a million digits is slow
_DECIMAL = re.compile(
    rb"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf(?:inity)?|nan))\s*", re.I
)
_HEXADECIMAL = re.compile(rb"\s*([+-]?0x[0-9a-f]+(?:\.[0-9a-f]*)?(?:p[+-]?[0-9]+)?)\s*", re.I)
_END = re.compile(rb"[\r\n]")


class Unclosed(InvalidArgumentError):
    """The record ends inside a quoted field, which may continue in the next line."""


class Fields:
    """The types and defaults of the fields of records.

    Args:
      defaults: for each field a dtype, if the field is required, or the value of an empty field: a number, bytes, or an
        array of at most one of them. An empty array also makes the field required.
      delimiter: one character.
      quotes: allow quoted fields.
      missing: text that counts as an empty field.
      select: the indices of the fields to read, in ascending order; None for all.
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
        self._select = None if select is None else [operator.index(index) for index in select]
        if self._select is not None:
            if len(self._select) != len(self._defaults):
                raise InvalidArgumentError(
                    f"select_cols and record_defaults differ in length: {len(self._select)} and {len(self._defaults)}"
                )
            if any(b <= a for a, b in itertools.pairwise([-1, *self._select])):
                raise InvalidArgumentError(f"select_cols should be strictly increasing indices, got {self._select}")

    def of(self, record: bytes) -> list[Any]:
        fields = split_record(record, self.delimiter, self.quotes)
        if self._select is None:
            if len(fields) != len(self._defaults):
                count = "more" if len(fields) > len(self._defaults) else len(fields)
                raise InvalidArgumentError(f"Expect {len(self._defaults)} fields but have {count} in record")
        elif self._select and self._select[-1] >= len(fields):
            count = sum(index < len(fields) for index in self._select)
            raise InvalidArgumentError(f"Expect {len(self._defaults)} fields but have {count} in record")
        else:
            fields = [fields[index] for index in self._select]
        return [self._value(index, field) for index, field in enumerate(fields)]

    def _value(self, index: int, field: bytes) -> Any:
        if not field or field == self._missing:
            if self._defaults[index] is None:
                raise InvalidArgumentError(f"Field {index} is required but missing in record!")
            return self._defaults[index]
        try:
            return self._readers[index](field)
        except ValueError:
            text = field.decode("utf-8", "backslashreplace")
            name = as_dtype(self.dtypes[index]).name
            raise InvalidArgumentError(f"Field {index} in record is not a valid {name}: {text:.100}") from None

    def columns(self, rows: Sequence[Sequence[Any]]) -> list[Any]:
        """Return the values of several records as one array for each field."""
        columns: Any = zip(*rows, strict=True) if rows else [[] for _ in self.dtypes]
        return [
            object_array(list(column), (len(rows),)) if dtype.kind == "O" else np.array(column, dtype=dtype)
            for column, dtype in zip(columns, self.dtypes, strict=True)
        ]


def _default(default: Any) -> tuple[np.dtype[Any], Any]:
    if hasattr(default, "as_numpy_dtype"):
        return _field_dtype(np.dtype(default.as_numpy_dtype)), None
    if isinstance(default, str | bytes):
        return np.dtype(object), default.encode() if isinstance(default, str) else default
    array = np.asarray(default)
    if (
        isinstance(default, int | float | list | tuple)
        and not isinstance(default, np.generic)
        and array.dtype.kind in "if"
    ):
        # Python numbers get the dtypes of `constant`.
        fits = array.dtype.kind == "i" and ((array >= -(1 << 31)) & (array < 1 << 31)).all()
        array = array if array.dtype.kind == "i" and not fits else np.asarray(default, np.int32 if fits else np.float32)
    if array.size > 1 or array.ndim > 1:
        raise InvalidArgumentError(f"a default must be one value or an empty array, got {default!r:.100}")
    if array.dtype.kind in "OSU":
        values = array.ravel().tolist()
        if not all(isinstance(value, str | bytes) for value in values):
            raise InvalidArgumentError(f"a default must be a number or a string, got {default!r:.100}")
        return np.dtype(object), (values[0].encode() if isinstance(values[0], str) else values[0]) if values else None
    return _field_dtype(array.dtype), array.item() if array.size else None


def _field_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    if dtype not in (np.int32, np.int64, np.float32, np.float64, object):
        raise InvalidArgumentError(
            f"record_defaults must be float32, float64, int32, int64 or string, got {dtype.name}"
        )
    return dtype


def split_record(record: bytes, delimiter: bytes, quotes: bool = True) -> list[bytes]:
    """Split one record, without its end of line, into fields; quoted fields lose their quotes.

    Args:
      quotes: allow quoted fields; otherwise, quotes are part of fields.

    Raises:
      Unclosed: a quoted field does not end.
      errors.InvalidArgumentError: a quote or an end of line in an unquoted field, or text after a quoted field.

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
    """Return the field whose first quote is before `start`, and the position after its last quote."""
    pieces = []  # between pairs of quotes
    while True:
        end = record.find(b'"', start)
        if end < 0:
            raise Unclosed("Reached end of record without closing quoted field")
        pieces.append(record[start:end])
        if record[end + 1 : end + 2] != b'"':
            return b'"'.join(pieces), end + 1
        start = end + 2


def stays_open(line: bytes, delimiter: bytes, inside: bool) -> bool:
    """Return True if a quoted field continues after the line."""
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
    """Return a function from a field to a number of the dtype.

    The function raises ValueError if the field is not a number, or not an integer of the dtype. Floats out of range
    are infinite.
    """
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)

        def integer(field: bytes) -> Any:
            match = _INTEGER.fullmatch(field)
            if match is None or len(match[2]) > _DIGITS:
                raise ValueError(field)
            value = int(match[1] + match[2])
            if not bounds.min <= value <= bounds.max:
                raise ValueError(field)
            return value

        return integer
    return _float32 if dtype == np.float32 else _float


def _float(field: bytes) -> float:
    if match := _DECIMAL.fullmatch(field):
        return float(match[1])
    if match := _HEXADECIMAL.fullmatch(field):
        try:
            return float.fromhex(match[1].decode())
        except OverflowError:
            return float("-inf" if match[1].startswith(b"-") else "inf")
    raise ValueError(field)


def _float32(field: bytes) -> Any:
    """Return the nearest float32. A float halfway between two float32s was rounded once; it must not be twice."""
    value = _float(field)
    if _is_halfway(value) and b"x" not in field.lower():
        exact = Fraction(field.strip().decode())
        if exact != Fraction(value):
            value = float(np.nextafter(value, np.inf if exact > Fraction(value) else -np.inf))
    with np.errstate(over="ignore"):
        return np.float32(value)


def _is_halfway(value: float) -> bool:
    if abs(value) < 2.0**-126:  # they are 2**-149 apart
        return math.ldexp(value, 150) % 2 == 1
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return bool(bits & 0x1FFFFFFF == 0x10000000)
