"""Groups of features: what they hold is what the features' own columns would hold, side by side."""

import itertools
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.grouped import FLOATS, INTEGERS, assert_grouped, random_case, record, scalar, value_of
from tfrecord_fast import _core

XY = {"x": tf.FixedLenFeature([], tf.int64), "y": tf.FixedLenFeature([], tf.int64)}


# ---- The same values ----


@given(seed=st.integers(0, 1 << 32))
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_group_is_its_features_columns_side_by_side(backend, seed):
    rng = random.Random(seed)
    features, groups, records = random_case(rng, rng.randrange(40))
    single = tf.parse_example(records, features)
    for _ in range(2):  # the second time, the order of keys is known
        assert_grouped(tf.parse_example(records, features, groups=groups), single, groups, axis=1)


@given(st.integers(0, 1 << 32))
def test_in_a_single_example_too(seed):
    rng = random.Random(seed)
    features, groups, records = random_case(rng, 3)
    for one in records:
        assert_grouped(
            tf.parse_single_example(one, features, groups=groups),
            tf.parse_single_example(one, features),
            groups,
            axis=0,
        )


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("seed", range(3))
def test_with_threads(threads, seed):
    features, groups, records = random_case(random.Random(seed), 6000)
    assert sum(map(len, records)) > 4 * 128 << 10 or len(features) < 6  # enough for each thread
    grouped = tf.parse_example(records, features, groups=groups, num_threads=threads)
    assert_grouped(grouped, tf.parse_example(records, features, num_threads=1), groups, axis=1)


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_each_dtype(dtype):
    rng = random.Random(dtype)
    features = {key: scalar(dtype) for key in "abc"}
    records = [record(**{key: value_of(rng, dtype) for key in "abc"}) for _ in range(50)]
    group = tf.parse_example(records, features, groups={"g": ["c", "a", "b"]})["g"]
    single = tf.parse_example(records, features)
    assert group.dtype == tf.as_dtype(dtype).as_numpy_dtype and group.shape == (50, 3)
    assert (group == np.stack([single[key] for key in "cab"], axis=1)).all()


def test_raw_bytes_of_a_number_are_read_as_for_its_column():
    records = [record(x=("bytes", [np.int64(7).tobytes()]), y=("int64", [8]))]
    assert tf.parse_example(records, {**XY, "x": tf.RawFeature([], tf.int64)}, groups={"g": ["y", "x"]})[
        "g"
    ].tolist() == [[8, 7]]


def test_defaults_stand_where_a_feature_is_missing():
    features = {"x": scalar("int32", 5), "y": scalar("int32")}
    records = [record(y=("int64", [1])), record(x=("int64", [2]), y=("int64", [3]))]
    assert tf.parse_example(records, features, groups={"g": ["x", "y"]})["g"].tolist() == [[5, 1], [2, 3]]


def test_of_two_entries_of_a_key_the_last_one_counts():
    entry = [(b"x", wire.feature("int64", [i])) for i in range(3)]
    records = [wire.example([*entry, (b"y", wire.feature("int64", [9]))])] * 2
    assert tf.parse_example(records, XY, groups={"g": ["x", "y"]})["g"].tolist() == [[2, 9]] * 2


def test_no_records_make_no_rows():
    assert tf.parse_example([], XY, groups={"g": ["x", "y"]})["g"].shape == (0, 2)


def test_groups_come_after_the_dense_columns():
    features = {"b": scalar("int64"), "z": scalar("int64", 0), "a": scalar("int64"), "c": scalar("int64")}
    records = [record(**{key: ("int64", [1]) for key in "abc"})]
    assert list(tf.parse_example(records, features, groups={"y": ["b"], "d": ["z"]})) == ["a", "c", "y", "d"]


def test_a_group_of_one():
    [row] = tf.parse_example([record(x=("int64", [4]), y=("int64", [5]))], XY, groups={"g": ["y"]})["g"]
    assert row.tolist() == [5]


def test_many_features():
    features = {f"key {i}": scalar("int64", i) for i in range(700)}
    group = tf.parse_example([b""] * 3, features, groups={"g": list(features)})["g"]
    assert (group == np.arange(700)).all() and group.shape == (3, 700)


def test_the_array_is_the_callers_own():
    records = [record(x=("int64", [1]), y=("int64", [2]))] * 3
    first, second = (tf.parse_example(records, XY, groups={"g": ["x", "y"]})["g"] for _ in range(2))
    first[:] = 0
    assert first.flags.writeable and second.tolist() == [[1, 2]] * 3


def test_a_group_may_have_the_name_of_one_of_its_features():
    parsed = tf.parse_example([record(x=("int64", [1]), y=("int64", [2]))], XY, groups={"x": ["x", "y"]})
    assert {key: column.tolist() for key, column in parsed.items()} == {"x": [[1, 2]]}


def test_keys_of_bytes():
    features = {b"x": scalar("int64"), b"y": scalar("int64")}
    parsed = tf.parse_example([record(x=("int64", [1]), y=("int64", [2]))], features, groups={b"g": (b"x", b"y")})
    assert parsed[b"g"].tolist() == [[1, 2]]


def test_the_same_features_with_other_groups():
    records = [record(x=("int64", [1]), y=("int64", [2]))]
    for keys in itertools.permutations("xy"):
        want = [[{"x": 1, "y": 2}[key] for key in keys]]
        assert tf.parse_example(records, XY, groups={"g": list(keys)})["g"].tolist() == want
    assert list(tf.parse_example(records, XY)) == ["x", "y"]
    assert list(tf.parse_example(records, XY, groups={})) == ["x", "y"]


def test_groups_that_change_are_followed():
    records, groups = [record(x=("int64", [1]), y=("int64", [2]))], {"g": ["x", "y"]}
    assert tf.parse_example(records, XY, groups=groups)["g"].tolist() == [[1, 2]]
    groups["g"].reverse()
    assert tf.parse_example(records, XY, groups=groups)["g"].tolist() == [[2, 1]]


def test_features_that_change_are_followed():
    records, features = [record(x=("int64", [1]), y=("int64", [2]))], dict(XY)
    groups = {"g": ["x", "y"]}
    assert tf.parse_example(records, features, groups=groups)["g"].dtype == np.int64
    features |= {"x": scalar("int8"), "y": scalar("int8")}
    assert tf.parse_example(records, features, groups=groups)["g"].dtype == np.int8


def test_a_dataset_may_parse_by_groups(tmp_path):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"x": np.arange(1000), "y": -np.arange(1000)})
    batches = tf.data.TFRecordDataset(str(tmp_path / "a")).batch(64)
    parsed = list(batches.map(lambda records: tf.io.parse_example(records, XY, groups={"g": ["x", "y"]})))
    assert np.concatenate([batch["g"] for batch in parsed]).tolist() == [[i, -i] for i in range(1000)]


# ---- The same errors ----

BAD = {
    "missing": None,
    "wrong kind": ("float", [1.0]),
    "two values": ("int64", [1, 2]),
    "none": ("int64", []),
    "out of range": ("int64", [1 << 40]),
    "bytes of another size": ("bytes", [b"abc"]),
}


def error_of(parse, *args, **options):
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        parse(*args, **options)
    return str(caught.value)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("threads", [1, 4])
def test_a_record_that_does_not_fit_is_the_same_error(bad, threads):
    features = {key: scalar("int32") for key in "abc"}
    good = {key: ("int64", [1]) for key in "abc"}
    wrong = {key: value for key, value in {**good, "b": BAD[bad]}.items() if value is not None}
    records = [record(**good)] * 40_000 + [record(**wrong)] + [record(**good)] * 40_000
    error = error_of(tf.parse_example, records, features, groups={"g": ["c", "b"]}, num_threads=threads)
    assert error == error_of(tf.parse_example, records, features)
    assert "'b'" in error and "record 40000" in error
    grouped = error_of(tf.parse_single_example, record(**wrong), features, groups={"g": ["c", "b"]})
    assert grouped == error_of(tf.parse_single_example, record(**wrong), features)


@given(st.integers(0, 1 << 32))
@settings(max_examples=60)
def test_damaged_records_give_the_same_error_or_the_same_values(seed):
    rng = random.Random(seed)
    features, groups, records = random_case(rng, 8)
    row = rng.randrange(8)
    data = bytearray(records[row])
    for _ in range(rng.randint(1, 3)):
        if data:
            data[rng.randrange(len(data))] = rng.randrange(256)
    records[row] = bytes(data[: rng.choice([len(data), rng.randint(0, len(data))])])
    try:
        single = tf.parse_example(records, features)
    except tf.errors.InvalidArgumentError as error:
        assert error_of(tf.parse_example, records, features, groups=groups) == str(error)
    else:
        assert_grouped(tf.parse_example(records, features, groups=groups), single, groups, axis=1)


def test_a_plan_goes_on_after_an_error():
    good = record(x=("int64", [1]), y=("int64", [2]))
    for _ in range(3):
        error_of(tf.parse_example, [good, b""], XY, groups={"g": ["x", "y"]})
        assert tf.parse_example([good], XY, groups={"g": ["x", "y"]})["g"].tolist() == [[1, 2]]


# ---- What is refused ----

FEATURES = {
    "i": scalar("int64"),
    "j": scalar("int64"),
    "f": scalar("float32"),
    "s": scalar("string"),
    "one": tf.FixedLenFeature([1], tf.int64),
    "v": tf.VarLenFeature(tf.int64),
    "n": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
    "w": tf.SparseFeature("index", "value", tf.float32, 10),
}


@pytest.mark.parametrize(
    "groups, error",
    [
        ({"g": ["i", "no"]}, r"group 'g': 'no' is not among the features \['f', 'i', 'j', 'n', 'one', 's', "),
        ({"g": ["i"], "h": ["j", "i"]}, "feature 'i' is in two groups, 'g' and 'h'"),
        ({"g": ["i", "j", "i"]}, "feature 'i' is in group 'g' twice"),
        ({"f": ["i", "j"]}, "group 'f' has the name of feature 'f', which is not in a group"),
        ({b"f": ["i", "j"]}, "group b'f' has the name of feature 'f', which is not in a group"),
        ({"g": ["i"], b"g": ["j"]}, "group b'g' has the name of group 'g'"),
        ({"value": ["i", "j"]}, "group 'value' has the name of feature 'value'"),
        ({"w": ["i", "j"]}, "group 'w' has the name of feature 'w'"),
        ({"g": []}, "group 'g' is empty"),
        ({"g": ["i", "f"]}, "group 'g': feature 'f' has dtype float32, but 'i' has int64"),
        ({"g": ["s"]}, "group 'g': feature 's' holds strings; a group is an array of numbers"),
        ({"g": ["i", "s"]}, "group 'g': feature 's' holds strings"),
        ({"g": ["i", "one"]}, r"group 'g': feature 'one' has shape \[1\]; a group takes FixedLenFeatures of shape"),
        ({"g": ["v"]}, "group 'g': feature 'v' is a VarLenFeature; a group takes FixedLenFeatures of shape"),
        ({"g": ["i", "n"]}, "group 'g': feature 'n' is a FixedLenSequenceFeature; a"),
        ({"g": ["w"]}, "group 'g': feature 'w' is a SparseFeature; a"),
        ({"g": ["value"]}, "group 'g': 'value' is not among the features"),
    ],
)
@pytest.mark.parametrize("parse", [tf.parse_example, tf.parse_single_example])
def test_groups_that_make_no_column(parse, groups, error):
    with pytest.raises(tf.errors.InvalidArgumentError, match=error):
        parse([b""] if parse is tf.parse_example else b"", FEATURES, groups=groups)


@pytest.mark.parametrize(
    "groups, error",
    [
        (["i", "j"], r"groups must be a dict of lists of keys, such as .*, got \['i', 'j'\]"),
        ({"g": "ij"}, "group 'g' must be a list of keys, in the order of its columns, got 'ij'"),
        ({"g": b"ij"}, "group 'g' must be a list of keys, in the order of its columns, got b'ij'"),
        ({"g": {"i", "j"}}, "group 'g' must be a list of keys, in the order of its columns"),
        ({"g": None}, "group 'g' must be a list of keys, in the order of its columns, got None"),
        ({"g": ["i", 3]}, "group 'g': names and keys must be str or bytes, got 3"),
        ({"g": ["i", ["j"]]}, r"group 'g': names and keys must be str or bytes, got \['j'\]"),
        ({3: ["i", "j"]}, "group 3: names and keys must be str or bytes, got 3"),
    ],
)
def test_groups_of_another_form(groups, error):
    for _ in range(2):
        with pytest.raises(TypeError, match=error):
            tf.parse_example([b""], FEATURES, groups=groups)


def test_an_inferred_shape_says_where_it_is_from():
    features = tf.io.infer_features([record(x=("int64", [1, 2]), y=("int64", [1]))])
    with pytest.raises(ValueError, match=r"'x' has shape \[2\] \(the shape was inferred from 1 records\); a group"):
        tf.parse_example([b""], features, groups={"g": ["y", "x"]})


@pytest.mark.parametrize(
    "groups, error",
    [
        ([[]], "a group needs features"),
        ([[7]], "a group names a feature that does not exist"),
        ([[0], [0]], "a feature may be in one group only, and once"),
        ([[0, 1]], "features of a group must have the same type"),
        ([[2]], "features of a group must be numbers"),
        ([[3]], "features of a group must be scalars"),
        ([[4]], "features of a group must be scalars"),
        ([[5]], "features of a group cannot report presence"),
    ],
)
def test_the_core_relies_on_nobodys_checks(groups, error):
    def spec(key, type, layout="fixed", **more):
        return _core.FeatureSpec(key=key, type=type, layout=layout, **more)

    specs = [
        *(spec(b"a", "int64"), spec(b"b", "float32"), spec(b"c", "string"), spec(b"d", "int64", shape=[1])),
        *(spec(b"e", "int64", "list"), spec(b"f", "int64", presence=True)),
    ]
    with pytest.raises(tf.errors.InvalidArgumentError, match=error):
        _core.ExamplePlan(specs, groups=groups)


# ---- In TensorFlow's short ways from files to batches ----


def batched(tmp_path, **given):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"x": np.arange(9), "y": -np.arange(9), "z": np.arange(9)})
    features = {**XY, "z": scalar("int64")}
    options = {"num_epochs": 1, "shuffle": False, **given}
    return tf.data.experimental.make_batched_features_dataset(str(tmp_path / "a"), 9, features, **options)


def test_batched_features(tmp_path):
    [(columns, label)] = batched(tmp_path, groups={"g": ["y", "x"]}, label_key="z")
    assert columns["g"].tolist() == [[-i, i] for i in range(9)] and label.tolist() == list(range(9))
    [(columns, label)] = batched(tmp_path, groups={"g": ["y", "x"]}, label_key="g")
    assert label.shape == (9, 2) and list(columns) == ["z"]


def test_a_label_that_is_no_column_of_batched_features(tmp_path):
    with pytest.raises(ValueError, match="label_key 'x' is in group 'g'"):
        batched(tmp_path, groups={"g": ["y", "x"]}, label_key="x")
    with pytest.raises(ValueError, match="label_key 'no' is not among the features"):
        batched(tmp_path, groups={"g": ["y", "x"]}, label_key="no")
    with pytest.raises(ValueError, match="label_key 'no' is not among the features"):
        batched(tmp_path, label_key="no")
