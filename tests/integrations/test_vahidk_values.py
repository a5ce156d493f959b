"""What vahidk's writer takes and refuses, and how its iterators draw and shuffle, each fact with its exact value."""

import warnings

import numpy as np
import pytest

import tfrecord_fast.integrations.vahidk as ours
from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.integrations.vahidk import iterator_utils

MOST = float(np.finfo(np.float32).max)


def example(value, name):
    return ours.TFRecordWriter.serialize_tf_example({"x": (value, name)})


@pytest.mark.parametrize(
    ("value", "name", "kind", "said"),
    [
        ([True], "int", TypeError, "feature 'x': expected integers, got a bool"),
        ([1, np.False_], "int", TypeError, "feature 'x': expected integers, got a bool"),
        ([1 << 63], "int", ValueError, "feature 'x': 9223372036854775808 is an integer that int64 does not hold"),
        (
            [-(1 << 63) - 1],
            "int",
            ValueError,
            "feature 'x': -9223372036854775809 is an integer that int64 does not hold",
        ),
        (
            np.array([1 << 63], np.uint64),
            "int",
            ValueError,
            "feature 'x': 9223372036854775808 is an integer that int64",
        ),
        (["1"], "float", TypeError, "feature 'x': expected numbers, got str"),
        ([1j], "float", TypeError, "feature 'x': expected numbers, got complex"),
        ([np.complex64(1)], "float", TypeError, "feature 'x': expected numbers, got complex64"),
        ([1e39], "float", ValueError, "feature 'x': 1e+39 is a number that float32 makes infinite"),
        (np.array([0, -1e39]), "float", ValueError, "feature 'x': -1e+39 is a number that float32 makes infinite"),
        (["a"], "byte", TypeError, "feature 'x': expected bytes, got str"),
        (np.zeros((1, 1)), "float", TypeError, "feature 'x': expected an array of one dimension, got shape (1, 1)"),
        ([1], "long", KeyError, "\"unknown type 'long' for 'x': expected one of 'byte', 'float', 'int'\""),
    ],
)
def test_what_can_not_be_written_is_named(value, name, kind, said):
    with pytest.raises(kind) as caught:
        example(value, name)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("pair", [3, (1,), (1, "int", 2), "int"])
def test_a_value_comes_with_its_type(pair):
    with pytest.raises(TypeError, match=rf"^feature 'x': expected \(value, type\), got {type(pair).__name__}$"):
        ours.TFRecordWriter.serialize_tf_example({"x": pair})


def test_a_writer_closes_at_the_end_and_after_an_error(tmp_path):
    with ours.TFRecordWriter(str(tmp_path / "a")) as writer:
        assert type(writer) is ours.TFRecordWriter
        writer.write({"x": (1, "int")})
    assert writer.file.closed
    with pytest.raises(KeyError), ours.TFRecordWriter(str(tmp_path / "b")) as writer:
        raise KeyError
    assert writer.file.closed


# ---- Iterators ----


def drawn(package, function, *arguments, seed=3, most=40):
    np.random.seed(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = getattr(package.iterator_utils, function)(*arguments)
        return [value for value, _ in zip(found, range(most), strict=False)]


@pytest.fixture(autouse=True)
def state():
    before = np.random.get_state()
    yield
    np.random.set_state(before)


def test_iterators_are_drawn_from_by_their_ratios():
    parts = [lambda: iter("ab"), lambda: iter("xyz"), lambda: iter("0")]
    assert sorted(drawn(ours, "sample_iterators", parts, [1, 2, 1], False)) == sorted("abxyz0")
    assert drawn(ours, "sample_iterators", parts, [0, 1, 0], False) == list("xyz")
    assert drawn(ours, "sample_iterators", parts, [0, 1, 0], True, most=7) == list("xyzxyzx")
    assert drawn(ours, "sample_iterators", [], [], True) == []
    many = drawn(ours, "sample_iterators", parts, [1, 3, 0], True, most=400)
    assert 60 < sum(value in "ab" for value in many) < 140 and "0" not in many


@pytest.mark.parametrize("ratios", [[1], [1, 2, 3], [-1, 1], [np.nan, 1], [np.inf, 1], [[1, 2]]])
def test_ratios_are_one_number_for_each(ratios):
    with pytest.raises(InvalidArgumentError, match="ratios must be 2 numbers from 0 on, one per file, got "):
        next(iterator_utils.sample_iterators([list, list], ratios))


def test_one_ratio_is_above_0():
    with pytest.raises(InvalidArgumentError, match=r"at least one ratio must be above 0, got \[0, 0\]"):
        next(iterator_utils.sample_iterators([list, list], [0, 0]))


# ---- Shards and indexes ----


def write(path, count):
    with ours.TFRecordWriter(str(path)) as writer:
        for i in range(count):
            writer.write({"x": (i, "int")})
    return str(path)


@pytest.mark.parametrize("shard", [(2, 2), (-1, 2), (0, 0)])
def test_a_shard_that_can_not_be_is_named(tmp_path, shard):
    with pytest.raises(InvalidArgumentError, match=r"shard must be \(index, count\) with 0 <= index < count, got "):
        list(ours.tfrecord_loader(write(tmp_path / "a", 3), None, shard=shard))
