"""CSV: a column per feature, with at most one value per row.

A header may have the type of a column: `zip:bytes`, `x:float`, `n:int64`. Otherwise the values determine it: int64 if
all are integers in their usual form (so `01234` is text), or all are true or false; float if all are numbers and some
are not integers; else text. The sink writes the type only if the values would suggest another.
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

_BLOCK = 4 << 20  # bytes; a row must fit
_EXACT = 2.0**24  # a float32 holds all integers up to this
_KINDS = {"string": "bytes", "float32": "float", "int64": "int64"}
# Names of types, and their kinds.
TYPES = {
    **dict.fromkeys(("int64", "int"), "int64"),
    **dict.fromkeys(("float", "float32"), "float"),
    **dict.fromkeys(("string", "bytes", "text"), "bytes"),
}
_TYPED = re.compile(rf"(.*):({'|'.join(_KINDS.values())})", re.DOTALL)

# The forms of numbers, for Python's re and Arrow's RE2.
_INTEGER = r"[ \t]*(0|-?[1-9][0-9]*)[ \t]*"
_FINITE = r"[ \t]*-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?[ \t]*"
_NUMBER = rf"({_FINITE}|[ \t]*([nN][aA][nN]|[-+]?[iI][nN][fF]([iI][nN][iI][tT][yY])?)[ \t]*)"
_BOOLEANS = ("true|false", "True|False", "TRUE|FALSE")
_NOT_TEXT = re.compile(rf"{_NUMBER}|{'|'.join(_BOOLEANS)}")


class CsvSource(Source):
    """Files are read twice, block by block: the type of a column is known only at the end."""

    passes = 2
    types: Mapping[str, str] = {}  # requested types of columns: "int64", "float" or "bytes"
    strings = False  # all other columns are text
    delimiter: str | None = None  # None: the header tells

    def __init__(self, files: list[CoreFile]) -> None:
        super().__init__(files)
        self._settled: dict[str, list[str]] = {}  # the types of columns, by file

    def batches_of(self, path: str) -> Iterator[_core.RecordBatch]:
        if _is_blank(path):
            return
        delimiter = self.delimiter or _delimiter(path)
        names = _names(path, delimiter)
        typed = [_TYPED.fullmatch(name) for name in names]
        keys = [name if match is None else match[1] for name, match in zip(names, typed, strict=True)]
        check_names(path, names)
        check_names(path, keys)
        for name in self.types:
            if name not in keys:
                raise Unsuitable(f"{path}: no column {name!r}; the columns are {', '.join(map(repr, keys))}")
        requested = [self.types.get(key) or (match and match[2]) for key, match in zip(keys, typed, strict=True)]
        kinds = [dtype or ("bytes" if self.strings else None) for dtype in requested]
        hints = [
            f"; name the column {key}:bytes to keep it as text" if dtype is None else ""
            for key, dtype in zip(keys, kinds, strict=True)
        ]
        settled = self._settled.get(path)
        if settled is None:
            settled = self._settled[path] = self._look(path, delimiter, names, kinds)
        first = 0
        for block in self._parts(path, delimiter, names):
            columns = [
                _typed(f"{path}: column {key!r}", first, texts, dtype, hint)
                for key, dtype, hint, texts in zip(keys, settled, hints, block.columns, strict=True)
            ]
            yield self.encode_table(arrow("pyarrow").RecordBatch.from_arrays(columns, names=keys))
            first += block.num_rows

    def _look(self, path: str, delimiter: str, names: list[str], kinds: list[str | None]) -> list[str]:
        """Return the types of all columns: requested ones, and those that the values suggest."""
        looks = [_Look() for _ in names]
        if None not in kinds:
            self.advance(os.path.getsize(path))
        for block in self._parts(path, delimiter, names) if None in kinds else ():
            for column, look, dtype in zip(block.columns, looks, kinds, strict=True):
                if dtype is None:
                    look.look(column)
        return [dtype or look.kind() for dtype, look in zip(kinds, looks, strict=True)]

    def _parts(self, path: str, delimiter: str, names: list[str]) -> Iterator[Any]:
        """Yield all columns as text, at most ROWS rows at a time. An empty field is a null, and "" an empty text."""
        csv, text = arrow("pyarrow.csv"), arrow("pyarrow").string()
        convert = csv.ConvertOptions(
            column_types=dict.fromkeys(names, text),
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        whole, reported = os.path.getsize(path), 0
        options = csv.ReadOptions(block_size=_BLOCK, use_threads=False)
        end = b"\n" + delimiter.encode().join([b'""'] * len(names)) + b"\n"
        with _opened(path, end) as raw, csv.open_csv(raw, options, _parse_options(delimiter), convert) as file:
            for block in _without_end(path, file):
                for start in range(0, block.num_rows, ROWS):
                    yield block.slice(start, ROWS)
                step = min(block.nbytes, whole - reported)  # approximately its bytes in the file
                reported += step
                self.advance(step)
        self.advance(whole - reported)


class _Ended(io.RawIOBase):
    """File with an added last row of empty texts: if it does not parse as a row, a quote before it is open."""

    def __init__(self, file: Any, end: bytes) -> None:
        self._file = file
        self._end = end

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        left = 1 << 62 if size is None or size < 0 else size
        pieces: list[bytes] = []
        while left:
            data = self._file.read(left)
            if not data:
                data, self._end = self._end[:left], self._end[left:]
            if not data:
                break
            pieces.append(data)
            left -= len(data)
        return b"".join(pieces)


@contextlib.contextmanager
def _opened(path: str, end: bytes) -> Iterator[Any]:
    pa = arrow("pyarrow")
    with pa.input_stream(path) as file:
        yield pa.PythonFile(_Ended(file, end), mode="r")


def _without_end(path: str, blocks: Iterable[Any]) -> Iterator[Any]:
    """Drop the row of empty texts that `_Ended` appends. If it is missing, a quote was left open."""
    held = None
    for block in blocks:
        if held is not None:
            yield held
        held = block
    if held is None or any(column[-1].as_py() != "" for column in held.columns):
        raise Malformed(f"{path}: missing closing quote: the file ends within a field")
    yield held.slice(0, held.num_rows - 1)


def _parse_options(delimiter: str) -> Any:
    return arrow("pyarrow.csv").ParseOptions(newlines_in_values=True, delimiter=delimiter)


def _delimiter(path: str) -> str:
    """Return the delimiter of the header: the most frequent of semicolon, tab and "|" in a header without a comma."""
    with arrow("pyarrow").input_stream(path) as file:
        header: bytes = file.read(_BLOCK).lstrip(b"\r\n").partition(b"\n")[0]
    most = max(";\t|", key=lambda character: header.count(character.encode()))
    return "," if b"," in header or most.encode() not in header else most


def _names(path: str, delimiter: str) -> list[str]:
    csv = arrow("pyarrow.csv")
    options = csv.ReadOptions(block_size=_BLOCK, use_threads=False)
    with _opened(path, b"\n") as raw, csv.open_csv(raw, options, _parse_options(delimiter)) as reader:
        names: list[str] = reader.schema.names
    return names


def _is_blank(path: str) -> bool:
    with arrow("pyarrow").input_stream(path) as file:
        while block := file.read(1 << 16):
            if block.strip(b"\r\n"):
                return False
    return True


class _Look:
    """The type that the values of a column suggest."""

    def __init__(self) -> None:
        self._forms = dict.fromkeys((_INTEGER, _NUMBER, *_BOOLEANS), True)  # True while all values have this form
        self._has_values = self._is_finite = False

    def look(self, texts: Any) -> None:
        if texts.null_count == len(texts):
            return
        self._has_values = True
        for form, holds in self._forms.items():
            self._forms[form] = holds and _all(texts, form)
        if self._forms[_NUMBER] and not self._is_finite:
            self._is_finite = bool(arrow("pyarrow.compute").any(_match(texts, _FINITE)).as_py())

    def kind(self) -> str:
        if not self._has_values:
            return "bytes"
        if self._forms[_INTEGER]:
            return "int64"
        if self._forms[_NUMBER] and self._is_finite:
            return "float"
        return "bool" if any(self._forms[values] for values in _BOOLEANS) else "bytes"


def _typed(where: str, first: int, texts: Any, dtype: str, hint: str) -> Any:
    """Convert rows of a column, from `first` on, to text, int64 or floats. `hint` is advice if the type is a guess."""
    if dtype == "bytes":
        return texts
    compute, pa = arrow("pyarrow.compute"), arrow("pyarrow")
    if dtype == "bool":
        return compute.equal(compute.utf8_lower(texts), "true").cast(pa.int64())
    form = _INTEGER if dtype == "int64" else _NUMBER
    _refuse_first(where, first, texts, compute.invert(_match(texts, form)), f"is not a valid {dtype}")
    texts = compute.utf8_trim(texts, " \t")
    if dtype == "int64":
        try:
            return texts.cast(pa.int64())
        except pa.ArrowInvalid as error:
            raise Malformed(f"{where}: a value exceeds int64: {error}{hint}") from None
    numbers = texts.cast(pa.float64())
    finite = _match(texts, _FINITE)
    beyond = compute.and_(finite, compute.greater_equal(compute.abs(numbers), BEYOND_FLOAT32))
    _refuse_first(where, first, texts, beyond, f"exceeds float32{hint}")
    if hint:
        large = compute.and_(_match(texts, _INTEGER), compute.greater_equal(compute.abs(numbers), _EXACT))
        rounded = [text is not None and not is_float32(int(text)) for text in _where(large, texts)]
        why = "would be rounded to a float32, because other values of the column are not integers"
        _refuse_first(where, first, texts, pa.array(rounded, pa.bool_()), f"{why}{hint}")
    return numbers if hint else numbers.cast(pa.float32(), safe=False)  # which a type in the header asks for


def _where(mask: Any, texts: Any) -> list[str | None]:
    """Return the texts that the mask selects, and None for others."""
    compute, pa = arrow("pyarrow.compute"), arrow("pyarrow")
    if not compute.any(mask).as_py():
        return []
    selected: list[str | None] = compute.if_else(mask.fill_null(False), texts, pa.scalar(None, texts.type)).to_pylist()
    return selected


def _match(texts: Any, form: str) -> Any:
    return arrow("pyarrow.compute").match_substring_regex(texts, f"^({form})$")


def _all(texts: Any, form: str) -> bool:
    return bool(arrow("pyarrow.compute").all(_match(texts, form)).as_py())


def _refuse_first(where: str, first: int, texts: Any, wrong: Any, why: str) -> None:
    row = arrow("pyarrow.compute").index(wrong, True).as_py()
    if row >= 0:
        raise Malformed(f"{where}, row {first + row}: {texts[row].as_py()!r:.60} {why}")


class CsvSink(RowSink):
    """A CSV file. Text is quoted, so that an empty text differs from a missing value."""

    looks = True

    def __init__(self, path: str, compression: str, level: int | None) -> None:
        super().__init__(path, compression, level)
        self._ambiguous: set[str] = set()  # the values may suggest another type

    def check(self, scanner: _core.FeatureSurvey, records: _core.RecordBatch) -> None:
        if all(seen.most <= 1 for seen in scanner.features()):
            return
        key = next(seen.key for seen in scanner.features() if seen.most > 1)
        row = first_row(records, lambda scanned: any(seen.key == key and seen.most > 1 for seen in scanned.features()))
        name = key.decode("utf-8", "backslashreplace")
        refuse(records, row, f"feature {name!r} has several values, but a CSV field holds one")

    def begin(self, scanner: _core.FeatureSurvey) -> None:
        super().begin(scanner)
        self._ambiguous = {key for key, feature in self.features.items() if _kind_name(feature) != "int64"}

    def look(self, batches: Iterator[_core.RecordBatch]) -> None:
        """Search for values that determine the types of columns, until all have one."""
        while self._ambiguous and (records := next(batches, None)) is not None:
            ambiguous = {key: self.features[key] for key in self._ambiguous}
            for key, column in parse_example(records, ambiguous).items():
                if _shows_kind(column):
                    self._ambiguous.discard(key)

    @contextlib.contextmanager
    def writing(self, name: str | int) -> Iterator[None]:
        with self.opened_file(name) as self._file:
            if self.features:
                self._file.write((",".join(_quoted(self._header(key)) for key in self.features) + "\n").encode())
            yield

    def _header(self, key: str) -> str:
        named = key in self._ambiguous or _TYPED.fullmatch(key)
        return f"{key}:{_kind_name(self.features[key])}" if named else key

    def write_rows(self, records: _core.RecordBatch, columns: Columns) -> None:
        fields = [self._fields(records, key, columns[key]) for key in self.features]
        if len(fields) == 1 and "" in fields[0]:
            why = "a CSV row without any value is an empty line, which readers skip"
            refuse(records, fields[0].index(""), why)
        lines = (",".join(row) + "\n" for row in zip(*fields, strict=True))
        self._file.write("".join(lines).encode())

    def _fields(self, records: _core.RecordBatch, key: str, column: Column) -> list[str]:
        """Return the field of each row, "" without a value."""
        if isinstance(self.features[key], FixedLenFeature):
            return self._texts(records, key, column, np.arange(len(records)))
        splits = column.row_splits
        rows = np.flatnonzero(splits[1:] > splits[:-1])
        fields = [""] * len(records)
        for row, text in zip(rows.tolist(), self._texts(records, key, column.values, rows), strict=True):
            fields[row] = text
        return fields

    def _texts(self, records: _core.RecordBatch, key: str, values: Column, rows: Any) -> list[str]:
        array: Any = values
        if isinstance(array, np.ndarray) and array.dtype.kind in "if":
            return array.astype("U").tolist()  # type: ignore[no-any-return]
        texts = []
        for row, value in zip(rows.tolist(), array.tolist(), strict=True):
            try:
                texts.append(_quoted(value.decode()))
            except UnicodeDecodeError:
                refuse(records, row, f"feature {key!r} has bytes that are not UTF-8, which CSV cannot hold")
        return texts


def _kind_name(feature: Any) -> str:
    return _KINDS[as_dtype(feature.dtype).name]


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _shows_kind(column: Column) -> bool:
    """Return True if a value shows that the column is float, or text."""
    values: Any = getattr(column, "values", column)
    if isinstance(values, np.ndarray) and values.dtype.kind == "f":
        return bool(np.isfinite(values).any())
    return any(_NOT_TEXT.fullmatch(value.decode("utf-8", "replace")) is None for value in values.tolist())
