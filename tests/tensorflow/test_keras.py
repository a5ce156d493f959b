"""`tf.keras` where TensorFlow is not installed: imports, older backend functions, layers that adapt, and training."""

import os
import subprocess
import sys
import textwrap

import pytest

from tests.support.paths import ROOT

HIDE_TENSORFLOW = """
import importlib.machinery
find = importlib.machinery.PathFinder.find_spec
importlib.machinery.PathFinder.find_spec = lambda name, *more: None if name == "tensorflow" else find(name, *more)
"""
SCRIPTS = {
    "Keras is imported when it is used": """
        # Imports
        import tfrecord_fast.tensorflow as tf
        import tfrecord_fast.tensorflow.keras.backend as K
        from tfrecord_fast.tensorflow import keras
        from tfrecord_fast.tensorflow.keras import layers
        from tfrecord_fast.tensorflow.keras.applications.resnet50 import preprocess_input
        from tfrecord_fast.tensorflow.keras.layers import Dense
        from tfrecord_fast.tensorflow.keras.preprocessing.image import ImageDataGenerator
        assert Dense is layers.Dense is tf.keras.layers.Dense and K is tf.keras.backend is keras.backend
        assert K.epsilon() == 1e-7 and tf.keras.preprocessing.image.ImageDataGenerator is ImageDataGenerator

        # Older functions, of tensors
        x = tf.constant([[1.0, 2.0]])
        assert K.mean(K.square(x)).numpy() == 2.5 and K.clip(x, 0, 1).numpy().tolist() == [[1, 1]]
        assert K.dot(x, tf.transpose(x)).numpy() == 5 and K.concatenate([x, x]).shape == (1, 4)
        assert K.cast(x, "int32").dtype == tf.int32 and K.argmax(x).numpy() == 1
        assert K.zeros((2, 3)).shape == (2, 3) and K.cast_to_floatx([1]).dtype == "float32"
        assert all(isinstance(y, tf.Tensor) for y in (K.ones(2), K.cast_to_floatx(tf.constant(1)), K.variable(1.0)))

        # Older functions, of Keras' tensors
        def loss(true, predicted):
            return K.mean(K.square(K.flatten(true) - K.flatten(predicted)), axis=-1)

        def recall(true, predicted):
            return K.sum(K.round(K.clip(true, min_value=0, max_value=1))) / (K.sum(K.ones_like(true)) + K.epsilon())

        data = tf.data.Dataset.from_tensor_slices(([[1.0], [2.0]], [[1.0], [0.0]])).batch(2)
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("sgd", loss, metrics=[recall])
        history = model.fit(data, verbose=0).history
        assert abs(history["recall"][0] - 0.5) < 1e-5, history
    """,
    "Keras is imported late": """
        import tfrecord_fast.tensorflow as tf
        data = tf.data.Dataset.from_tensor_slices(([[1.0]], [[1.0]])).filter(lambda x, y: True).batch(1)
        from tfrecord_fast.tensorflow.keras.layers import Dense
        import keras
        model = keras.Sequential([Dense(1)])
        model.compile("sgd", "mse")
        assert len(model.fit(data, epochs=2, verbose=0).history["loss"]) == 2
    """,
    "Keras is imported first, and layers adapt": """
        import keras, numpy as np
        import tfrecord_fast.tensorflow as tf
        for layer in (keras.layers.Normalization(), tf.keras.layers.Normalization()):
            layer.adapt(tf.data.Dataset.from_tensor_slices([[1.0], [3.0]]).batch(1))
            assert np.allclose(keras.ops.convert_to_numpy(layer(np.float32([[2.0], [3.0]]))), [[0], [1]])
        layer = keras.layers.Normalization()
        layer.adapt(tf.data.Dataset.from_tensor_slices([[1.0, 5.0], [3.0, 7.0]]))
        assert np.asarray(keras.ops.convert_to_numpy(layer.mean)).tolist() == [[2, 6]]
        bins = keras.layers.Discretization(num_bins=2)
        bins.adapt(tf.data.Dataset.from_tensor_slices([[1.0], [3.0], [9.0]]).batch(2))
        assert len(bins.bin_boundaries) == 1
        layer.adapt(np.ones((4, 2)))
    """,
}


@pytest.mark.parametrize("backend", ["jax", "torch"])
@pytest.mark.parametrize("name", SCRIPTS)
def test_keras_without_tensorflow(name, backend):
    pytest.importorskip("keras")
    pytest.importorskip(backend)
    code = HIDE_TENSORFLOW + textwrap.dedent(SCRIPTS[name]) + "\nimport sys; assert 'tensorflow' not in sys.modules"
    environment = {**os.environ, "KERAS_BACKEND": backend}
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]


def test_keras_that_is_not_installed_is_named():
    code = """
    import sys
    sys.modules.update(tensorflow=None, keras=None)
    import tfrecord_fast.tensorflow as tf
    for code in ("tf.keras.layers", "from tfrecord_fast.tensorflow.keras.layers import Dense", "tf.keras.backend.sum"):
        try:
            exec(code)
        except ModuleNotFoundError as error:
            assert "pip install keras" in str(error)
        else:
            raise SystemExit(code)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, check=True)
