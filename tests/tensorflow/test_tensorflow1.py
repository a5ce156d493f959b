# ruff: noqa: E501
"""Scripts with TensorFlow 1's names run."""

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import live_tensorflow

pytest.importorskip("google.protobuf")

OLD_SCRIPT = """
def write(path):
    with tf.python_io.TFRecordWriter(path, options=OPTIONS) as writer:
        for i in range(3):
            feature = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[np.full(4, i, np.uint8).tobytes()])),
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())

def parse(record):
    features = tf.parse_single_example(
        record,
        features={"image": tf.FixedLenFeature([], tf.string), "label": tf.FixedLenFeature([], tf.int64)},
    )
    image = tf.decode_raw(features["image"], tf.uint8)
    return tf.cast(tf.reshape(image, [2, 2]), tf.float32), features["label"]

def read(path):
    write(path)
    labels = []
    for record in tf.python_io.tf_record_iterator(path, options=OPTIONS):
        example = tf.train.Example()
        example.ParseFromString(record)
        labels.append(example.features.feature["label"].int64_list.value[0])
    dataset = tf.data.TFRecordDataset([path], "GZIP").map(parse)
    parsed = tf.parse_example(list(tf.python_io.tf_record_iterator(path, options=OPTIONS)), {"label": tf.VarLenFeature(tf.int64)})
    return labels, list(dataset), parsed["label"].values
"""
OPTIONS = "OPTIONS = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)\n"


def under_tensorflow(script, path):
    names = {"tf": tf.compat.v1, "np": np}
    exec(script, names)
    return names["read"](path)


@pytest.mark.parametrize("module", [tf, tf.compat.v1], ids=["tf", "tf.compat.v1"])
def test_an_old_script_gives_what_it_gives_with_tensorflow(module, tmp_path):
    names = {"tf": module, "np": np}
    exec(OPTIONS + OLD_SCRIPT, names)
    labels, images, values = names["read"](str(tmp_path / "ours"))
    assert labels == [0, 1, 2] and values.tolist() == [0, 1, 2]
    if live_tensorflow.INSTALLED:
        old, old_images, old_values = live_tensorflow.call(under_tensorflow, OPTIONS + OLD_SCRIPT, str(tmp_path / "b"))
        assert labels == old and values.tolist() == old_values.tolist()
        for (image, label), (old_image, old_label) in zip(images, old_images, strict=True):
            assert image.dtype == old_image.dtype and (image == old_image).all() and label == old_label


VALUES = """
def values():
    return [
        tf.constant(1), tf.constant([1.5]), tf.constant("a"), tf.constant([1, 2], tf.float32), tf.constant(3, shape=[2, 2]),
        tf.convert_to_tensor([[1, 2]]), tf.cast([1.7, -1.7], tf.int32), tf.cast([0, 2], tf.bool),
        tf.reshape([1, 2, 3, 4], [2, -1]), tf.reshape([b"a"], []), tf.shape([[1, 2, 3]]),
        tf.expand_dims([1, 2], 0), tf.expand_dims([1, 2], -1), tf.squeeze([[[1], [2]]]), tf.squeeze([[[1], [2]]], axis=[0]),
        tf.transpose([[1, 2, 3]]), tf.transpose([[[1, 2, 3]]], perm=[1, 2, 0]),
        tf.stack([[1, 2], [3, 4]], axis=1), tf.concat([[1, 2], [3]], axis=0),
        tf.one_hot([0, 2, 5, -1], 3), tf.one_hot(1, 3), tf.one_hot([1], 3, on_value=5, off_value=2, axis=0, dtype=tf.int64),
    ]
"""


def test_values_are_tensorflows():
    names = {"tf": tf}
    exec(VALUES, names)
    ours = names["values"]()
    if not live_tensorflow.INSTALLED:
        pytest.skip("TensorFlow is not installed")
    for item, other in zip(ours, live_tensorflow.call(VALUES), strict=True):
        if isinstance(other, bytes):
            assert item == other
        else:
            assert np.asarray(item).dtype == np.asarray(other).dtype
            np.testing.assert_array_equal(item, other)


def test_a_shape_that_does_not_fit_is_an_error():
    with pytest.raises(tf.errors.InvalidArgumentError, match="3 values"):
        tf.reshape([1, 2, 3], [2, 2])


def test_str_becomes_bytes():
    assert tf.compat.as_bytes("ü") == "ü".encode()


@pytest.mark.parametrize("arguments", [b"a\0", bytearray(b"a\0")])
def test_bytes_stay_bytes(arguments):
    actual = tf.compat.as_bytes(arguments)
    assert actual == b"a\0" and type(actual) is bytes


def test_bytes_become_str():
    assert tf.compat.as_text(b"a") == tf.compat.as_str("a") == "a"


def test_anything_becomes_str():
    assert tf.compat.as_str_any(5) == "5"


@pytest.mark.parametrize("convert", [tf.compat.as_bytes, tf.compat.as_text])
def test_numbers_are_neither_str_nor_bytes(convert):
    with pytest.raises(TypeError):
        convert(5)
