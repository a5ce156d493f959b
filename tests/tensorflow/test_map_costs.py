"""`port` tells which functions run on blocks, and why others do not."""

import logging
import textwrap

import pytest

import tfrecord_fast.tensorflow as tf
from tfrecord_fast.data.nodes.blocks.sizes import fixed
from tfrecord_fast.tensorflow.porting import costs

IMPORTS = """\
import functools, json, random
import numpy as np
import tfrecord_fast.tensorflow as tf
from tensorflow import keras
"""


def costs_of(code):
    """Return (runs, line of the code, advice) for each cost of a script."""
    first = IMPORTS.count("\n")
    return [
        (cost.runs, cost.because and cost.because - first, cost.advice)
        for cost in costs(IMPORTS + textwrap.dedent(code))
    ]


# The body of a function of x, a scalar int64; whether it runs on blocks; text in the advice.
BODIES = [
    ("return x * 2", True, ""),
    ("return tf.one_hot(x, 4), tf.zeros([2])", True, ""),
    ("if x > 2:\n    return x\nreturn -x", True, ""),
    ("return tf.cond(x > 2, lambda: x, lambda: -x)", True, ""),
    ("return tf.strings.as_string(x)", True, ""),
    ("return x * np.int64(3)", True, ""),
    ("return tf.fill([int(x) % 3], 1)", True, "int of a tensor runs once for each value"),
    ("return x + random.randrange(3)", True, "random.randrange is called once per block, not for each record"),
    ("print('called')\nreturn x", True, "print is called once per block"),
    ("SEEN.append(1)\nreturn x", True, "SEEN.append is called once per block"),
    ("SEEN[0] = 1\nreturn x", True, "SEEN[0] changes once per block"),
    ("return x.numpy() + 1", False, "x.numpy() needs one record"),
    ("return np.square(x)", False, "np.square gets a tensor"),
    ("return json.loads(tf.strings.as_string(x))", False, "json.loads gets a tensor"),
    ("return tf.py_function(lambda y: y, [x], tf.int64)", False, "tf.py_function needs one record"),
    ("return tf.numpy_function(np.abs, [x], tf.int64)", False, "tf.numpy_function needs one record"),
    ("tf.print(x)\nreturn x", False, "tf.print needs one record"),
    ("print(x)\nreturn x", False, "print needs the value of one record"),
    ("return tf.constant(str(x))", False, "str needs the value of one record: use tf.strings.as_string"),
    ("return tf.constant(f'{x}')", False, "an f-string needs the value of one record"),
    ("return tf.constant('{}'.format(x))", False, "'{}'.format needs the value of one record"),
    ("return int(tf.strings.as_string(x).decode())", False, "is a method of bytes"),
    ("return TABLE[tf.strings.as_string(x)]", False, "a tensor is a key of a dict"),
]


@pytest.mark.parametrize("body, on_blocks, advice", BODIES, ids=[body for body, *_ in BODIES])
def test_functions_run_as_the_costs_say(body, on_blocks, advice, caplog):
    code = f"SEEN = [0]\nTABLE = {{b'%d' % n: n for n in range(8)}}\ndef f(x):\n{textwrap.indent(body, '    ')}\n"
    script = IMPORTS.replace("from tensorflow import keras\n", "") + code
    names = {}
    exec(compile(script, "script", "exec"), names)
    caplog.set_level(logging.DEBUG, "tfrecord_fast")
    with fixed(4):
        list(tf.data.Dataset.range(8).map(names["f"]))
    assert ("record by record" in caplog.text) == (not on_blocks)

    (found,) = costs_of(code + "tf.data.Dataset.range(8).map(f)")
    assert found[0] == ("blocks" if on_blocks else "records")
    assert advice in found[2] and bool(advice) == bool(found[2])


def test_the_line_of_the_reason():
    code = """
    def inner(x, size):
        return tf.image.resize(x, [size, size]) + np.mean(x)

    def outer(x):
        return inner(x, 3)

    ds.map(outer)
    """
    assert costs_of(code) == [("records", 3, "np.mean gets a tensor: write it with functions of tf")]


@pytest.mark.parametrize(
    "code",
    [
        "ds.map(lambda x: x.numpy())",
        "f = lambda x: x.numpy()\nds.map(f)",
        "def make():\n    def f(x):\n        return x.numpy()\n    return f\nds.map(make())",
        "def f(x, size):\n    return x.numpy()\nds.map(functools.partial(f, size=3), num_parallel_calls=2)",
        "class A:\n    def f(self, x):\n        return x.numpy()\n    def g(self):\n        return ds.map(self.f)",
        "ds.filter(predicate=lambda x: x.numpy() > 1)",
        "ds.batch(2).unbatch().map(lambda x: x.numpy())",
    ],
)
def test_functions_are_found(code):
    assert [runs for runs, *_ in costs_of(code)] == ["records"]


@pytest.mark.parametrize(
    "code, advice",
    [
        ("ds.map(lambda x: tf.keras.layers.Rescaling(2.0)(x))", "Keras's"),
        ("layer = keras.layers.Rescaling(2.0)\nds.map(lambda x: layer(x))", "layer is a Keras layer"),
        ("ds.map(lambda x: tf.nn.relu(x))", "tf.nn.relu is TensorFlow's own function"),
        ("ds.map(tf.nn.relu)", "tf.nn.relu is TensorFlow's own function"),
    ],
)
def test_what_is_tensorflows_needs_records(code, advice):
    ((runs, _, text),) = costs_of(code)
    assert runs == "records" and advice in text and text.endswith("call it on batches, after batch")


def test_shapes_and_arguments_with_defaults_are_not_tensors():
    code = """
    def f(x, size=np.float32(3)):
        count = len(x)
        return tf.zeros([int(np.prod(x.shape)), int(size), json.loads("3"), int(count)])

    ds.map(f)
    """
    assert costs_of(code) == [("blocks", None, "")]


@pytest.mark.parametrize("code", ["pool.map(f, files)", "executor.map(f, files)", "frame['a'].map(f)", "np.map(f)"])
def test_other_maps_are_not_reported(code):
    assert not costs_of(code)


def test_functions_of_other_modules_are_unknown_and_those_on_batches_are_cheap():
    assert costs_of("from mine import f\nds.map(f)\nds.batch(2).prefetch(1).map(lambda x: x.numpy())") == [
        ("unknown", None, ""),
        ("batches", None, ""),
    ]
