"""Scripts that keep TensorFlow, or Keras, for their model, and use `tfrecord_fast.tensorflow` for their data."""

import os
import subprocess
import sys
import textwrap

import pytest

from tests.support import live_tensorflow
from tests.support.paths import ROOT

needs_tensorflow = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

SETUP = """
import numpy as np
import {package} as tf

D = tf.data.Dataset
rng = np.random.default_rng(3)
rows = rng.random((48, 4)).astype(np.float32)
answers = rows.sum(1, keepdims=True)
"""

IDIOMS = {
    "fit": """
        tf.keras.utils.set_random_seed(1)
        train = D.from_tensor_slices((rows, answers)).batch(16).repeat(2)
        seen = D.from_tensor_slices((rows, answers)).filter(lambda x, y: y[0] > 1.0).batch(8)
        model = tf.keras.Sequential([tf.keras.layers.Dense(3), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        history = model.fit(train, epochs=3, validation_data=seen, verbose=0).history
        print([[f"{x:.4f}" for x in history[name]] for name in ("loss", "val_loss")])
        print(f"{model.evaluate(seen, verbose=0):.4f}", model.predict(x=train, verbose=0).shape)
        endless = D.from_tensor_slices((rows, answers)).repeat().batch(16)
        print(len(model.fit(endless, steps_per_epoch=5, epochs=2, verbose=0).history["loss"]))
    """,
    "fit of columns": """
        tf.keras.utils.set_random_seed(1)
        train = D.from_tensor_slices(({"a": rows, "b": rows * 2}, answers)).batch(16)
        inputs = {"a": tf.keras.Input((4,)), "b": tf.keras.Input((4,))}
        model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(inputs["a"] + inputs["b"]))
        model.compile("sgd", "mse")
        print(f"{model.fit(train, epochs=2, verbose=0).history['loss'][-1]:.4f}")
    """,
    "adapt": """
        layer = tf.keras.layers.Normalization()
        layer.adapt(D.from_tensor_slices(rows).batch(16))
        print(np.round(np.asarray(layer(rows)).mean(0) + 1, 3))
        words = tf.keras.layers.TextVectorization()
        words.adapt(D.from_tensor_slices(["a b", "b c b", "b a"]).batch(2))
        print(words.get_vocabulary())
    """,
    "a strategy": """
        strategy = tf.distribute.MirroredStrategy(["/cpu:0"])
        data = D.range(5).batch(2)
        print([x.numpy().tolist() for x in strategy.experimental_distribute_dataset(data)])
        print([x.numpy().tolist() for x in strategy.distribute_datasets_from_function(lambda context: data)])
    """,
    "older functions of Keras": """
        K = tf.keras.backend
        x = tf.constant([[1.0, 2.0]])
        print(K.mean(x).numpy(), K.clip(x, 0, 1).numpy(), K.dot(x, tf.transpose(x)).numpy(), K.softmax(x).numpy())
        print([K.cast(x, "int32").numpy().tolist() for x in D.from_tensor_slices([1.5, 2.5])], K.std(x).numpy())
    """,
    "a layer in a map": """
        layer = tf.keras.layers.Rescaling(2.0, offset=1)
        print([np.asarray(x).tolist() for x in D.from_tensor_slices([[1.0], [3.0]]).map(lambda x: layer(x))])
    """,
    "random_jpeg_quality": """
        images = D.from_tensor_slices(rng.integers(0, 255, (3, 8, 8, 3)).astype(np.uint8))
        print([x.shape for x in images.map(lambda image: tf.image.random_jpeg_quality(image, 50, 90))])
        print([x.dtype for x in images.map(lambda image: tf.image.random_hue(image, 0.1)).batch(2)])
    """,
    "a table": """
        keys, values = tf.constant(["cat", "dog"]), tf.constant([1, 2], tf.int64)
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1)
        names = D.from_tensor_slices(["dog", "cat", "emu"])
        print([int(x) for x in names.map(table.lookup)])
        print([x.numpy().tolist() for x in names.batch(2).map(lambda some: table.lookup(some) * 10)])
    """,
    "function": """
        @tf.function
        def scaled(x, y):
            return tf.reduce_sum(x) * 2 + y

        print([float(scaled(x, tf.constant(1.0))) for x in D.from_tensor_slices([[1.0, 2.0], [3.0, 4.0]])])
        print([float(scaled(x, 1.0)) for x in D.from_tensor_slices([1.0, 4.0])])
    """,
    "debugging, of TensorFlow": """
        checked = D.range(3).map(lambda x: (tf.debugging.assert_type(x, tf.int64), x)[1])
        print([int(x) for x in checked])
        tf.debugging.assert_near(tf.constant([1.0]), tf.constant([1.0]))
    """,
    "gradients": """
        weights = tf.Variable(tf.zeros([4, 1]))
        for x, y in D.from_tensor_slices((rows, answers)).batch(16).repeat(3):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(y - tf.matmul(x, weights)))
                loss = loss + tf.constant(0.0) * loss + 0.0 * tf.reduce_sum(input_tensor=weights)
            weights.assign_sub(0.1 * tape.gradient(loss, weights))
        print(np.round(weights.numpy().ravel(), 3))
    """,
    "sparse and ragged": """
        some = tf.sparse.from_dense([[1, 0], [0, 2]])
        print(tf.sparse.reduce_max(some, 1).numpy())
        print(tf.sparse.sparse_dense_matmul(tf.cast(some, tf.float32), tf.ones([2, 1])))
        print(tf.ragged.stack([tf.ragged.constant([[1], [2, 3]])] * 2).shape)
        print(tf.nn.embedding_lookup(tf.constant([[1.0], [2.0]]), tf.constant([1, 0])).numpy().tolist())
    """,
}


def printed(package):
    """Each idiom's output; one process runs them all, since importing TensorFlow takes seconds."""
    mark = "the next idiom"
    script = "".join(
        f"print({mark!r})\n{SETUP.format(package=package)}{textwrap.dedent(code)}" for code in IDIOMS.values()
    )
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    return dict(zip(IDIOMS, done.stdout.split(f"{mark}\n")[1:], strict=True))


@pytest.fixture(scope="module")
def outputs():
    return printed("tfrecord_fast.tensorflow"), printed("tensorflow")


@needs_tensorflow
@pytest.mark.parametrize("idiom", IDIOMS)
def test_a_script_prints_what_it_prints_with_tensorflow_alone(outputs, idiom):
    ours, expected = outputs
    assert ours[idiom] == expected[idiom]
    assert ours[idiom].strip()


def test_keras_fits_without_tensorflow():
    pytest.importorskip("torch")
    pytest.importorskip("keras")
    masked = "import sys; sys.modules['tensorflow'] = None\n"
    code = IDIOMS["fit of columns"] + "\n        print('tensorflow' in dir(tf.keras))"
    script = masked + SETUP.format(package="tfrecord_fast.tensorflow") + textwrap.dedent(code)
    environment = {**os.environ, "KERAS_BACKEND": "torch"}
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    assert 0 < float(done.stdout.split()[0]) < 5
