"""infer_features: what records hold, learnt from the records."""

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire


def record(**features):
    return wire.example([(name.encode(), wire.feature(*value)) for name, value in features.items()])


def test_same_number_everywhere_is_fixed():
    records = [record(a=("int64", [i]), e=("float", [1.0, 2.0])) for i in range(3)]
    assert tf.infer_features(records) == {
        "a": tf.FixedLenFeature([], tf.int64),
        "e": tf.FixedLenFeature([2], tf.float32),
    }


def test_missing_or_of_different_length_is_varlen():
    records = [record(a=("int64", [1]), b=("bytes", [b"x"])), record(b=("bytes", [b"x", b"y"]))]
    assert tf.infer_features(records) == {"a": tf.VarLenFeature(tf.int64), "b": tf.VarLenFeature(tf.string)}


def test_always_empty_is_varlen_and_never_a_kind_is_left_out():
    assert tf.infer_features([record(a=("int64", []), k=(None, []))]) == {"a": tf.VarLenFeature(tf.int64)}


def test_two_kinds_are_reported():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"'a': conflicting kinds: .*float here, .*int64.*\(record 1\)"
    ):
        tf.infer_features([record(a=("int64", [1])), record(a=("float", [1.0]))])


@pytest.mark.parametrize("infer", [tf.infer_features, tf.io.infer_sequence_features])
def test_max_records_is_a_number_of_records(infer):
    for wrong in (1.5, "3"):
        with pytest.raises(TypeError, match=r"max_records must be an integer, got (float|str)"):
            infer([], max_records=wrong)
    with pytest.raises(tf.errors.InvalidArgumentError, match="max_records must be at least 0, got -1"):
        infer([], max_records=-1)


@pytest.mark.parametrize("infer", [tf.infer_features, tf.io.infer_sequence_features])
def test_what_is_looked_at_has_the_name_of_the_contract(infer):
    assert infer(files_or_batch=[b""]) == infer([b""])


def test_arrays_of_bytes_are_records():
    records = [np.frombuffer(record(a=("int64", [1])), np.uint8)] * 2
    assert tf.infer_features(records) == tf.infer_features(iter(records)) == {"a": tf.FixedLenFeature([], tf.int64)}


def test_max_records_bounds_what_is_looked_at():
    records = [record(a=("int64", [1]))] * 3 + [record(a=("float", [1.0]))]
    assert tf.infer_features(records, max_records=3) == {"a": tf.FixedLenFeature([], tf.int64)}


def test_later_record_that_breaks_the_shape_says_where_it_came_from():
    records = [record(a=("int64", [1])), record(a=("int64", [1, 2]))]
    features = tf.infer_features(records[:1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="the shape was inferred from 1 records"):
        tf.parse_example(records, features)


@pytest.mark.parametrize("first, later", [(("int64", [1]), b"8 bytes!"), (("float", [1.0, 2.0]), b"8 bytes!")])
def test_bytes_in_a_later_record_are_not_taken_for_numbers(first, later):
    """Only a RawFeature views bytes as numbers."""
    records = [record(a=first), record(a=("bytes", [later]))]
    with pytest.raises(tf.errors.InvalidArgumentError, match="got bytes values"):
        tf.parse_example(records, tf.infer_features(records[:1]))
    given = tf.RawFeature([len(first[1])], getattr(tf, {"int64": "int64", "float": "float32"}[first[0]]))
    assert tf.parse_example(records[1:], {"a": given})["a"].tobytes() == later


def test_files_are_read(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tf.TFRecordWriter(path, "GZIP") as writer:
        writer.write_batch([record(a=("int64", [i])) for i in range(5000)])
    for source in (path, [path], str(tmp_path / "*.tfrecord"), tf.TFRecordDataset(path)):
        assert tf.infer_features(source) == {"a": tf.FixedLenFeature([], tf.int64)}


def test_sequence_examples():
    message = wire.sequence_example(
        [(b"c", wire.feature("int64", [1]))],
        [
            (b"s", [wire.feature("float", [1.0, 2.0])] * 3),
            (b"v", [wire.feature("int64", []), wire.feature("int64", [1])]),
        ],
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="SequenceExamples"):
        tf.infer_features([message])
    context, lists = tf.io.infer_sequence_features([message])
    assert context == {"c": tf.FixedLenFeature([], tf.int64)}
    assert lists == {
        "s": tf.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
        "v": tf.VarLenFeature(tf.int64),
    }


@pytest.mark.parametrize("empty", [0, 1, 2])
def test_a_step_without_values_makes_a_list_of_any_length(empty):
    steps = [wire.feature("int64", [1])] * 3
    steps[empty] = b""
    _, lists = tf.io.infer_sequence_features([wire.sequence_example([], [(b"v", steps)])])
    assert lists == {"v": tf.VarLenFeature(tf.int64)}


def test_malformed_records_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="malformed"):
        tf.infer_features([b"\x0a\x05ab"])


def test_description_is_code():
    features = {"a": tf.FixedLenFeature([2], tf.int64), "é": tf.VarLenFeature(tf.string)}
    assert eval(tf.io.describe_features(features), {"tf": tf}) == features


SEEN = pytest.mark.parametrize("seen", [None, 1, 1023, 1024, 1025, 2999, 3000, 10_000])


def kind_seen(seen):
    """Of 3,000 records, the last alone has two values."""
    return tf.VarLenFeature if seen is None or seen >= 3000 else tf.FixedLenFeature


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("infer") / "x"
    with tf.TFRecordWriter(path) as writer:
        writer.write_batch([record(a=("int64", [1]))] * 2999 + [record(a=("int64", [1, 2]))])
    return path


@SEEN
def test_as_many_records_of_a_file_are_looked_at_as_are_asked_for(path, seen):
    assert isinstance(tf.infer_features(path, seen)["a"], kind_seen(seen))


@SEEN
def test_as_many_records_of_a_list_are_looked_at_as_are_asked_for(path, seen):
    assert isinstance(tf.infer_features(list(tf.TFRecordDataset(path)), seen)["a"], kind_seen(seen))


@SEEN
def test_records_after_those_that_are_looked_at_change_nothing(path, tmp_path, seen):
    (tmp_path / "x").write_bytes(path.read_bytes())
    with tf.TFRecordWriter(tmp_path / "x", append=True) as writer:
        writer.write_batch([record(a=("int64", [1]))] * 2000)
    assert isinstance(tf.infer_features(tmp_path / "x", seen)["a"], kind_seen(seen))
