"""Whatever feeds a training loop, each record comes once, in its order and with its types, and errors name the file."""

import pickle
from pathlib import Path

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.grain_records import SIZES, joined, write_files

from .trainers import READING_COMPRESSED_FILES, RESUMING, TAKING_FEATURES, TRAINERS

FEATURES = {"x": tf.FixedLenFeature([], tf.int64), "v": tf.FixedLenFeature([2], tf.float32)}
ALL = list(range(sum(SIZES)))


@pytest.fixture(params=TRAINERS)
def trainer(request):
    return TRAINERS[request.param]


def each(names):
    return pytest.mark.parametrize("trainer", names, indirect=True)


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    return write_files(tmp_path_factory.mktemp("trainers"))


def read(trainer, paths, features=FEATURES, **options):
    return list(trainer.batches(trainer.dataset(paths, features), **options))


def numbers(batches):
    return [number for batch in batches for number in batch["x"].tolist()]


def test_every_record_comes_once_in_order(trainer, paths):
    batches = read(trainer, paths)
    assert numbers(batches) == ALL
    assert [row for batch in batches for row in batch["v"].tolist()] == [[i, -i] for i in ALL]
    for batch in batches:
        x, v = (np.asarray(batch[key]) for key in "xv")
        assert (x.dtype, v.dtype, x.shape, v.shape) == (np.int64, np.float32, (len(v),), (len(x), 2))


@each(READING_COMPRESSED_FILES)
@pytest.mark.parametrize("compression", ["GZIP", "ZSTD"])
def test_compressed_files_are_read(trainer, tmp_path, compression):
    assert numbers(read(trainer, write_files(tmp_path, options=compression))) == ALL


@each(RESUMING)
@pytest.mark.parametrize("workers", [1, 2])
def test_workers_divide_the_records(trainer, paths, workers):
    assert sorted(numbers(read(trainer, paths, workers=workers))) == ALL


def test_files_without_records_have_no_batches(trainer, paths):
    assert SIZES[0] == 0 and read(trainer, paths[:1]) == []


def test_a_missing_file_is_named(trainer, tmp_path):
    with pytest.raises(FileNotFoundError, match="missing"):
        read(trainer, [str(tmp_path / "missing")])


DIVIDED = [(name, workers) for name in TRAINERS for workers in ((0, 1) if name in RESUMING else (0,))]


@pytest.mark.parametrize(("trainer", "workers"), DIVIDED, indirect=["trainer"])
def test_damage_is_an_error_that_names_file_and_offset(trainer, workers, tmp_path):
    [path] = write_files(tmp_path, [50])
    data = bytearray(Path(path).read_bytes())
    offset = int(tf.RecordIndex.build(path).offsets[30])
    data[offset + 14] ^= 1
    Path(path).write_bytes(data)
    with pytest.raises(tf.DataLossError, match=f"{path}.*{offset}"):
        read(trainer, [path], **({"workers": workers} if workers else {}))


@pytest.mark.parametrize(("trainer", "workers"), DIVIDED, indirect=["trainer"])
def test_a_record_that_does_not_fit_is_named(trainer, workers, paths):
    features = {"x": tf.FixedLenFeature([], tf.float32)}
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError), match=r"1\.tfrecord.*'x'"):
        read(trainer, paths, features, **({"workers": workers} if workers else {}))


@each(TAKING_FEATURES)
def test_features_may_be_one_array(trainer, tmp_path):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"a": np.arange(20), "b": -np.arange(20)})
    features = {key: tf.FixedLenFeature([], tf.int64) for key in "ab"}
    batches = list(trainer.batches(trainer.dataset([str(tmp_path / "a")], features, groups={"g": ["b", "a"]})))
    assert [row for batch in batches for row in batch["g"].tolist()] == [[-i, i] for i in range(20)]
    assert all(list(batch) == ["g"] for batch in batches)


@each(TAKING_FEATURES)
def test_a_pickled_dataset_yields_the_same(trainer, paths):
    dataset = pickle.loads(pickle.dumps(trainer.dataset(paths, FEATURES)))
    assert numbers(trainer.batches(dataset)) == ALL


@each(RESUMING)
@pytest.mark.parametrize(
    ("shuffled", "workers", "counts"), [(False, 0, (1, 6, 28)), (True, 0, (1, 6, 28)), (True, 2, (9,))]
)
def test_a_state_resumes_at_the_next_batch(trainer, paths, shuffled, workers, counts):
    def batches():
        return trainer.resumable(trainer.dataset(paths, FEATURES, shuffled), workers=workers)

    whole = [numbers([batch]) for batch in batches()]
    assert sorted(joined(whole)) == ALL and (joined(whole) == ALL) == (not shuffled)
    for count in counts:
        begun = batches()
        iterator = iter(begun)
        head = [numbers([next(iterator)]) for _ in range(count)]
        state = pickle.loads(pickle.dumps(trainer.state(begun, iterator)))
        assert head + [numbers([batch]) for batch in trainer.resumed(batches(), state)] == whole
