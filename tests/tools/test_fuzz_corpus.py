"""What fuzzing has found worth keeping: every varint backend makes the same of it.

tools/fuzz/corpus/parse holds seeds, tools/fuzz/found.tfrecord.gz what the fuzzer grew them to (its minimised corpus).
"""

import pytest

import tfrecord_fast as tf
from tests.support.oracle import neutral
from tests.support.paths import FUZZ
from tfrecord_fast import _core

SEEDS = [path.read_bytes() for path in sorted((FUZZ / "corpus" / "parse").iterdir())]
FOUND = list(tf.data.TFRecordDataset(FUZZ / "found.tfrecord.gz"))
# The fuzzer's first byte chooses its schema; the rest is a record.
RECORDS = [data[1:] for data in SEEDS + FOUND]

EXAMPLE_FEATURES = [
    {"a": tf.VarLenFeature(tf.int64), "b": tf.VarLenFeature(tf.float32), "c": tf.VarLenFeature(tf.string)},
    {"a": tf.FixedLenFeature([], tf.int64, 1), "b": tf.FixedLenFeature([3], tf.float32, [1.0, 2.0, 3.0])},
    {"a": tf.FixedLenSequenceFeature([2], tf.int64, True), "": tf.RaggedFeature(tf.int64)},
]
LIST_FEATURES = [
    {"a": tf.VarLenFeature(tf.int64), "b": tf.VarLenFeature(tf.float32), "c": tf.VarLenFeature(tf.string)},
    {"a": tf.FixedLenSequenceFeature([], tf.int64, True), "": tf.RaggedFeature(tf.int64)},
]


def outcome(parse, *args):
    try:
        parsed = parse(*args)
    except ValueError as error:
        return f"{type(error).__name__}: {error}"
    parts = parsed if isinstance(parsed, tuple) else (parsed,)
    return [{key: repr(neutral(value)) for key, value in part.items()} for part in parts]


def outcomes(record):
    for features in EXAMPLE_FEATURES:
        yield outcome(tf.parse_example, [record, record], features)
        yield outcome(tf.parse_single_example, record, features)
    for features in LIST_FEATURES:
        yield outcome(tf.parse_sequence_example, [record], EXAMPLE_FEATURES[0], features)


@pytest.fixture(scope="module")
def of_portable():
    before = _core.varint_backend()
    _core.set_varint_backend("portable")
    _core.set_tensorflow_words(False)  # as in the tests, which come later
    expected = [list(outcomes(record)) for record in RECORDS]
    _core.set_varint_backend(before)
    return expected


@pytest.mark.parametrize("backend", [name for name in _core.varint_backends() if name != "portable"])
def test_every_backend_agrees_with_the_portable_one(backend, of_portable):
    before = _core.varint_backend()
    _core.set_varint_backend(backend)
    try:
        for record, expected in zip(RECORDS, of_portable, strict=True):
            assert list(outcomes(record)) == expected, record
    finally:
        _core.set_varint_backend(before)


def test_the_corpus_has_both_good_records_and_bad_ones(of_portable):
    good = sum(not isinstance(result, str) for results in of_portable for result in results)
    assert 0.1 < good / sum(map(len, of_portable)) < 0.9
