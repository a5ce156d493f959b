"""Columns through the Arrow C data interface."""

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire

pa = pytest.importorskip("pyarrow")

LONG = [b"a long string that is not kept in the view %d" % i for i in range(5)]


def record(**features):
    return wire.example([(name.encode(), wire.feature(*value)) for name, value in features.items()])


def parse(features, **columns):
    n = len(next(iter(columns.values()))[1])
    records = [record(**{name: (kind, rows[i]) for name, (kind, rows) in columns.items()}) for i in range(n)]
    return tf.parse_example(records, features)


def test_strings_are_binary_views():
    strings = parse({"s": tf.FixedLenFeature([], tf.string)}, s=("bytes", [[s] for s in [*LONG, b"short", b""]]))["s"]
    array = pa.array(strings)
    array.validate(full=True)
    assert array.type == pa.binary_view() and array.to_pylist() == [*LONG, b"short", b""]


def test_strings_share_the_records_memory():
    strings = parse({"s": tf.FixedLenFeature([], tf.string)}, s=("bytes", [[s] for s in LONG]))["s"]
    array = pa.array(strings)
    starts = {buffer.address for buffer in array.buffers()[2:] if buffer is not None}
    assert np.frombuffer(strings.view(0), np.uint8).ctypes.data in starts
    del strings
    assert array.to_pylist() == LONG


def test_large_binary_on_request():
    strings = parse({"s": tf.FixedLenFeature([], tf.string)}, s=("bytes", [[s] for s in LONG]))["s"]
    assert pa.array(strings, type=pa.large_binary()).to_pylist() == LONG


@pytest.mark.parametrize(
    "kind, dtype, rows",
    [
        ("int64", "int64", [[1, 2], [], [3]]),
        ("float", "float32", [[1.5], [2.5, 0.0], []]),
        ("bytes", "string", [[LONG[0], b""], [], [LONG[1]]]),
    ],
)
def test_lists_are_large_lists(kind, dtype, rows):
    for feature in (tf.VarLenFeature(dtype), tf.RaggedFeature(dtype)):
        array = pa.array(parse({"a": feature}, a=(kind, rows))["a"])
        array.validate(full=True)
        assert pa.types.is_large_list(array.type) and array.to_pylist() == rows


def test_numbers_of_a_list_are_not_copied():
    column = parse({"a": tf.VarLenFeature(tf.int64)}, a=("int64", [[1, 2], [3]]))["a"]
    assert pa.array(column).values.buffers()[1].address == column.values.ctypes.data


def test_a_fixed_shape_of_strings_is_nested():
    strings = parse({"s": tf.FixedLenFeature([2], tf.string)}, s=("bytes", [LONG[:2], LONG[2:4]]))["s"]
    assert pa.array(strings).to_pylist() == [LONG[:2], LONG[2:4]]


def test_ragged_steps_are_nested():
    message = wire.sequence_example([], [(b"s", [wire.feature("int64", [1, 2]), wire.feature("int64", [])])])
    _, lists, _ = tf.parse_sequence_example([message], None, {"s": tf.RaggedFeature(tf.int64)})
    assert pa.array(lists["s"]).to_pylist() == [[[1, 2], []]]


def test_booleans_are_packed():
    column = parse({"a": tf.VarLenFeature(tf.bool)}, a=("int64", [[1, 0, 1] * 7]))["a"]
    assert pa.array(column).to_pylist() == [[True, False, True] * 7]


def test_slices_export():
    strings = parse({"s": tf.FixedLenFeature([], tf.string)}, s=("bytes", [[s] for s in LONG]))["s"]
    assert pa.array(strings[1:3]).to_pylist() == LONG[1:3]


def test_empty_columns_export():
    parsed = tf.parse_example([], {"a": tf.VarLenFeature(tf.int64), "s": tf.FixedLenFeature([], tf.string)})
    assert len(pa.array(parsed["a"])) == len(pa.array(parsed["s"])) == 0


@pytest.fixture
def lists_and_strings():
    features = {"a": tf.VarLenFeature(tf.int64), "s": tf.FixedLenFeature([], tf.string)}
    return parse(features, a=("int64", [[1], [2, 3]]), s=("bytes", [[LONG[0]], [b"x"]]))


def test_polars_reads_columns(lists_and_strings):
    polars = pytest.importorskip("polars")
    assert polars.Series(lists_and_strings["a"]).to_list() == [[1], [2, 3]]
    assert polars.Series(lists_and_strings["s"]).to_list() == [LONG[0], b"x"]


def test_duckdb_reads_columns(lists_and_strings):
    duckdb = pytest.importorskip("duckdb")
    parsed_columns = pa.table({key: pa.array(column) for key, column in lists_and_strings.items()})  # noqa: F841
    assert duckdb.sql("select a, s from parsed_columns").fetchall() == [([1], LONG[0]), ([2, 3], b"x")]


@pytest.fixture
def parsed():
    features = {
        "f": tf.FixedLenFeature([2], tf.float32),
        "i": tf.FixedLenFeature([2, 2], tf.int64),
        "q": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        "s": tf.FixedLenFeature([], tf.string),
        "v": tf.VarLenFeature(tf.int64),
    }
    ids = ("int64", [[1, 2, 3, 4], [5, 6, 7, 8]])
    lists = ("int64", [[1], [2, 3]])
    return parse(features, f=("float", [[1, 2], [3, 4]]), i=ids, q=lists, s=("bytes", [[b"a"], [b"b"]]), v=lists)


@pytest.mark.parametrize(
    ("key", "rows"),
    [
        ("f", [[1, 2], [3, 4]]),
        ("i", [[[1, 2], [3, 4]], [[5, 6], [7, 8]]]),
        ("q", [[1, 0], [2, 3]]),
        ("s", [b"a", b"b"]),
        ("v", [[1], [2, 3]]),
    ],
)
def test_a_column_of_any_feature_is_a_column_of_a_table(parsed, key, rows):
    table = pa.table(tf.io.arrow_columns(parsed))
    table.validate(full=True)
    assert table[key].to_pylist() == rows


def test_arrays_of_several_dimensions_are_lists_of_fixed_size(parsed):
    assert pa.table(tf.io.arrow_columns(parsed)).schema.field("f").type == pa.list_(pa.float32(), 2)


def test_arrays_of_several_dimensions_are_not_copied(parsed):
    column = pa.table(tf.io.arrow_columns(parsed))["f"].chunk(0)
    assert column.values.buffers()[1].address == parsed["f"].ctypes.data


STEPS = [[[1, 2], [], [3]], [[4], []]]


@pytest.mark.parametrize("way", ["parsed", "read from a cache", "batched", "batched and cached"])
def test_steps_of_sparse_feature_lists_are_lists_wherever_they_come_from(way, tmp_path):
    steps = [[wire.feature("int64", step) for step in row] for row in STEPS]
    records = [wire.sequence_example([], [(b"x", row)]) for row in steps]
    lists = {"x": tf.VarLenFeature(tf.int64)}
    if "batched" in way:
        one = tf.data.Dataset.from_tensor_slices(records)
        one = one.map(lambda record: tf.io.parse_single_sequence_example(record, sequence_features=lists)[1]["x"])
        dataset = one.batch(2)
    else:
        dataset = tf.data.Dataset.from_tensors(tf.io.parse_sequence_example(records, sequence_features=lists)[1]["x"])
    if "cache" in way:
        dataset = dataset.cache(str(tmp_path / "kept"))
        assert len([*dataset]) == 1
    (column,) = dataset
    assert pa.array(column).to_pylist() == STEPS
