"""Files of comma-separated values: their records as tuples, or as batches of named columns."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from ...dtypes import as_dtype
from ...errors import InvalidArgumentError
from ...values.csv_fields import Fields, split_record, stays_open
from ...values.elements.specs import TensorSpec
from ..dataset import Dataset
from ..handle import node_of
from ..nodes.sources.values import Specified
from ..numbers import check_count
from .other_files import opened_files

__all__ = ["CsvDataset", "make_csv_dataset"]

_BLOCK = 1 << 18
_KINDS = (np.int32, np.int64, np.float32, np.float64)  # in the order in which they are tried


class CsvDataset(Dataset[tuple[Any, ...]]):
    r"""The records of CSV files, as tuples of their fields.

    Args:
      filenames: a path or URL, a list or an array of them, or a Dataset of them.
      record_defaults: for each field a dtype, if the field is required, or what is taken for an empty one, whose type
        is the field's: int32, int64, float32, float64 or string.
      compression_type: None or "", "GZIP" or "ZLIB".
      header: passes over the first record of each file, which must have one.
      field_delim: one character.
      use_quote_delim: whether fields can be quoted, as in RFC 4180; ends of lines in them are part of the field.
      na_value: a field that is taken for an empty one, too.
      select_cols: the numbers of the fields that are read, ascending; exclude_cols: of those that are not.
      buffer_size: accepted; files are read one after the other.

    Raises:
      ValueError: arguments that do not fit together.
      errors.InvalidArgumentError: when iterated: a record that does not fit, with its file and number; iteration goes
        on with the next record.
      FileNotFoundError, OSError: when iterated.

    >>> import tempfile, os, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "a.csv")
    >>> tf.io.write_file(path, "id,name\n1,a\n,'b'\n")
    >>> [(int(a), b) for a, b in CsvDataset(path, [7, tf.string], header=True)]
    [(1, b'a'), (7, b"'b'")]
    """

    def __init__(
        self,
        filenames: Any,
        record_defaults: Sequence[Any],
        compression_type: str | None = None,
        buffer_size: int | None = None,
        header: bool = False,
        field_delim: str = ",",
        use_quote_delim: bool = True,
        na_value: str = "",
        select_cols: Sequence[int] | None = None,
        exclude_cols: Sequence[int] | None = None,
    ) -> None:
        if exclude_cols is not None:
            if select_cols is not None:
                raise InvalidArgumentError("Either select_cols or exclude_cols should be empty")
            left_out = set(exclude_cols)
            select_cols = [n for n in range(len(record_defaults) + len(left_out)) if n not in left_out]
        fields = Fields(record_defaults, field_delim, use_quote_delim, na_value, select_cols)
        records = partial(_records, delimiter=fields.delimiter, quotes=fields.quotes, header=bool(header))
        files = opened_files(filenames, compression_type, records, "CsvDataset")
        specs = tuple(TensorSpec((), as_dtype(dtype)) for dtype in fields.dtypes)
        super().__init__(Specified(node_of(files.map(_reader(fields))), specs))


def _reader(fields: Fields) -> Callable[[Any, int, bytes], tuple[Any, ...]]:
    makers: list[Any] = [bytes if dtype.kind == "O" else dtype.type for dtype in fields.dtypes]

    def read_csv(name: Any, number: int, record: bytes) -> tuple[Any, ...]:
        try:
            values = fields.of(record)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{name}: {error} (record {number})") from None
        return tuple(make(value) for make, value in zip(makers, values, strict=True))

    return read_csv


def _records(
    read: Callable[[int], bytes], name: Any, delimiter: bytes, quotes: bool, header: bool
) -> Iterator[tuple[Any, int, bytes]]:
    """The file's name, a record's number, and the record."""
    records = enumerate(_texts(read, delimiter, quotes))
    if header:
        _, first = next(records, (0, None))
        if first is None:
            raise InvalidArgumentError(f"{name}: Can't read header of file: it is empty")
        try:
            split_record(first, delimiter, quotes)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{name}: Can't read header of file: {error}") from None
    for number, record in records:
        yield name, number, record


def _texts(read: Callable[[int], bytes], delimiter: bytes, quotes: bool) -> Iterator[bytes]:
    """The records of a file, without what ends them; one whose quoted field is not closed reaches to the end."""
    begun: list[bytes] = []
    for line in _lines(read):
        if quotes and (b'"' in line or begun) and stays_open(line, delimiter, bool(begun)):
            begun.append(line)
            continue
        begun.append(line)
        yield _without_end(b"".join(begun))
        begun = []
    if begun:
        yield b"".join(begun)


def _without_end(line: bytes) -> bytes:
    return line[:-2] if line.endswith(b"\r\n") else line[:-1] if line.endswith((b"\n", b"\r")) else line


def _lines(read: Callable[[int], bytes]) -> Iterator[bytes]:
    r"""The lines of a file with their ends: "\n", "\r\n" or "\r"."""
    parts: list[bytes] = []  # of the line whose end has not come, or is "\r" and may go on with "\n"
    for block in iter(partial(read, _BLOCK), b""):
        pieces = block.splitlines(keepends=True)
        if parts and parts[-1].endswith(b"\r"):
            if pieces[0] == b"\n":
                parts.append(pieces.pop(0))
            yield b"".join(parts)
            parts = []
        for place, piece in enumerate(pieces, 1):
            parts.append(piece)
            if piece.endswith(b"\n") or (piece.endswith(b"\r") and place < len(pieces)):
                yield b"".join(parts)
                parts = []
    if parts:
        yield b"".join(parts)


def make_csv_dataset(
    file_pattern: Any,
    batch_size: int,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | None = None,
    label_name: str | None = None,
    select_columns: Sequence[Any] | None = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: int | None = None,
    prefetch_buffer_size: int | None = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: str | None = None,
    ignore_errors: bool = False,
    encoding: str = "utf-8",
) -> Dataset[Any]:
    """CSV files as batches of columns.

    Args:
      file_pattern: a pattern, or a list of files and patterns.
      column_names: of all columns; by default the first record of the files.
      column_defaults: of the columns that are read, as of CsvDataset; by default they are found out from the first
        `num_rows_for_inference` records (None: from all), and 0 or b"" stands for an empty field. A column in which
        one of them is NaN or infinity, as text, is text, as in TensorFlow.
      label_name: a column that is taken out of the dict; elements are then (dict, label).
      select_columns: names or numbers of the columns that are read.
      num_epochs: None: no end.
      shuffle: files, and records within `shuffle_buffer_size`; `shuffle_seed` makes it repeatable.
      prefetch_buffer_size: batches made ahead; 1 by default.
      num_parallel_reads: how many files are interleaved; 1 by default.
      ignore_errors: passes over records that do not fit.
      encoding: of the names.
      Others: as of CsvDataset; `sloppy` is accepted, the order is always deterministic.

    Returns:
      A Dataset of OrderedDicts of arrays `[batch_size]`; of tuples (OrderedDict, array) with `label_name`.

    Raises:
      ValueError: no file matches, no names, names twice, files with other names, a label or column that is not there.
    """
    names = [name.decode() for name in _files(file_pattern)]
    split = partial(_split, delimiter=field_delim.encode(), quotes=use_quote_delim, compression_type=compression_type)
    columns = list(column_names) if column_names is not None else _header(names, split, header, encoding)
    if len(set(columns)) < len(columns):
        twice = sorted({name for name in columns if columns.count(name) > 1})
        raise InvalidArgumentError(
            f"Either `column_names` argument or CSV header row contains duplicate column names: {twice}."
        )
    chosen = _chosen(columns, select_columns)
    if column_defaults is None:
        rows = (row for name in names for row in islice(split(name), int(header), None))
        column_defaults = _inferred(rows, num_rows_for_inference, chosen, len(columns), na_value.encode())
    elif len(column_defaults) != len(chosen):
        raise InvalidArgumentError(f"{len(column_defaults)} column_defaults for {len(chosen)} columns")
    keys = [columns[place] for place in chosen]
    if label_name is not None and label_name not in keys:
        raise InvalidArgumentError(f"`label_name` provided must be one of the columns: {keys}. Received: {label_name}.")

    def of_file(name: Any) -> CsvDataset:
        return CsvDataset(
            name, column_defaults, compression_type, None, header, field_delim, use_quote_delim, na_value, chosen
        )

    def named(*arrays: Any) -> Any:
        found = OrderedDict(zip(keys, arrays, strict=True))
        return found if label_name is None else (found, found.pop(label_name))

    files: Any = Dataset.from_tensor_slices(names)
    if shuffle:
        files = files.shuffle(len(names), shuffle_seed)
    records: Any = files.interleave(of_file, cycle_length=num_parallel_reads or 1)
    if ignore_errors:
        records = records.ignore_errors()
    if shuffle:
        records = records.shuffle(shuffle_buffer_size, shuffle_seed)
    if num_epochs != 1:
        records = records.repeat(num_epochs)
    batches: Any = records.batch(batch_size, drop_remainder=num_epochs is None)
    length = check_count("batch_size", batch_size) if num_epochs is None else None
    dtypes = Fields(column_defaults).dtypes
    specs = named(*(TensorSpec((length,), as_dtype(dtype)) for dtype in dtypes))
    made: Dataset[Any] = Dataset(Specified(node_of(batches.map(named)), specs))
    return made.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)


def _files(file_pattern: Any) -> list[bytes]:
    patterns = [file_pattern] if isinstance(file_pattern, str | bytes) or hasattr(file_pattern, "__fspath__") else None
    try:
        return list(Dataset.list_files(list(file_pattern) if patterns is None else patterns, shuffle=False))
    except InvalidArgumentError:
        raise InvalidArgumentError(f"No files match `file_pattern` {file_pattern}.") from None


def _split(name: str, delimiter: bytes, quotes: bool, compression_type: str | None) -> Iterator[list[bytes]]:
    def rows(read: Callable[[int], bytes], name: Any) -> Iterator[Any]:
        # A blank line has no field here, as for Python's csv, with which TensorFlow looks for columns and their types.
        texts = _texts(read, delimiter, quotes)
        return (split_record(text, delimiter, quotes) if text.strip(b"\r\n") else [] for text in texts)

    files: Any = opened_files(name, compression_type, rows, "names")
    return iter(files)


def _header(names: list[str], split: Callable[[str], Iterator[list[bytes]]], header: bool, encoding: str) -> list[str]:
    if not header:
        raise InvalidArgumentError("Expected `column_names` or `header` arguments. Neither is provided.")
    found: dict[str, list[str]] = {}
    for name in names:
        found[name] = [field.decode(encoding) for field in next(split(name), [])]
        if not found[name]:
            raise InvalidArgumentError(f"Received an empty file, which has no header line: {name}")
        if found[name] != found[names[0]]:
            raise InvalidArgumentError(
                f"Received CSV files with different column names: {found[names[0]]} in {names[0]}, "
                f"{found[name]} in {name}."
            )
    return found[names[0]]


def _chosen(columns: list[str], select: Sequence[Any] | None) -> list[int]:
    if select is None:
        return list(range(len(columns)))
    places = []
    for one in select:
        if isinstance(one, str) and one not in columns:
            raise InvalidArgumentError(f"Value '{one}' specified in `select_columns` is not one of {columns}.")
        place = columns.index(one) if isinstance(one, str) else int(one)
        if not 0 <= place < len(columns):
            raise InvalidArgumentError(f"{place} in `select_columns` is not below {len(columns)}, how many there are.")
        places.append(place)
    if len(set(places)) < len(places):
        raise InvalidArgumentError("`select_columns` contains duplicate columns")
    return sorted(places)


def _inferred(
    rows: Iterator[list[bytes]], most: int | None, chosen: list[int], width: int, na_value: bytes
) -> list[Any]:
    """Defaults of the narrowest types that hold the fields of the first rows. One row more is looked at."""
    kinds: list[Any] = [None] * len(chosen)
    for number, row in enumerate(rows):
        if len(row) != width:
            raise InvalidArgumentError(f"Expect {width} fields but have {len(row)} in record: {row!r:.200}")
        if number == most:
            break
        for at, place in enumerate(chosen):
            kinds[at] = _wider(kinds[at], row[place], na_value)
    return [b"" if kind is None or kind is bytes else kind(0) for kind in kinds]


def _wider(kind: Any, field: bytes, na_value: bytes) -> Any:
    """The first of the kinds, from `kind` on, that holds the field."""
    if kind is bytes or field in (b"", na_value):
        return kind
    for one in _KINDS[_KINDS.index(kind) if kind is not None else 0 :]:
        try:
            (value,) = Fields([np.zeros(0, one)]).of(field)
        except InvalidArgumentError:
            continue
        if one in (np.int32, np.int64) or (value < np.inf and b"x" not in field.lower()):  # no NaN, as in TensorFlow
            if one is not np.float32 or value > -np.inf or b"inf" in field.lower():
                return one
    return bytes
