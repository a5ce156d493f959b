"""Which rows of a table do the same work, so that a ratio between them says something."""

from __future__ import annotations

import re

# Rows of ours that do less than a table's title says, or stand beside the others to be compared with our own.
BESIDE = {
    "tables": ("ShardReader",),
    "engines": ("ShardReader", "read_table", "Spark, Parquet"),
    "stats": ("ShardReader, records", "ShardReader, columns"),
    "face-single": ("plain", "face"),
    "face-batches": ("plain", "face"),
}
# What tells apart kinds of rows in one table: what is made, through what, or from how many files.
KINDS = {
    "tables": re.compile(r"Arrow|pandas|polars|DuckDB"),
    "engines": re.compile(r"Ray|Beam|Spark"),
    "shards": re.compile(r"[\d,]+ shards?$"),
    "remote": re.compile(r"[\d,]+ objects?$"),
}


def is_beside(task: str, row: str) -> bool:
    """Whether a row of ours, named as in `Row.row`, is no measure of the task."""
    return row in BESIDE.get(task, ())


def kind_of(task: str, label: str) -> str:
    """What a row's label says of its kind; "" in a table whose rows are all alike."""
    found = KINDS[task].search(label) if task in KINDS else None
    return found[0] if found else ""
