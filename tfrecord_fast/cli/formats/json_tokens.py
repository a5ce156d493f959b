"""Conversion of whole columns to pieces of JSON, and of pieces to lines."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...typing import Column
from ..records.json_values import marked_bytes, marked_float

_SHORT = 8  # mean values per list: shorter lists are converted together with those of other rows


class ColumnTokens:
    """Converter of columns; `nan` is one of json_values.NANS. `dumps` is that of `orjson`, unless that is None."""

    def __init__(self, dumps: Any, nan: str, orjson: Any) -> None:
        self._dumps = dumps
        self._nan = nan
        self._numpy = None if orjson is None else orjson.OPT_SERIALIZE_NUMPY

    def of(self, column: Column, single: bool) -> tuple[list[bytes | None], bool]:
        """Return a piece for each row, None without values; and True if every row has values."""
        ragged: Any = column
        splits: list[int] = ragged.row_splits.tolist()
        values, count, rows = ragged.values, splits[-1], len(splits) - 1
        if self._numpy is None:
            plain = self._plain(values)
            pieces = [
                self._dumps(plain[start] if single else plain[start:end]) if end > start else None
                for start, end in itertools.pairwise(splits)
            ]
            return pieces, None not in pieces
        if single:
            tokens = self._each(values)
            if count == rows:
                return [*tokens], True
            return [tokens[start] if end > start else None for start, end in itertools.pairwise(splits)], False
        is_array = isinstance(values, np.ndarray)
        if is_array and count > _SHORT * rows and (values.dtype.kind != "f" or bool(np.isfinite(values).all())):
            pieces = [
                self._dumps(values[start:end], option=self._numpy) if end > start else None
                for start, end in itertools.pairwise(splits)
            ]
        else:
            tokens = self._each(values)
            pieces = [
                b"[%b]" % b",".join(tokens[start:end]) if end > start else None
                for start, end in itertools.pairwise(splits)
            ]
        return pieces, None not in pieces

    def _plain(self, values: Any) -> list[Any]:
        """Return all values of a column for JSON; float32 in their shortest form."""
        if not isinstance(values, np.ndarray):
            return [marked_bytes(value) for value in values.tolist()]
        if values.dtype.kind != "f" or not len(values):
            return list(values.tolist())
        floats: list[Any] = values.astype("U").astype(np.float64).tolist()
        return floats if bool(np.isfinite(values).all()) else [marked_float(value, self._nan) for value in floats]

    def _each(self, values: Any) -> list[bytes]:
        if not len(values):
            return []
        if not isinstance(values, np.ndarray):
            return self._texts(values.tolist())
        tokens: list[bytes] = self._dumps(values, option=self._numpy)[1:-1].split(b",")
        if values.dtype.kind == "f":
            for index in np.flatnonzero(~np.isfinite(values)).tolist():
                tokens[index] = self._dumps(marked_float(float(values[index]), self._nan))
        return tokens

    def _texts(self, values: list[bytes]) -> list[bytes]:
        marked = [marked_bytes(value) for value in values]
        whole: bytes = self._dumps(marked)
        # Without escaped quotes and marked bytes, each "," separates two texts.
        if b'\\"' in whole or whole.count(b'","') != len(marked) - 1 or not all(type(item) is str for item in marked):
            return [self._dumps(item) for item in marked]
        return [b'"%b"' % item for item in whole[2:-2].split(b'","')]

    def name(self, key: str) -> bytes:
        return b"%b:" % self._dumps(key)


def joined_lines(names: Sequence[bytes], columns: Sequence[list[bytes | None]], is_full: bool) -> list[bytes]:
    """Join pieces to an object per row. There is at least one column; if `is_full`, no piece is None."""
    rows = zip(*columns, strict=True)
    if is_full:
        form = b"{%b}" % b",".join(b"%b%%b" % name.replace(b"%", b"%%") for name in names)
        return [form % row for row in rows]
    pieces = (b",".join([n + piece for n, piece in zip(names, row, strict=True) if piece is not None]) for row in rows)
    return [b"{%b}" % piece for piece in pieces]
