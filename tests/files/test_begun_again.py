"""Readers: what could not begin, what was replaced, what was changed after it was given."""

import copy
import json
import os
import pickle
import sys
import threading

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.frames import frames

INT = tf.io.FixedLenFeature([], tf.int64)


def flat(batches):
    return [record for batch in batches for record in batch.tolist()]


def examples(path, rows=10):
    with tf.io.ExampleWriter(path) as writer:
        writer.write({"x": np.arange(rows), "y": np.arange(rows) * 2})
    return str(path)


def test_a_file_behind_fsspec_that_was_replaced_is_read_anew(tmp_path):
    pytest.importorskip("fsspec")
    path, other = tmp_path / "a.tfrecord", tmp_path / "b"
    path.write_bytes(frames([b"old-%d" % i for i in range(5)]))
    url = f"local://{path}"
    assert flat(tf.ShardReader(url)) == [b"old-%d" % i for i in range(5)]
    other.write_bytes(frames([b"new-%d" % i for i in range(5)]))
    os.replace(other, path)
    assert flat(tf.ShardReader(url)) == [b"new-%d" % i for i in range(5)]


def test_an_index_behind_fsspec_that_was_replaced_is_read_anew(tmp_path):
    pytest.importorskip("fsspec")
    path, other = tmp_path / "a.idx", tmp_path / "b.idx"
    path.write_text("0 17\n17 17\n")
    url = f"local://{path}"
    assert tf.RecordIndex.load(url).sizes.tolist() == [17, 17]
    other.write_text("0 18\n18 18\n")
    os.replace(other, path)
    assert tf.RecordIndex.load(url).sizes.tolist() == [18, 18]


@pytest.fixture
def begun(tmp_path):
    """A reader that has lost a file, with a position; the records that follow; what brings the file back."""
    paths = [tmp_path / "a", tmp_path / "b"]
    for number, path in enumerate(paths):
        path.write_bytes(frames([b"%d-%d" % (number, i) for i in range(10)]))
    reader, resumed = (
        tf.ShardReader([*map(str, paths)], global_shuffle=True, seed=1, batch_size=4, num_threads=1) for _ in range(2)
    )
    batches = iter(reader)
    next(batches), next(batches)
    resumed.load_state_dict(json.loads(json.dumps(reader.state_dict())))
    os.rename(paths[0], tmp_path / "away")
    return resumed, flat(batches), lambda: os.rename(tmp_path / "away", paths[0])


def test_an_iteration_that_could_not_begin_leaves_the_position(begun):
    resumed, rest, come_back = begun
    with pytest.raises(FileNotFoundError):
        iter(resumed)
    come_back()
    assert flat(resumed) == rest


@pytest.mark.parametrize("persistent", [False, True])
def test_a_worker_that_could_not_begin_leaves_the_position(begun, persistent):
    data = pytest.importorskip("torch.utils.data")
    resumed, rest, come_back = begun
    resumed = copy.copy(resumed)  # made where torch has been imported
    loader = data.DataLoader(resumed, batch_size=None, num_workers=1, persistent_workers=persistent)
    for _ in range(1 if persistent else 2):  # torch's persistent workers end if they can't begin again
        with pytest.raises(FileNotFoundError):
            next(iter(loader))
        assert resumed.epoch == 0
    come_back()
    assert [bytes(record) for batch in loader for record in batch] == rest
    assert resumed.epoch == 1


def test_an_iteration_that_could_not_begin_uses_no_epoch(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(frames([b"%d" % i for i in range(100)]))
    first = flat(tf.ShardReader(str(path), global_shuffle=True, seed=1))
    reader = tf.ShardReader(str(path), global_shuffle=True, seed=1)
    os.rename(path, tmp_path / "away")
    with pytest.raises(FileNotFoundError):
        iter(reader)
    os.rename(tmp_path / "away", path)
    assert reader.epoch == 0
    assert flat(reader) == first


def test_a_permutation_is_that_of_its_epoch_whatever_another_thread_asks_for():
    from tfrecord_fast.base.ranks import Rank
    from tfrecord_fast.files.reading.global_shuffle import Permutation, ShuffleOrder, _WindowMaker

    class Reader:
        def __len__(self):
            return 100

    maker = _WindowMaker(Reader(), ShuffleOrder(4, False, 1, Rank(0, 1), 0, -1), None, 1)
    code, met = _WindowMaker._epoch_permutation.__code__, []
    last = max(line for _, _, line in code.co_lines() if line)

    def of_line(frame, event, _):
        if event == "line" and frame.f_lineno == last and not met:
            met.append(1)
            other = threading.Thread(target=maker._epoch_permutation, args=(1,), daemon=True)
            other.start()
            other.join(2)  # a lock would make it wait for this thread
        return of_line

    before = sys.gettrace()
    sys.settrace(lambda frame, event, _: of_line if frame.f_code is code else None)
    try:
        found = maker._epoch_permutation(0)
    finally:
        sys.settrace(before)
    places = np.arange(100)
    assert met and np.array_equal(found.at(places), Permutation(100, 1, 0).at(places))


def test_a_reader_keeps_the_features_that_it_was_given(tmp_path):
    path = examples(tmp_path / "a.tfrecord")
    features = {"x": INT, "y": INT}
    reader = tf.ShardReader(path, features)
    indexed = tf.IndexedReader(path, features)
    features.pop("y")
    assert sorted(next(iter(reader))) == ["x", "y"]
    assert sorted(indexed.take([0])) == ["x", "y"]


def test_names_of_columns_are_kept_as_they_were_given(tmp_path):
    path = examples(tmp_path / "a.tfrecord", 2)
    columns = ["x"]
    reader = tf.ShardReader(path, "infer", columns=columns)
    columns[0] = "y"
    assert sorted(next(iter(reader))) == ["x"]


def test_names_of_columns_of_a_table_are_kept_as_they_were_given(tmp_path):
    pytest.importorskip("pyarrow")
    from tfrecord_fast.files.reading.tables import TableSource

    columns = ["x"]
    source = TableSource(examples(tmp_path / "a.tfrecord", 2), columns=columns)
    part = source.select(columns)
    columns[0] = "y"
    assert pickle.loads(pickle.dumps(source)).reader().read_all().column_names == ["x"]
    assert pickle.loads(pickle.dumps(part)).reader().read_all().column_names == ["x"]


def test_a_parsing_dataset_keeps_the_features_that_it_was_given():
    features, groups = {"x": INT, "y": INT}, {"g": ["x"]}
    records = tf.data.Dataset.from_tensors(np.asarray(tf.encode_examples({"x": [1], "y": [2]})))
    parsed = records.apply(tf.data.experimental.parse_example_dataset(features, groups=groups))
    features.pop("y"), groups.clear()
    assert [sorted(columns) for columns in parsed] == [["g", "y"]]


def test_a_state_that_was_loaded_may_be_changed(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(frames([b"%d" % i for i in range(10)]))
    reader = tf.ShardReader(str(path), batch_size=2)
    batches = iter(reader)
    next(batches)
    state, rest = reader.state_dict(), flat(batches)
    again = tf.ShardReader(str(path), batch_size=2)
    again.load_state_dict(state)
    state.clear()
    assert flat(again) == rest


def test_a_state_that_was_given_may_be_changed(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(frames([b"%d" % i for i in range(10)]))
    reader = tf.ShardReader(str(path), batch_size=2, shard=(0, 2), shard_by="record", equal_shards="drop")
    batches = iter(reader)
    next(batches)
    state = reader.state_dict()
    kept = json.loads(json.dumps(state))
    state["order"]["shard"].clear(), state["order"].pop("seed")
    assert reader.state_dict() == kept


def test_a_state_of_elements_that_was_given_may_be_changed():
    pytest.importorskip("torch")
    from tfrecord_fast.integrations.torch import TFRecordIterableDataset

    dataset = TFRecordIterableDataset(tf.data.Dataset.range(9).shuffle(9, seed=3))
    next(iter(dataset))
    state = dataset.state_dict()
    kept = json.loads(json.dumps(state))
    state["seeds"].clear()
    assert dataset.state_dict() == kept


def test_a_copy_that_loads_a_state_leaves_the_reader_its_seed(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(frames([b"%d" % i for i in range(10)]))
    reader, other = (tf.ShardReader(str(path), shuffle_buffer=10) for _ in range(2))
    seed = reader.state_dict()["order"]["seed"]
    copied = copy.copy(reader)
    copied.load_state_dict(other.state_dict())
    assert reader.state_dict()["order"]["seed"] == seed


def test_a_file_behind_fsspec_without_versions_is_read_anew_each_time(tmp_path, monkeypatch):
    fsspec = pytest.importorskip("fsspec")
    local = fsspec.implementations.local.LocalFileSystem
    info = local.info
    without = {"mtime", "created", "ino"}
    monkeypatch.setattr(local, "info", lambda *a, **k: {n: v for n, v in info(*a, **k).items() if n not in without})
    path = tmp_path / "a.tfrecord"
    for word in (b"old", b"new"):
        (tmp_path / "other").write_bytes(frames([word]))
        os.replace(tmp_path / "other", path)
        assert flat(tf.ShardReader(f"local://{path}")) == [word]
