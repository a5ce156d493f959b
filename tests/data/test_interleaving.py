"""Several files read in turns: TensorFlow's order, whatever the files."""

import io
import random

import pytest

import tfrecord_fast as tf
from tests.support.frames import drain, frames
from tests.support.interleaving import interleave
from tests.support.lettered_files import A, records_of

Dataset = tf.data.TFRecordDataset


@pytest.mark.parametrize(
    ("slots", "order"),
    [
        (2, "0.0 1.0 0.1 1.1 0.2 0.3 2.0 0.4 2.1 2.2 3.0 2.3 3.1 3.2"),
        (3, "0.0 1.0 2.0 0.1 1.1 2.1 0.2 2.2 0.3 3.0 2.3 0.4 3.1 3.2"),
    ],
)
def test_the_order_in_plain_python_is_what_tensorflow_was_seen_to_do(slots, order):
    files = [[f"{file}.{i}" for i in range(count)] for file, count in enumerate([5, 2, 4, 3])]
    assert " ".join(interleave(files, slots)) == order


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 5, 100])
def test_parallel_reads_keep_tensorflows_order(folder, slots):
    names = ["a-0", "a-1", "a-2", "b-0"]
    files = [records_of(name, count) for name, count in zip(names, [5, 2, 4, 3], strict=True)]
    assert list(Dataset([folder / name for name in names], num_parallel_reads=slots)) == interleave(files, slots)


@pytest.mark.parametrize("seed", range(40))
def test_parallel_reads_keep_their_order_whatever_the_files(tmp_path, seed):
    rng = random.Random(seed)
    files = [records_of(str(i), rng.choice([0, 0, 1, 2, rng.randrange(200)])) for i in range(rng.randrange(12))]
    for i, records in enumerate(files):
        with tf.io.TFRecordWriter(tmp_path / f"{i}", rng.choice(["", "", "GZIP", "ZSTD"])) as writer:
            writer.write_batch(records)
    paths = [tmp_path / f"{i}" for i in range(len(files))]
    for slots in (1, 2, 3, 7):
        dataset = Dataset(paths, num_parallel_reads=slots)
        assert list(dataset) == interleave(files, slots)
        assert [record for batch in dataset.batch(7) for record in batch] == interleave(files, slots)


def test_autotune_reads_one_file_after_the_other(folder):
    assert list(Dataset(str(folder / "a-*"), num_parallel_reads=tf.data.AUTOTUNE)) == A


def test_parallel_reads_of_memory_and_objects_keep_their_order():
    files = [records_of(str(i), i) for i in range(5)]
    sources = [bytearray(frames(records)) if i % 2 else io.BytesIO(frames(records)) for i, records in enumerate(files)]
    assert list(Dataset(sources, num_parallel_reads=2)) == interleave(files, 2)


def test_an_error_among_parallel_reads_comes_when_it_is_its_turn(folder):
    (folder / "a-1").write_bytes(frames(records_of("a-1", 2))[:-1])
    records, error = drain(Dataset([folder / "a-0", folder / "a-1"], num_parallel_reads=2))
    assert records == [b"a-0.0", b"a-1.0", b"a-0.1"] and error.record_index == 1


@pytest.mark.parametrize(("calls", "slots"), [(None, 8), (tf.data.AUTOTUNE, 3), (1, 1), (5, 5), (9, 8)])
def test_without_a_cycle_length_processors_and_parallel_calls_decide(monkeypatch, calls, slots):
    monkeypatch.setattr("tfrecord_fast.data.methods.joins.schedulable_cpus", lambda: 8)
    dataset = tf.data.Dataset.range(10).interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(2), None, 1, calls)
    assert list(dataset) == interleave([[number] * 2 for number in range(10)], slots)
