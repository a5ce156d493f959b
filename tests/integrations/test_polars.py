"""scan_tfrecord: a LazyFrame whose queries read no more than they need."""

import numpy as np
import polars as pl
import pytest

import tfrecord_fast as tf
from tfrecord_fast.examples.parsing.table_plan import TablePlan
from tfrecord_fast.integrations.polars import scan_tfrecord

TEXT = "a text that is too long to be kept inside of a view"


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tf.ExampleWriter(path) as writer:
        writer.write(
            {
                "id": np.arange(1000),
                "x": np.arange(1000, dtype=np.float32) / 2,
                "text": [f"{TEXT} {i}" for i in range(1000)],
                "tags": [["t"] * (i % 3) for i in range(1000)],
                "box": np.arange(2000, dtype=np.float32).reshape(1000, 2),
            }
        )
    return str(path)


@pytest.fixture
def parsed(monkeypatch):
    """The columns and the batches that queries parse."""
    seen = []
    finish = TablePlan.finish

    def note(self, *arguments):
        seen.append(self.schema.names)
        return finish(self, *arguments)

    monkeypatch.setattr(TablePlan, "finish", note)
    return seen


def test_a_scan_gives_all_columns(path):
    frame = scan_tfrecord(path).collect()
    assert frame.schema == {
        "box": pl.Array(pl.Float32, 2),
        "id": pl.Int64,
        "tags": pl.List(pl.Binary),
        "text": pl.Binary,
        "x": pl.Float32,
    }
    assert frame.row(2) == ([4.0, 5.0], 2, [b"t", b"t"], f"{TEXT} 2".encode(), 1.0)


def test_the_schema_is_known_before_anything_is_read(path, parsed):
    assert scan_tfrecord(path).collect_schema()["id"] == pl.Int64 and not parsed


def test_only_the_columns_of_a_query_are_parsed(path, parsed):
    frame = scan_tfrecord(path).filter(pl.col("id") >= 998).select("x").collect()
    assert frame["x"].to_list() == [499.0, 499.5]
    assert {name for names in parsed for name in names} == {"id", "x"}


def test_head_stops_reading(path, parsed):
    frame = scan_tfrecord(path, batch_size=10).head(25).collect()
    assert frame["id"].to_list() == list(range(25)) and len(parsed) == 3


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_filters_and_heads_are_applied_in_their_order(path, engine):
    scan = scan_tfrecord(path, batch_size=10)
    even = pl.col("id") % 2 == 0
    assert scan.filter(even).head(5).collect(engine=engine)["id"].to_list() == [0, 2, 4, 6, 8]
    assert scan.head(5).filter(even).collect(engine=engine)["id"].to_list() == [0, 2, 4]
    assert scan.slice(3, 4).select("id").collect(engine=engine)["id"].to_list() == [3, 4, 5, 6]
    assert scan.tail(2).select("id").collect(engine=engine)["id"].to_list() == [998, 999]
    assert scan.head(0).collect(engine=engine).height == 0


def test_rows_are_counted(path):
    assert scan_tfrecord(path).select(pl.len()).collect().item() == 1000
    assert scan_tfrecord(path).filter(pl.col("id") > 989).select(pl.len()).collect().item() == 10


def test_a_frame_is_collected_again_and_again(path):
    scan = scan_tfrecord(path)
    assert scan.collect().equals(scan.collect())
    joined = scan.join(scan.select("id", y="x"), on="id").select((pl.col("x") == pl.col("y")).all())
    assert joined.collect().item()


def test_a_query_groups_and_sorts(path):
    query = scan_tfrecord(path).group_by(pl.col("id") % 3).agg(pl.col("x").sum()).sort("id")
    assert query.collect()["x"].to_list() == [sum(i / 2 for i in range(1000) if i % 3 == r) for r in range(3)]


def test_text_is_cast(path):
    query = scan_tfrecord(path).select(pl.col("text").cast(pl.String).str.ends_with(" 77").sum())
    assert query.collect().item() == 1


def test_several_files_and_options(path):
    scan = scan_tfrecord([path, path], columns=["id"], shuffle_buffer=100, seed=3)
    ids = scan.collect()["id"].to_list()
    assert sorted(ids) == sorted([*range(1000)] * 2) and ids != [*range(1000)] * 2
    assert scan.collect()["id"].to_list() == ids


def test_an_error_of_a_record_is_the_querys(tmp_path):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"id": [[1], [2, 3]]})
    scan = scan_tfrecord(tmp_path / "a", {"id": tf.FixedLenFeature([], tf.int64)})
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"feature 'id'.*record 1\)"):
        scan.collect()


def test_parsed_columns_go_into_a_frame(path):
    features = {"id": tf.FixedLenFeature([], tf.int64), "tags": tf.VarLenFeature(tf.string)}
    [columns] = tf.ShardReader(path, features)
    frame = pl.DataFrame(columns)
    assert frame["id"].to_list() == list(range(1000)) and frame["tags"].to_list()[:3] == [[], [b"t"], [b"t", b"t"]]


def test_a_feature_may_have_the_empty_name(tmp_path):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"": [1, 2, 3], "b": [4, 5, 6], "column_0": [7, 8, 9]})
    scan = scan_tfrecord(tmp_path / "a")
    assert scan.collect().to_dict(as_series=False) == {"": [1, 2, 3], "b": [4, 5, 6], "column_0": [7, 8, 9]}
    assert scan.select("").collect().to_dict(as_series=False) == {"": [1, 2, 3]}
    assert scan.filter(pl.col("") > 1).select("column_0").collect().to_series().to_list() == [8, 9]
    assert scan.select("b", "").head(1).collect().rows() == [(4, 1)]


# ---- Features, and columns that are read apart ----


INT = tf.io.FixedLenFeature([], tf.int64)


def examples(path, rows=10):
    with tf.io.ExampleWriter(path) as writer:
        writer.write({"x": np.arange(rows), "y": np.arange(rows) * 2})
    return str(path)


def test_a_query_of_polars_has_the_features_that_it_was_made_with(tmp_path):
    features = {"x": INT, "y": INT}
    frame = scan_tfrecord(examples(tmp_path / "a.tfrecord"), features)
    features["x"] = tf.io.FixedLenFeature([], tf.int64, 5)
    features["y"] = tf.io.VarLenFeature(tf.int64)
    assert frame.select("y").collect()["y"].dtype == pl.Int64


def test_columns_of_one_shuffled_scan_stay_side_by_side(tmp_path):
    frame = scan_tfrecord(examples(tmp_path / "a.tfrecord", 200), {"x": INT, "y": INT}, shuffle_buffer=200)
    both = pl.concat([frame.select("x"), frame.select("y")], how="horizontal").collect()
    assert (both["x"] * 2).to_list() == both["y"].to_list()


@pytest.mark.parametrize("shard", [(0, 1), [0, 1], np.array([0, 1]), "auto"], ids=repr)
def test_columns_of_one_global_shuffle_fit_together(tmp_path, shard):
    path = examples(tmp_path / "a.tfrecord", 200)
    frame = scan_tfrecord(path, {"x": INT, "y": INT}, global_shuffle=True, shard=shard)
    both = pl.concat([frame.select("x"), frame.select("y")], how="horizontal").collect()
    assert (both["y"] == both["x"] * 2).all()


def test_parts_of_a_global_shuffle_of_a_table_need_a_seed(tmp_path):
    frame = scan_tfrecord(examples(tmp_path / "a.tfrecord"), {"x": INT}, global_shuffle=True, shard=(0, 2))
    with pytest.raises(Exception, match="needs a seed"):
        frame.collect()
