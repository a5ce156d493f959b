"""Plans are found by the content of dicts of features: equal content has one plan, other content has another."""

import collections
import threading
from types import MappingProxyType

import numpy as np
import pytest

import tfrecord_fast as tf
import tfrecord_fast.tensorflow as scripts_tf
from tfrecord_fast.examples.parsing import contents, plans

NOTHING = [b""]
COMPLEX = {
    "a": tf.FixedLenFeature([2], tf.int64, [1, 2]),
    "b": tf.FixedLenFeature((), "float32", 0.5),
    "c": tf.VarLenFeature(tf.string),
    "d": tf.RaggedFeature(tf.int64, partitions=[tf.RaggedFeature.UniformRowLength(1)]),
    "e": tf.SparseFeature(["x", "y"], "value", tf.float32, [3, 4]),
    "f": tf.FixedLenSequenceFeature([2], np.float32, allow_missing=True),
}


def anew(value):
    """Return the same content in other objects, where Python does not share them."""
    if isinstance(value, dict):
        return {"".join(key): anew(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return tuple.__new__(type(value), map(anew, value))
    return [anew(item) for item in value] if isinstance(value, list) else value


@pytest.fixture
def compiled(monkeypatch):
    """The plans that a test compiles, with empty caches."""
    made = []

    def counted(cls):
        class Counted(cls):
            def __init__(self, *args):
                made.append(args)
                super().__init__(*args)

        return Counted

    monkeypatch.setattr(plans, "_examples", ())
    monkeypatch.setattr(plans, "_sequences", ())
    monkeypatch.setattr(plans, "ExamplePlan", counted(plans.ExamplePlan))
    monkeypatch.setattr(plans, "SequencePlan", counted(plans.SequencePlan))
    return made


def default(feature, module=tf):
    return module.parse_example(NOTHING, {"a": feature})["a"].tolist()


@pytest.mark.parametrize("make", [anew, collections.OrderedDict, MappingProxyType], ids=lambda make: make.__name__)
def test_dicts_of_the_same_features_have_one_plan(make, compiled):
    for _ in range(3):
        tf.parse_example(NOTHING, make(COMPLEX))
        tf.parse_single_example(b"", make(COMPLEX))
    assert len(compiled) == 1


@pytest.mark.parametrize(
    "value", [3, 3.0, np.int64(3), np.array(3.0), [3], [np.int64(3)], (3,), b"3", ["3"], np.array(["3"]), np.nan]
)
def test_a_default_made_anew_has_one_plan(value, compiled):
    dtype = tf.string if isinstance(np.ravel(value)[0], str | bytes) else tf.float32
    for _ in range(3):
        tf.parse_example(NOTHING, {"a": tf.FixedLenFeature(np.shape(value), dtype, np.copy(value))})
        tf.parse_example(NOTHING, {"a": tf.FixedLenFeature(list(np.shape(value)), dtype, anew(value))})
    assert len(compiled) == 2  # of np.copy(value), and of its own class


def test_feature_lists_and_groups_made_anew_have_one_plan(compiled):
    for _ in range(3):
        tf.io.parse_sequence_example(NOTHING, {"a": tf.VarLenFeature("int64")}, {"b": tf.VarLenFeature("int64")})
        tf.io.parse_single_sequence_example(b"", {"a": tf.VarLenFeature("int64")}, {"b": tf.VarLenFeature("int64")})
        tf.parse_example(NOTHING, {"a": tf.FixedLenFeature([], "int64", 3)}, groups={"g": ["a"]})
    assert len(compiled) == 2


def test_scripts_that_make_the_dict_in_each_call_have_one_plan(compiled):
    for _ in range(3):
        default_value = scripts_tf.constant(3, scripts_tf.int64)
        features = {"a": scripts_tf.io.FixedLenFeature([], scripts_tf.int64, default_value)}
        assert scripts_tf.io.parse_single_example(b"", features)["a"] == 3
        assert scripts_tf.io.parse_example(NOTHING, dict(features))["a"] == 3
    assert len(compiled) == 1


def test_features_of_a_class_that_is_not_known_are_found_as_objects(compiled):
    class Shape(list):
        pass

    features = {"a": tf.FixedLenFeature(Shape([2]), tf.int64, [1, 2])}
    for _ in range(3):
        assert tf.parse_example(NOTHING, dict(features))["a"].shape == (1, 2)
    assert len(compiled) == 1
    features["a"].shape[0] = 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 values"):
        tf.parse_example(NOTHING, {"a": tf.FixedLenFeature(features["a"].shape, tf.int64, [1, 2])})


# ---- Other content ----


@pytest.mark.parametrize("module", [tf, scripts_tf.io], ids=["plain", "scripts"])
@pytest.mark.parametrize("make", [np.array, list], ids=["array", "list"])
def test_a_default_that_is_changed_in_place(make, module):
    def parsed(features):
        return np.array(module.parse_example(NOTHING, features)["a"]).tolist()

    value = make([0, 0])
    features = {"a": tf.FixedLenFeature([2], tf.int64, value)}
    assert parsed(features) == [[0, 0]]
    value[1] = 3
    for changed in (features, dict(features), {"a": tf.FixedLenFeature([2], tf.int64, value)}):
        assert parsed(changed) == [[0, 3]]
    assert parsed({"a": tf.FixedLenFeature([2], tf.int64, make([0, 0]))}) == [[0, 0]]


@pytest.mark.parametrize("module", [tf, scripts_tf.io], ids=["plain", "scripts"])
def test_a_shape_that_is_changed_in_place(module):
    shape = [1, 2]
    features = {"a": tf.FixedLenFeature(shape, tf.int64, [[1, 2]])}
    assert module.parse_example(NOTHING, features)["a"].shape == (1, 1, 2)
    features["a"].default_value[:] = [[1], [2]]
    shape[:] = [2, 1]
    assert module.parse_example(NOTHING, features)["a"].shape == (1, 2, 1)
    assert module.parse_example(NOTHING, {"a": tf.FixedLenFeature([1, 2], tf.int64, [[1, 2]])})["a"].shape == (1, 1, 2)


def test_defaults_that_are_equal_and_not_the_same():
    def parsed(value):
        return repr(default(tf.FixedLenFeature(np.shape(value), tf.float64, value)))

    for zero, negative in [
        (0.0, -0.0),
        (np.float64(0), np.float64(-0.0)),
        (np.zeros(1), -np.zeros(1)),
        ([0.0], [-0.0]),
    ]:
        assert "-" not in parsed(zero) and "-" in parsed(negative) and "-" not in parsed(zero)


def test_defaults_of_other_dtypes_and_shapes_with_the_same_bytes():
    assert default(tf.FixedLenFeature([2], tf.int32, np.array([1, 0], np.int32))) == [[1, 0]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        default(tf.FixedLenFeature([2], tf.int32, np.array([1], np.int64)))
    assert default(tf.FixedLenFeature([1], tf.float32, np.array([1], np.int32))) == [[1]]
    assert default(tf.FixedLenFeature([1], tf.float32, np.array([1], np.int32).view(np.float32))) != [[1]]
    swapped = np.array([1], np.int32).byteswap()
    assert default(tf.FixedLenFeature([1], tf.int32, swapped)) == [[1 << 24]]
    assert default(tf.FixedLenFeature([1], tf.int32, swapped.view(swapped.dtype.newbyteorder()))) == [[1]]


@pytest.mark.parametrize(
    "dtypes",
    [
        (tf.int32, tf.int64, tf.float32, tf.float64),
        ("int32", "int64", "float32", "float64"),
        (np.int32, np.int64, np.float32, np.float64),
        (np.dtype("int32"), np.dtype("int64"), np.dtype("float32"), np.dtype("float64")),
        (scripts_tf.int32, scripts_tf.int64, scripts_tf.float32, scripts_tf.float64),
    ],
)
def test_each_dtype_has_its_plan(dtypes):
    for _ in range(2):
        for dtype, name in zip(dtypes, ("int32", "int64", "float32", "float64"), strict=True):
            assert tf.parse_example(NOTHING, {"a": tf.FixedLenFeature([], dtype, 0)})["a"].dtype == name
            assert tf.parse_example(NOTHING, {"a": tf.VarLenFeature(dtype)})["a"].values.dtype == name


def test_each_class_keyword_key_and_number_of_features_has_its_plan():
    record = tf.encode_examples({"a": [[1, 2]]})
    results = []
    for _ in range(2):
        results.append(
            [
                tf.parse_example(record, {"a": tf.VarLenFeature(tf.int64)})["a"].values.tolist(),
                tf.parse_example(record, {"a": tf.RaggedFeature(tf.int64)})["a"].to_list(),
                tf.parse_example(record, {"a": tf.RaggedFeature(tf.int64)})["a"].row_splits.dtype.name,
                tf.parse_example(record, {"a": tf.RaggedFeature(tf.int64, row_splits_dtype=tf.int64)})[
                    "a"
                ].row_splits.dtype.name,
                tf.parse_example(record, {"b": tf.RaggedFeature(tf.int64, "a")})["b"].to_list(),
                list(tf.parse_example(record, {b"a": tf.VarLenFeature(tf.int64)})),
                list(tf.parse_example(record, {"a": tf.VarLenFeature(tf.int64), "b": tf.VarLenFeature(tf.int64)})),
                list(tf.parse_example(record, {"a": tf.FixedLenFeature([2], tf.int64)}, groups=None)),
                [
                    column.tolist()
                    for column in tf.parse_example(record, {"a": tf.FixedLenFeature([2], tf.int64)}).values()
                ],
                tf.parse_example(record, {"a": tf.FixedLenFeature([1, 2], tf.int64)})["a"].shape,
            ]
        )
    assert results[0] == results[1]
    assert results[0] == [
        [1, 2], [[1, 2]], "int32", "int64", [[1, 2]], [b"a"], ["a", "b"], ["a"], [[[1, 2]]], (1, 1, 2),
    ]  # fmt: skip


def test_a_value_that_cannot_be_a_feature_is_refused_each_time():
    for _ in range(2):
        assert default(tf.FixedLenFeature([], tf.int64, 3)) == [3]
        with pytest.raises(ValueError, match="Unsupported tuple"):
            default(tuple(tf.FixedLenFeature([], tf.int64, 3)))


def test_groups_that_are_equal_and_not_the_same():
    features = {"a": tf.FixedLenFeature([], tf.int64, 3), "b": tf.FixedLenFeature([], tf.int64, 4)}
    for _ in range(2):
        assert tf.parse_example(NOTHING, features, groups={"g": ["a", "b"]})["g"].tolist() == [[3, 4]]
        assert tf.parse_example(NOTHING, features, groups={"g": ["b", "a"]})["g"].tolist() == [[4, 3]]
        assert list(tf.parse_example(NOTHING, features, groups={"g": ["b"]})) == ["a", "g"]
        assert list(tf.parse_example(NOTHING, features, groups={b"g": ["b"]})) == ["a", b"g"]


class Changing:
    """A default during whose conversion, which is a part of making a plan, something is changed."""

    def __init__(self, change):
        self.change = change

    def __array__(self, dtype=None, copy=None):
        self.change()
        return np.array(3, dtype)


def test_a_dict_that_is_changed_while_a_plan_is_made_of_it():
    features = {}
    feature = tf.FixedLenFeature([], tf.int64, Changing(lambda: features.setdefault("b", tf.VarLenFeature("int64"))))
    features["a"] = feature
    tf.parse_example(NOTHING, features)
    assert sorted(tf.parse_example(NOTHING, features)) == ["a", "b"]
    assert list(tf.parse_example(NOTHING, {"a": feature})) == ["a"]
    features.pop("b")
    tf.io.parse_sequence_example(NOTHING, features)
    assert sorted(tf.io.parse_sequence_example(NOTHING, features)[0]) == ["a", "b"]
    features.pop("b")
    tf.parse_example(NOTHING, features, groups={"g": ["a"]})
    assert sorted(tf.parse_example(NOTHING, features, groups={"g": ["a"]})) == ["b", "g"]


def test_threads_share_a_cache_that_is_too_small_for_their_plans():
    wrong = []

    def parse(thread):
        for number in range(3 * contents._CACHE_SIZE):
            value = 1000 * (thread % 2) + number % (contents._CACHE_SIZE + 1)
            if default(tf.FixedLenFeature([], tf.int64, value)) != [value]:
                wrong.append(value)

    threads = [threading.Thread(target=parse, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(plans._examples) <= contents._CACHE_SIZE
