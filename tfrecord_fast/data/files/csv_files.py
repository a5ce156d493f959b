"""CsvDataset and make_csv_dataset: CSV files as tuples, or as batches of named columns."""

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

_BLOCK = 1 << 18
_DTYPES = (np.int32, np.int64, np.float32, np.float64)  # in the order of inference


class CsvDataset(Dataset[tuple[Any, ...]]):
    r"""The records of CSV files, as tuples of their fields.

    Args:
      filenames: a path or URL, or a list, an array or a Dataset of these.
      record_defaults: for each field, a dtype if the field is required, or a value that replaces an empty field and
        determines its dtype: int32, int64, float32, float64 or string.
      compression_type: None or "", "GZIP" or "ZLIB".
      header: skips the first record of each file.
      field_delim: one character.
      use_quote_delim: allows quoted fields, as in RFC 4180, which may contain ends of lines.
      na_value: text that counts as an empty field.
      select_cols: the numbers of the fields to read, ascending; exclude_cols: of the fields to leave out.
      buffer_size: accepted; files are read one after the other.

    Raises:
      ValueError: arguments contradict each other.
      errors.InvalidArgumentError: when iterated: a malformed record, with its file and number; iteration continues
        with the next record.
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
    """Iterate over (name of the file, number of the record, record)."""
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
    """Iterate over the records of a file, without their ends of lines. An unclosed quote extends to the end."""
    lines: list[bytes] = []  # of a record with an open quote
    for line in _lines(read):
        if quotes and (b'"' in line or lines) and stays_open(line, delimiter, bool(lines)):
            lines.append(line)
            continue
        lines.append(line)
        record = b"".join(lines)
        yield record.removesuffix(b"\n").removesuffix(b"\r")
        lines = []
    if lines:
        yield b"".join(lines)


def _lines(read: Callable[[int], bytes]) -> Iterator[bytes]:
    r"""Iterate over the lines of a file with their ends: "\n", "\r\n" or "\r"."""
    begun: list[bytes] = []  # a line without end, or with "\r" that "\n" may follow
    for block in iter(partial(read, _BLOCK), b""):
        pieces = block.splitlines(keepends=True)
        if begun and begun[-1].endswith(b"\r"):
            if pieces[0] == b"\n":
                begun.append(pieces.pop(0))
            yield b"".join(begun)
            begun = []
        for number, piece in enumerate(pieces, 1):
            begun.append(piece)
            if piece.endswith(b"\n") or (piece.endswith(b"\r") and number < len(pieces)):
                yield b"".join(begun)
                begun = []
    if begun:
        yield b"".join(begun)


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
    """Read CSV files as batches of columns.

    Args:
      file_pattern: a pattern, or a list of files and patterns.
      column_names: the names of all columns; by default the fields of the first record.
      column_defaults: the defaults of the columns to read, as for CsvDataset; by default inferred from the first
        `num_rows_for_inference` records (None: from all), with 0 or b"" for empty fields. As in TensorFlow, a column
        with NaN or infinity in these records is text.
      label_name: a column to move out of the dict; elements are then (dict, label).
      select_columns: names or numbers of the columns to read.
      num_epochs: None: endless.
      shuffle: shuffles files, and records within `shuffle_buffer_size`; `shuffle_seed` makes the order repeatable.
      prefetch_buffer_size: batches to prefetch; 1 by default.
      num_parallel_reads: the number of files to interleave; 1 by default.
      ignore_errors: skips malformed records.
      encoding: the encoding of the names.
      Others: as for CsvDataset; `sloppy` is accepted, the order is always deterministic.

    Returns:
      A Dataset of OrderedDicts of arrays `[batch_size]`; of tuples (OrderedDict, array) with `label_name`.

    Raises:
      ValueError: no file matches; names are missing, duplicate or differ among files; an unknown label or column.
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
    keys = [columns[index] for index in chosen]
    if label_name is not None and label_name not in keys:
        raise InvalidArgumentError(f"`label_name` provided must be one of the columns: {keys}. Received: {label_name}.")

    def open_file(name: Any) -> CsvDataset:
        return CsvDataset(
            name, column_defaults, compression_type, None, header, field_delim, use_quote_delim, na_value, chosen
        )

    def named(*arrays: Any) -> Any:
        batch = OrderedDict(zip(keys, arrays, strict=True))
        return batch if label_name is None else (batch, batch.pop(label_name))

    files: Any = Dataset.from_tensor_slices(names)
    if shuffle:
        files = files.shuffle(len(names), shuffle_seed)
    records: Any = files.interleave(open_file, cycle_length=num_parallel_reads or 1)
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
    columns_of_batches: Dataset[Any] = Dataset(Specified(node_of(batches.map(named)), specs))
    return columns_of_batches.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)


def _files(file_pattern: Any) -> list[bytes]:
    patterns = [file_pattern] if isinstance(file_pattern, str | bytes) or hasattr(file_pattern, "__fspath__") else None
    try:
        return list(Dataset.list_files(list(file_pattern) if patterns is None else patterns, shuffle=False))
    except InvalidArgumentError:
        raise InvalidArgumentError(f"No files match `file_pattern` {file_pattern}.") from None


def _split(name: str, delimiter: bytes, quotes: bool, compression_type: str | None) -> Iterator[list[bytes]]:
    def rows(read: Callable[[int], bytes], name: Any) -> Iterator[Any]:
        # A blank line has no fields, as in Python's csv module, by which TensorFlow infers columns.
        texts = _texts(read, delimiter, quotes)
        return (split_record(text, delimiter, quotes) if text.strip(b"\r\n") else [] for text in texts)

    files: Any = opened_files(name, compression_type, rows, "names")
    return iter(files)


def _header(names: list[str], split: Callable[[str], Iterator[list[bytes]]], header: bool, encoding: str) -> list[str]:
    if not header:
        raise InvalidArgumentError("Expected `column_names` or `header` arguments. Neither is provided.")
    header_row: list[str] = []
    for name in names:
        row = [field.decode(encoding) for field in next(split(name), [])]
        if not row:
            raise InvalidArgumentError(f"Received an empty file, which has no header line: {name}")
        header_row = header_row or row
        if row != header_row:
            raise InvalidArgumentError(
                f"Received CSV files with different column names: {header_row} in {names[0]}, {row} in {name}."
            )
    return header_row


def _chosen(columns: list[str], select: Sequence[Any] | None) -> list[int]:
    if select is None:
        return list(range(len(columns)))
    indices = []
    for column in select:
        if isinstance(column, str) and column not in columns:
            raise InvalidArgumentError(f"Value '{column}' specified in `select_columns` is not one of {columns}.")
        index = columns.index(column) if isinstance(column, str) else int(column)
        if not 0 <= index < len(columns):
            raise InvalidArgumentError(
                f"`select_columns` has {index}, but the columns are numbered from 0 to {len(columns) - 1}."
            )
        indices.append(index)
    if len(set(indices)) < len(indices):
        raise InvalidArgumentError("`select_columns` contains duplicate columns")
    return sorted(indices)


def _inferred(
    rows: Iterator[list[bytes]], most: int | None, chosen: list[int], width: int, na_value: bytes
) -> list[Any]:
    """Return defaults of the narrowest dtypes that can hold the first `most` rows; one more row is checked."""
    dtypes: list[Any] = [None] * len(chosen)
    for number, row in enumerate(rows):
        if len(row) != width:
            raise InvalidArgumentError(f"Expect {width} fields but have {len(row)} in record: {row!r:.200}")
        if number == most:
            break
        dtypes = [_wider(dtype, row[index], na_value) for dtype, index in zip(dtypes, chosen, strict=True)]
    return [b"" if dtype is None or dtype is bytes else dtype(0) for dtype in dtypes]


def _wider(dtype: Any, field: bytes, na_value: bytes) -> Any:
    """Return the first dtype, from `dtype` on, that can hold the field."""
    if dtype is bytes or field in (b"", na_value):
        return dtype
    for wider in _DTYPES[_DTYPES.index(dtype) if dtype is not None else 0 :]:
        try:
            (value,) = Fields([np.zeros(0, wider)]).of(field)
        except InvalidArgumentError:
            continue
        if wider in (np.int32, np.int64) or (value < np.inf and b"x" not in field.lower()):  # not NaN, as in TensorFlow
            if wider is not np.float32 or value > -np.inf or b"inf" in field.lower():
                return wider
    return bytes
