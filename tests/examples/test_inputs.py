"""In what form records may be given: sequences, arrays and tensors of bytes-like objects and of str."""

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire

RECORDS = [wire.example([(b"a", wire.feature("int64", [i]))]) for i in range(3)]
FEATURES = {"a": tf.FixedLenFeature([], tf.int64, 7)}


class Tensor:
    """As TensorFlow's tensors: the values come from `numpy()`."""

    def __init__(self, value):
        self.value = np.array(value, dtype=object) if isinstance(value, list) else value
        self.shape = np.shape(self.value)

    def numpy(self):
        return self.value

    def __iter__(self):
        raise TypeError("iterating over a scalar tensor")


def objects(items):
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


INFERRED_FROM = {
    "list": list,
    "memoryviews": lambda records: [memoryview(record) for record in records],
    "objects": objects,
    "matrix": lambda records: objects(records).reshape(-1, 1),
    "BytesArray": tf.BytesArray,
    "generator": iter,
    "tensor": Tensor,
}


@pytest.mark.parametrize("make", INFERRED_FROM.values(), ids=INFERRED_FROM)
def test_features_are_inferred_from_records_in_any_form(make):
    assert tf.infer_features(make(RECORDS)) == {"a": tf.FixedLenFeature([], tf.int64)}
    assert set(tf.io.infer_sequence_features(make(RECORDS))[0]) == {"a"}


def test_features_are_inferred_from_arrow_arrays():
    pa = pytest.importorskip("pyarrow")
    for array in (pa.array(RECORDS), pa.array(RECORDS, pa.large_binary()), pa.chunked_array([RECORDS])):
        assert set(tf.infer_features(array)) == {"a"}


def test_a_generator_is_read_no_further_than_needed():
    left = iter(RECORDS * 2000)
    assert set(tf.infer_features(left, max_records=10)) == {"a"}
    assert sum(1 for _ in left) > 4000


def test_a_sequence_or_array_of_str_is_paths(tmp_path):
    path = str(tmp_path / "a.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(RECORDS)
    for source in (path, path.encode(), [path], np.array([path]), iter([path]), Tensor([path])):
        assert set(tf.infer_features(source)) == {"a"}
    assert tf.infer_features([]) == tf.infer_features(iter([])) == {}


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_decode_raw_takes_any_bytes_like_object(kind):
    assert tf.decode_raw(kind(b"abcd"), tf.uint8).tolist() == [97, 98, 99, 100]
    assert tf.decode_raw([kind(b"ab"), kind(b"cd")], tf.uint8).tolist() == [[97, 98], [99, 100]]
    assert tf.decode_raw(([kind(b"ab")], [b"cd"]), tf.uint8).tolist() == [[[97, 98]], [[99, 100]]]
    assert tf.BytesArray([kind(b"ab"), "é"]).tolist() == [b"ab", "é".encode()]


@pytest.mark.parametrize("make", [list, tuple, np.array, objects])
def test_str_records_are_utf8(make):
    texts = ["", RECORDS[1].decode()]
    assert tf.parse_example(make(texts), FEATURES)["a"].tolist() == [7, 1]
    assert tf.parse_sequence_example(make(texts), FEATURES)[0]["a"].tolist() == [7, 1]


def test_str_beside_bytes():
    assert tf.parse_example([b"", ""], FEATURES)["a"].tolist() == [7, 7]
    with pytest.raises(TypeError, match="bytes-like"):
        tf.parse_example(["", None], FEATURES)


def test_str_records_are_written_as_utf8(tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_batch([b"a", "é"])
        writer.write_batch(np.array(["b"]))
        with pytest.raises(TypeError, match="bytes-like"):
            writer.write_batch(["c", 1])
    assert list(tf.data.TFRecordDataset(tmp_path / "a.tfrecord")) == [b"a", "é".encode(), b"b"]


def test_tensors_of_another_library():
    assert tf.parse_single_example(Tensor(RECORDS[1]), FEATURES) == {"a": 1}
    assert tf.parse_example(Tensor(RECORDS[1]), FEATURES) == {"a": 1}
    assert tf.parse_example(Tensor(RECORDS), FEATURES)["a"].tolist() == [0, 1, 2]
    assert tf.parse_sequence_example(Tensor(RECORDS), FEATURES)[0]["a"].tolist() == [0, 1, 2]
    assert tf.parse_sequence_example(Tensor(RECORDS[1]), FEATURES)[0] == {"a": 1}
    assert tf.parse_single_sequence_example(Tensor(RECORDS[1]), FEATURES)[0] == {"a": 1}
    assert tf.decode_raw(Tensor(b"ab"), tf.uint8).tolist() == [97, 98]
    assert tf.decode_raw(Tensor([b"ab", b"cd"]), tf.uint8).tolist() == [[97, 98], [99, 100]]


def test_paths_in_tensors_of_another_library(tmp_path):
    path = str(tmp_path / "a.tfrecord").encode()
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"x")
    for paths in (Tensor(path), Tensor([path]), [Tensor(path)]):
        assert list(tf.data.TFRecordDataset(paths)) == [b"x"]


def test_tensorflow_1_has_another_order_of_arguments():
    v1 = tf.compat.v1
    for module in (v1, v1.io):
        assert module.parse_example(RECORDS, FEATURES, "name", ["x", "y", "z"])["a"].tolist() == [0, 1, 2]
        assert module.parse_single_example(RECORDS[1], FEATURES, "name", "x") == {"a": 1}
        assert module.decode_raw(b"ab", tf.uint8, True, "name").tolist() == [97, 98]
        assert module.decode_raw(bytes=b"ab", out_type=tf.uint8).tolist() == [97, 98]


@pytest.mark.parametrize("names", [["x", "y", "z"], [b"x", b"y", b"z"], np.array(["x", "y", "z"])])
def test_an_error_tells_the_records_name(names):
    required = {"a": tf.FixedLenFeature([], tf.int64)}
    for records in ([RECORDS[0], b"", b""], objects([RECORDS[0], b"", b""])):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"^Name: y, feature 'a'.*\(record 1\)"):
            tf.parse_example(records, required, names)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"^Name: y, feature 'a'.*\(record 1\)"):
            tf.parse_sequence_example(records, required, example_names=names)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"^feature 'a'"):
            tf.parse_example(records, required, [])


def test_an_error_tells_the_name_of_one_record():
    required = {"a": tf.FixedLenFeature([], tf.int64)}
    for name in ("x", b"x", ["x"]):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"^Name: x, feature 'a'"):
            tf.parse_single_example(b"", required, name)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"^Name: x, feature 'a'"):
            tf.parse_single_sequence_example(b"", required, example_name=name)
    assert tf.parse_single_example(RECORDS[1], required, "x") == {"a": 1}


def test_there_are_as_many_names_as_records():
    for parse in (tf.parse_example, tf.parse_sequence_example):
        with pytest.raises(tf.errors.InvalidArgumentError, match="1 names for 3 records"):
            parse(RECORDS, FEATURES, example_names=["x"])


@pytest.mark.parametrize("value", [np.datetime64("2020"), np.timedelta64(1, "D"), np.array("2020", dtype="M8[Y]")])
def test_dates_have_no_form_in_an_example(value, tmp_path):
    with pytest.raises(TypeError):
        tf.train.example({"a": value})
    with tf.ExampleWriter(tmp_path / "a.tfrecord") as writer, pytest.raises(TypeError):
        writer.write_example({"a": value})


def test_a_negative_number_of_threads_is_an_error(tmp_path):
    for call in (
        lambda: tf.encode_examples({"a": [1]}, num_threads=-1),
        lambda: tf.encode_sequence_examples({"a": [1]}, {}, num_threads=-1),
        lambda: tf.parse_example(RECORDS, FEATURES, num_threads=-1),
        lambda: tf.parse_sequence_example(RECORDS, FEATURES, num_threads=-1),
        lambda: tf.ExampleWriter(tmp_path / "a", num_threads=-1),
        lambda: tf.TFRecordWriter(tmp_path / "a", num_threads=-1),
    ):
        with pytest.raises(ValueError, match="`num_threads` must not be negative, got -1"):
            call()


def test_row_splits_that_are_missing_where_rows_are_cut_further():
    ragged = tf.RaggedFeature
    nested = ragged(tf.int64, "a", [ragged.RowSplits("s"), ragged.RowSplits("t")])
    with pytest.raises(tf.errors.InvalidArgumentError, match="'r': row splits are missing"):
        tf.parse_single_example(b"", {"r": nested})
    assert tf.parse_example([b""], {"r": nested})["r"].to_list() == [[]]


@pytest.mark.parametrize(
    ("lengths", "shape"),
    [([0], (1, 0)), ([2], (0, 2)), ([2, 0], (0, 2, 0)), ([0, 2], (1, 0, 2)), ([0, 0], (1, 0, 0)), ([1, 0], (1, 1, 0))],
)
def test_uniform_rows_of_nothing_in_one_record(lengths, shape):
    ragged = tf.RaggedFeature
    feature = ragged(tf.int64, "b", [ragged.UniformRowLength(length) for length in lengths])
    assert tf.parse_single_example(RECORDS[0], {"r": feature})["r"].shape == shape
