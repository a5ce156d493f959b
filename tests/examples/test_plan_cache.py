"""Plans are cached by the dict of features: a changed dict gets another plan, and threads share the cache."""

from types import MappingProxyType

import numpy as np
import pytest

import tfrecord_fast as tf
from tfrecord_fast.examples.parsing import plans
from tfrecord_fast.examples.parsing.groups import frozen_groups

NOTHING = [b""]


def one(features, records=NOTHING):
    return tf.parse_example(records, features)["a"].tolist()


class Raced(dict):
    """Another thread adds an entry while the first key is looked for, once."""

    met = False

    def __iter__(self):
        keys = super().__iter__()
        if not self.met:
            self.met = True
            self["other"] = None
        return keys


@pytest.mark.parametrize("cache", ["_examples", "_sequences"])
def test_plans_that_another_thread_adds_do_no_harm(cache, monkeypatch):
    raced = Raced({number: None for number in range(plans._CACHE_SIZE)})
    monkeypatch.setattr(plans, cache, raced)
    features = {"a": tf.FixedLenFeature([], tf.int64, 3)}
    assert one(features) == [3]
    assert tf.parse_example(NOTHING, features, groups={"a": ["a"]})["a"].tolist() == [[3]]
    assert tf.io.parse_sequence_example(NOTHING, features)[0]["a"].tolist() == [3]
    assert raced.met and len(raced) <= plans._CACHE_SIZE


@pytest.mark.parametrize("groups", [None, {"g": ["a"]}])
def test_a_mapping_at_the_address_of_a_dict_that_is_gone(groups, monkeypatch):
    features = MappingProxyType({"a": tf.FixedLenFeature([], tf.int64, 3)})
    key = (id(features), frozen_groups(groups)) if groups else id(features)
    monkeypatch.setattr(plans, "_examples", {key: plans._Entry((("b", None),), None)})
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
