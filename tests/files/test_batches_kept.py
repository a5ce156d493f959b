"""Batches that are kept while more are read: their records stay what they were, and keep their numbers."""

import random

import pytest

import tfrecord_fast as tf
from tests.support import compression
from tests.support.frames import frames, offsets


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", compression.ALL)
def test_records_of_batches_that_are_kept_stay(tmp_path, kind, threads):
    rng = random.Random(7)
    records = [rng.randbytes(rng.choice([10, 900, 40_000])) for _ in range(700)]
    path = tmp_path / "a"
    path.write_bytes(compression.compress(kind, frames(records)))
    for batches in (
        list(tf.ShardReader(path, batch_size=9, num_threads=threads)),
        list(tf.data.TFRecordDataset(path, kind).batch(9)),
    ):
        assert [record for batch in batches for record in batch] == records


@pytest.mark.parametrize("kind", compression.ALL)
def test_records_after_skipped_ones_keep_their_numbers(tmp_path, kind):
    records = [tf.encode_examples({"x": [[i] * (2 if i == 7 else 1)]})[0] for i in range(10)]
    data = bytearray(frames(records))
    data[offsets(records)[3] + 12] ^= 1  # its data
    path = tmp_path / "a"
    path.write_bytes(compression.compress(kind, bytes(data)))
    reader = tf.ShardReader(path, {"x": tf.FixedLenFeature([], tf.int64)}, on_corrupt="skip")
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        list(reader)
    assert "record 7" in str(caught.value), caught.value
