"""The three ways through the package, followed call by call: on its way down, none enters a room twice."""

import sys
from pathlib import Path

import numpy as np
import pytest

import tfrecord_fast as tf

PACKAGE = Path(tf.__file__).parent
FEATURES = {
    "id": tf.io.FixedLenFeature([], tf.int64, -1),
    "name": tf.io.FixedLenFeature([1], tf.string, ["?"]),
    "steps": tf.io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
    "tags": tf.io.VarLenFeature(tf.string),
    "words": tf.io.SparseFeature("index", "value", tf.float32, 10),
    "rows": tf.io.RaggedFeature(tf.int64, partitions=[tf.io.RaggedFeature.UniformRowLength(2)]),
}
COLUMNS = {
    "id": np.arange(3),
    "name": ["a", "b", "c"],
    "steps": np.zeros((3, 4), np.float32),
    "tags": [["x"], [], ["y", "z"]],
    "rows": tf.RaggedTensor(np.arange(4), [0, 2, 2, 4]),
}


class Ways:
    """The rooms that each chain of calls went through, outermost first, without repeats of one room in a row."""

    def __init__(self):
        self.seen = set()

    def __enter__(self):
        sys.setprofile(self._look)
        return self

    def __exit__(self, *exception):
        sys.setprofile(None)

    def _look(self, frame, event, argument):
        if event != "call" or (room := room_of(frame)) is None:
            return
        way = [room]
        while (frame := frame.f_back) is not None:
            room = room_of(frame)
            if room not in (None, way[-1]):
                way.append(room)
        self.seen.add(tuple(reversed(way)))

    def twice(self):
        return [way for way in self.seen if len(set(way)) < len(way)]

    def rooms(self):
        return {room for way in self.seen for room in way}


def room_of(frame):
    path = Path(frame.f_code.co_filename)
    if not path.is_relative_to(PACKAGE) or frame.f_code.co_name == "<module>":
        return None
    first = path.relative_to(PACKAGE).parts[0]
    return None if first == "__init__.py" else first.removesuffix(".py")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tf.io.ExampleWriter(path) as writer:
        writer.write(COLUMNS)
    return path


@pytest.mark.parametrize("options", [{}, {"num_parallel_reads": 2}])
def test_from_a_path_to_bytes(path, options):
    with Ways() as ways:
        assert len(list(tf.data.TFRecordDataset([path, path], **options))) == 6
    assert not ways.twice()
    assert ways.rooms() <= {"data", "files", "base", "values"}


def test_from_a_path_to_batches_of_a_shard_reader(path):
    with Ways() as ways:
        assert sum(map(len, tf.ShardReader(path, batch_size=2))) == 3
    assert not ways.twice()


def test_from_features_to_columns(path):
    [records] = tf.ShardReader(path)
    with Ways() as ways:
        assert len(tf.io.parse_example(records, dict(FEATURES))) == len(FEATURES)
    assert not ways.twice()
    assert {"examples", "values"} <= ways.rooms() <= {"examples", "values", "dtypes", "base"}


def test_from_features_to_columns_of_one_record(path):
    record = next(iter(tf.data.TFRecordDataset(path)))
    with Ways() as ways:
        assert len(tf.io.parse_single_example(record, dict(FEATURES))) == len(FEATURES)
    assert not ways.twice()


def test_from_columns_to_a_file(tmp_path):
    with Ways() as ways:
        with tf.io.ExampleWriter(tmp_path / "a", num_shards=2, options="GZIP") as writer:
            writer.write(COLUMNS)
            writer.write_example({"id": 4, "tags": ["x"]})
    assert not ways.twice()
    assert {"files", "examples"} <= ways.rooms() <= {"files", "examples", "values", "base", "dtypes"}
