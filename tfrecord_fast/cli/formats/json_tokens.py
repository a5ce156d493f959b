"""Values of whole columns as pieces of JSON, made by orjson many at a time, and lines put together from them."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...typing import Column
from ..records.json_values import marked_bytes, marked_float

__all__ = ["ColumnTokens", "joined_lines"]

_SHORT = 8  # values of a list, on average: fewer are made together with those of other rows


class ColumnTokens:
    """Makes the pieces of columns.

    Args:
      orjson: the module.
      nan: what becomes of floats that are no numbers, as of json_values.
    """

    def __init__(self, orjson: Any, nan: str) -> None:
        self._dumps = orjson.dumps
        self._numpy = orjson.OPT_SERIALIZE_NUMPY
        self._nan = nan

    def of(self, column: Column, single: bool) -> tuple[list[bytes | None], bool]:
        """A piece for each row, None where it has no values; and whether every row has some."""
        ragged: Any = column
        splits: list[int] = ragged.row_splits.tolist()
        values, count, rows = ragged.values, splits[-1], len(splits) - 1
        if single:
            tokens = self._each(values)
            if count == rows:
                return [*tokens], True
            return [tokens[start] if end > start else None for start, end in itertools.pairwise(splits)], False
        is_array = isinstance(values, np.ndarray)
        if is_array and count > _SHORT * rows and (values.dtype.kind != "f" or bool(np.isfinite(values).all())):
            made = [
                self._dumps(values[start:end], option=self._numpy) if end > start else None
                for start, end in itertools.pairwise(splits)
            ]
        else:
            tokens = self._each(values)
            made = [
                b"[%b]" % b",".join(tokens[start:end]) if end > start else None
                for start, end in itertools.pairwise(splits)
            ]
        return made, None not in made

    def _each(self, values: Any) -> list[bytes]:
        if not len(values):
            return []
        if not isinstance(values, np.ndarray):
            return self._texts(values.tolist())
        tokens: list[bytes] = self._dumps(values, option=self._numpy)[1:-1].split(b",")
        if values.dtype.kind == "f":
            for place in np.flatnonzero(~np.isfinite(values)).tolist():
                tokens[place] = self._dumps(marked_float(float(values[place]), self._nan))
        return tokens

    def _texts(self, values: list[bytes]) -> list[bytes]:
        marked = [marked_bytes(value) for value in values]
        whole: bytes = self._dumps(marked)
        # Where no quote is escaped, and no object stands for bytes, each "," is between two texts.
        if b'\\"' in whole or whole.count(b'","') != len(marked) - 1 or not all(type(one) is str for one in marked):
            return [self._dumps(one) for one in marked]
        return [b'"%b"' % one for one in whole[2:-2].split(b'","')]

    def name(self, key: str) -> bytes:
        """A key with its colon."""
        return b"%b:" % self._dumps(key)


def joined_lines(names: Sequence[bytes], columns: Sequence[list[bytes | None]], is_full: bool) -> list[bytes]:
    """An object for each row. `is_full`: no piece is None. There is a column at least."""
    rows = zip(*columns, strict=True)
    if is_full:
        form = b"{%b}" % b",".join(b"%b%%b" % name.replace(b"%", b"%%") for name in names)
        return [form % row for row in rows]
    pieces = (b",".join([n + one for n, one in zip(names, row, strict=True) if one is not None]) for row in rows)
    return [b"{%b}" % one for one in pieces]
