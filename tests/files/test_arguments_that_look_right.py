"""Arguments that look right but are mistakes: no files, flags for sizes, a look that would use up an epoch."""

import numpy as np
import pytest

import tfrecord_fast as tf


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tf.ExampleWriter(path) as writer:
        writer.write({"x": np.arange(10)})
    return path


FEATURES = {"x": tf.FixedLenFeature([], tf.int64)}
READERS = {
    "ShardReader": lambda files, **options: list(tf.ShardReader(files, FEATURES, **options)),
    "read_table": lambda files, **options: tf.read_table(files, FEATURES, **options).to_pylist(),
    "read_table, inferred": lambda files, **options: tf.read_table(files, **options).to_pylist(),
    "read_batches": lambda files, **options: [
        row for batch in tf.read_batches(files, FEATURES, **options) for row in batch.to_pylist()
    ],
    "IndexedReader": lambda files, **options: list(tf.IndexedReader(files, **options)),
}


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_no_files_are_an_error_unless_they_are_allowed(read, tmp_path):
    pattern = f"{tmp_path}/*.none"
    with pytest.raises(ValueError, match=r"no files in \[\]"):
        read([])
    with pytest.raises(FileNotFoundError, match=r"\*\.none"):
        read(pattern)
    assert read([], allow_empty=True) == read([pattern, [pattern]], allow_empty=True) == []


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_missing_file_is_an_error_even_if_nothing_is_allowed(read, tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "missing", allow_empty=True)


@pytest.mark.parametrize("flag", [True, False, np.True_])
def test_flags_are_no_sizes(file, flag):
    for name in (
        "batch_size",
        "shuffle_buffer",
        "cycle_length",
        "block_length",
        "prefetch_bytes",
        "seed",
        "num_epochs",
    ):
        with pytest.raises(TypeError, match=name):
            tf.ShardReader(file, **{name: flag})
    for method in ("shuffle", "batch", "take", "skip", "repeat", "prefetch"):
        with pytest.raises(TypeError, match="must be an integer"):
            getattr(tf.data.TFRecordDataset(file), method)(flag)


@pytest.mark.parametrize("options", [{}, {"shuffle_buffer": 10, "seed": 1}, {"global_shuffle": True, "seed": 1}])
def test_a_look_changes_nothing(file, options):
    reader, other = (tf.ShardReader(file, FEATURES, batch_size=4, num_epochs=2, **options) for _ in range(2))
    expected = [batch["x"].tolist() for batch in other]
    found = []
    assert reader.peek()["x"].tolist() == expected[0] and reader.epoch == 0
    for batch in reader:
        found.append(batch["x"].tolist())
        state = reader.state_dict()
        reader.peek()
        assert reader.state_dict() == state
    assert found == expected and reader.epoch == 2


def test_a_look_begins_where_a_state_does(file):
    reader = tf.ShardReader(file, FEATURES, batch_size=4)
    next(iter(reader))
    resumed = tf.ShardReader(file, FEATURES, batch_size=4)
    resumed.load_state_dict(reader.state_dict())
    assert resumed.peek()["x"].tolist() == [4, 5, 6, 7]
    assert [batch["x"].tolist() for batch in resumed] == [[4, 5, 6, 7], [8, 9]]


def test_a_look_into_nothing_is_none():
    assert tf.ShardReader([], allow_empty=True).peek() is None
