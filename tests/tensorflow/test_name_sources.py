"""Names come from this package, or from TensorFlow, which is imported only when needed."""

import gzip
import json
import subprocess
import sys

import pytest

from tests.support import live_tensorflow
from tests.support.paths import ROOT
from tests.tensorflow import script_names

WITHOUT = "import sys; sys.modules['tensorflow'] = None\n"
IMPORT = "import tfrecord_fast.tensorflow as tf\n"


def run(code):
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_tensorflow_is_not_imported():
    code = "import sys, tfrecord_fast.tensorflow as tf, tfrecord_fast.tensorflow.compat.v1\n"
    code += "for name in set(tf.__all__) - {'keras'}: getattr(tf, name)\n"  # Keras imports its backend
    code += "list(tf.data.Dataset.range(3).map(lambda x: tf.cast(x, tf.float32)).batch(2))\n"
    code += "tf.image.resize, tf.strings.join\n"
    assert run(code + "print('tensorflow' in sys.modules)") == "False"


@pytest.mark.parametrize("name", ["lookup.StaticVocabularyTable", "image.sobel_edges", "nothing_like_it", "Variable"])
def test_the_error_for_a_missing_name_mentions_tensorflow(name):
    code = (
        f"{WITHOUT}import tfrecord_fast.tensorflow as tf\ntry: tf.{name}\nexcept AttributeError as error: print(error)"
    )
    assert "is not implemented by tfrecord_fast, and TensorFlow is not installed." in run(code)


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_the_error_for_a_name_that_does_not_exist():
    code = (
        "import tfrecord_fast.tensorflow as tf\ntry: tf.nothing_like_it\nexcept AttributeError as error: print(error)"
    )
    assert run(code) == "tf.nothing_like_it exists neither in tfrecord_fast nor in the TensorFlow that is installed."


def test_the_messages_of_examples_are_where_scripts_import_them_from():
    code = f"{IMPORT}from tfrecord_fast.tensorflow.core.example import example_pb2, feature_pb2\n"
    code += "print(example_pb2.Example is tf.train.Example, feature_pb2.Features is tf.train.Features)"
    assert run(code) == "True True"


@pytest.mark.skipif(not script_names.SCRIPTS.exists(), reason="the list of scripts is not here")
def test_public_scripts_find_their_names(monkeypatch):
    with gzip.open(script_names.SCRIPTS) as file:
        scripts = json.load(file)
    monkeypatch.setattr(script_names.fallback, "installed", lambda: False)
    lists = script_names.missing(scripts)
    assert sum(not item for item in lists) >= 0.97 * len(scripts)
    assert len(scripts) == 587
    assert [name for item in lists for name in item if script_names.reason(name) is None] == []
