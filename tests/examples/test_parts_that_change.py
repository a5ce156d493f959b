"""A feature whose list or array is changed in place means what it says now, though its dict stays the same."""

from types import MappingProxyType

import numpy as np
import pytest

import tfrecord_fast as tf
from tfrecord_fast.examples.features import held

NOTHING = [b""]


def one(features, records=NOTHING):
    return tf.parse_example(records, features)["a"].tolist()


@pytest.mark.parametrize("default", [[1, 2], np.array([1, 2]), np.array([1, 2], np.int32)])
@pytest.mark.parametrize("groups", [None, {}])
def test_a_default(default, groups):
    features = {"a": tf.FixedLenFeature([2], tf.int64, default)}
    for values in ([1, 2], [7, 8], [7, 8], [0, 0]):
        default[:] = values
        assert tf.parse_example(NOTHING, features, groups=groups)["a"].tolist() == [values]
        assert tf.io.parse_single_example(b"", features)["a"].tolist() == values


def test_a_default_of_strings_within_lists():
    default = [[b"x"], [b"y"]]
    features = {"a": tf.FixedLenFeature([2, 1], tf.string, default)}
    assert one(features) == [[[b"x"], [b"y"]]]
    default[1][0] = b"z"
    assert one(features) == [[[b"x"], [b"z"]]]


def test_a_default_of_objects():
    default = np.array([b"x", b"y"], object)
    features = {"a": tf.FixedLenFeature([2], tf.string, default)}
    assert one(features) == [[b"x", b"y"]]
    default[0] = b"long"
    assert one(features) == [[b"long", b"y"]]


@pytest.mark.parametrize("within", [True, False])
def test_a_default_of_tensors(within):
    torch = pytest.importorskip("torch")
    default = torch.tensor([[1, 2], [3, 4]])
    features = {"a": tf.FixedLenFeature([2, 2], tf.int64, list(default) if within else default)}
    assert one(features) == one(features) == [[[1, 2], [3, 4]]]
    default[0, 0] = 5
    assert one(features) == one(features) == [[[5, 2], [3, 4]]]


def test_a_default_that_can_not_be_copied():
    torch = pytest.importorskip("torch")
    default = torch.ones(2, requires_grad=True) * 2
    features = {"a": tf.FixedLenFeature([2], tf.float32, default)}
    kept = held(features["a"]).default_value
    assert kept is default
    features["a"] = tf.FixedLenFeature([2], tf.float32, [Uncopied(1.5), 2.0])
    assert one(features) == one(features) == [[1.5, 2.0]]


class Uncopied(float):
    def __deepcopy__(self, memo):
        raise RuntimeError("no copies")


def test_a_shape():
    shape = [1]
    features = {"a": tf.FixedLenFeature(shape, tf.int64)}
    assert one(features, tf.encode_examples({"a": [[1]]})) == [[1]]
    shape[0] = 2
    assert one(features, tf.encode_examples({"a": [[1, 2]]})) == [[1, 2]]


def test_nan_is_nan_still():
    """A plan is kept, and not compiled again, while its default has a NaN."""
    from tfrecord_fast.examples.parsing.plans import example_plan

    for default in ([float("nan")], np.array([np.nan], np.float32)):
        features = {"a": tf.FixedLenFeature([1], tf.float32, default)}
        assert example_plan(features) is example_plan(features)


def test_lists_of_a_sequence():
    default = [4]
    features = {"a": tf.FixedLenFeature([1], tf.int64, default)}
    assert tf.io.parse_sequence_example(NOTHING, features)[0]["a"].tolist() == [[4]]
    default[0] = 5
    assert tf.io.parse_sequence_example(NOTHING, features)[0]["a"].tolist() == [[5]]


def test_a_list_within_a_tuple():
    inner = [1]
    features = {"a": tf.FixedLenFeature([2, 1], tf.int64, (inner, [2]))}
    assert one(features) == [[[1], [2]]]
    inner[0] = 7
    assert one(features) == [[[7], [2]]]


class Raced(dict):
    """Another thread adds an entry while the first key is looked for, once."""

    met = False

    def __iter__(self):
        keys = super().__iter__()
        if not self.met:
            self.met = True
            self["other"] = None
        return keys


@pytest.mark.parametrize("cache", ["_examples", "_grouped", "_sequences"])
def test_plans_that_another_thread_adds_do_no_harm(cache, monkeypatch):
    from tfrecord_fast.examples.parsing import plans

    raced = Raced({number: None for number in range(plans._CACHE_SIZE)})
    monkeypatch.setattr(plans, cache, raced)
    features = {"a": tf.FixedLenFeature([], tf.int64, 3)}
    assert one(features) == [3]
    assert tf.parse_example(NOTHING, features, groups={"a": ["a"]})["a"].tolist() == [[3]]
    assert tf.io.parse_sequence_example(NOTHING, features)[0]["a"].tolist() == [3]
    assert raced.met and len(raced) <= plans._CACHE_SIZE


@pytest.mark.parametrize("groups", [None, {"g": ["a"]}])
def test_a_mapping_at_the_address_of_a_dict_that_is_gone(groups, monkeypatch):
    from tfrecord_fast.examples.parsing import plans
    from tfrecord_fast.examples.parsing.groups import frozen_groups

    features = MappingProxyType({"a": tf.FixedLenFeature([], tf.int64, 3)})
    monkeypatch.setattr(plans, "_examples", {id(features): (("b", None), None)})
    monkeypatch.setattr(plans, "_grouped", {(id(features), frozen_groups(groups)): (("b", None), None)})
    assert list(tf.parse_example(NOTHING, features, groups=groups)) == [*(groups or "a")]


class Changing:
    """A default during whose conversion, which is a part of making a plan, something is changed."""

    def __init__(self, change):
        self.change = change

    def __array__(self, dtype=None, copy=None):
        self.change()
        return np.array(3, dtype)


def test_a_dict_that_is_changed_while_a_plan_is_made_of_it():
    features = {}
    features["a"] = tf.FixedLenFeature(
        [], tf.int64, Changing(lambda: features.setdefault("b", tf.VarLenFeature("int64")))
    )
    tf.parse_example(NOTHING, features)
    assert sorted(tf.parse_example(NOTHING, features)) == ["a", "b"]
    features.pop("b")
    tf.io.parse_sequence_example(NOTHING, features)
    assert sorted(tf.io.parse_sequence_example(NOTHING, features)[0]) == ["a", "b"]
    features.pop("b")
    tf.parse_example(NOTHING, features, groups={"g": ["a"]})
    assert sorted(tf.parse_example(NOTHING, features, groups={"g": ["a"]})) == ["b", "g"]


def test_a_default_that_is_changed_while_a_plan_is_made_of_it():
    default = [1]

    def change():
        default[0] = 2

    features = {
        "a": tf.FixedLenFeature([1], tf.int64, default),
        "b": tf.FixedLenFeature([], tf.int64, Changing(change)),
    }
    assert one(features) == [[1]]
    assert one(features) == [[2]]
