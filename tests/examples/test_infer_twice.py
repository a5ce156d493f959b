"""A key that comes twice in a record is in one record, with the values of the last one, as for the parsers."""

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.frames import frames
from tfrecord_fast.cli import main
from tfrecord_fast.integrations import vahidk


def record(*features):
    return wire.example([(key, wire.feature(kind, values)) for key, kind, values in features])


def steps(*lists):
    return wire.sequence_example([], [(key, [wire.feature("int64", values) for values in each]) for key, each in lists])


ONE = record((b"a", "int64", [2]))
# Each is ONE for who parses it.
TWICE = {
    "alike": record((b"a", "int64", [1]), (b"a", "int64", [2])),
    "more before": record((b"a", "int64", [1, 2, 3]), (b"a", "int64", [2])),
    "another kind before": record((b"a", "float", [1.0]), (b"a", "int64", [2])),
    "no kind before": record((b"a", None, []), (b"a", "int64", [2])),
    "Examples end to end": record((b"a", "int64", [1, 2])) + ONE,
}


@pytest.mark.parametrize("twice", TWICE.values(), ids=TWICE)
def test_the_last_one_says_what_is_inferred(twice):
    assert tf.parse_example([twice], {"a": tf.FixedLenFeature([], tf.int64)})["a"].tolist() == [2]
    assert tf.infer_features([twice]) == {"a": tf.FixedLenFeature([], tf.int64)}
    assert tf.infer_features([twice, ONE, twice]) == tf.infer_features([ONE])


@pytest.mark.parametrize("twice", TWICE.values(), ids=TWICE)
def test_it_does_not_hide_a_record_without_the_key(twice, tmp_path):
    assert tf.infer_features([twice, b""]) == {"a": tf.VarLenFeature(tf.int64)}
    (tmp_path / "a.tfrecord").write_bytes(frames([twice, b""]))
    columns = next(iter(tf.ShardReader(tmp_path / "a.tfrecord", "infer")))
    assert columns["a"].row_splits.tolist() == [0, 1, 1]


def test_a_kind_that_is_taken_away_is_none():
    assert tf.infer_features([record((b"a", "int64", [1]), (b"a", None, []))]) == {}


def test_two_kinds_in_two_records_are_still_an_error():
    other = record((b"a", "int64", [1]), (b"a", "float", [1.0]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"'a': conflicting kinds.*\(record 1\)"):
        tf.infer_features([ONE, other])


def test_keys_keep_their_order_and_counts_over_many_records():
    rows = [record((b"b", "int64", [1]), (b"a", "int64", [1, 2]), (b"b", "int64", [i, i])) for i in range(5)]
    assert tf.infer_features(rows) == {"a": tf.FixedLenFeature([2], tf.int64), "b": tf.FixedLenFeature([2], tf.int64)}
    assert tf.infer_features([*rows, record((b"b", "int64", [1]))])["b"] == tf.VarLenFeature(tf.int64)


def test_feature_lists_count_once_too():
    once, twice = steps((b"t", [[2]])), steps((b"t", [[1, 2], [3]]), (b"t", [[2]]))
    assert tf.io.infer_sequence_features([twice]) == tf.io.infer_sequence_features([once])


def test_a_table_has_values_and_not_lists(tmp_path):
    (tmp_path / "a.tfrecord").write_bytes(frames([TWICE["more before"], ONE]))
    assert tf.read_table(tmp_path / "a.tfrecord")["a"].to_pylist() == [2, 2]


def test_vahidk_makes_no_key_up(tmp_path):
    first = record((b"a", "int64", [1, 2]), (b"a", "int64", [3]), (b"b", "int64", [0]))
    (tmp_path / "a.tfrecord").write_bytes(frames([first, record((b"b", "int64", [0]))]))
    rows = [*vahidk.tfrecord_loader(str(tmp_path / "a.tfrecord"), None)]
    assert [sorted(row) for row in rows] == [["a", "b"], ["b"]] and rows[0]["a"].tolist() == [3]


@pytest.mark.parametrize("table", ["x.parquet", "x.csv"])
def test_tables_and_back(tmp_path, table):
    """A record without the key has none afterwards; in Parquet, one with an empty list has that."""
    records = [TWICE["Examples end to end"], record((b"b", "int64", [1])), record((b"a", "int64", []))]
    records = records[:2] if table == "x.csv" else records
    (tmp_path / "in.tfrecord").write_bytes(frames(records))
    for source, target in [("in.tfrecord", table), (table, "out.tfrecord")]:
        assert main(["convert", str(tmp_path / source), str(tmp_path / target)]) == 0
    assert list(tf.data.TFRecordDataset(tmp_path / "out.tfrecord")) == [ONE, *records[1:]]
