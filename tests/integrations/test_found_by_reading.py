"""What integrations did silently, or loudly for nothing, until somebody read them."""

import pickle

import numpy as np
import pytest

import tfrecord_fast as tf
from tfrecord_fast.errors import InvalidArgumentError

INT = tf.io.FixedLenFeature([], tf.int64)


def examples(path, rows=10):
    with tf.io.ExampleWriter(path) as writer:
        writer.write({"x": np.arange(rows), "y": np.arange(rows) * 2})
    return str(path)


@pytest.mark.parametrize("takes", ["sets", "pops"])
def test_rows_that_a_collate_function_changes_stay_changed(tmp_path, takes):
    torch_data = pytest.importorskip("torch.utils.data")
    from tfrecord_fast.integrations.torch import TFRecordMapDataset

    path = examples(tmp_path / "a.tfrecord")
    dataset = TFRecordMapDataset(path, {"x": INT, "y": INT})

    def collate(rows):
        for row in rows:
            if takes == "sets":
                row["x"] = row["x"] * 10
            else:
                row.pop("y")
        return torch_data.default_collate(rows)

    batches = list(torch_data.DataLoader(dataset, batch_size=4, collate_fn=collate))
    if takes == "sets":
        assert [x for batch in batches for x in batch["x"].tolist()] == [10 * i for i in range(10)]
    else:
        assert all(list(batch) == ["x"] for batch in batches)


def test_rows_that_a_fetched_list_is_asked_for_twice_are_the_same(tmp_path):
    pytest.importorskip("torch")
    from tfrecord_fast.integrations.torch import TFRecordMapDataset

    rows = TFRecordMapDataset(examples(tmp_path / "a.tfrecord"), {"x": INT}).__getitems__([1, 2])
    rows[0]["new"] = 1
    assert "new" in rows[0]


def test_a_dataset_of_torch_refuses_a_state_that_does_not_fit_each_time():
    pytest.importorskip("torch")
    from tfrecord_fast.integrations.torch import TFRecordIterableDataset

    def made():
        return TFRecordIterableDataset(tf.data.Dataset.range(10))

    dataset = made()
    batches = iter(dataset)
    next(batches), next(batches)
    state = {**dataset.state_dict(), "workers": 2}
    resumed = made()
    resumed.load_state_dict(state)
    for _ in range(2):  # a ShardReader refuses each time
        with pytest.raises(ValueError, match="parts"):
            iter(resumed)


def test_spark_refuses_folders_that_leave_no_column(tmp_path):
    """Rows without a column would be lost."""
    types = pytest.importorskip("pyspark.sql.types")
    from tfrecord_fast.integrations.spark import TFRecordDataSource

    schema = types.StructType([types.StructField("year", types.LongType())])
    with pytest.raises(InvalidArgumentError, match="partitionBy has all columns"):
        TFRecordDataSource({"path": str(tmp_path / "out"), "partitionBy": "year"}).writer(schema, True)


def test_spark_filters_a_folder_of_floats_as_it_reads_it():
    pytest.importorskip("pyspark")
    from pyspark.sql import types as t
    from pyspark.sql.datasource import EqualTo

    from tfrecord_fast.integrations.spark.folders import typed
    from tfrecord_fast.integrations.spark.reading import _condition

    value = typed("0.1", t.FloatType())
    wanted = float(np.float32(0.1))  # as Spark hands a literal of type float over
    assert _condition(EqualTo(("f",), wanted), ["f"])((value,))


@pytest.mark.parametrize(
    "copied", [lambda one: one, lambda one: pickle.loads(pickle.dumps(one))], ids=["own", "pickle"]
)
def test_a_table_has_the_columns_of_its_schema(tmp_path, copied):
    pytest.importorskip("pyarrow")
    from tfrecord_fast.files.reading.tables import TableSource

    features = {"x": INT}
    source = TableSource(examples(tmp_path / "a.tfrecord"), features)
    features["y"] = INT
    source = copied(source)
    assert next(iter(source)).schema.names == source.schema.names == ["x"]


@pytest.fixture
def padded_and_sparse(tmp_path):
    pytest.importorskip("torch")
    from tfrecord_fast.integrations.torch import TFRecordMapDataset

    with tf.ExampleWriter(str(tmp_path / "a")) as writer:
        writer.write({"x": [[1.0, np.nan], [2.0]], "i": [[1], [2]], "v": [[1.0], [2.0]]})
    features = {"x": tf.RaggedFeature(tf.float32), "s": tf.SparseFeature("i", "v", tf.float32, 5)}
    return TFRecordMapDataset(str(tmp_path / "a"), features, ragged="padded").__getitems__([0, 1])


def test_a_row_with_nan_that_was_looked_at_is_not_changed(padded_and_sparse):
    from torch.utils.data import default_collate

    assert [row["x"].shape for row in padded_and_sparse] == [(2,), (1,)]
    assert default_collate(padded_and_sparse) is padded_and_sparse.batch


@pytest.mark.parametrize("key", ["x", "s"])
def test_a_value_that_was_changed_in_place_is_a_change(padded_and_sparse, key):
    padded_and_sparse[1][key].mul_(3)
    assert padded_and_sparse.are_changed


def test_a_query_of_polars_has_the_features_that_it_was_made_with(tmp_path):
    polars = pytest.importorskip("polars")
    from tfrecord_fast.integrations.polars import scan_tfrecord

    features = {"x": INT, "y": INT}
    frame = scan_tfrecord(examples(tmp_path / "a.tfrecord"), features)
    features["x"] = tf.io.FixedLenFeature([], tf.int64, 5)
    features["y"] = tf.io.VarLenFeature(tf.int64)
    assert frame.select("y").collect()["y"].dtype == polars.Int64


def test_values_of_several_shapes_are_stacked_in_a_dtype_that_holds_all():
    from tfrecord_fast.integrations.tfds.collating import stacked

    same = stacked([np.array([1, 2]), np.array([1.5, 2.5])], "f")
    assert same.tolist() == [[1.0, 2.0], [1.5, 2.5]]
    ragged = stacked([np.array([1]), np.array([1.5, 2.5])], "f")
    assert ragged.tolist() == [[1.0, 0.0], [1.5, 2.5]]


def test_texts_of_several_shapes_are_stacked_whole():
    from tfrecord_fast.integrations.tfds.collating import stacked

    found = stacked([np.array(["a"]), np.array(["long", "er"])], "f")
    assert np.asarray(found).tolist() == [["a", ""], ["long", "er"]]


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


def test_chunks_of_tensors_with_and_without_missing_rows_make_one_column():
    pytest.importorskip("ray")
    import pyarrow as pa
    from ray.data.extensions import ArrowTensorTypeV2

    from tfrecord_fast.integrations.ray.tensors import as_lists

    kind = ArrowTensorTypeV2((2,), pa.int64())
    chunks = [
        pa.ExtensionArray.from_storage(kind, pa.array(rows, pa.large_list(pa.int64())))
        for rows in ([[1, 2], [3, 4]], [[5, 6], None])
    ]
    table = pa.Table.from_arrays([pa.chunked_array(chunks)], names=["t"])
    assert as_lists(table).column("t").to_pylist() == [[1, 2], [3, 4], [5, 6], None]
