"""What vahidk's writer takes and refuses, and how its iterators draw and shuffle, each fact with its exact value."""

import warnings

import numpy as np
import pytest

import tfrecord_fast.integrations.vahidk as ours
from tests.support.frames import frames
from tests.support.their_tfrecord import tfrecord as theirs
from tfrecord_fast.errors import DataLossError, InvalidArgumentError
from tfrecord_fast.integrations.vahidk import iterator_utils
from tfrecord_fast.integrations.vahidk.torch import dataset

MOST = float(np.finfo(np.float32).max)


def example(value, name):
    return ours.TFRecordWriter.serialize_tf_example({"x": (value, name)})


def parsed(record):
    return theirs.example_pb2.Example.FromString(bytes(record)).features.feature["x"]


@pytest.mark.parametrize(
    ("value", "name", "field", "expected"),
    [
        ([1, -1], "int", "int64_list", [1, -1]),
        (np.array([1, 2], ">i4"), "int", "int64_list", [1, 2]),
        (np.array([7], np.uint8), "int", "int64_list", [7]),
        (np.array([1, 2], object), "int", "int64_list", [1, 2]),
        ([np.int8(3), 4], "int", "int64_list", [3, 4]),
        ([-(1 << 63), (1 << 63) - 1], "int", "int64_list", [-(1 << 63), (1 << 63) - 1]),
        (5, "int", "int64_list", [5]),
        ([], "int", "int64_list", []),
        ([0.5, 1, np.float16(2), np.True_], "float", "float_list", [0.5, 1, 2, 1]),
        (np.array([True, False]), "float", "float_list", [1, 0]),
        ([MOST, -MOST, float("inf")], "float", "float_list", [MOST, -MOST, float("inf")]),
        (np.array([MOST, np.inf]), "float", "float_list", [MOST, float("inf")]),
        ([], "float", "float_list", []),
        ([b"a", b""], "byte", "bytes_list", [b"a", b""]),
        (b"a", "byte", "bytes_list", [b"a"]),
    ],
)
def test_values_are_written(value, name, field, expected):
    found = parsed(example(value, name))
    assert found.WhichOneof("kind") == field and list(getattr(found, field).value) == expected


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


@pytest.mark.parametrize("size", [1, 2, 7, 20, 30])
def test_elements_are_shuffled_as_theirs_are(size):
    found = drawn(ours, "shuffle_iterator", range(20), size)
    assert found == drawn(theirs, "shuffle_iterator", iter(range(20)), size) and sorted(found) == list(range(20))


@pytest.mark.parametrize(("count", "warned"), [(3, True), (4, False), (5, False), (0, True)])
def test_fewer_elements_than_the_queue_takes_are_a_warning(count, warned):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert sorted(iterator_utils.shuffle_iterator(range(count), 4)) == list(range(count))
    assert [str(one.message) for one in said] == [
        "Number of elements in the iterator is less than the queue size (N=4)."
    ] * warned


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


def test_an_index_that_fits_no_more_is_an_error(tmp_path):
    path, index = write(tmp_path / "a", 6), str(tmp_path / "index")
    ours.tools.tfrecord2idx.create_index(path, index)
    assert sorted(row["x"].item() for row in ours.tfrecord_loader(path, index, shard=(1, 2))) == [3, 4, 5]
    records = [bytes(one) for one in ours.tfrecord_iterator(path)]
    (tmp_path / "a").write_bytes(frames([b"longer than it was", *records]))
    for number in (0, 1):
        with pytest.raises((DataLossError, InvalidArgumentError)):
            list(ours.tfrecord_loader(path, index, shard=(number, 2)))
    (tmp_path / "a").write_bytes(frames(records[:2]))
    with pytest.raises((DataLossError, InvalidArgumentError)):
        list(ours.tfrecord_loader(path, index, shard=(1, 2)))


def test_a_dataset_is_shuffled_and_changed(tmp_path):
    path = write(tmp_path / "a", 20)
    made = ours.torch.TFRecordDataset(
        path, None, {"x": "int"}, shuffle_queue_size=5, transform=lambda row: row["x"].item()
    )
    np.random.seed(3)
    found = list(made)
    assert found == drawn(theirs, "shuffle_iterator", iter(range(20)), 5) and sorted(found) == list(range(20))
    plain = ours.torch.TFRecordDataset(path, None)
    assert [row["x"].item() for row in plain] == list(range(20)) and dataset._identity(plain) is plain
