"""ShardReader's tests, over S3 (over_s3.py)."""

FILES = [
    "tests/files/test_batches_kept.py",
    "tests/files/test_groups_reader.py",
    "tests/files/test_max_record_bytes.py",
    "tests/files/test_shard_columns.py",
    "tests/files/test_shard_large_batches.py",
    "tests/files/test_shard_life.py",
    "tests/files/test_shard_order.py",
    "tests/files/test_shard_reader.py",
]
