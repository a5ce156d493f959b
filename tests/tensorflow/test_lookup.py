"""Tables, TensorArrays, WAV files, TensorProtos and a few more names that scripts use in pipelines."""

import numpy as np
import pytest

import tfrecord_fast.tensorflow as tf
from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, listed

SETUP = """
import os, struct, tempfile
v1 = tf.compat.v1; K = tf.lookup.KeyValueTensorInitializer; H = tf.lookup.StaticHashTable; A = tf.TensorArray
T = tf.lookup.TextFileInitializer; I = tf.lookup.TextFileIndex
words = H(K(["a", "b"], [1, 2], key_dtype=tf.string, value_dtype=tf.int64), -1)
numbers = H(K(tf.range(3, dtype=tf.int64), tf.constant(["x", "y", "z"])), "none")
path = os.path.join(tempfile.mkdtemp(), "words")
with open(path, "w") as file:
    file.write("one 10\\ntwo 20\\nthree 30")
filled = A(tf.float32, size=0, dynamic_size=True)
for i in range(3):
    filled = filled.write(i, [float(i), 1.0])


def wav(channels, rate, samples, extra=b"", bits=16):
    data = np.asarray(samples, "<i2").tobytes()
    layout = struct.pack("<HHIIHH", 1, channels, rate, rate * channels * 2, channels * 2, bits)
    head = b"RIFF" + struct.pack("<I", 36 + len(extra) + len(data)) + b"WAVEfmt " + struct.pack("<I", 16) + layout
    return head + extra + b"data" + struct.pack("<I", len(data)) + data


sound = wav(2, 16000, [0, 1, -32768, 32767, 5, 6]); W = tf.audio.decode_wav
rng = np.random.default_rng(7); c = tf.constant(rng.integers(0, 256, (7, 5, 3)), tf.uint8)
f = tf.constant(rng.random((7, 5, 3)), tf.float32)
""".replace("\\\\", "\\")
EXPRESSIONS = """
words.lookup(tf.constant([["a", "x"], ["b", "b"]])); words[tf.constant("a")]; words.size(); words.key_dtype.name
words.lookup(tf.constant([1])); words.lookup(tf.sparse.from_dense(["a", "", "q"])); words.value_dtype.name
words.lookup(tf.ragged.constant([["a"], ["b", "c"]])); tf.sort(words.export()[1])
numbers.lookup(tf.constant([0, 5, 2], tf.int64))
H(K(["a", "a"], [1, 2]), -1); H(K(["a", "a"], [1, 1]), -1).size(); H(K(["a"], [1, 2]), -1)
H(T(path, tf.string, 0, tf.int64, 1, delimiter=" "), -1).lookup(tf.constant(["three", "four"]))
H(T(path, tf.string, I.WHOLE_LINE, tf.int64, I.LINE_NUMBER), -1).lookup(tf.constant(["one 10", "two 20", "one"]))
H(T(path, tf.int64, I.LINE_NUMBER, tf.string, I.WHOLE_LINE), "?").lookup(tf.constant([0, 7], tf.int64))
filled.stack(); filled.size(); filled.concat(); filled.gather([2, 0]); A(tf.float32, 1).write(0, tf.constant(1))
A(tf.float32, 1).write(1, 1.0); A(tf.float32, 2).write(0, [1.0]).write(1, [1.0, 2.0]); A(tf.float32, 2).read(2)
A(tf.float32, 2).write(1, [1.0, 2.0]).stack(); A(tf.int32, 2).unstack([[1], [2]]).read(1); A(tf.int32, 2).stack()
A(tf.int32, 2, infer_shape=False).split([1, 2, 3], [1, 2]).read(1); A(tf.int32, 0, element_shape=[2]).stack()
A(tf.int32, 3).scatter([2, 0, 1], [[1], [2], [3]]).stack(); A(tf.int32, 1).unstack([[1], [2]])
A(tf.int32, 2, element_shape=[1]).write(0, [1, 2]); A(tf.string, 1).write(0, "a").stack(); A(tf.int32, 1).dtype.name
W(sound); W(sound, desired_channels=1, desired_samples=5); W(sound, desired_channels=3, desired_samples=2)
W(wav(1, 8000, [1, 2], b"LIST\\x04\\x00\\x00\\x00abcd")); W(b"abc"); W(sound[:-2]); W(wav(1, 8000, [1], bits=24))
tf.debugging.check_numerics(f, "m"); tf.debugging.check_numerics([np.nan], "m"); tf.debugging.check_numerics([1], "m")
tf.debugging.check_numerics([np.inf, 1.0], "m"); tf.linalg.diag_part([[1, 2], [3, 4]])
tf.linalg.diag_part(tf.reshape(tf.range(24), [2, 3, 4]), k=1); tf.linalg.diag_part(c[:, :, 0], k=-2)
v1.sparse_to_dense([[0, 1], [1, 0]], [2, 3], [5, 6], default_value=-1); v1.sparse_to_dense([1, 3], [5], 1)
v1.sparse_to_dense(2, [5], 1.5, 0.5); v1.sparse_to_dense([3, 1], [5], [1, 2])
v1.sparse_to_dense([3, 1], [5], [1, 2], validate_indices=False); tf.image.adjust_gamma(c, 0.7, 1.1)
tf.image.adjust_gamma(f, 2.0); tf.image.adjust_gamma(c, -1); tf.image.adjust_gamma(c)
tf.shape(tf.image.stateless_random_brightness(c, 0.2, (1, 2))); tf.image.stateless_random_brightness(c, -1, (1, 2))
tf.shape(tf.image.stateless_random_contrast(c, 0.2, 0.5, (1, 2))); tf.image.stateless_random_hue(c, 0.7, (1, 2))
tf.shape(tf.image.stateless_random_saturation(c, 0.2, 0.5, seed=(1, 2)))
tf.shape(tf.image.stateless_random_hue(c, 0.2, (1, 2))); tf.image.stateless_random_contrast(c, 2, 1, (1, 2))
tf.shape(tf.image.stateless_random_crop(c, [3, 3, 3], (1, 2))); tf.image.stateless_random_crop(c, [9, 3, 3], (1, 2))
tf.shape(tf.image.stateless_random_flip_left_right(c, (1, 2))); tf.shape(tf.random.stateless_normal([2, 3], [1, 2]))
"""
TENSORS = [
    "1",
    "[1, 2]",
    "1.5",
    "'a'",
    "['a', 'bc']",
    "np.float32([[1]])",
    "True",
    "np.int64(3)",
    "[]",
    "np.uint16([4])",
]


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_the_same_as_of_tensorflow():
    assert not differences(listed(EXPRESSIONS), SETUP, 1e-6)


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_protos_have_the_bytes_of_tensorflow():
    pytest.importorskip("google.protobuf")
    calls = [f"tf.make_tensor_proto({value})" for value in TENSORS]
    calls += ["tf.make_tensor_proto([1, 2, 3, 4], tf.int64, [2, 2])", "tf.make_tensor_proto(1, tf.float64)"]
    assert not differences([f"{call}.SerializeToString()" for call in calls])
    assert not differences([f"tf.make_ndarray({call}).tolist()" for call in calls])


def test_names_of_tensorflow_1():
    with tf.compat.v1.variable_scope("scope", reuse=True), tf.compat.v1.name_scope(None, "name", [1]):
        tf.compat.v1.random.set_random_seed(3)
    first = tf.random.uniform([2]).numpy()
    tf.random.set_seed(3)
    assert (tf.random.uniform([2]).numpy() == first).all()
    assert tf.compat.v1.audio.decode_wav is tf.audio.decode_wav and tf.compat.v1.lookup is tf.lookup


@pytest.mark.parametrize(
    "call",
    [
        lambda seed: tf.image.stateless_random_brightness(np.ones((4, 4, 3), np.float32), 0.5, seed),
        lambda seed: tf.image.stateless_random_crop(np.arange(300).reshape(10, 10, 3), (2, 2, 3), seed),
        lambda seed: tf.random.stateless_normal([3], seed),
    ],
)
def test_numbers_depend_on_the_seed_alone(call):
    first = call((1, 2)).numpy()
    tf.random.set_seed(5)
    assert (call(tf.constant([1, 2])).numpy() == first).all()
    assert any((call((1, other)).numpy() != first).any() for other in range(3, 9))


def test_flips_depend_on_the_seed_alone():
    image = np.arange(12).reshape(2, 2, 3)
    flips = [tf.image.stateless_random_flip_up_down(image, (0, seed)).numpy() for seed in range(20)]
    assert {tuple(flip.ravel()) for flip in flips} == {tuple(image.ravel()), tuple(image[::-1].ravel())}


def test_a_file_of_another_length_is_an_error(tmp_path):
    (tmp_path / "words").write_text("a\nb\n")
    index = tf.lookup.TextFileIndex
    arguments = (tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
    with pytest.raises(tf.errors.InvalidArgumentError, match="2 lines, but vocab_size is 3"):
        tf.lookup.TextFileInitializer(tmp_path / "words", *arguments, vocab_size=3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="line 0 has 1 columns"):
        tf.lookup.TextFileInitializer(tmp_path / "words", tf.string, 1, tf.int64, index.LINE_NUMBER)
    table = tf.lookup.TextFileInitializer(tmp_path / "words", *arguments, vocab_size=2, value_index_offset=5)
    assert tf.lookup.StaticHashTable(table, -1)["b"].numpy() == 6


def test_a_tensor_array_that_is_closed_is_empty():
    array = tf.TensorArray(tf.int32, size=2)
    array.close()
    assert array.size().numpy() == 0 and array.identity() is array
