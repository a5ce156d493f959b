"""Columns of every type that Ray has go into files as they are, or are an error."""

import datetime

import numpy as np
import pandas
import pyarrow
import pytest
import ray
import ray.data
from ray.data.extensions import ArrowTensorTypeV2

import tfrecord_fast as tf
from tfrecord_fast.integrations.ray import write_tfrecords

pytestmark = pytest.mark.usefixtures("cluster")


def items(values, blocks=1):
    return ray.data.from_items([{"a": value} for value in values], override_num_blocks=blocks)


def arrow(array):
    return ray.data.from_arrow(pyarrow.table({"a": array}))


def ray_tensors(storage):
    return pyarrow.ExtensionArray.from_storage(ArrowTensorTypeV2((2, 2), pyarrow.int64()), storage)


def written(dataset, folder):
    """The column as it is read again."""
    files = write_tfrecords(dataset, folder)
    return tf.read_table([file.path for file in files]).column("a").to_pylist()


FOUR = [[1, 2, 3, 4], None, [5, 6, 7, 8], [9, 9, 9, 9]]
WRITTEN = {
    "text": (lambda: items(["x", "ä\0"]), [b"x", "ä\0".encode()]),
    "bytes": (lambda: items([b"x\0", b""]), [b"x\0", b""]),
    "bools": (lambda: items([True, False]), [1, 0]),
    "nulls": (lambda: items([1, None, 3]), [1, None, 3]),
    "dictionary": (lambda: arrow(pyarrow.array(["x", "y", "x"]).dictionary_encode()), [b"x", b"y", b"x"]),
    "categories": (lambda: ray.data.from_pandas(pandas.DataFrame({"a": pandas.Categorical(["x", "y"])})), [b"x", b"y"]),
    "nested lists": (lambda: arrow(pyarrow.array([[[1, 2], [3, 4]], [[5, 6]]])), [[1, 2, 3, 4], [5, 6]]),
    "lists, one empty": (lambda: items([[b"x\0", b""], []]), [[b"x\0", b""], []]),
    "lists, a block empty": (lambda: items([[b"x", b"y"], []], blocks=2), [[b"x", b"y"], None]),
    "tensors": (lambda: items([np.arange(4).reshape(2, 2)] * 2), [[0, 1, 2, 3]] * 2),
    "tensors in Fortran's order": (
        lambda: ray.data.from_numpy(np.asfortranarray(np.arange(8).reshape(2, 2, 2))).rename_columns({"data": "a"}),
        [[0, 1, 2, 3], [4, 5, 6, 7]],
    ),
    "tensors of bools": (lambda: items([np.array([[True, False, True]])] * 2), [[1, 0, 1]] * 2),
    "tensors of text": (
        lambda: items([np.array([["ä", "bcd"]]), np.array([["", "xyz"]])]),
        [["ä".encode(), b"bcd"], [b"", b"xyz"]],
    ),
    "ragged tensors of text": (
        lambda: items([np.array([["ä", "b"]] * n) for n in (1, 2)]),
        [["ä".encode(), b"b"], ["ä".encode(), b"b"] * 2],
    ),
    "ragged tensors": (lambda: items([np.arange(2 * n).reshape(n, 2) for n in (1, 2)]), [[0, 1], [0, 1, 2, 3]]),
    "tensors without values": (lambda: items([np.zeros((2, 0))] * 2), [[], []]),
    "tensors and nulls": (lambda: arrow(ray_tensors(pyarrow.array(FOUR, pyarrow.large_list(pyarrow.int64())))), FOUR),
    "a slice of them": (
        lambda: arrow(ray_tensors(pyarrow.array(FOUR, pyarrow.large_list(pyarrow.int64())))[1:3]),
        FOUR[1:3],
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_a_column_is_written_as_it_is(tmp_path, name):
    make, expected = WRITTEN[name]
    assert written(make().materialize(), tmp_path / "out") == expected


REFUSED = {
    "struct": lambda: items([{"x": 1}]),
    "map": lambda: arrow(pyarrow.array([[("k", 1)]], pyarrow.map_(pyarrow.string(), pyarrow.int64()))),
    "date": lambda: items([datetime.date(2020, 1, 1)]),
    "time": lambda: items([datetime.datetime(2020, 1, 1)]),
    "large integer": lambda: items([2**70]),
    "unsigned integer": lambda: arrow(pyarrow.array([2**64 - 1], pyarrow.uint64())),
    "objects": lambda: items([1, "x"]),
    "tensors and None": lambda: items([np.ones((2, 2)), None, np.ones((2, 2))]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_no_feature_can_hold_is_an_error_that_names_the_column(tmp_path, name):
    with pytest.raises(Exception, match="'a'"):
        write_tfrecords(REFUSED[name](), tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("values", [[1, 2.5], [1, b"x"], [0.5, "x"], [[1], [b"x"]]], ids=str)
def test_kinds_that_differ_from_block_to_block_are_an_error(tmp_path, values):
    with pytest.raises(tf.errors.InvalidArgumentError, match="column 'a' has type"):
        write_tfrecords(items(values, blocks=2), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_block_without_values_is_of_no_kind(tmp_path):
    assert written(items([None, 1.5], blocks=2), tmp_path / "out") == [None, 1.5]


def test_names_of_columns_may_be_of_any_script(tmp_path):
    files = write_tfrecords(ray.data.from_items([{"schlüssel 😀": 1, "": 2}]), tmp_path / "ä 😀")
    assert tf.read_table(files[0].path).to_pydict() == {"": [2], "schlüssel 😀": [1]}
