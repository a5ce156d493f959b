"""Errors of the parsers begin with TensorFlow's words, which its tests look for."""

import json
import re
import subprocess
import sys

import pytest

from tests.support import live_tensorflow
from tests.support.paths import ROOT

# name: (records, features) as text, run with both; `wire` makes the records, `io` is tf.io.
BATCHES = {
    "floats": (
        "[b'', example(a=('float', [1.0]))]",
        "io.FixedLenFeature([2], tf.float32, [0.0, 0.0])",
    ),
    "int64s": ("[example(a=('int64', [1, 2, 3]))]", "io.FixedLenFeature([2], tf.int64)"),
    "strings": ("[example(a=('bytes', [b'1']))]", "io.FixedLenFeature([2], tf.string)"),
    "no values": ("[example(a=('int64', []))]", "io.FixedLenFeature([2], tf.int64)"),
    "missing float": ("[example(a=('float', [1.0])), b'']", "io.FixedLenFeature([], tf.float32)"),
    "missing int64": ("[example(b=('float', [1.0]))]", "io.FixedLenFeature([], tf.int64)"),
    "missing string": ("[b'', b'']", "io.FixedLenFeature([2, 3], tf.string)"),
    "kind": ("[b'', example(a=('int64', [1]))]", "io.FixedLenFeature([], tf.float32, 0.0)"),
    "kind of a list": ("[b'', example(a=('int64', [1]))]", "io.VarLenFeature(tf.string)"),
    "kind of a ragged row": ("[example(a=('int64', [1]))]", "io.RaggedFeature(tf.float32)"),
    "kind of steps": ("[example(a=('int64', [1]))]", "io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)"),
    "multiple": (
        "[example(a=('float', [1.0] * 3))]",
        "io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True)",
    ),
    "no Example": ("[b'garbage']", "io.VarLenFeature(tf.float32)"),
}
LISTS = {
    "missing list": ("sequence()", "io.FixedLenSequenceFeature([], tf.float32)"),
    "kind in a list": ("sequence(('float', [1.0]), ('int64', [1]))", "io.FixedLenSequenceFeature([], tf.float32)"),
    "kind in a sparse list": ("sequence(('float', [1.0]), ('int64', [1]))", "io.VarLenFeature(tf.float32)"),
    "count in a list": (
        "sequence(('float', [1]), ('float', [1] * 2))",
        "io.FixedLenSequenceFeature([], tf.float32)",
    ),
    "no SequenceExample": ("b'garbage'", "io.VarLenFeature(tf.float32)"),
}
CONTEXTS = {
    "kind in a context": (
        "context(('int64', [1]))",
        "io.FixedLenFeature([], tf.float32)",
    ),
    "kind in a sparse context": (
        "context(('int64', [1]))",
        "io.VarLenFeature(tf.float32)",
    ),
}
SCRIPT = f"""
import json, sys
from tests.support import wire_writer as wire
import tensorflow as tf
io = tf.io
def example(**features):
    return wire.example([(key.encode(), wire.feature(*value)) for key, value in features.items()])
def sequence(*steps):
    return wire.sequence_example([], [(b"a", [wire.feature(*step) for step in steps])] if steps else [])
def context(value):
    return wire.sequence_example([(b"a", wire.feature(*value))], [])
def words(parse, *args):
    try:
        parse(*args)
    except tf.errors.InvalidArgumentError as error:
        return str(error)
    return "no error"
found = {{}}
for name, (records, features) in {BATCHES!r}.items():
    records, features = eval(records), {{"a": eval(features)}}
    found[name] = words(io.parse_example, records, features)
    found[name + ", alone"] = words(io.parse_single_example, records[-1], features)
for name, (record, feature) in {LISTS!r}.items():
    found[name] = words(io.parse_sequence_example, [eval(record)], {{}}, {{"a": eval(feature)}})
for name, (record, feature) in {CONTEXTS!r}.items():
    found[name] = words(io.parse_sequence_example, [eval(record)], {{"a": eval(feature)}})
print("found", json.dumps(found))
"""

# TensorFlow's message is shorter here; the words that its tests look for are there.
SHORTER = {"a list slice": (r": Some \w+ slice was not parsed\.", ""), "bytes": (r": Parsing bytes_list failed\.", "")}


def run(script):
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("found "))[6:])


def their_words(error):
    """Without the operation's name, the placeholder for a name, and where a lone record's error is."""
    text = re.sub(r"^\{\{.*?\}\} | \[Op:\w+\].*$", "", error, flags=re.S)
    text = text.removeprefix("Name: <unknown>, ")
    for shorter, words in SHORTER.values():
        text = re.sub(shorter, words, text)
    text = re.sub("  Did you mean to include it in .*", "", text)
    return text.replace(", example id: <unknown>", "").rstrip("'")


@pytest.fixture(scope="module")
def theirs():
    if not live_tensorflow.INSTALLED:
        pytest.skip("TensorFlow is not installed")
    return run(SCRIPT)


@pytest.fixture(scope="module")
def ours():
    return run(SCRIPT.replace("import tensorflow as tf", "import tfrecord_fast.tensorflow as tf"))


NAMES = [*BATCHES, *(f"{name}, alone" for name in BATCHES), *LISTS, *CONTEXTS]


@pytest.mark.parametrize("name", NAMES)
def test_an_error_of_the_parsers_starts_with_tensorflows_words(name, ours, theirs):
    if name == "multiple, alone":
        assert "number of elements should be divisible by 2" in theirs[name]  # another message for a single Example
        assert ours[name].startswith(
            "Key: a.  Can't parse serialized Example: Number of float values is not a multiple"
        )
        return
    words = their_words(theirs[name])
    assert words != "no error" and ours[name].startswith(words), (words, ours[name])
