"""Datasets and ShardReader go into Keras (on JAX, on PyTorch), a PyTorch DataLoader and a plain JAX loop."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tfrecord_fast as tf

pytest.importorskip("google.protobuf")

ROWS = 96

MAKE = """
import os, sys
sys.modules["tensorflow"] = None  # not to be imported
import numpy as np
import tfrecord_fast as tf
features = {"x": tf.FixedLenFeature([3], tf.float32), "y": tf.FixedLenFeature([], tf.float32)}
dataset = (
    tf.data.TFRecordDataset(path).shuffle(100, seed=1).repeat().batch(16)
    .map(lambda batch: tf.parse_example(batch, features)).map(lambda c: (c["x"], c["y"])).prefetch(2)
)
reader = tf.ShardReader(path, features, batch_size=16, num_epochs=None, shuffle_buffer=100, seed=1, label_key="y")
"""
KERAS = """
import keras
for batches in [dataset, ((columns["x"], y) for columns, y in reader)]:
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(0.1), "mse")
    history = model.fit((batch for batch in batches), steps_per_epoch=6, epochs=8, shuffle=False, verbose=0)
    losses = history.history["loss"]
    assert losses[-1] < 0.05 * losses[0], losses
    once = tf.data.TFRecordDataset(path).batch(16).map(lambda b: tf.parse_example(b, features))
    whole = model.evaluate(((c["x"], c["y"]) for c in once), verbose=0)
    assert whole < 0.05 * losses[0], (whole, losses)
"""
JAX = """
import jax, jax.numpy as jnp

@jax.jit
def step(w, x, y):
    loss, slope = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w - 0.2 * slope, loss

for batches in [dataset, ((columns["x"], y) for columns, y in reader)]:
    w = jnp.zeros(3)
    for x, y in tf.data.Dataset.from_generator(lambda: batches).take(60):
        w, loss = step(w, x, y)
    assert loss < 1e-3 and np.abs(w - np.array([1, -2, 3])).max() < 0.1, (loss, w)
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("feeding") / "rows.tfrecord"
    x = np.random.default_rng(0).normal(size=(ROWS, 3)).astype(np.float32)
    with tf.io.TFRecordWriter(path) as writer:
        for row in x:
            writer.write(tf.train.example({"x": row, "y": row @ np.float32([1, -2, 3])}).SerializeToString())
    return str(path)


def run(code, path, **environment):
    source = f"path = {path!r}\n" + textwrap.dedent(MAKE) + code
    result = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, env={**os.environ, **environment}
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_keras_fits_on_datasets_and_readers(backend, path):
    run(KERAS, path, KERAS_BACKEND=backend)


@pytest.mark.parametrize("code", [JAX], ids=["jax"])
def test_loops_take_what_iterating_gives(code, path):
    run(code, path)
