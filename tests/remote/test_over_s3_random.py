"""Tests of indexes, reading in any order, and tables, over S3 (over_s3.py)."""

FILES = [
    "tests/files/test_global_shuffle.py",
    "tests/files/test_index.py",
    "tests/files/test_indexed_reader.py",
    "tests/files/test_indexed_reader_arguments.py",
    "tests/files/test_indexed_reader_features.py",
    "tests/files/test_indexed_reader_life.py",
    "tests/files/test_tables.py",
    "tests/files/test_tables_columns.py",
]
