"""Records may be given as sequences, arrays and tensors of bytes-like objects and of str."""

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


@pytest.mark.parametrize(
    "make",
    [
        str,
        str.encode,
        lambda path: [path],
        lambda path: np.array([path]),
        lambda path: iter([path]),
        lambda path: Tensor([path]),
    ],
    ids=["str", "bytes", "list", "array", "iterator", "tensor"],
)
def test_names_in_any_form_are_paths_to_infer_from(tmp_path, make):
    path = str(tmp_path / "a.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(RECORDS)
    assert set(tf.infer_features(make(path))) == {"a"}


@pytest.mark.parametrize("make", [list, iter])
def test_no_records_have_no_features(make):
    assert tf.infer_features(make([])) == {}


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_bytes_like_object_is_a_string(kind):
    assert tf.decode_raw(kind(b"abcd"), tf.uint8).tolist() == [97, 98, 99, 100]
    assert tf.decode_raw([kind(b"ab"), kind(b"cd")], tf.uint8).tolist() == [[97, 98], [99, 100]]
    assert tf.decode_raw(([kind(b"ab")], [b"cd"]), tf.uint8).tolist() == [[[97, 98]], [[99, 100]]]
    assert tf.BytesArray([kind(b"ab"), "é"]).tolist() == [b"ab", "é".encode()]


@pytest.mark.parametrize("make", [list, tuple, np.array, objects])
def test_str_records_are_utf8(make):
    records = make(["", RECORDS[1].decode()])
    assert tf.parse_example(records, FEATURES)["a"].tolist() == [7, 1]
    assert tf.parse_sequence_example(records, FEATURES)[0]["a"].tolist() == [7, 1]


def test_str_and_bytes_may_be_mixed():
    assert tf.parse_example([b"", ""], FEATURES)["a"].tolist() == [7, 7]


def test_none_among_records_is_a_type_error():
    with pytest.raises(TypeError, match="bytes-like"):
        tf.parse_example(["", None], FEATURES)


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "a.tfrecord")


@pytest.mark.parametrize("records", [[b"a", "é"], np.array(["b"])], ids=["list", "array"])
def test_str_records_are_written_as_utf8(path, records):
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(records)
    assert list(tf.data.TFRecordDataset(path)) == [r.encode() if isinstance(r, str) else r for r in records]


def test_a_batch_of_str_and_something_else_is_refused_whole(path):
    with tf.io.TFRecordWriter(path) as writer, pytest.raises(TypeError, match="bytes-like"):
        writer.write_batch(["c", 1])
    assert list(tf.data.TFRecordDataset(path)) == []


def test_tensors_of_another_library_are_records():
    for parse in (tf.parse_single_example, tf.parse_example):
        assert parse(Tensor(RECORDS[1]), FEATURES) == {"a": 1}
    for parse in (tf.parse_sequence_example, tf.parse_single_sequence_example):
        assert parse(Tensor(RECORDS[1]), FEATURES)[0] == {"a": 1}
    assert tf.parse_example(Tensor(RECORDS), FEATURES)["a"].tolist() == [0, 1, 2]
    assert tf.parse_sequence_example(Tensor(RECORDS), FEATURES)[0]["a"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("value", "expected"), [(b"ab", [97, 98]), ([b"ab", b"cd"], [[97, 98], [99, 100]])], ids=["scalar", "vector"]
)
def test_a_tensor_of_another_library_is_decoded(value, expected):
    assert tf.decode_raw(Tensor(value), tf.uint8).tolist() == expected


@pytest.mark.parametrize(
    "make", [Tensor, lambda path: Tensor([path]), lambda path: [Tensor(path)]], ids=["scalar", "vector", "list"]
)
def test_paths_may_be_in_tensors_of_another_library(path, make):
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"x")
    assert list(tf.data.TFRecordDataset(make(path.encode()))) == [b"x"]


@pytest.mark.parametrize("module", [tf.compat.v1, tf.compat.v1.io], ids=["v1", "v1.io"])
def test_tensorflow_1_has_another_order_of_arguments(module):
    assert module.parse_example(RECORDS, FEATURES, "name", ["x", "y", "z"])["a"].tolist() == [0, 1, 2]
    assert module.parse_single_example(RECORDS[1], FEATURES, "name", "x") == {"a": 1}
    assert module.decode_raw(b"ab", tf.uint8, True, "name").tolist() == [97, 98]
    assert module.decode_raw(bytes=b"ab", out_type=tf.uint8).tolist() == [97, 98]


REQUIRED = {"a": tf.FixedLenFeature([], tf.int64)}


@pytest.mark.parametrize("names", [["x", "y", "z"], [b"x", b"y", b"z"], np.array(["x", "y", "z"])])
@pytest.mark.parametrize("make", [list, objects])
@pytest.mark.parametrize("parse", [tf.parse_example, tf.parse_sequence_example])
def test_an_error_gives_the_records_name(names, make, parse):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^Name: y, feature 'a': .*\(record 1\)"):
        parse(make([RECORDS[0], b"", b""]), REQUIRED, example_names=names)


@pytest.mark.parametrize("make", [list, objects])
def test_without_names_an_error_starts_with_the_feature(make):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^feature 'a': "):
        tf.parse_example(make([RECORDS[0], b"", b""]), REQUIRED, [])


@pytest.mark.parametrize("parse", [tf.parse_single_example, tf.parse_example])
@pytest.mark.parametrize("name", ["x", b"x", ["x"]])
def test_an_error_gives_the_name_of_one_record(name, parse):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^Name: x, feature 'a': "):
        parse(b"", REQUIRED, name)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"^Name: x, feature 'a': "):
        tf.parse_single_sequence_example(b"", REQUIRED, example_name=name)


def test_a_name_changes_nothing_without_an_error():
    assert tf.parse_single_example(RECORDS[1], REQUIRED, "x") == {"a": 1}


@pytest.mark.parametrize("parse", [tf.parse_example, tf.parse_sequence_example])
def test_there_must_be_as_many_names_as_records(parse):
    with pytest.raises(tf.errors.InvalidArgumentError, match="1 names for 3 records"):
        parse(RECORDS, FEATURES, example_names=["x"])


@pytest.mark.parametrize("value", [np.datetime64("2020"), np.timedelta64(1, "D"), np.array("2020", dtype="M8[Y]")])
def test_dates_are_not_written(value, path):
    with pytest.raises(TypeError):
        tf.train.example({"a": value})
    with tf.ExampleWriter(path) as writer, pytest.raises(TypeError):
        writer.write_example({"a": value})


@pytest.mark.parametrize(
    "call",
    [
        lambda path: tf.encode_examples({"a": [1]}, num_threads=-1),
        lambda path: tf.encode_sequence_examples({"a": [1]}, {}, num_threads=-1),
        lambda path: tf.parse_example(RECORDS, FEATURES, num_threads=-1),
        lambda path: tf.parse_sequence_example(RECORDS, FEATURES, num_threads=-1),
        lambda path: tf.ExampleWriter(path, num_threads=-1),
        lambda path: tf.TFRecordWriter(path, num_threads=-1),
    ],
    ids=["encode", "encode sequences", "parse", "parse sequences", "ExampleWriter", "TFRecordWriter"],
)
def test_a_negative_number_of_threads_is_an_error(path, call):
    with pytest.raises(ValueError, match="`num_threads` must not be negative, got -1"):
        call(path)


RAGGED = tf.RaggedFeature
NESTED = {"r": RAGGED(tf.int64, "a", [RAGGED.RowSplits("s"), RAGGED.RowSplits("t")])}


def test_one_record_without_the_row_splits_of_nested_rows_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="'r': a nested ragged dimension has empty row_splits"):
        tf.parse_single_example(b"", NESTED)


def test_a_batch_without_the_row_splits_of_nested_rows_has_empty_rows():
    assert tf.parse_example([b""], NESTED)["r"].to_list() == [[]]


@pytest.mark.parametrize(
    ("lengths", "shape"),
    [([0], (1, 0)), ([2], (0, 2)), ([2, 0], (0, 2, 0)), ([0, 2], (1, 0, 2)), ([0, 0], (1, 0, 0)), ([1, 0], (1, 1, 0))],
)
def test_uniform_rows_of_nothing_in_one_record(lengths, shape):
    feature = RAGGED(tf.int64, "b", [RAGGED.UniformRowLength(length) for length in lengths])
    assert tf.parse_single_example(RECORDS[0], {"r": feature})["r"].shape == shape
