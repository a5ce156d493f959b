"""Records made up to learn the shapes of what a function gives: they fit every feature, whoever made that."""

import collections

import numpy as np
import pytest

import tfrecord_fast as tf
import tfrecord_fast.tensorflow as face
from tests.support import wire_writer as wire
from tfrecord_fast.base.samples import sampling
from tfrecord_fast.examples.parsing.sample_records import example_like, sequence_example_like

Ragged = tf.io.RaggedFeature
CUTS = {
    "splits": [Ragged.RowSplits("p")],
    "lengths": [Ragged.RowLengths("p")],
    "starts": [Ragged.RowStarts("p")],
    "limits": [Ragged.RowLimits("p")],
    "rowids": [Ragged.ValueRowIds("p")],
}


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("cut", CUTS)
def test_values_are_cut_as_they_are_to_be(cut, length):
    features = {"r": Ragged(tf.int64, "v", CUTS[cut], validate=True)}
    record = example_like(features, length)
    expected = [[0] * length] * length
    assert tf.io.parse_single_example(record, features)["r"].to_list() == expected
    assert tf.io.parse_example([record], features)["r"].to_list() == [expected]
    steps = sequence_example_like(None, features, length)
    parsed = tf.io.parse_sequence_example([steps], None, features)[1]["r"]
    assert parsed.to_list() == [[expected] * length]


@pytest.mark.parametrize("length", [1, 2])
def test_cuts_within_cuts(length):
    outer = [Ragged.RowLengths("p"), Ragged.UniformRowLength(3), Ragged.RowLimits("q")]
    features = {"r": Ragged(tf.float32, partitions=outer)}
    record = example_like(features, length)
    expected = [[[[0.0] * length] * 3] * length] * length
    assert tf.io.parse_single_example(record, features)["r"].to_list() == expected
    uniform = {"r": Ragged(tf.string, partitions=[Ragged.UniformRowLength(2)])}
    made = tf.io.parse_single_example(example_like(uniform, length), uniform)["r"]
    assert made.shape == (length, 2) and made.tolist() == [[bytes(16 * length)] * 2] * length


@pytest.mark.parametrize("length", [1, 2, 200])
def test_all_features_are_in_it(length):
    features = {
        "fixed": tf.io.FixedLenFeature([2, 3], tf.float32),
        "one": tf.io.FixedLenFeature([], tf.string),
        "rows": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
        b"any": tf.io.VarLenFeature(tf.int64),
        "flat": Ragged(tf.int64),
        "other": Ragged(tf.string, "value"),
        "sparse": tf.io.SparseFeature(["i", b"j"], "v", tf.float32, [3, 4]),
        "single": tf.io.SparseFeature("k", "w", tf.string, 3),
    }
    parsed = tf.io.parse_single_example(example_like(features, length), features)
    text = bytes(16 * length)
    assert parsed["fixed"].tolist() == np.zeros((2, 3)).tolist() and parsed["one"] == text
    assert parsed["rows"].tolist() == [[0, 0]] * length and parsed[b"any"].values.tolist() == [0] * length
    assert parsed["flat"].tolist() == [0] * length and parsed["other"].tolist() == [text] * length
    assert (parsed["sparse"].indices.tolist(), parsed["sparse"].values.tolist()) == ([[0, 0]], [0.0])
    assert (parsed["single"].indices.tolist(), parsed["single"].values.tolist()) == ([[0]], [text])
    assert example_like(None, length) == wire.field(1, b"")


@pytest.mark.parametrize("length", [1, 2])
def test_a_sequence_example_has_so_many_steps(length):
    context = {"id": tf.io.FixedLenFeature([2], tf.int64)}
    lists = {
        "dense": tf.io.FixedLenSequenceFeature([3], tf.float32),
        "scalars": tf.io.FixedLenSequenceFeature([], tf.int64),
        "any": tf.io.VarLenFeature(tf.int64),
        "flat": Ragged(tf.int64, "others"),
    }
    record = sequence_example_like(context, lists, length)
    parsed, steps = tf.io.parse_single_sequence_example(record, context, lists)
    assert parsed["id"].tolist() == [0, 0]
    assert steps["dense"].tolist() == [[0.0] * 3] * length and steps["scalars"].tolist() == [0] * length
    assert steps["any"].dense_shape.tolist() == [length, length] and steps["flat"].to_list() == [[0] * length] * length
    assert sequence_example_like(None, None, length) == wire.field(2, b"")


@pytest.mark.parametrize("names", [["sparse", "i", "v", "rows", "flat"], ["flat", "rows", "v", "i", "sparse"]])
@pytest.mark.parametrize("length", [1, 2, 5])
def test_features_that_share_a_key_all_fit(names, length):
    every = {
        "sparse": tf.io.SparseFeature("i", "v", tf.float32, 9),
        "i": tf.io.VarLenFeature(tf.int64),
        "v": tf.io.VarLenFeature(tf.float32),
        "rows": Ragged(tf.int64, "r", partitions=[Ragged.UniformRowLength(3)]),
        "flat": Ragged(tf.int64, "r"),
    }
    features = {name: every[name] for name in names}
    parsed = tf.io.parse_single_example(example_like(features, length), features)
    assert [parsed[name].values.tolist() for name in ("sparse", "v", "i")] == [[0.0], [0.0], [0]]
    assert parsed["rows"].tolist() == [[0] * 3] * length and parsed["flat"].tolist() == [0] * 3 * length


def test_the_shapes_of_features_that_share_a_key(tmp_path):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"i": [[0, 1], [0, 1, 2]], "v": [[1.0, 2.0], [1.0, 2.0, 3.0]]})
    features = {"sparse": tf.io.SparseFeature("i", "v", tf.float32, 9), "i": tf.io.VarLenFeature(tf.int64)}
    records = face.data.TFRecordDataset(str(tmp_path / "a"))
    dataset = records.map(lambda one: face.sparse.to_dense(face.io.parse_single_example(one, features)["i"]))
    assert dataset.element_spec.shape.as_list() == [None]


def test_features_of_tensorflow_are_taken_by_their_names():
    class Fixed(collections.namedtuple("FixedLenFeature", "shape dtype default_value")):
        pass

    Fixed.__name__ = "FixedLenFeature"
    features = {"a": Fixed([4], tf.int64, None)}
    assert tf.io.parse_single_example(example_like(features, 2), features)["a"].tolist() == [0] * 4


def test_a_dataset_knows_the_shapes_of_ragged_elements():
    features = {"r": Ragged(tf.int64, "v", [Ragged.RowLengths("p")])}
    record = tf.encode_examples({"v": [[1, 2, 3]], "p": [[1, 2]]})[0]
    dataset = tf.data.Dataset.from_tensor_slices([record]).map(lambda one: tf.io.parse_single_example(one, features))
    assert dataset.element_spec["r"].shape == (None, None)
    assert [one["r"].to_list() for one in dataset] == [[[1], [2, 3]]]


def test_only_what_is_made_up_is_replaced():
    """A batch has as many records as were given, and of what is real, the error stays."""
    features = {"a": tf.io.FixedLenFeature([2], tf.int64)}
    lists = {"s": tf.io.FixedLenSequenceFeature([], tf.int64)}
    for call in (
        lambda given: tf.io.parse_example(given, features)["a"].shape,
        lambda given: tf.io.parse_sequence_example(given, features, lists)[1]["s"].shape,
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="'a'"):
            call([b"", b""])
        with sampling(5):
            assert call([b"", b"", b""]) in ((3, 2), (3, 5))
            assert call(b"") in ((2,), (5,))
    with sampling(5):
        assert tf.io.parse_single_example(b"", features)["a"].tolist() == [0, 0]
        assert tf.io.parse_single_sequence_example(b"", features, lists)[1]["s"].tolist() == [0] * 5
    with pytest.raises(tf.errors.InvalidArgumentError, match="'a'"):
        tf.io.parse_single_example(b"", features)
