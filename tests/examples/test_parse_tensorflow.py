"""TensorFlow as the oracle: random cases, and the real files with inferred features."""

import os
import subprocess
import sys

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import live_tensorflow, oracle
from tests.support.paths import REAL_FILES, ROOT
from tests.support.real_files import manifest
from tools import differential

# Not imported here: it would stay loaded for all tests of the run.
pytestmark = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")

CASES = int(os.environ.get("TFRECORD_FAST_CASES", "400"))


@pytest.fixture(scope="module")
def tensorflow():
    with oracle.Oracle() as running:
        yield running


def test_random_cases_agree(tensorflow):
    seed = int.from_bytes(os.urandom(4), "little")
    found = [
        text
        for start in range(seed, seed + CASES, 100)
        for _, text in differential.compare(range(start, start + 100), tensorflow, tf)
    ]
    assert not found, f"seed {seed}: {found[0]}"


def files():
    """(path, kind) of the manifest's files of Examples and SequenceExamples."""
    return [
        pytest.param(REAL_FILES / row["file"], row["kind"], id=row["file"])
        for row in manifest()
        if row["kind"] in ("Example", "SequenceExample")
    ]


def described(features):
    out = {}
    for key, feature in features.items():
        kind = type(feature).__name__
        if kind == "FixedLenFeature":
            out[key] = ("fixed", list(feature.shape), feature.dtype.name, None)
        elif kind == "VarLenFeature":
            out[key] = ("varlen", feature.dtype.name)
        else:
            out[key] = ("sequence", list(feature.shape), feature.dtype.name, True, None)
    return out


@pytest.mark.skipif(not REAL_FILES.is_dir(), reason=f"no real files at {REAL_FILES}")
@pytest.mark.parametrize("path, kind", files())
def test_real_files_parse_to_the_same_columns(path, kind, tensorflow):
    records = [record for batch in tf.TFRecordDataset(path).batch(1000) for record in batch][:2000]
    if kind == "Example":
        case = {"call": "example", "features": described(tf.infer_features(path)), "records": records}
    else:
        context, lists = tf.io.infer_sequence_features(path)
        case = {"call": "sequence", "features": described(context), "lists": described(lists), "records": records}
    (theirs,) = tensorflow.ask([case])
    ours = oracle.answer(tf, case)
    assert ours[0] == "ok", ours
    assert differential.difference(ours, theirs) is None


HAND_WRITTEN = {
    "tensorflow+tfx/mnist.tfrecord": (
        {"image_class": ("fixed", [], "int64", None), "image_floats": ("fixed", [28, 28], "float32", None)},
        None,
    ),
    "spotify+spotify-tensorflow/part-00000-of-00004.tfrecords": (
        {
            "company": ("fixed", [], "string", "none"),
            "dropoff_latitude": ("fixed", [1], "float32", [0.0]),
            "fare": ("sequence", [], "float32", True, -1.0),
            "trip_seconds": ("varlen", "int64"),
            "trip_id": ("ragged", "string", None, [], "int64", True),
        },
        None,
    ),
    "linkedin+detext/hc_examples.tfrecord": (
        {
            "wide": ("ragged", "float32", "wide_ftrs", [("UniformRowLength", 10)], "int32", True),
            "doc_title": ("sequence", [], "string", True, "?"),
            "label": ("varlen", "float32"),
        },
        None,
    ),
    "salesforce+ml4ir/ranking-tests-data-tfrecord-train-file_0.tfrecord": (
        {"query_id": ("fixed", [], "string", None), "domain_id": ("varlen", "int64")},
        {
            "rank": ("ragged", "int64", None, [], "int32", False),
            "clicked": ("varlen", "int64"),
            "quality_score": ("varlen", "float32"),
        },
    ),
    "pytorch+data/sequence_example.tfrecord": (
        {"x_int": ("fixed", [10], "int64", None), "x_byte": ("ragged", "string", None, [], "int64", False)},
        {
            "x_float_seq": ("sequence", [10], "float32", False, None),
            "x_byte_seq": ("sequence", [1], "string", True, None),
        },
    ),
}


@pytest.mark.skipif(not REAL_FILES.is_dir(), reason=f"no real files at {REAL_FILES}")
@pytest.mark.parametrize("name", HAND_WRITTEN)
def test_real_files_with_features_by_hand(name, tensorflow):
    records = list(tf.TFRecordDataset(REAL_FILES / name))
    features, lists = HAND_WRITTEN[name]
    calls = [("example", records), ("single", records[:1])]
    if lists is not None:
        calls = [("sequence", records), ("single_sequence", records[-1:])]
    cases = [{"call": call, "features": features, "lists": lists, "records": some} for call, some in calls]
    for case, theirs in zip(cases, tensorflow.ask(cases), strict=True):
        assert theirs[0] == "ok", theirs
        assert differential.difference(oracle.answer(tf, case), theirs) is None


def test_tensorflows_own_feature_objects_are_accepted():
    code = """
import tensorflow as real, tfrecord_fast as tf
from tests.support import wire_writer as wire
message = wire.example(
    [(b"a", wire.feature("int64", [1])), (b"v", wire.feature("float", [2.0])), (b"r", wire.feature("int64", [0, 1]))]
)
features = {"a": real.io.FixedLenFeature([], real.int64), "v": real.io.VarLenFeature(real.float32),
            "p": real.io.RaggedFeature(real.float32, "w", [real.io.RaggedFeature.RowSplits("r")]),
            "q": real.io.FixedLenSequenceFeature([], real.string, True)}
parsed = tf.parse_example([message], features)
assert parsed["a"].tolist() == [1] and parsed["v"].values.tolist() == [2.0] and parsed["p"].to_list() == [[[]]]
"""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT, env=env)


GOOD = ("ok", [[("a", ("dense", np.arange(3)))]])


def test_the_same_answers_do_not_differ():
    assert differential.difference(GOOD, GOOD) is None


@pytest.mark.parametrize("other", [np.arange(4), np.arange(3, dtype=np.int32), np.arange(1, 4)], ids=str)
def test_answers_of_other_shapes_dtypes_or_values_differ(other):
    assert differential.difference(GOOD, ("ok", [[("a", ("dense", other))]])) is not None


def test_an_error_differs_from_an_answer():
    assert differential.difference(GOOD, ("error", "X", "")) is not None
