"""Encoding refuses data that an Example would lose: the ends of inner lists, and floats that float32 merges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrecord_fast as tf
import tfrecord_fast.tensorflow as face

NESTED = [[[1], [2, 3]], [[1, 2], [3]]]
TIMES = [1700000000.123, 1700000001.123]


def arrow(column):
    return pytest.importorskip("pyarrow").table({"x": column})


def pandas(column):
    return pytest.importorskip("pandas").DataFrame({"x": column})


def write(columns, tmp_path, **options):
    with tf.ExampleWriter(tmp_path / "a.tfrecord") as writer:
        writer.write(columns, **options)


@pytest.mark.parametrize(
    "columns",
    [
        lambda: {"x": NESTED},
        lambda: {"x": [[["a"], ["b", "c"]]]},
        lambda: arrow(NESTED),
        lambda: pandas(NESTED),
        lambda: {"x": face.ragged.constant(NESTED)},
        lambda: {"x": [[[1, 2], [3, 4]], [[1, 2, 3], [4, 5, 6]]]},
    ],
)
def test_lists_of_different_lengths_inside_of_rows_are_refused(columns, tmp_path):
    for encode in (tf.encode_examples, lambda columns: write(columns, tmp_path)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"'x'.*encode_sequence_examples.*FixedLenFeature"):
            encode(columns())


def test_lists_of_different_lengths_inside_of_a_row_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="encode_sequence_examples"):
        tf.train.example({"x": NESTED[0]}).SerializeToString()


@given(st.integers(1, 3), st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_lists_of_one_length_inside_of_rows_are_joined(length, counts):
    rows = [[[7 * row + i for i in range(length)] for row in range(count)] for count in counts]
    parsed = tf.parse_example(tf.encode_examples({"x": rows}), {"x": tf.RaggedFeature(tf.int64)})["x"]
    assert parsed.to_list() == [[value for inner in row for value in inner] for row in rows]


@pytest.mark.parametrize(
    "column",
    [
        TIMES,
        np.array(TIMES),
        [[time] for time in TIMES],
        [1234567891.0, 2.5],
        [1e9, 1e9 + 1],
        [[0.5, 2.0**24 + 1]],
        [TIMES[1]],
        [-TIMES[1]],
        [0.0, TIMES[1]],
        [np.inf, TIMES[1]],
        np.random.default_rng(0).uniform(1.7e9, 1.73e9, 1000),
        [12.5, 123456789.5],
    ],
)
def test_floats_that_collapse_are_refused(column, tmp_path):
    for wrap in (lambda column: {"x": column}, arrow, pandas):
        table = wrap(column if wrap is not arrow else np.asarray(column).tolist())
        for encode in (tf.encode_examples, lambda columns, **options: write(columns, tmp_path, **options)):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"'x'.*becomes.*allow_rounding=True"):
                encode(table)
            encode(table, allow_rounding=True)


@pytest.mark.parametrize("wrap", [float, np.float64, lambda x: [0.5, x], lambda x: np.array([x]), lambda x: [[x]]])
def test_floats_that_collapse_are_refused_in_an_example(wrap, tmp_path):
    with tf.ExampleWriter(tmp_path / "a.tfrecord") as writer:
        for value in (TIMES[1], -1234567891.0):
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"'x'.*becomes.*allow_rounding=True"):
                writer.write_example({"x": wrap(value)})
            writer.write_example({"x": wrap(value)}, allow_rounding=True)
        for value in (0.1, 1e20, 1e300, np.inf, np.nan, 2.0**24, 16777215.4, float(str(np.float32(TIMES[1])))):
            writer.write_example({"x": wrap(value)})
    assert writer.files[0].records == 10


def test_null_rows_and_values_of_no_row_may_be_anything():
    pa = pytest.importorskip("pyarrow")
    masked = pa.array(np.array([0.5, TIMES[1]]), mask=np.array([False, True]))
    lists = pa.ListArray.from_arrays([1, 2], pa.array([TIMES[1], 0.5, TIMES[1]]))
    assert len(tf.encode_examples(pa.table({"x": masked}))) == 2
    assert len(tf.encode_examples(pa.table({"x": lists}))) == 1


def test_ids_with_a_missing_value_are_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"1234567891.0 becomes 1234567936.0"):
        tf.encode_examples(pandas([1234567891, None]))


def test_floats_that_collapse_are_refused_in_feature_lists_and_contexts():
    for arguments in ((None, {"x": [TIMES]}), ({"x": TIMES}, {"y": [[1], [2]]})):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"'x'.*allow_rounding=True"):
            tf.encode_sequence_examples(*arguments)
        tf.encode_sequence_examples(*arguments, allow_rounding=True)


@pytest.mark.parametrize(
    "column",
    [
        np.random.default_rng(0).random(1000),
        np.random.default_rng(0).standard_normal((100, 3)),
        [0.1] * 3,
        [0.1],
        [np.nan, np.inf, 0.1, -np.inf],
        [1e300, 0.1],
        [1e20, 3e21],
        [],
        np.float32(TIMES),
        [52.516275, 52.520008],
        np.float32([1.7e9, 1.7000001e9]).astype("U").astype(np.float64),
    ],
)
def test_other_floats_are_rounded(column):
    assert len(tf.encode_examples({"x": column})) == len(column)
