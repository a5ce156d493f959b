"""Files as a DuckDB relation, which reads them for each query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..base.optional import extra_named
from ..examples.infer import DEFAULT_MAX_RECORDS
from ..files.reading.tables import TableSource
from ..typing import Features, Files, Key, ReaderOptions, SequenceFeatures, Unpack

with extra_named("duckdb"):
    import duckdb

__all__ = ["from_tfrecord"]


def from_tfrecord(
    files: Files,
    features: Features | SequenceFeatures | Literal["infer"] = "infer",
    *,
    columns: Sequence[Key] | None = None,
    infer_records: int | None = DEFAULT_MAX_RECORDS,
    connection: duckdb.DuckDBPyConnection | None = None,
    **reader_options: Unpack[ReaderOptions],
) -> duckdb.DuckDBPyRelation:
    """Return files of Examples or SequenceExamples as a relation.

    Args:
      files, features, columns, infer_records, reader_options: as for `tfrecord_fast.read_batches`. All columns are
        parsed for every query, since DuckDB does not pass the query's columns on: choose few with `columns`.
      connection: a DuckDB connection; None: the default connection.

    Returns:
      A DuckDBPyRelation. Each query streams through the files. Strings are BLOB; `decode(x)` converts them to
      VARCHAR. Arrays of a shape are ARRAY, lists LIST, SparseFeatures lists of STRUCT. DuckDB has no float16.

    Raises:
      Exception: as `read_batches`: immediately if features are inferred and files are missing; when the query runs, as
        DuckDB's own error with the same text.

    >>> import tempfile, os, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tf.ExampleWriter(path) as writer:
    ...     writer.write({"id": [1, 2, 3], "price": [0.5, 1.5, 2.5]})
    >>> rows = from_tfrecord(path)
    >>> rows.filter("id > 1").aggregate("sum(price)").fetchall()
    [(4.0,)]
    """
    source = TableSource(
        files, features, columns=columns, strings="view", infer_records=infer_records, **reader_options
    )
    return (duckdb if connection is None else connection).from_arrow(source)
