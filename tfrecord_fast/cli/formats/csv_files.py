"""CSV: a column per feature, with at most one value per row.

A header may say what a column holds: `zip:bytes`, `x:float`, `n:int64`. Otherwise the values do. They are int64 if all
are integers as they are usually written (so `01234` is text), or all true or false; floats if all are numbers, not all
of them integers; else text. The sink names the kind only where the values would say something else.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ... import _core
from ...dtypes import as_dtype
from ...examples.features import FixedLenFeature
from ...examples.infer import first_row
from ...examples.parsing.parse import parse_example
from ...files.streams.core_files import CoreFile
from ...typing import Column, Columns
from .base import BEYOND_FLOAT32, ROWS, Malformed, RowSink, Source, Unsuitable, arrow, check_names, is_float32, refuse

__all__ = ["TYPES", "CsvSink", "CsvSource"]

_BLOCK = 4 << 20  # bytes, which hold a row at least
_EXACT = 2.0**24  # a float32 holds all integers up to it
_KINDS = {"string": "bytes", "float32": "float", "int64": "int64"}
# How types may be called, and what they are.
TYPES = {
    **dict.fromkeys(("int64", "int"), "int64"),
    **dict.fromkeys(("float", "float32"), "float"),
    **dict.fromkeys(("string", "bytes", "text"), "bytes"),
}
_TYPED = re.compile(rf"(.*):({'|'.join(_KINDS.values())})", re.DOTALL)

# How numbers are written, for Python's re and Arrow's RE2.
_INTEGER = r"[ \t]*(0|-?[1-9][0-9]*)[ \t]*"
_FINITE = r"[ \t]*-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?[ \t]*"
_NUMBER = rf"({_FINITE}|[ \t]*([nN][aA][nN]|[-+]?[iI][nN][fF]([iI][nN][iI][tT][yY])?)[ \t]*)"
_BOOLEANS = ("true|false", "True|False", "TRUE|FALSE")
_NOT_TEXT = re.compile(rf"{_NUMBER}|{'|'.join(_BOOLEANS)}")


class CsvSource(Source):
    """Files are read twice, in parts: a column's kind is known only at its end."""

    passes = 2
    types: Mapping[str, str] = {}  # kinds of columns that are given: "int64", "float" or "bytes"
    strings = False  # whether all others are text

    def __init__(self, files: list[CoreFile]) -> None:
        super().__init__(files)
        self._settled: dict[str, list[str]] = {}  # the kinds of columns, by file

    def batches_of(self, path: str) -> Iterator[_core.RecordBatch]:
        """The records of one file."""
        if _is_blank(path):
            return
        names = _names(path)
        typed = [_TYPED.fullmatch(name) for name in names]
        keys = [name if found is None else found[1] for name, found in zip(names, typed, strict=True)]
        check_names(path, names)
        check_names(path, keys)
        for name in self.types:
            if name not in keys:
                raise Unsuitable(f"{path}: there is no column {name!r}; there are {', '.join(map(repr, keys))}")
        given = [self.types.get(key) or (found and found[2]) for key, found in zip(keys, typed, strict=True)]
        kinds = [kind or ("bytes" if self.strings else None) for kind in given]
        hints = [
            f"; name the column {key}:bytes to keep it as text" if kind is None else ""
            for key, kind in zip(keys, kinds, strict=True)
        ]
        settled = self._settled.get(path)
        if settled is None:
            settled = self._settled[path] = self._look(path, names, kinds)
        first = 0
        for part in self._parts(path, names):
            columns = [
                _typed(f"{path}: column {key!r}", first, texts, kind, hint)
                for key, kind, hint, texts in zip(keys, settled, hints, part.columns, strict=True)
            ]
            yield self.encode_table(arrow("pyarrow").RecordBatch.from_arrays(columns, names=keys))
            first += part.num_rows

    def _look(self, path: str, names: list[str], kinds: list[str | None]) -> list[str]:
        """The kinds of all columns, those that are given and what the values say."""
        said = [_Said() for _ in names]
        if None not in kinds:
            self.advance(os.path.getsize(path))
        for part in self._parts(path, names) if None in kinds else ():
            for column, one, kind in zip(part.columns, said, kinds, strict=True):
                if kind is None:
                    one.look(column)
        return [kind or one.kind() for kind, one in zip(kinds, said, strict=True)]

    def _parts(self, path: str, names: list[str]) -> Iterator[Any]:
        """All columns as text, at most ROWS rows at a time. An empty field is a null, "" in quotes an empty text."""
        csv, text = arrow("pyarrow.csv"), arrow("pyarrow").string()
        convert = csv.ConvertOptions(
            column_types=dict.fromkeys(names, text),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        whole, told = os.path.getsize(path), 0
        options = csv.ReadOptions(block_size=_BLOCK, use_threads=False)
        end = b"\n" + b",".join([b'""'] * len(names)) + b"\n"
        with _opened(path, end) as raw, csv.open_csv(raw, options, _parse_options(), convert) as file:
            for block in _without_end(path, file):
                for start in range(0, block.num_rows, ROWS):
                    yield block.slice(start, ROWS)
                step = min(block.nbytes, whole - told)  # about as much as it took in the file
                told += step
                self.advance(step)
        self.advance(whole - told)


class _Ended(io.RawIOBase):
    """A file that ends with a row of our own: if that is no row, a quote before it is still open."""

    def __init__(self, file: Any, end: bytes) -> None:
        self._file = file
        self._end = end

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        left = 1 << 62 if size is None or size < 0 else size
        parts: list[bytes] = []
        while left:
            part = self._file.read(left)
            if not part:
                part, self._end = self._end[:left], self._end[left:]
            if not part:
                break
            parts.append(part)
            left -= len(part)
        return b"".join(parts)


@contextlib.contextmanager
def _opened(path: str, end: bytes) -> Iterator[Any]:
    pa = arrow("pyarrow")
    with pa.input_stream(path) as file:
        yield pa.PythonFile(_Ended(file, end), mode="r")


def _without_end(path: str, blocks: Iterable[Any]) -> Iterator[Any]:
    """The blocks without the last row, which is texts without letters, and no others are."""
    held = None
    for block in blocks:
        if held is not None:
            yield held
        held = block
    if held is None or any(column[-1].as_py() != "" for column in held.columns):
        raise Malformed(f"{path}: a quote is not closed: the file ends within a field")
    yield held.slice(0, held.num_rows - 1)


def _parse_options() -> Any:
    return arrow("pyarrow.csv").ParseOptions(newlines_in_values=True)


def _names(path: str) -> list[str]:
    csv = arrow("pyarrow.csv")
    options = csv.ReadOptions(block_size=_BLOCK, use_threads=False)
    with _opened(path, b"\n") as raw, csv.open_csv(raw, options, _parse_options()) as reader:
        names: list[str] = reader.schema.names
    return names


def _is_blank(path: str) -> bool:
    with arrow("pyarrow").input_stream(path) as file:
        while block := file.read(1 << 16):
            if block.strip(b"\r\n"):
                return False
    return True


class _Said:
    """What the values of a column say that it holds."""

    def __init__(self) -> None:
        self._forms = dict.fromkeys((_INTEGER, _NUMBER, *_BOOLEANS), True)  # whether all values have this form
        self._has_values = self._is_finite = False

    def look(self, texts: Any) -> None:
        """Some of them."""
        if texts.null_count == len(texts):
            return
        self._has_values = True
        for form, holds in self._forms.items():
            self._forms[form] = holds and _all(texts, form)
        if self._forms[_NUMBER] and not self._is_finite:
            self._is_finite = bool(arrow("pyarrow.compute").any(_match(texts, _FINITE)).as_py())

    def kind(self) -> str:
        """ "int64", "float", "bool" or "bytes"."""
        if not self._has_values:
            return "bytes"
        if self._forms[_INTEGER]:
            return "int64"
        if self._forms[_NUMBER] and self._is_finite:
            return "float"
        return "bool" if any(self._forms[values] for values in _BOOLEANS) else "bytes"


def _typed(place: str, first: int, texts: Any, kind: str, hint: str) -> Any:
    """Some rows of a column, from `first` on, as text, int64 or float32. `hint`: what helps, if the kind is a guess."""
    if kind == "bytes":
        return texts
    compute, pa = arrow("pyarrow.compute"), arrow("pyarrow")
    if kind == "bool":
        return compute.equal(compute.utf8_lower(texts), "true").cast(pa.int64())
    form = _INTEGER if kind == "int64" else _NUMBER
    _refuse_first(place, first, texts, compute.invert(_match(texts, form)), f"is no {kind}")
    texts = compute.utf8_trim(texts, " \t")
    if kind == "int64":
        try:
            return texts.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise Malformed(f"{place}: not all are in the range of int64: {error}{hint}") from None
    numbers = texts.cast(pa.float64())
    finite = _match(texts, _FINITE)
    beyond = compute.and_(finite, compute.greater_equal(compute.abs(numbers), BEYOND_FLOAT32))
    _refuse_first(place, first, texts, beyond, f"is beyond the range of float32{hint}")
    if hint:
        large = compute.and_(_match(texts, _INTEGER), compute.greater_equal(compute.abs(numbers), _EXACT))
        rounded = [one is not None and not is_float32(int(one)) for one in _where(large, texts)]
        why = "would be rounded to a float32, since not all of the column are integers"
        _refuse_first(place, first, texts, pa.array(rounded, pa.bool_()), f"{why}{hint}")
    return numbers.cast(pa.float32(), safe=False)


def _where(mask: Any, texts: Any) -> list[str | None]:
    """The texts for which the mask holds; None for others."""
    compute, pa = arrow("pyarrow.compute"), arrow("pyarrow")
    if not compute.any(mask).as_py():
        return []
    made: list[str | None] = compute.if_else(mask.fill_null(False), texts, pa.scalar(None, texts.type)).to_pylist()
    return made


def _match(texts: Any, form: str) -> Any:
    return arrow("pyarrow.compute").match_substring_regex(texts, f"^({form})$")


def _all(texts: Any, form: str) -> bool:
    return bool(arrow("pyarrow.compute").all(_match(texts, form)).as_py())


def _refuse_first(place: str, first: int, texts: Any, wrong: Any, why: str) -> None:
    row = arrow("pyarrow.compute").index(wrong, True).as_py()
    if row >= 0:
        raise Malformed(f"{place}, row {first + row}: {texts[row].as_py()!r:.60} {why}")


class CsvSink(RowSink):
    """Text is in quotes, so that an empty one is no missing one."""

    looks = True

    def __init__(self, path: str, compression: str, level: int | None) -> None:
        super().__init__(path, compression, level)
        self._ambiguous: set[str] = set()  # the values may be taken for another kind

    def check(self, scanner: _core.FeatureScanner, records: _core.RecordBatch) -> None:
        """Refuses several values."""
        if all(seen.most <= 1 for seen in scanner.features()):
            return
        key = next(seen.key for seen in scanner.features() if seen.most > 1)
        row = first_row(records, lambda one: any(seen.key == key and seen.most > 1 for seen in one.features()))
        name = key.decode("utf-8", "backslashreplace")
        refuse(records, row, f"feature {name!r} has several values, and a row of CSV holds one")

    def begin(self, scanner: _core.FeatureScanner) -> None:
        """Takes the features of all records."""
        super().begin(scanner)
        self._ambiguous = {key for key, feature in self.features.items() if _kind_name(feature) != "int64"}

    def look(self, batches: Iterator[_core.RecordBatch]) -> None:
        """Looks for values that show what the columns hold, until all have one."""
        while self._ambiguous and (records := next(batches, None)) is not None:
            asked = {key: self.features[key] for key in self._ambiguous}
            for key, column in parse_example(records, asked).items():
                if _shows_kind(column):
                    self._ambiguous.discard(key)

    @contextlib.contextmanager
    def writing(self, name: str | int) -> Iterator[None]:
        """Writes a file of this name until the end."""
        with self.opened_file(name) as self._file:
            if self.features:
                self._file.write((",".join(_quoted(self._header(key)) for key in self.features) + "\n").encode())
            yield

    def _header(self, key: str) -> str:
        named = key in self._ambiguous or _TYPED.fullmatch(key)
        return f"{key}:{_kind_name(self.features[key])}" if named else key

    def write_rows(self, records: _core.RecordBatch, columns: Columns) -> None:
        """Writes records, given what they were parsed to."""
        fields = [self._fields(records, key, columns[key]) for key in self.features]
        if len(fields) == 1 and "" in fields[0]:
            why = "a row of CSV without any value is an empty line, which readers pass over"
            refuse(records, fields[0].index(""), why)
        lines = (",".join(row) + "\n" for row in zip(*fields, strict=True))
        self._file.write("".join(lines).encode())

    def _fields(self, records: _core.RecordBatch, key: str, column: Column) -> list[str]:
        """What each row holds; "" for nothing."""
        if isinstance(self.features[key], FixedLenFeature):
            return self._texts(records, key, column, np.arange(len(records)))
        splits = column.row_splits
        rows = np.flatnonzero(splits[1:] > splits[:-1])
        fields = [""] * len(records)
        for row, text in zip(rows.tolist(), self._texts(records, key, column.values, rows), strict=True):
            fields[row] = text
        return fields

    def _texts(self, records: _core.RecordBatch, key: str, values: Column, rows: Any) -> list[str]:
        given: Any = values
        if isinstance(given, np.ndarray) and given.dtype.kind in "if":
            return given.astype("U").tolist()  # type: ignore[no-any-return]
        made = []
        for row, value in zip(rows.tolist(), given.tolist(), strict=True):
            try:
                made.append(_quoted(value.decode()))
            except UnicodeDecodeError:
                refuse(records, row, f"feature {key!r} holds bytes that are not UTF-8, and CSV is text")
        return made


def _kind_name(feature: Any) -> str:
    return _KINDS[as_dtype(feature.dtype).name]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _shows_kind(column: Column) -> bool:
    """Whether some value alone tells that the column is floats, or text."""
    values: Any = getattr(column, "values", column)
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return bool(np.isfinite(values).any())
    return any(_NOT_TEXT.fullmatch(value.decode("utf-8", "replace")) is None for value in values.tolist())
