"""Columns to serialized Examples and SequenceExamples."""

from __future__ import annotations

from collections.abc import Mapping

from ... import _core
from ...base.threads import thread_count
from ...errors import InvalidArgumentError
from ...typing import Integers, Table
from .column import Column, FeatureList, as_key, check_rounding, common_length, naming, refuse_twice
from .columns import Nan, as_columns, as_one_row
from .feature_lists import as_feature_list


def encode_examples(
    columns: Table, *, num_threads: int | None = None, nan: Nan = "missing", allow_rounding: bool = False
) -> _core.RecordBatch:
    """Serialize rows of columns as tf.train.Examples, with protobuf's deterministic bytes: keys in bytewise order.

    Args:
      columns: a dict, data frame or Arrow table (pandas, polars, pyarrow) of columns of equal length. A column is an
        ndarray `[n, …]` of numbers or strings; a list of numbers, bytes-like objects or str, or of such lists; a
        BytesArray, RaggedTensor or SparseTensor; or an Arrow array. Integers and bools make an int64 list, floats a
        float list, str UTF-8. A row's values are flattened in row-major order, so lists inside of rows must have one
        length; a SparseTensor loses its indices.
        NumPy's 'S' and 'U' arrays drop zeros at the end of a string: use lists, object arrays or BytesArrays.
      num_threads: None for as many as the process may use; they run without the GIL.
      nan: the meaning of NaN in a pandas column of a NumPy dtype: "missing", as in pandas, or "value". Elsewhere NaN
        is a value; pandas' NA is always missing.
      allow_rounding: True to write float64 as float32 even if a number changes by half or more, such as an id or a
        Unix time, or by more than a hundredth of the column's spread. Otherwise that is an error, up to 2**53.

    A null row leaves the key out of its Example: None, pandas' NA or NaT, a masked row, a null of Arrow or of NumPy's
    StringDType. Inside a row, nulls are errors. An empty row is an empty list of the column's type; if no row of a
    Python list has a value, the key is left out.

    Returns:
      A RecordBatch of n records.

    Raises:
      TypeError: an Example cannot hold values of a column's type.
      errors.InvalidArgumentError: columns of unequal length, or two of one name; integers that do not fit int64 or,
        among floats, float32; a null inside a row; a SparseTensor with indices that are repeated, out of order or
        out of bounds; a record of more than 2 GiB. The error names the feature, and the row if it is about one.

    >>> encode_examples({"a": [1, 2]})[0]
    b'\\n\\x0c\\n\\n\\n\\x01a\\x12\\x05\\x1a\\x03\\n\\x01\\x01'
    """
    threads = thread_count(num_threads)
    named, rows = as_columns(columns, nan=nan, allow_rounding=allow_rounding)
    return _core.encode_examples([core_column(key, column) for key, column in named], rows or 0, threads)


def encode_example(example: Mapping[str, object], allow_rounding: bool = True) -> _core.RecordBatch:
    """Serialize one row, a dict of values, lists or arrays, as a RecordBatch of one. None leaves its key out.

    Raises as `encode_examples`. Without `allow_rounding`, a float64 that changes by half or more is an error.

    >>> encode_example({"a": 5}).tolist()
    [b'\\n\\x0c\\n\\n\\n\\x01a\\x12\\x05\\x1a\\x03\\n\\x01\\x05']
    """
    plain = encode_plain(example, allow_rounding)
    if plain is not None:
        return _core.record_batch([plain])
    if not isinstance(example, Mapping):
        raise TypeError(f"example: expected a dict of values, got {type(example).__name__}")
    refuse_twice(list(example))
    named, _ = as_columns({key: as_one_row(value) for key, value in example.items()}, "example", allow_rounding=True)
    for key, column in named if not allow_rounding else ():
        with naming(key):
            check_rounding(column, within=False)
    return _core.encode_examples([core_column(key, column) for key, column in named], rows=1, num_threads=1)


def encode_plain(example: Mapping[str, object], allow_rounding: bool = True) -> bytes | None:
    """Serialize one row of plain values; return None if a value is not plain, or not `allow_rounding` and rounded."""
    return _core.encode_one(example, allow_rounding)


def encode_sequence_examples(
    context: Table | None,
    sequences: Mapping[str, object],
    *,
    lengths: Mapping[str, Integers] | None = None,
    num_threads: int | None = None,
    allow_rounding: bool = False,
) -> _core.RecordBatch:
    """Serialize rows as tf.train.SequenceExamples.

    Args:
      context: columns, as in `encode_examples`; None or {} for none.
      sequences: feature lists by key. A row is a sequence of steps; a step is a value, a list or an array. A feature
        list is a RaggedTensor (with one ragged dimension a value or array per step, with two a list per step), nested
        lists `[n][steps]` or `[n][steps][values]`, an ndarray `[n, steps, …]`, a SparseTensor of
        parse_sequence_example, or an Arrow array of lists. A row that is None leaves the key out.
      lengths: the number of steps of each row, by key, for ndarrays padded to the longest row, as
        parse_sequence_example returns them.
      allow_rounding: as for `encode_examples`.

    Returns and raises as `encode_examples`. Lengths that are not integers or do not fit the array raise
    errors.InvalidArgumentError; lengths of anything but an ndarray of steps raise TypeError.

    >>> import tfrecord_fast as tf
    >>> records = encode_sequence_examples({"id": [1, 2]}, {"steps": [[[1, 2], [3]], []]})
    >>> len(records), tf.train.SequenceExample.FromString(records[0]).context.feature["id"].int64_list.value
    (2, [1])
    """
    threads = thread_count(num_threads)
    named, _ = as_columns({} if context is None else context, "context", allow_rounding=allow_rounding)
    refuse_twice(list(sequences), "feature list")
    steps = {as_key(key): value for key, value in (lengths or {}).items()}
    lists = [
        (as_key(key), as_feature_list(key, value, steps.pop(as_key(key), None))) for key, value in sequences.items()
    ]
    for key, column in lists if not allow_rounding else ():
        with naming(key, "feature list"):
            check_rounding(column.items)
    if steps:
        raise InvalidArgumentError(f"lengths has keys that sequences lacks: {', '.join(map(repr, steps))}")
    all_lengths = [(key, column.rows) for key, column in named] + [(key, column.rows) for key, column in lists]
    rows = common_length(all_lengths)
    return _core.encode_sequence_examples(
        [core_column(key, column) for key, column in named],
        [core_column(key, column.items, column) for key, column in lists],
        rows or 0,
        threads,
    )


def core_column(key: str, column: Column, steps: FeatureList | None = None) -> _core.EncodeColumn:
    """Return a column as the core takes it; the items of a feature list with their steps."""
    return _core.EncodeColumn(
        key=key,
        type=column.type,
        values=column.values,
        count=column.per_row,
        splits=column.splits,
        valid=column.valid,
        steps=None if steps is None else steps.steps,
        row_valid=None if steps is None else steps.row_valid,
    )
