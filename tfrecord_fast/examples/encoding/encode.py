"""From columns to serialized Examples and SequenceExamples."""

from __future__ import annotations

from collections.abc import Mapping

from ... import _core
from ...base.threads import thread_count
from ...errors import InvalidArgumentError
from ...typing import Integers, Table
from .column import Column, FeatureList, as_key, common_length, refuse_twice
from .columns import Nan, as_columns, as_one_row
from .feature_lists import as_feature_list

__all__ = ["core_column", "encode_example", "encode_examples", "encode_plain", "encode_sequence_examples"]


def encode_examples(columns: Table, *, num_threads: int | None = None, nan: Nan = "missing") -> _core.RecordBatch:
    """Serializes rows of columns as tf.train.Examples, with protobuf's deterministic bytes: keys in bytewise order.

    Args:
      columns: of equal length, in a dict, data frame or Arrow table (pandas, polars, pyarrow). A column is
        one of: an ndarray `[n, …]` of any numeric dtype (integers and bool make an int64 list, floats a float list)
        or of strings ('S', 'U', object); a list of numbers, of bytes-like objects or str (UTF-8), or of such lists; a
        BytesArray, RaggedTensor or SparseTensor (its values, without their places in the row); an Arrow array. A
        row's values are flattened, in row-major order. Strings in 'S' and 'U' arrays end before the zeros that fill
        them up, as NumPy says: bytes that may end in zeros belong in lists, object arrays or BytesArrays.
      num_threads: None for as many as the process may use; they run without the GIL.
      nan: what NaN means in a column of pandas with a NumPy dtype, where it may stand for a missing value:
        "missing", as in pandas, or "value". Elsewhere NaN is a value, and so it is in a nullable dtype of pandas,
        whose NA is always missing.

    A row that is None, pandas' NA or NaT, masked, a null of Arrow or of NumPy's StringDType, or missing in pandas (see
    `nan`) leaves the key out of its Example; inside a row these are errors. An empty row is an empty list of the
    column's kind; if no row of a Python list tells the kind, the key is left out.

    Returns:
      A RecordBatch of n records.

    Raises:
      TypeError: a column of a type that can't be written to an Example.
      errors.InvalidArgumentError: columns of unequal length, two columns of one name, integers that int64 does not
        hold or, among floats, float32 would change, a null or a masked value inside a list, a SparseTensor with
        indices out of order, outside its shape or repeated, a record of more than 2 GiB. Names the feature, and the
        row if it is one row.

    >>> encode_examples({"a": [1, 2]})[0]
    b'\\n\\x0c\\n\\n\\n\\x01a\\x12\\x05\\x1a\\x03\\n\\x01\\x01'
    """
    threads = thread_count(num_threads)
    named, rows = as_columns(columns, nan=nan)
    taken = [core_column(key, column) for key, column in named]
    return _core.encode_examples(taken, rows or 0, threads)


def encode_example(example: Mapping[str, object]) -> _core.RecordBatch:
    """Serializes one row, as a RecordBatch of one: a dict of values, lists of values or arrays. A None leaves its key
    out. Raises as `encode_examples`.

    >>> encode_example({"a": 5}).tolist()
    [b'\\n\\x0c\\n\\n\\n\\x01a\\x12\\x05\\x1a\\x03\\n\\x01\\x05']
    """
    plain = encode_plain(example)
    if plain is not None:
        return _core.record_batch([plain])
    refuse_twice(list(example))
    named, _ = as_columns({key: as_one_row(value) for key, value in example.items()}, "example")
    return _core.encode_examples([core_column(key, column) for key, column in named], rows=1, num_threads=1)


def encode_plain(example: Mapping[str, object]) -> bytes | None:
    """One row of plain values; None for values that need the general way."""
    return _core.encode_one(example)


def encode_sequence_examples(
    context: Table | None,
    sequences: Mapping[str, object],
    *,
    lengths: Mapping[str, Integers] | None = None,
    num_threads: int | None = None,
) -> _core.RecordBatch:
    """Serializes rows as tf.train.SequenceExamples.

    Args:
      context: columns, as in `encode_examples`; None or {} for none.
      sequences: feature lists by key. In each, a row is a run of steps, and a step a value, a list or an array:
        a RaggedTensor (of one ragged dimension: a value or array per step; of two: a list per step), nested lists
        `[n][steps]` or `[n][steps][values]`, an ndarray `[n, steps, …]`, a SparseTensor of parse_sequence_example,
        an Arrow array of lists. A row that is None leaves the key out.
      lengths: by key, for ndarrays padded to the longest row: how many steps each row has, as
        parse_sequence_example returns them.

    Returns, Raises: as `encode_examples`. errors.InvalidArgumentError for lengths that are no integers, or do not fit
    the array; TypeError for lengths of anything but an ndarray of steps.
    """
    threads = thread_count(num_threads)
    named, _ = as_columns({} if context is None else context, "context")
    refuse_twice(list(sequences), "feature list")
    steps = {as_key(key): value for key, value in (lengths or {}).items()}
    lists = [
        (as_key(key), as_feature_list(key, value, steps.pop(as_key(key), None))) for key, value in sequences.items()
    ]
    if steps:
        raise InvalidArgumentError(f"lengths of feature lists that are not there: {', '.join(map(repr, steps))}")
    all_lengths = [(key, column.rows) for key, column in named] + [(key, column.rows) for key, column in lists]
    rows = common_length(all_lengths)
    return _core.encode_sequence_examples(
        [core_column(key, column) for key, column in named],
        [_core_list(key, column) for key, column in lists],
        rows or 0,
        threads,
    )


def core_column(key: str, column: Column) -> _core.EncodeColumn:
    """As the core takes it."""
    return _core.EncodeColumn(
        key=key,
        type=column.type,
        values=column.values,
        count=column.per_row,
        splits=column.splits,
        valid=column.valid,
    )


def _core_list(key: str, column: FeatureList) -> _core.EncodeColumn:
    items = column.items
    return _core.EncodeColumn(
        key=key,
        type=items.type,
        values=items.values,
        count=items.per_row,
        splits=items.splits,
        valid=items.valid,
        steps=column.steps,
        row_valid=column.row_valid,
    )
