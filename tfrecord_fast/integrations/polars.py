"""Files as a polars LazyFrame. A query parses only the columns, and reads only the rows, that it needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Literal

from ..base.optional import extra_named
from ..examples.infer import DEFAULT_MAX_RECORDS
from ..files.reading.tables import TableSource
from ..typing import Features, Files, Key, ReaderOptions, SequenceFeatures, Unpack

with extra_named("polars"):
    import polars as pl
    from polars.io.plugins import register_io_source

__all__ = ["scan_tfrecord"]


def scan_tfrecord(
    files: Files,
    features: Features | SequenceFeatures | Literal["infer"] = "infer",
    *,
    columns: Sequence[Key] | None = None,
    infer_records: int | None = DEFAULT_MAX_RECORDS,
    **reader_options: Unpack[ReaderOptions],
) -> pl.LazyFrame:
    """Return files of Examples or SequenceExamples as a LazyFrame.

    Args:
      files, features, columns, infer_records, reader_options: as for `tfrecord_fast.read_batches`.

    Returns:
      A LazyFrame. A query parses only the columns that it uses, drops rows by its filters batch by batch, and stops
      reading after the rows that `head` needs. Strings are Binary, and share the buffers of the records; cast text to
      String. Arrays of a shape are Array, lists List, SparseFeatures List(Struct).

    Raises:
      Exception: as `read_batches`: immediately if features are inferred and files are missing; otherwise when the query
        runs.

    >>> import tempfile, os, tfrecord_fast as tf
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tf.ExampleWriter(path) as writer:
    ...     writer.write({"id": [1, 2, 3], "price": [0.5, 1.5, 2.5]})
    >>> scan_tfrecord(path).filter(pl.col("id") > 1).select("price").collect()["price"].to_list()
    [1.5, 2.5]
    """
    source = TableSource(
        files, features, columns=columns, strings="view", infer_records=infer_records, **reader_options
    )
    empty = _frame(source.schema.empty_table())

    def read(
        with_columns: list[str] | None, predicate: pl.Expr | None, n_rows: int | None, batch_size: int | None
    ) -> Iterator[pl.DataFrame]:
        return _batches(source, empty, with_columns, predicate, n_rows)

    return register_io_source(read, schema=dict(empty.schema))


def _batches(
    source: TableSource,
    empty: pl.DataFrame,
    with_columns: list[str] | None,
    predicate: pl.Expr | None,
    n_rows: int | None,
) -> Iterator[pl.DataFrame]:
    """Yield the frames of a query. Like polars, count rows before filtering."""
    wanted = empty.columns if with_columns is None else with_columns
    needed = list(wanted)
    if predicate is not None:
        needed += [name for name in predicate.meta.root_names() if name not in wanted]
    if not needed:
        needed = empty.columns[:1]  # to count rows
    left = n_rows
    selected = source if needed == empty.columns else source.select(needed)
    for batch in selected if left is None or left > 0 else ():
        frame = _frame(batch if left is None else batch.slice(0, left))
        if left is not None:
            left -= frame.height
        if predicate is not None:
            frame = frame.filter(predicate)
        yield frame.select(wanted) if frame.columns != wanted else frame
        if left is not None and left <= 0:
            return


def _frame(batch: Any) -> pl.DataFrame:
    names = batch.schema.names
    # Polars renames a column without a name to "column_0" or so, which may be the name of another column.
    numbered = type(batch).from_arrays(batch.columns, names=list(map(str, range(len(names)))))
    frame = pl.from_arrow(numbered if "" in names else batch, rechunk=False)
    assert isinstance(frame, pl.DataFrame)
    if "" in names:
        frame.columns = names
    return frame
