"""What becomes of columns in TFRecordPyDataset on one of Keras' backends: see keras_cases.py."""

import keras
import numpy as np

import tfrecord_fast as tf
from tests.integrations.keras_kit import BACKEND, FOLDER, fit, raises
from tests.support.pictures import examples, pictures
from tfrecord_fast.integrations.keras import TFRecordPyDataset

# ---- What becomes of columns ----


ROWS = {"v": [[1, 2], [], [3, 4, 5]], "s": [[b"a"], [b"b"], [b"c"]], "i": [[0], [3], []], "w": [[0.5], [1.5], []]}
MIXED = str(FOLDER / "mixed")
with tf.io.ExampleWriter(MIXED) as _writer:
    _writer.write(ROWS)


def column(feature, **given):
    return TFRecordPyDataset(MIXED, {"c": feature}, **given)[0]["c"]


def case_ragged_columns():
    feature = tf.RaggedFeature(tf.int64, "v")
    for one in (feature, tf.VarLenFeature(tf.int64)):
        made = TFRecordPyDataset(MIXED, {"v": one}, ragged="padded")[0]["v"]
        assert made.tolist() == [[1, 2, 0], [0, 0, 0], [3, 4, 5]]
        made = TFRecordPyDataset(MIXED, {"v": one}, ragged=4)[0]["v"]
        assert made.tolist() == [[1, 2, 0, 0], [0, 0, 0, 0], [3, 4, 5, 0]]
        raises(ValueError, ["'v'", "row 2", "3 values"], TFRecordPyDataset(MIXED, {"v": one}, ragged=2).__getitem__, 0)
    if BACKEND == "tensorflow":
        assert column(feature).to_list() == ROWS["v"]
    else:
        raises(
            ValueError,
            [f"feature 'c' has rows of different lengths, and Keras on {BACKEND} ", "padded"],
            column,
            feature,
        )


def case_strings():
    dataset = TFRecordPyDataset(MIXED, {"s": tf.FixedLenFeature([1], tf.string)})
    if BACKEND == "tensorflow":
        assert dataset[0]["s"].numpy().tolist() == ROWS["s"]
        assert len(TFRecordPyDataset(MIXED)[0].numpy()) == 3
    else:
        raises(ValueError, ["feature 's'", "strings", BACKEND], dataset.__getitem__, 0)
        raises(ValueError, ["strings", BACKEND], TFRecordPyDataset(MIXED).__getitem__, 0)


def case_images():
    path = str(FOLDER / "images")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(examples(pictures(6)))
    features = {"image": tf.ImageFeature(8, dtype=tf.float32, flip=True), "number": tf.FixedLenFeature([], tf.int64)}
    data = TFRecordPyDataset(path, features, label_key="number", batch_size=4, seed=2)
    expected = next(iter(tf.ShardReader(path, features, label_key="number", batch_size=4, seed=2)))[0]["image"]
    np.testing.assert_array_equal(keras.ops.convert_to_numpy(data[0][0]["image"]), expected)
    inputs = keras.Input((8, 8, 3), name="image")
    model = keras.Model({"image": inputs}, keras.layers.Dense(1)(keras.layers.Flatten()(inputs)))
    model.compile("sgd", "mse")
    assert len(fit(data, model, epochs=2)["loss"]) == 2
    raises(ValueError, ["'image'", "one size"], TFRecordPyDataset, path, {"image": tf.ImageFeature()})


def case_sparse_columns():
    feature = tf.SparseFeature("i", "w", tf.float32, 4)
    if BACKEND == "torch":
        raises(ValueError, ["feature 'c'", "sparse"], column, feature)
        return
    made = column(feature)
    dense = made.todense() if BACKEND == "jax" else keras.ops.convert_to_numpy(made)
    assert np.asarray(dense).tolist() == [[0.5, 0, 0, 0], [0, 0, 0, 1.5], [0, 0, 0, 0]]


def case_models_take_sparse_columns():
    if BACKEND == "torch":
        return
    features = {"c": tf.SparseFeature("i", "w", tf.float32, 4)}
    data = TFRecordPyDataset(MIXED, features, transform=lambda columns: (columns["c"], np.ones(3, np.float32)))
    inputs = keras.Input((4,), sparse=True)
    made = keras.Model(inputs, keras.layers.Dense(1)(inputs))
    made.compile("sgd", "mse")
    assert len(fit(data, made, epochs=2)["loss"]) == 2


def case_padded_columns_of_one_length_are_trained_on():
    path = str(FOLDER / "lengths")
    with tf.io.ExampleWriter(path) as writer:
        writer.write({"v": [[1] * (i % 5) for i in range(12)], "y": [1.0] * 12})
    features = {"v": tf.VarLenFeature(tf.int64), "y": tf.FixedLenFeature([], tf.float32)}
    data = TFRecordPyDataset(
        path, features, label_key="y", ragged=5, batch_size=2, transform=lambda batch: (batch[0]["v"], batch[1])
    )
    made = keras.Sequential([keras.layers.Embedding(3, 2), keras.layers.Flatten(), keras.layers.Dense(1)])
    made.compile("sgd", "mse")
    assert len(fit(data, made, epochs=2)["loss"]) == 2


def case_numbers_are_not_cut():
    path = str(FOLDER / "large")
    with tf.io.ExampleWriter(path) as writer:
        writer.write({"id": [1, 5_000_000_000]})
    data = TFRecordPyDataset(path, {"id": tf.FixedLenFeature([], tf.int64)})
    if BACKEND == "jax":
        raises(ValueError, ["feature 'id'", "5000000000", "int32"], data.__getitem__, 0)
    else:
        assert data[0]["id"].tolist() == [1, 5_000_000_000]
