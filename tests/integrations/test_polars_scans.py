"""Scans of polars: their features, and columns that are read apart."""

import numpy as np
import pytest

import tfrecord_fast as tf

INT = tf.io.FixedLenFeature([], tf.int64)


def examples(path, rows=10):
    with tf.io.ExampleWriter(path) as writer:
        writer.write({"x": np.arange(rows), "y": np.arange(rows) * 2})
    return str(path)


def test_a_query_of_polars_has_the_features_that_it_was_made_with(tmp_path):
    polars = pytest.importorskip("polars")
    from tfrecord_fast.integrations.polars import scan_tfrecord

    features = {"x": INT, "y": INT}
    frame = scan_tfrecord(examples(tmp_path / "a.tfrecord"), features)
    features["x"] = tf.io.FixedLenFeature([], tf.int64, 5)
    features["y"] = tf.io.VarLenFeature(tf.int64)
    assert frame.select("y").collect()["y"].dtype == polars.Int64


def test_columns_of_one_shuffled_scan_stay_side_by_side(tmp_path):
    polars = pytest.importorskip("polars")
    from tfrecord_fast.integrations.polars import scan_tfrecord

    frame = scan_tfrecord(examples(tmp_path / "a.tfrecord", 200), {"x": INT, "y": INT}, shuffle_buffer=200)
    both = polars.concat([frame.select("x"), frame.select("y")], how="horizontal").collect()
    assert (both["x"] * 2).to_list() == both["y"].to_list()


@pytest.mark.parametrize("shard", [(0, 1), [0, 1], np.array([0, 1]), "auto"], ids=repr)
def test_columns_of_one_global_shuffle_fit_together(tmp_path, shard):
    polars = pytest.importorskip("polars")
    from tfrecord_fast.integrations.polars import scan_tfrecord

    path = examples(tmp_path / "a.tfrecord", 200)
    frame = scan_tfrecord(path, {"x": INT, "y": INT}, global_shuffle=True, shard=shard)
    both = polars.concat([frame.select("x"), frame.select("y")], how="horizontal").collect()
    assert (both["y"] == both["x"] * 2).all()


def test_parts_of_a_global_shuffle_of_a_table_need_a_seed(tmp_path):
    pytest.importorskip("polars")
    from tfrecord_fast.integrations.polars import scan_tfrecord

    frame = scan_tfrecord(examples(tmp_path / "a.tfrecord"), {"x": INT}, global_shuffle=True, shard=(0, 2))
    with pytest.raises(Exception, match="needs a seed"):
        frame.collect()
