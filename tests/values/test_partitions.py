"""Partitions: what fits is cut as they say, and what does not fit is refused, so that no value is lost or moved."""

import collections
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import live_tensorflow

RAGGED = tf.RaggedFeature
ROWS = st.lists(st.lists(st.integers(0, 99), max_size=3), max_size=4)


def flat(rows):
    return list(itertools.chain.from_iterable(rows))


def lengths_of(rows):
    return [len(row) for row in rows]


# The partition that cuts the values into these rows.
KINDS = {
    "RowLengths": lengths_of,
    "RowLimits": lambda rows: list(itertools.accumulate(lengths_of(rows))),
    "RowSplits": lambda rows: list(itertools.accumulate(lengths_of(rows), initial=0)),
    "RowStarts": lambda rows: list(itertools.accumulate(lengths_of(rows), initial=0))[:-1],
    "ValueRowIds": lambda rows: [i for i, row in enumerate(rows) for _ in row],
}


def feature(kind, validate=False, dtype=tf.int32):
    return {"r": RAGGED(tf.int64, "v", [getattr(RAGGED, kind)("p")], dtype, validate)}


def records_of(values, partitions):
    columns = {"v": [np.array(v, np.int64) for v in values], "p": [np.array(p, np.int64) for p in partitions]}
    return tf.encode_examples(columns)


@pytest.mark.parametrize(
    ("kind", "field", "value"), [*((kind, "key", "p") for kind in KINDS), ("UniformRowLength", "length", 2)]
)
def test_partitions_of_another_library_become_ours(kind, field, value):
    theirs = collections.namedtuple(kind, field)(value)
    (partition,) = RAGGED(tf.int64, "v", [theirs]).partitions
    assert type(partition) is getattr(RAGGED, kind) and getattr(partition, field) == value
    assert RAGGED(tf.int64, "v", [partition]).partitions[0] is partition


def trimmed(kind, rows):
    """Row ids say nothing of empty rows at the end."""
    while kind == "ValueRowIds" and rows and not rows[-1]:
        rows = rows[:-1]
    return rows


@pytest.mark.parametrize("kind", KINDS)
@given(batch=st.lists(ROWS, max_size=4), validate=st.booleans(), dtype=st.sampled_from([tf.int32, tf.int64]))
def test_what_fits_is_cut_as_it_says(kind, batch, validate, dtype):
    records = records_of([flat(rows) for rows in batch], [KINDS[kind](rows) for rows in batch])
    expected = [trimmed(kind, rows) for rows in batch]
    features = feature(kind, validate, dtype)
    assert tf.parse_example(records, features)["r"].to_list() == expected
    assert [tf.parse_single_example(record, features)["r"].to_list() for record in records] == expected


@pytest.mark.parametrize("kind", KINDS)
@given(
    values=st.lists(st.integers(0, 99), max_size=4),
    partition=st.lists(st.integers(-2, 5), max_size=4),
    beside=ROWS,
    validate=st.booleans(),
)
def test_every_value_is_in_a_row_of_its_record_or_the_record_is_refused(kind, values, partition, beside, validate):
    records = records_of([values, flat(beside)], [partition, KINDS[kind](beside)])
    features = feature(kind, validate)
    for parse in (
        lambda: tf.parse_example(records, features)["r"].to_list(),
        lambda: [tf.parse_single_example(records[0], features)["r"].to_list(), trimmed(kind, beside)],
    ):
        try:
            rows, other = parse()
        except tf.errors.InvalidArgumentError as error:
            assert "feature 'r'" in str(error)
            continue
        assert flat(rows) == values
        assert other == trimmed(kind, beside)


def test_a_partition_that_does_not_fit_names_its_record():
    for kind, partition in [
        ("ValueRowIds", [0]),
        ("ValueRowIds", [0, 0, 1, 1]),
        ("ValueRowIds", []),
        ("RowLengths", [2]),
        ("RowLengths", [2, 0]),
        ("RowLengths", [-1, 4]),
        ("RowLengths", [3 + 2**32]),
        ("RowLimits", [2]),
        ("RowLimits", [1, 0, 3]),
        ("RowLimits", [3 - 2**32, 3]),
        ("RowLimits", [2**32]),
        ("RowSplits", [0, 2]),
        ("RowSplits", [0, 2, 1, 3]),
        ("RowSplits", []),
        ("RowStarts", [1]),
        ("RowStarts", [0, 2, 1]),
        ("RowStarts", []),
    ]:
        for validate in [True, False]:
            good = KINDS[kind]([[1], [2, 3]])
            records = records_of([[1, 2, 3]] * 3, [good, partition, good])
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"feature 'r': invalid partition.*\(record 1"):
                tf.parse_example(records, feature(kind, validate))
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"feature 'r': invalid partition"):
                tf.parse_single_example(records[1], feature(kind, validate))


PAST = {"RowLengths": [2, 2], "RowLimits": [4], "RowSplits": [0, 4], "RowStarts": [0, 4]}


@pytest.mark.parametrize("kind", PAST)
def test_rows_that_end_after_the_last_value_of_all_are_tensorflows(kind):
    good = KINDS[kind]([[1, 2, 3]])
    alone, between = records_of([[1, 2, 3]], [PAST[kind]]), records_of([[1, 2, 3]] * 2, [PAST[kind], good])
    assert flat(tf.parse_example(alone, feature(kind))["r"].to_list()[0]) == [1, 2, 3]
    assert flat(tf.parse_single_example(alone[0], feature(kind))["r"].to_list()) == [1, 2, 3]
    for records, validate in ((alone, True), (between, True), (between, False)):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"feature 'r': invalid partition.*\(record 0"):
            tf.parse_example(records, feature(kind, validate))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Arrow"):
        tf.parse_example(records_of([[1, 2, 3]], [[0, 4]]), feature("RowSplits"))["r"].__arrow_c_array__()


@pytest.mark.parametrize("validate", [True, False])
def test_values_of_one_record_do_not_move_to_the_next(validate):
    records = records_of([[1, 2], [3, 4]], [[0, 0, 0], [0]])  # together as many as there are values
    with pytest.raises(tf.errors.InvalidArgumentError, match="record 0"):
        tf.parse_example(records, feature("ValueRowIds", validate))
    uniform = {"r": RAGGED(tf.int64, "v", [RAGGED.UniformRowLength(2)], validate=validate)}
    odd = records_of([[1, 2, 3], [4]], [[], []])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"3 values cannot be cut into rows of 2.*record 0"):
        tf.parse_example(odd, uniform)


@pytest.mark.parametrize("validate", [True, False])
def test_feature_lists_are_checked_too(validate):
    lists = {"v": [[[1, 2], [3]]], "p": [[[1, 1], [1]]]}
    features = feature("RowLengths", validate)
    good = tf.encode_sequence_examples(None, lists)
    assert tf.parse_sequence_example(good, None, features)[1]["r"].to_list() == [[[[1], [2]], [[3]]]]
    for wrong in ([[[1], [1]]], [[[1, 1], [0]]], [[[1, 1, 1], []]], [[[1, 1]]]):
        bad = tf.encode_sequence_examples(None, {**lists, "p": wrong})
        for parse in (
            tf.parse_sequence_example,
            lambda record, *args: tf.parse_single_sequence_example(record[0], *args),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match="feature 'r'"):
                parse(bad, None, features)


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_row_ids_are_refused_as_by_tensorflow():
    records = records_of([[1, 2, 3]] * 2, [[0], [0, 0, 0, 1]]).tolist()

    def refused(records):
        found = []
        for record in records:
            for validate in (False, True):
                partition = tf.io.RaggedFeature.ValueRowIds("p")
                feature = tf.io.RaggedFeature(tf.int64, "v", [partition], validate=validate)
                try:
                    tf.io.parse_single_example(record, {"r": feature})
                except ValueError:
                    found.append(True)
        return found

    assert live_tensorflow.call(refused, records) == [True] * 4


# ---- RaggedTensor ----


@pytest.mark.parametrize(
    ("make", "partition"),
    [
        (tf.RaggedTensor.from_value_rowids, [0, 2, 1, 2]),
        (tf.RaggedTensor.from_row_splits, [0, 3, 2, 4]),
        (tf.RaggedTensor.from_row_lengths, [1, 2]),
        (tf.RaggedTensor.from_row_starts, [0, 3, 2]),
        (tf.RaggedTensor.from_row_limits, [3, 2, 4]),
    ],
)
def test_partitions_are_checked_unless_asked_otherwise(make, partition):
    with pytest.raises(tf.errors.InvalidArgumentError):
        make([1, 2, 3, 4], partition)
    make([1, 2, 3, 4], partition, validate=False)


@pytest.mark.parametrize("validate", [True, False])
@pytest.mark.parametrize("rowids", [[0], [0, 0, 0]])
def test_each_value_has_a_row_id(rowids, validate):
    with pytest.raises(tf.errors.InvalidArgumentError, match="one per value"):
        tf.RaggedTensor.from_value_rowids([1, 2], rowids, validate=validate)


@pytest.mark.parametrize("count", [9, 10, 11])
def test_a_misfit_shows_at_most_ten_values(count):
    partition = [0, *range(50, 49 + count)]
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.io.parse_example(records_of([[1, 2]], [partition]), feature("RowStarts", validate=True))
    shown = ", ".join(map(str, partition[:10])) + (", …" if count > 10 else "")
    assert f"[{shown}]" in str(caught.value)
