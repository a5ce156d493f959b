"""Tests of records, skipping and damage, over S3 (over_s3.py)."""

FILES = [
    "tests/core/test_codec.py",
    "tests/core/test_corrupt_modes.py",
    "tests/core/test_damaged_parts.py",
    "tests/core/test_inputs.py",
    "tests/core/test_marked_parts.py",
    "tests/core/test_reader.py",
    "tests/core/test_real_files.py",
    "tests/core/test_record_batch.py",
    "tests/core/test_regions.py",
    "tests/core/test_search.py",
    "tests/core/test_snappy.py",
    "tests/core/test_stream_edges.py",
    "tests/faults/test_damage.py",
    "tests/faults/test_errors.py",
]
