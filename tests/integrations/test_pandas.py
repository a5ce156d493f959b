"""Tables and parsed columns as data frames of pandas."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tfrecord_fast as tf

STRINGS = [[b"a text that is longer than twelve bytes", b"b"], [], [b"c"]]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tf.ExampleWriter(path) as writer:
        writer.write(
            {
                "id": [1, 2, 3],
                "tags": STRINGS,
                "text": ["x", None, "a text that is longer than twelve bytes"],
                "box": np.arange(12, dtype=np.float32).reshape(3, 4),
            }
        )
    return str(path)


FEATURES = {
    "id": tf.FixedLenFeature([], tf.int64),
    "tags": tf.VarLenFeature(tf.string),
    "text": tf.FixedLenFeature([], tf.string, b""),
    "box": tf.FixedLenFeature([2, 2], tf.float32),
}


def test_a_table_becomes_a_frame(path):
    frame = tf.read_table(path).to_pandas()
    assert frame["id"].tolist() == [1, 2, 3]
    assert [list(tags) for tags in frame["tags"]] == STRINGS
    assert frame["text"].tolist() == [b"x", None, b"a text that is longer than twelve bytes"]
    assert frame["box"][1].tolist() == [4, 5, 6, 7]


def test_a_frame_goes_back_into_records(path):
    frame = tf.read_table(path).to_pandas()
    records = tf.encode_examples(frame).tolist()
    assert records == list(tf.data.TFRecordDataset(path))


@pytest.mark.parametrize("strings", ["plain", None])
def test_parsed_columns_become_a_frame_by_arrow(strings, path):
    [columns] = tf.ShardReader(path, FEATURES)
    options = {} if strings is None else {"strings": strings}
    frame = pa.table(tf.io.arrow_columns(columns, **options)).to_pandas()
    assert [list(tags) for tags in frame["tags"]] == STRINGS
    assert frame["text"].tolist() == [b"x", b"", b"a text that is longer than twelve bytes"]
    assert [row.tolist() for row in frame["box"][1]] == [[4, 5], [6, 7]]


def test_views_share_the_records(path):
    [columns] = tf.ShardReader(path, FEATURES)
    assert pa.table(tf.io.arrow_columns(columns, strings="view")).schema.field("text").type == pa.binary_view()
    with pytest.raises(ValueError, match='strings must be "plain" or "view"'):
        tf.io.arrow_columns(columns, strings="large")


def test_a_sparse_tensor_is_not_three_rows(path):
    [columns] = tf.ShardReader(path, FEATURES, columns=["id", "tags"])
    for make in (pd.DataFrame, lambda columns: pd.Series(columns["tags"]), lambda columns: np.asarray(columns["tags"])):
        with pytest.raises(TypeError, match=r"a SparseTensor is not an array.*read_table\(files\)\.to_pandas\(\)"):
            make(columns)


def test_an_object_array_holds_the_tensor_itself(path):
    [columns] = tf.ShardReader(path, FEATURES, columns=["tags"])
    assert np.asarray(columns["tags"], dtype=object).item() is columns["tags"]


def test_ragged_and_string_columns_become_a_frame(path):
    features = {"tags": tf.RaggedFeature(tf.string), "text": FEATURES["text"], "id": FEATURES["id"]}
    [columns] = tf.ShardReader(path, features)
    frame = pd.DataFrame(columns)
    assert [list(tags) for tags in frame["tags"]] == STRINGS
    assert frame["text"].tolist() == [b"x", b"", b"a text that is longer than twelve bytes"]


def test_equal_rows_of_a_ragged_tensor_are_rows(tmp_path):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"v": np.arange(6).reshape(3, 2)})
    [columns] = tf.ShardReader(tmp_path / "a", {"v": tf.RaggedFeature(tf.int64)})
    assert [list(row) for row in pd.DataFrame(columns)["v"]] == [[0, 1], [2, 3], [4, 5]]


def test_arrays_of_several_dimensions_are_refused_by_pandas(path):
    [columns] = tf.ShardReader(path, FEATURES, columns=["box"])
    with pytest.raises(ValueError, match="1-dimensional"):
        pd.DataFrame(columns)


def test_nullable_dtypes(path):
    frame = tf.read_table(path, columns=["id"]).to_pandas(types_mapper=pd.ArrowDtype)
    assert frame["id"].dtype == pd.ArrowDtype(pa.int64())
