"""Dicts of columns wrap their values on first access; otherwise they behave like dicts."""

import copy
import json
import pickle

import numpy as np
import pytest

import tfrecord_fast.tensorflow as tf
from tfrecord_fast.tensorflow.tensors.wrapping import unwrap, wrap


def columns():
    return wrap({"a": np.int64(1), "b": b"x", "c": {"d": np.arange(2)}})


WHOLE = {
    "dict": dict,
    "dict of items": lambda x: dict(x.items()),
    "by key": lambda x: {key: x[key] for key in x},
    "zip": lambda x: dict(zip(x.keys(), x.values(), strict=True)),
    "unpacked": lambda x: {**x},
    "arguments": lambda x: (lambda **named: named)(**x),
    "copy": lambda x: x.copy(),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "or": lambda x: x | {},
    "or on the right": lambda x: {} | x,
    "update of another": lambda x: {}.update(x) or dict(x),
    "get": lambda x: {key: x.get(key) for key in ("a", "b", "c")},
    "pop": lambda x: {key: x.pop(key) for key in ("a", "b", "c")},
    "popitem": lambda x: dict(x.popitem() for _ in range(3)),
    "setdefault": lambda x: {key: x.setdefault(key, 5) for key in ("a", "b", "c")},
    "in place": lambda x: x.__ior__({}),
    "of its type": lambda x: type(x)(x.items()),
    "of its type, by name": lambda x: type(x)(**x),
    "nest": lambda x: tf.nest.map_structure(lambda leaf: leaf, x),
}


@pytest.mark.parametrize("way", WHOLE)
def test_however_they_are_taken_values_are_tensors(way):
    row = WHOLE[way](columns())
    assert set(row) == {"a", "b", "c"}
    assert isinstance(row["a"], tf.Tensor) and int(row["a"]) == 1
    assert isinstance(row["b"], tf.Tensor) and row["b"].numpy() == b"x"
    assert isinstance(row["c"]["d"], tf.Tensor) and row["c"]["d"].numpy().tolist() == [0, 1]


def test_a_value_is_the_same_each_time():
    row = columns()
    assert row["c"] is row["c"] is row.get("c") is dict(row)["c"]
    assert row.get("z") is None and row.get("z", 3) == 3
    with pytest.raises(KeyError):
        row["z"]
    with pytest.raises(KeyError):
        row.pop("z")
    assert row.pop("z", 4) == 4


def test_patterns_match():
    match columns():
        case {"a": a, "b": b}:
            assert isinstance(a, tf.Tensor) and isinstance(b, tf.Tensor)


def changed(change):
    row = columns()
    change(row)
    return unwrap(row)


def test_changes_are_seen_by_what_follows():
    assert changed(lambda x: x.update(a=tf.constant(7)))["a"] == 7
    assert changed(lambda x: x.__setitem__("z", tf.constant("s")))["z"] == b"s"
    assert changed(lambda x: x.__setitem__("z", [tf.constant(1)]))["z"] == [1]
    assert list(changed(lambda x: x.pop("a"))) == ["b", "c"]
    assert list(changed(lambda x: x.__delitem__("b"))) == ["a", "c"]
    assert changed(lambda x: x.clear()) == {}
    assert changed(lambda x: x["c"].update(d=5))["c"] == {"d": 5}
    assert list(changed(lambda x: x.setdefault("z", 3))) == ["a", "b", "c", "z"]


def test_what_is_lowered_holds_no_tensor_and_is_another_dict():
    for look in (lambda x: None, lambda x: x["a"], repr, dict):
        row = columns()
        look(row)
        plain = unwrap(row)
        assert type(plain) is dict and type(plain["a"]) in (np.ndarray, np.int64) and type(plain["b"]) is bytes
        plain["z"] = 1
        assert "z" not in row


def test_repr_and_length():
    assert repr(columns()) == repr(dict(columns())) and "tf.Tensor" in repr(columns())
    assert len(columns()) == 3 and "a" in columns() and list(reversed(columns())) == ["c", "b", "a"]
    assert json.dumps(wrap({"a": 1, "b": "x"})) == '{"a": 1, "b": "x"}'


def test_a_function_that_changes_its_element_changes_no_other():
    def add(row):
        row["b"] = row["a"] + 1
        return row

    once = tf.data.Dataset.from_tensor_slices({"a": [1, 2]}).cache()
    for _ in range(2):
        assert [int(row["b"]) for row in once.map(add)] == [2, 3]
        assert [list(row) for row in once] == [["a"], ["a"]]


def test_features_that_change_between_calls_count():
    record = tf.train.Example(
        features=tf.train.Features(feature={"a": tf.train.Feature(int64_list=tf.train.Int64List(value=[5]))})
    ).SerializeToString()
    features = {"a": tf.io.FixedLenFeature([], tf.int64)}
    assert tf.io.parse_single_example(record, features)["a"].shape == ()
    features["a"] = tf.io.FixedLenFeature([1], tf.int64)
    assert tf.io.parse_single_example(record, features)["a"].shape == (1,)
    features["b"] = tf.io.FixedLenFeature([], tf.int64, default_value=tf.constant(3, tf.int64))
    for _ in range(2):
        assert int(tf.io.parse_single_example(record, features)["b"]) == 3


def replaced(row):
    row["c"]["d"] = np.float32(5)
    return row


def grown(row):
    row["list"].append(4)
    return row


def shortened(row):
    row["a"]
    del row["b"]
    return row


def test_what_a_function_changes_within_a_row_is_what_comes_out():
    nested = tf.data.Dataset.from_tensors({"a": 1, "c": {"d": 2}}).map(replaced)
    assert [row["c"]["d"].numpy() for row in nested] == [5.0]
    assert [list(row) for row in tf.data.Dataset.from_tensors({"a": 1, "b": 2}).map(shortened)] == [["a"]]
    assert unwrap(grown(wrap({"list": [1, 2, 3]}))) == {"list": [1, 2, 3, 4]}


def test_a_row_that_nobody_changed_is_the_packages_own():
    plain = {"a": np.int64(1), "b": b"x"}
    row = wrap(plain)
    row["a"]
    assert unwrap(row) is plain


def test_a_change_of_a_row_leaves_what_it_was_made_of():
    plain = {"a": np.int64(1), "b": b"x"}
    row = wrap(plain)
    row["a"] = 2
    row.pop("b")
    assert plain == {"a": 1, "b": b"x"}
