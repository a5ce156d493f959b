"""ShardReader(columns=…): a subset of the features."""

import pickle

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire

FEATURES = {
    "a": tf.FixedLenFeature([], tf.int64),
    "b": tf.VarLenFeature(tf.float32),
    "c": tf.FixedLenFeature([], tf.int64),
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tf.ExampleWriter(path) as writer:
        writer.write({"a": np.arange(3), "b": [[1.0], [], [2.0, 3.0]], "c": np.arange(3) * 10})
    return str(path)


@pytest.mark.parametrize("features", [FEATURES, "infer"])
def test_only_the_columns_asked_for_are_parsed(features, path):
    [batch] = tf.ShardReader(path, features, columns=["c"])
    assert {key: column.tolist() for key, column in batch.items()} == {"c": [0, 10, 20]}


@pytest.mark.parametrize("features", [FEATURES, "infer"])
def test_the_label_is_parsed_in_any_case(features, path):
    [(batch, label)] = tf.ShardReader(path, features, columns=["c"], label_key="a")
    assert list(batch) == ["c"] and label.tolist() == [0, 1, 2]


def test_a_label_may_be_among_the_columns(path):
    [(batch, label)] = tf.ShardReader(path, FEATURES, columns=["a", "c"], label_key="a")
    assert list(batch) == ["c"] and label.tolist() == [0, 1, 2]


def test_what_does_not_fit_elsewhere_does_not_matter(path):
    features = {**FEATURES, "d": tf.FixedLenFeature([], tf.int64)}
    assert len(list(tf.ShardReader(path, features, columns=["a"]))) == 1


def test_columns_of_sequences_are_in_either_part(tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "a") as writer:
        lists = [(b"s", [wire.feature("int64", [1])]), (b"t", [wire.feature("int64", [2])])]
        writer.write(wire.sequence_example([(b"c", wire.feature("int64", [5]))], lists))
    features = ({"c": tf.FixedLenFeature([], tf.int64)}, {k: tf.VarLenFeature(tf.int64) for k in "st"})
    [(context, lists, _)] = tf.ShardReader(tmp_path / "a", features, columns=["t"])
    assert not context and list(lists) == ["t"]
    [(context, lists, _)] = tf.ShardReader(tmp_path / "a", features, columns=["c"])
    assert context["c"].tolist() == [5] and not lists


@pytest.mark.parametrize("features", [FEATURES, "infer"])
def test_unknown_columns_are_refused(features, path):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"columns \['d'\] are not among the features"):
        list(tf.ShardReader(path, features, columns=["a", "d"]))


def test_columns_need_features(path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="columns needs features"):
        tf.ShardReader(path, columns=["a"])


def test_one_name_is_no_list(path):
    with pytest.raises(TypeError, match="columns must be a list of names, got 'a'"):
        tf.ShardReader(path, FEATURES, columns="a")


def test_a_copy_has_the_same_columns(path):
    [batch] = pickle.loads(pickle.dumps(tf.ShardReader(path, "infer", columns=["c"])))
    assert list(batch) == ["c"]


def write(path, rows, **columns):
    with tf.ExampleWriter(path) as writer:
        writer.write({name: make(np.arange(rows)) for name, make in columns.items()})
    return str(path)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_plans_that_come_and_go_do_not_take_each_others_columns(tmp_path, threads):
    """Batches are parsed ahead by a plan that is learnt; another one may be made at its address once it is gone."""
    path = write(tmp_path / "f.tfrecord", 3000, a=lambda i: i, b=lambda i: i + 1_000_000, c=lambda i: i * 0.5)
    kinds = {"a": tf.int64, "b": tf.int64, "c": tf.float32}
    first = 0
    for number, batch in enumerate(tf.ShardReader([path], batch_size=3, num_threads=threads)):
        rows = np.arange(first, first + len(batch))
        expected = {"a": rows, "b": rows + 1_000_000, "c": (rows * 0.5).astype(np.float32)}
        for names in (["a"], ["b"], ["c", "a"], ["a", "b", "c"])[number % 2 :]:
            parsed = tf.parse_example(batch, {name: tf.io.FixedLenFeature([], kinds[name]) for name in names})
            for name in names:
                assert parsed[name].dtype == expected[name].dtype and parsed[name].tolist() == expected[name].tolist()
        first += len(batch)
    assert first == 3000
