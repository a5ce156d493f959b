"""The messages of tf.train: TensorFlow's bytes, protobuf's methods, a descriptor pool of their own."""

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("google.protobuf")

from google.protobuf import json_format, text_format
from hypothesis import given
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import live_tensorflow

needs_tensorflow = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")


def tutorial_example():
    """Made as tutorials do."""
    features = {
        "bytes": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a", b"\xff\0"])),
        "floats": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5, -1e30])),
        "ints": tf.train.Feature(int64_list=tf.train.Int64List(value=[1, -1, 2**63 - 1])),
        "none": tf.train.Feature(),
        "empty": tf.train.Feature(int64_list=tf.train.Int64List()),
    }
    return tf.train.Example(features=tf.train.Features(feature=features))


def tutorial_sequence():
    steps = [tf.train.Feature(int64_list=tf.train.Int64List(value=[n])) for n in (3, 4)]
    return tf.train.SequenceExample(
        context=tf.train.Features(feature={"n": tf.train.Feature(float_list=tf.train.FloatList(value=[2]))}),
        feature_lists=tf.train.FeatureLists(feature_list={"t": tf.train.FeatureList(feature=steps)}),
    )


def deterministic(message):
    return message.SerializeToString(deterministic=True)


@needs_tensorflow
@pytest.mark.parametrize("make", [tutorial_example, tutorial_sequence])
def test_serialized_as_by_tensorflow(make):
    assert deterministic(make()) == live_tensorflow.call(
        """
def again(serialized, kind, text):
    message = getattr(tf.train, kind).FromString(serialized)
    assert str(message) == text
    return message.SerializeToString(deterministic=True)
""",
        make().SerializeToString(),
        type(make()).__name__,
        str(make()),
    )


def test_messages_are_copied():
    other = tf.train.Example()
    other.CopyFrom(tutorial_example())
    assert other == tutorial_example()


def test_messages_come_back_from_their_bytes():
    assert tf.train.Example.FromString(tutorial_example().SerializeToString()) == tutorial_example()


def test_messages_that_differ_are_not_equal():
    other = tutorial_example()
    other.features.feature["ints"].int64_list.value.append(7)
    assert other != tutorial_example()


def test_a_feature_names_its_kind():
    example = tf.train.Example()
    example.features.feature["ints"].int64_list.value.append(7)
    assert example.features.feature["ints"].WhichOneof("kind") == "int64_list"


def test_parsing_replaces_what_a_message_held():
    example = tutorial_example()
    example.ParseFromString(b"")
    assert not example.features.feature and example.ByteSize() == 0


def test_messages_are_at_the_top_too():
    assert tf.Example is tf.train.Example and tf.SequenceExample is tf.train.SequenceExample


@pytest.mark.parametrize("make", [tutorial_example, tutorial_sequence])
def test_text_comes_back(make):
    message = make()
    assert text_format.Parse(text_format.MessageToString(message), type(message)()) == message


@pytest.mark.parametrize("make", [tutorial_example, tutorial_sequence])
def test_json_comes_back(make):
    message = make()
    assert json_format.Parse(json_format.MessageToJson(message), type(message)()) == message


def test_values_of_a_wrong_type_are_refused():
    with pytest.raises(TypeError):
        tf.train.Int64List(value=["a"])


def test_values_out_of_range_are_refused():
    with pytest.raises(ValueError):
        tf.train.feature(2**63)


@pytest.mark.parametrize(
    ("value", "form", "values"),
    [
        (1, "int64_list", [1]),
        (True, "int64_list", [1]),
        (np.uint8(255), "int64_list", [255]),
        (np.arange(4, dtype=np.int8).reshape(2, 2), "int64_list", [0, 1, 2, 3]),
        ([True, False], "int64_list", [1, 0]),
        ([[1], [2]], "int64_list", [1, 2]),
        (1.5, "float_list", [1.5]),
        ([1, 2.5], "float_list", [1, 2.5]),
        (np.float16([0.5]), "float_list", [0.5]),
        (np.zeros(0, np.float32), "float_list", []),
        (np.zeros(0, np.int64), "int64_list", []),
        ("ü", "bytes_list", ["ü".encode()]),
        (b"a\0", "bytes_list", [b"a\0"]),
        (bytearray(b"a"), "bytes_list", [b"a"]),
        (["a", b"b\0"], "bytes_list", [b"a", b"b\0"]),
        (np.array(["a", "bc"]), "bytes_list", [b"a", b"bc"]),
        (np.array([b"a\0", "b"], object), "bytes_list", [b"a\0", b"b"]),
        (tf.BytesArray([b"a"]), "bytes_list", [b"a"]),
    ],
)
def test_a_feature_of_values(value, form, values):
    feature = tf.train.feature(value)
    assert feature.WhichOneof("kind") == form and list(getattr(feature, form).value) == values


@pytest.mark.parametrize("value", [None, []])
def test_a_feature_of_nothing_has_no_kind(value):
    assert tf.train.feature(value).WhichOneof("kind") is None


@pytest.mark.parametrize("value", [{}, object(), [1, "a"], [b"a", 1], np.complex64(1), [[1], "a"]])
def test_a_feature_of_something_else_is_an_error(value):
    with pytest.raises((TypeError, ValueError)):
        tf.train.feature(value)


keys = st.text(max_size=5)
values = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1),
    st.binary(),
    st.lists(st.binary(), min_size=1),
    st.lists(st.floats(width=32, allow_nan=False), min_size=1),
)


@given(st.dictionaries(keys, values))
def test_an_example_of_a_dict_parses_back(values):
    example = tf.train.example(values)
    features = {key: tf.VarLenFeature(kind_of(value)) for key, value in values.items()}
    if features:
        parsed = tf.parse_single_example(example.SerializeToString(), features)
        for key, value in values.items():
            assert list(parsed[key].values) == (value if isinstance(value, list) else [value])


def kind_of(value):
    first = value[0] if isinstance(value, list) else value
    return tf.string if isinstance(first, bytes) else tf.int64 if isinstance(first, int) else tf.float32


def test_a_sequence_example_of_dicts():
    result = tf.train.sequence_example({"n": [2.0]}, {"t": [3, 4]})
    assert deterministic(result) == deterministic(tutorial_sequence())


ORDERS = ["tensorflow, tfrecord_fast.train", "tfrecord_fast.train, tensorflow"]


@needs_tensorflow
@pytest.mark.parametrize("order", ORDERS)
def test_messages_live_alongside_tensorflows(order):
    code = f"""
import {order}
import tensorflow, tfrecord_fast
ours = tfrecord_fast.train.example({{"a": [1, 2]}})
theirs = tensorflow.train.Example.FromString(ours.SerializeToString())
assert str(theirs) == str(ours)
assert tfrecord_fast.train.Example.FromString(theirs.SerializeToString()) == ours
assert type(theirs) is not type(ours)
"""
    assert_runs(code)


@pytest.mark.parametrize("first", ["tfrecord", "tfrecord_fast"])
def test_messages_live_alongside_those_of_tfrecord(first):
    """The package tfrecord itself can't be imported alongside TensorFlow, in either order."""
    if importlib.util.find_spec("tfrecord") is None:  # not imported here, for the same reason
        pytest.skip("tfrecord is not installed")
    second = {"tfrecord": "tfrecord_fast", "tfrecord_fast": "tfrecord"}[first]
    code = f"""
import {first}
import tfrecord_fast.train
tfrecord_fast.train.Example()
import {second}
from tfrecord import example_pb2
serialized = tfrecord_fast.train.example({{"a": [1, 2]}}).SerializeToString()
assert example_pb2.Example.FromString(serialized).features.feature["a"].int64_list.value == [1, 2]
"""
    assert_runs(code)


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def assert_runs(code):
    result = run(code)
    assert result.returncode == 0, result.stderr


def test_nothing_is_registered_in_the_default_pool():
    assert_runs(
        """
import tfrecord_fast.train
tfrecord_fast.train.Example()
from google.protobuf import descriptor_pool
for find, name in [("MessageTypeByName", "tensorflow.Example"), ("FileByName", "tfrecord_fast/messages.proto")]:
    try:
        getattr(descriptor_pool.Default(), f"Find{find}")(name)
    except KeyError:
        continue
    raise AssertionError(name)
"""
    )


def test_importing_imports_no_protobuf():
    assert_runs("import tfrecord_fast.train, tfrecord_fast.io, sys\nassert 'google.protobuf' not in sys.modules")
