"""Tests of states, epochs and lengths, over S3 (over_s3.py)."""

FILES = [
    "tests/files/test_shard_epochs.py",
    "tests/files/test_shard_lengths.py",
    "tests/files/test_shard_state.py",
    "tests/files/test_state_and_damage.py",
]
