"""encode_sequence_examples: protobuf's bytes, and the round trip through parse_sequence_example."""

import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf

pytest.importorskip("google.protobuf")

from tests.support import oracle_protobuf as oracle
from tests.support import wire_writer as wire

CASES = settings(max_examples=int(os.environ.get("TFRECORD_FAST_CASES", "100")))
KEYS = st.text("abcdü", max_size=4)
VALUES = {
    "int64": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(width=32, allow_nan=False),
    "bytes": st.binary(max_size=20),
}


def splits_of(lengths):
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)


def flat(kind, values):
    if kind == "bytes":
        return tf.BytesArray(values)
    return np.array(values, np.int64 if kind == "int64" else np.float32)


@st.composite
def feature_lists(draw, rows):
    """One feature list as a column of some form, and of each row None or (kind, [values of each step])."""
    kind = draw(st.sampled_from(sorted(VALUES)))
    count = draw(st.none() | st.integers(1, 3))  # of values in each step
    step = st.lists(VALUES[kind], min_size=count or 0, max_size=4 if count is None else count)
    steps = draw(st.lists(st.lists(step, max_size=4), min_size=rows, max_size=rows))
    expected = [(kind, row) for row in steps]
    every = [values for row in steps for values in row]
    flattened = [value for values in every for value in values]
    outer = splits_of([len(row) for row in steps])
    form = draw(st.sampled_from(["ragged", "lists", "flat lists"]))
    if form == "ragged" or not flattened:
        if count is None:
            inner = tf.RaggedTensor(flat(kind, flattened), splits_of([len(values) for values in every]))
        else:
            inner = flat(kind, flattened).reshape(len(every), count)
        return tf.RaggedTensor(inner, outer), expected
    if form == "flat lists" and count == 1:
        steps = [[values[0] for values in row] for row in steps]
    missing = draw(st.lists(st.booleans(), min_size=rows, max_size=rows))
    missing = [gone and not row for gone, row in zip(missing, steps, strict=True)]
    column = [None if gone else row for gone, row in zip(missing, steps, strict=True)]
    return column, [None if gone else row for gone, row in zip(missing, expected, strict=True)]


@st.composite
def cases(draw):
    rows = draw(st.integers(1, 12))
    context, sequences = {}, {}
    rows_context, rows_lists = [{} for _ in range(rows)], [{} for _ in range(rows)]
    for key in draw(st.lists(KEYS, max_size=3, unique=True)):
        values = draw(st.lists(st.none() | VALUES["int64"], min_size=rows, max_size=rows))
        context[key] = values
        for row, value in zip(rows_context, values, strict=True):
            row.update({} if value is None else {key: ("int64", [value])})
    for key in draw(st.lists(KEYS, max_size=3, unique=True)):
        sequences[key], expected = draw(feature_lists(rows))
        for row, steps in zip(rows_lists, expected, strict=True):
            row.update({} if steps is None else {key: steps})
    made = list(zip(rows_context, rows_lists, strict=True)) if context or sequences else []
    return context, sequences, [(c if context else None, s if sequences else None) for c, s in made]


@CASES
@given(cases())
def test_bytes_are_protobufs_with_any_number_of_threads(case):
    context, sequences, expected = case
    encoded = tf.encode_sequence_examples(context, sequences)
    assert encoded.tolist() == [oracle.sequence_example(*row) for row in expected]
    assert tf.encode_sequence_examples(context, sequences, num_threads=1).tolist() == encoded.tolist()
    assert tf.encode_sequence_examples(context, sequences, num_threads=3).tolist() == encoded.tolist()


def test_padded_arrays_with_lengths_are_cut():
    array = np.arange(12).reshape(2, 3, 2)
    [first, second] = tf.encode_sequence_examples({}, {"a": array}, lengths={"a": [2, 0]})
    assert first == oracle.sequence_example(None, {"a": ("int64", [[0, 1], [2, 3]])})
    assert second == oracle.sequence_example(None, {"a": ("int64", [])})


def test_arrays_without_lengths_are_whole():
    array = np.arange(4.0).reshape(1, 2, 2)
    expected = oracle.sequence_example({"i": ("int64", [7])}, {"a": ("float", [[0.0, 1.0], [2.0, 3.0]])})
    assert tf.encode_sequence_examples({"i": [7]}, {"a": array}).tolist() == [expected]


def test_what_parse_sequence_example_gives_is_taken_as_it_is():
    lists = {
        "d": [[1, 2], [], [3]],
        "f": tf.RaggedTensor(np.arange(6, dtype=np.float32).reshape(3, 2), [0, 1, 1, 3]),
        "v": [[[b"x"], [b"y", b"z"]], [], [[]]],
    }
    records = tf.encode_sequence_examples({"c": [1, 2, 3]}, lists)
    context, sequences, lengths = tf.parse_sequence_example(
        records,
        {"c": tf.FixedLenFeature([], tf.int64)},
        {
            "d": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
            "f": tf.FixedLenSequenceFeature([2], tf.float32, allow_missing=True),
            "v": tf.VarLenFeature(tf.string),
        },
    )
    assert tf.encode_sequence_examples(context, sequences, lengths=lengths).tolist() == records.tolist()


def test_arrow_lists_are_feature_lists():
    pa = pytest.importorskip("pyarrow")
    array = pa.array([[[1, 2], [3]], None, []], pa.list_(pa.large_list(pa.int32())))
    expected = [{"a": ("int64", [[1, 2], [3]])}, {}, {"a": ("int64", [])}]
    made = tf.encode_sequence_examples(None, {"a": array})
    assert made.tolist() == [oracle.sequence_example(None, row) for row in expected]


@pytest.mark.parametrize("kind", ["int64", "float", "bytes"])
def test_a_step_that_is_null_is_a_feature_without_a_kind(kind):
    value = {"int64": 300, "float": 1.0, "bytes": b"x"}[kind]
    feature = wire.feature(kind, [value])
    (made,) = tf.encode_sequence_examples(None, {"a": [[[value], None, [value]]]})
    assert made == wire.sequence_example([], [(b"a", [feature, b"", feature])])


@pytest.mark.parametrize(
    ("column", "error", "words"),
    [
        (7, TypeError, "expected rows of steps"),
        (np.zeros(3), TypeError, "got one value per row"),
        ([1, 2], TypeError, "steps"),
        (["ab"], TypeError, "steps"),
        ([[object()]], TypeError, "object"),
        (tf.RaggedTensor.from_row_splits(np.arange(3), [0, 4], validate=False), ValueError, "row splits"),
        (tf.RaggedTensor.from_row_splits(np.arange(3), [], validate=False), ValueError, "row splits"),
    ],
)
def test_what_is_not_a_feature_list_is_refused_and_named(column, error, words):
    with pytest.raises(error, match=rf"feature list 'bad'.*{words}"):
        tf.encode_sequence_examples({}, {"bad": column})


@pytest.mark.parametrize("lengths", [[4], [-1], [1, 1]], ids=str)
def test_lengths_that_do_not_fit_are_refused(lengths):
    with pytest.raises(tf.errors.InvalidArgumentError, match="lengths: expected 1 numbers of 0 to 3"):
        tf.encode_sequence_examples({}, {"a": np.zeros((1, 3))}, lengths={"a": lengths})


def test_unequal_numbers_of_rows_are_named():
    with pytest.raises(tf.errors.InvalidArgumentError, match="'c' has 2 rows, 'a' has 1"):
        tf.encode_sequence_examples({"c": [1, 2]}, {"a": [[1]]})


def their_lists(records):
    """What TensorFlow parses of the feature lists "i" and "s"."""
    parsed = tf.io.parse_sequence_example(
        records,
        {"c": tf.io.VarLenFeature(tf.int64)},
        {
            "i": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
            "s": tf.io.RaggedFeature(tf.string),
        },
    )
    return parsed[0]["c"].values.numpy().tolist(), parsed[1]["i"].numpy().tolist(), parsed[1]["s"].to_list()


def test_tensorflow_parses_them_to_the_same_values(tensorflow):
    strings = [[[b"a"], []], [], [[b"b", b"c"]]]
    numbers = [[[1, 2], [3, 4]], [], [[5, 6]]]
    records = tf.encode_sequence_examples({"c": [1, None, 3]}, {"i": numbers, "s": strings})
    padded = [row + [[0, 0]] * (2 - len(row)) for row in numbers]
    assert tensorflow(their_lists, records.tolist()) == ([1, 3], padded, strings)
