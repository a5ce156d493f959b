"""Tests of datasets and of inference, over S3 (over_s3.py)."""

FILES = [
    "tests/data/test_dataset.py",
    "tests/data/test_interleaving.py",
    "tests/data/test_names_as_needed.py",
    "tests/data/test_plan.py",
    "tests/data/test_semantics.py",
    "tests/data/test_shared_iterators.py",
    "tests/data/test_sharing.py",
    "tests/data/test_tables.py",
    "tests/data/test_tf_record_iterator.py",
    "tests/examples/test_groups.py",
    "tests/examples/test_infer.py",
    "tests/examples/test_row_errors.py",
]
