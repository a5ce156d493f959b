"""Columns that are changed while they are encoded: an error, or records of values that were there at some time."""

import contextlib
import os
import re
import time

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.changing import changing, shared
from tfrecord_fast import _core

oracle = pytest.importorskip("tests.support.oracle_protobuf")
SECONDS = float(os.environ.get("TFRECORD_FAST_SECONDS", "0.2"))  # for each
ROWS, COUNT = 400, 50


@pytest.fixture(autouse=True)
def every_backend(backend):
    pass


def for_a_while():
    end = time.monotonic() + SECONDS
    yield
    while time.monotonic() < end:
        yield


def encoded(encode, *arguments):
    """The records, or none if the change was noticed."""
    try:
        return encode(*arguments)
    except tf.errors.InvalidArgumentError as error:
        assert re.search("an array was changed while it was encoded", str(error))
        return []


def check(rows, key, counts, allowed):
    for record in rows:
        example = oracle.Example.FromString(record)
        feature = example.features.feature[key]
        values = feature.int64_list.value or feature.float_list.value
        assert len(values) in counts
        assert set(values) <= set(allowed)


# dtype: values whose encodings differ in size, as far as they do
VALUES = {
    "int64": [0, -1, 300, 2**62],
    "int32": [0, -1, 300],
    "int8": [0, -1],
    "uint16": [0, 300, 60000],
    "uint64": [0, 2**62],
    "bool": [0, 1],
    "float32": [0.0, 1.5],
    "float64": [0.0, 1.5],
}


@pytest.mark.parametrize(
    ("dtype", "shape"), [*((dtype, (ROWS, COUNT)) for dtype in VALUES), ("int64", (ROWS * COUNT,))]
)
def test_an_array(dtype, shape):
    array = np.zeros(shape, dtype)
    columns = {"a": array, "b": np.arange(len(array)), "c": [b"x"] * len(array)}
    with changing(array, VALUES[dtype]):
        for _ in for_a_while():
            check(encoded(tf.encode_examples, columns), "a", {array[0].size}, VALUES[dtype])


def test_the_two_bytes_of_a_value_are_of_one_time():
    values, array = [0, 511, 0x8080], np.zeros(ROWS * COUNT, np.uint16)
    records = {tf.encode_examples({"a": np.array([value], np.uint16)})[0] for value in values}
    end = time.monotonic() + 5 * SECONDS
    with changing(array, values):
        while time.monotonic() < end:
            assert set(encoded(tf.encode_examples, {"a": array})) <= records


def test_mapped_memory_and_the_values_of_a_ragged_tensor(tmp_path):
    array = shared(tmp_path, (ROWS, COUNT), np.int64)
    ragged = tf.RaggedTensor.from_row_splits(array.reshape(-1), np.arange(0, ROWS * COUNT + 1, COUNT))
    with changing(array, [0, -1, 300]):
        for _ in for_a_while():
            check(encoded(tf.encode_examples, {"a": array}), "a", {COUNT}, [0, -1, 300])
            check(encoded(tf.encode_examples, {"a": ragged}), "a", {COUNT}, [0, -1, 300])


def test_the_row_splits_of_a_ragged_tensor():
    splits = np.arange(ROWS + 1) * COUNT
    ragged = tf.RaggedTensor.from_row_splits(np.zeros(ROWS * COUNT, np.int64), splits, validate=False)
    with changing(ragged.row_splits, [splits.copy(), splits // 2, splits + 2**40, -splits]):
        for _ in for_a_while():
            try:
                rows = tf.encode_examples({"a": ragged})
            except ValueError:
                continue
            check(rows, "a", set(range(ROWS * COUNT)), [0])


def test_the_steps_of_feature_lists():
    values = np.zeros((20, 30, COUNT), np.int64)
    splits = np.arange(21) * 20
    ragged = tf.RaggedTensor.from_row_splits(values.reshape(600, COUNT), splits, validate=False)
    with changing(values, [0, -1, 300]), changing(ragged.row_splits, [splits.copy(), splits // 2, splits + 2**40]):
        for _ in for_a_while():
            try:
                rows = tf.encode_sequence_examples({"c": values[:, 0, 0]}, {"a": values, "b": ragged})
            except ValueError:
                continue
            for record in rows:
                lists = oracle.SequenceExample.FromString(record).feature_lists.feature_list
                steps = lists["a"].feature
                assert len(steps) == 30
                assert all(len(step.int64_list.value) == COUNT for step in steps)
                assert all(set(step.int64_list.value) <= {0, -1, 300} for step in steps)


def test_a_uint64_that_grows_too_large_is_refused_or_left_as_it_was():
    array = np.zeros((ROWS, COUNT), np.uint64)
    with changing(array, [0, 2**63, 2**64 - 1]):
        for _ in for_a_while():
            try:
                check(tf.encode_examples({"a": array}), "a", {COUNT}, [0])
            except tf.errors.InvalidArgumentError as error:
                assert "2^63 - 1" in str(error) or "was changed" in str(error)


def test_an_arrow_array_over_the_memory():
    pa = pytest.importorskip("pyarrow")
    array, offsets = np.zeros(ROWS * COUNT, np.int64), np.arange(0, ROWS * COUNT + 1, COUNT, dtype=np.int32)
    plain, lists = pa.array(array), pa.ListArray.from_arrays(pa.array(offsets), pa.array(array))
    with changing(array, [0, -1]), changing(offsets, [offsets.copy(), offsets // 2, offsets - 2**30]):
        for _ in for_a_while():
            check(encoded(tf.encode_examples, {"a": plain}), "a", {1}, [0, -1])
            try:
                rows = tf.encode_examples({"a": lists})
            except ValueError:
                continue
            check(rows, "a", set(range(ROWS * COUNT + 1)), [0, -1])


def test_one_example():
    array = np.zeros(5000, np.int64)
    with changing(array, [0, -1, 300]):
        for _ in for_a_while():
            check(encoded(tf.encode_examples, {"a": array[None]}), "a", {5000}, [0, -1, 300])
            record = _core.encode_one({"a": array})
            check([] if record is None else [record], "a", {5000}, [0, -1, 300])


def test_an_example_writer(tmp_path):
    """Fails, or writes records of values that were there."""
    array = np.zeros((ROWS, COUNT), np.int64)
    file = tmp_path / "rows"
    with changing(array, [0, -1, 300]):
        for _, _ in zip(range(30), for_a_while(), strict=False):
            with contextlib.suppress(tf.errors.InvalidArgumentError), tf.ExampleWriter(file) as writer:
                writer.write({"a": array})
                writer.close()
                check(tf.data.TFRecordDataset(file), "a", {COUNT}, [0, -1, 300])


# ---- Records in memory that is changed ----

GOOD = {"a": np.arange(40).reshape(2, 20) * 1000, "b": [[b"x" * 30]] * 2, "c": np.ones((2, 9), np.float32)}
FEATURES = {"a": tf.VarLenFeature(tf.int64), "b": tf.VarLenFeature(tf.string), "c": tf.VarLenFeature(tf.float32)}


@pytest.mark.parametrize("form", [bytearray, memoryview, lambda record: memoryview(record).toreadonly()])
def test_records_that_are_changed_while_they_are_parsed(form):
    good = tf.encode_examples(GOOD)[0]
    memory = bytearray(good)
    records = [form(memory)] * 3000
    with changing(np.frombuffer(memory, np.uint8), [np.frombuffer(good, np.uint8), 0xFF, 0]):
        for _ in for_a_while():
            try:
                tf.parse_example(records, FEATURES)
            except ValueError:
                continue


def test_records_that_are_changed_while_they_are_written(tmp_path):
    memory = bytearray(100_000)
    file, written = tmp_path / "rows", 0
    with changing(np.frombuffer(memory, np.uint8), [0, 1, 255]), tf.io.TFRecordWriter(file) as writer:
        for _ in for_a_while():
            writer.write_batch([memory, memoryview(memory)[:5]])
            written += 2
    assert sum(1 for _ in tf.data.TFRecordDataset(file)) == written  # with every CRC right


def test_the_bytes_of_our_own_batches_are_looked_at_in_place():
    batch = tf.encode_examples({"a": [[b"x" * 1000]]})
    features = {"a": tf.FixedLenFeature([], tf.string)}
    record = batch.view(0)
    place = np.frombuffer(record, np.uint8).ctypes.data
    parsed = tf.parse_example([record], features)["a"]
    assert place < np.frombuffer(parsed.view(0), np.uint8).ctypes.data < place + len(record)
