"""Detection of rows that do the same work, so that their ratios are meaningful."""

from __future__ import annotations

import re

# Rows of ours that do less than a table's title says, or stand beside the others to be compared with our own.
BESIDE = {
    "tables": ("ShardReader",),
    "engines": ("ShardReader", "read_table", "Spark, Parquet"),
    "stats": ("ShardReader, records", "ShardReader, columns"),
    "pipelines": ("batched by hand",),
    "face-batches": ("plain", "face"),
    "images": ("decode, 1 thread", "antialias, 1 thread", "exact=False"),
}
# Patterns that distinguish kinds of rows in one table: by result, by method, by interface, or by the number of files.
KINDS = {
    "images": re.compile(r"antialias|bilinear"),
    "tables": re.compile(r"Arrow|pandas|polars|DuckDB"),
    "engines": re.compile(r"Ray|Beam|Spark"),
    "shards": re.compile(r"[\d,]+ shards?$"),
    "remote": re.compile(r"[\d,]+ objects?$"),
}


def is_beside(task: str, row: str) -> bool:
    """Return True if a row of ours, named as in `Row.row`, does not measure the task."""
    return row in BESIDE.get(task, ())


def kind_of(task: str, label: str) -> str:
    """Return the kind of a row by its label; "" in tables whose rows are all alike."""
    match = KINDS[task].search(label) if task in KINDS else None
    return match[0] if match else ""
