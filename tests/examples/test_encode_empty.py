"""Rows without values: of which kind their lists are; and rows without columns."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import tfrecord_fast as tf

INTS, FLOATS = np.array([], np.int64), np.array([], np.float32)
OBJECTS, TEXTS = np.array([], object), np.array([], "S4")
COLUMNS = {
    "integers": ([INTS], ["int64_list"]),
    "integers beside None": ([INTS, None], ["int64_list", None]),
    "None first": ([None, INTS], [None, "int64_list"]),
    "integers beside a list": ([INTS, []], ["int64_list", "int64_list"]),
    "floats beside None": ([FLOATS, None, ()], ["float_list", None, "float_list"]),
    "of two dimensions": ([np.zeros((0, 3), np.int16), None], ["int64_list", None]),
    "beside one with values": ([INTS, None, [], np.array([3])], ["int64_list", None, "int64_list", "int64_list"]),
    "beside a list with values": ([INTS, [b"a"]], ["bytes_list", "bytes_list"]),
    "strings beside None": ([TEXTS, None], ["bytes_list", None]),
    "objects": ([OBJECTS], [None]),
    "objects beside None": ([OBJECTS, None], [None, None]),
    "objects beside integers": ([OBJECTS, INTS], ["int64_list", "int64_list"]),
    "objects beside strings": ([OBJECTS, TEXTS], ["bytes_list", "bytes_list"]),
    "objects as one array": (np.empty((2, 0), object), [None, None]),
    "lists": ([[], None, ()], [None, None, None]),
}


def kinds(records):
    features = [tf.train.Example.FromString(record).features.feature for record in records]
    return [one["x"].WhichOneof("kind") if "x" in one else None for one in features]


@pytest.mark.parametrize(("column", "want"), COLUMNS.values(), ids=COLUMNS)
def test_the_kind_is_what_the_rows_tell(column, want):
    assert kinds(tf.encode_examples({"x": column})) == want


@pytest.mark.parametrize("of", [pa.int64(), pa.list_(pa.int64())], ids=str)
def test_parts_of_a_frame_whose_first_rows_are_empty(tmp_path, of):
    """As pandas has them of Parquet: lists of lists are arrays of objects."""
    values = [[], [], [1, 2], None, [3]] if of == pa.int64() else [[], [], [[1], [2]], None, [[3]]]
    frame = pa.table({"x": pa.array(values, pa.list_(of))}).to_pandas()
    with tf.ExampleWriter(tmp_path / "parts") as writer:
        for part in (frame[:2], frame[2:4], frame[4:]):
            writer.write(part)
    read = tf.read_table(tmp_path / "parts").column("x").to_pylist()
    assert [one or [] for one in read] == [[], [], [1, 2], [], [3]]


def test_rows_without_columns_are_records(tmp_path):
    table = pa.table({"a": [1, 2, 3]}).select([])
    frame = pd.DataFrame(index=range(3))
    for rows in (table, frame):
        records = tf.encode_examples(rows)
        assert [list(tf.train.Example.FromString(one).features.feature) for one in records] == [[]] * 3
        with tf.ExampleWriter(tmp_path / "rows") as writer:
            writer.write(rows)
        assert list(tf.data.TFRecordDataset(tmp_path / "rows")) == records.tolist()
    assert len(tf.encode_examples({})) == 0
