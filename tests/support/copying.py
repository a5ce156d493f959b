"""What the tests of commands that copy records share: files of records of all kinds, a runner."""

import json
import os

import hypothesis.strategies as st
import numpy as np
import pytest

import tfrecord_fast as tf
from tfrecord_fast.cli import main

COMPRESSIONS = ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"]

# Of any kind, empty ones and equal ones among them.
records = st.lists(st.one_of(st.binary(max_size=40), st.sampled_from([b"", b"same", b"\0" * 70_000])), max_size=60)


def write(path, given, compression=""):
    with tf.io.TFRecordWriter(path, compression) as writer:
        writer.write_batch(list(given))
    return str(path)


def read(*paths):
    return [record for path in paths for record in tf.data.TFRecordDataset(str(path))]


def examples(path, n, compression="", **columns):
    """n Examples with an id, and other columns; as bytes."""
    encoded = tf.encode_examples({"id": np.arange(n), **columns})
    return write(path, encoded, compression), encoded.tolist()


def ids(*paths):
    batch = read(*paths)
    return tf.io.parse_example(batch, {"id": tf.io.FixedLenFeature([], tf.int64)})["id"].tolist() if batch else []


@pytest.fixture(name="run")
def run_fixture(capsysbinary):
    """Runs a command line in this process; returns (status, what it printed, what it complained about)."""

    def call(*argv):
        try:
            status = main([str(one) for one in argv])
        except SystemExit as end:
            status = end.code
        printed = capsysbinary.readouterr()
        return status, printed.out.decode(), printed.err.decode()

    return call


@pytest.fixture(name="run_json")
def run_json_fixture(run):
    """The same with --json; returns the objects, and expects status 0."""

    def call(*argv):
        status, out, err = run(*argv, "--json")
        assert (status, err) == (0, "")
        return [json.loads(line) for line in out.splitlines()]

    return call


def quiet(*argv):
    """The status of a command line that is run in this process."""
    return main([str(one) for one in argv])


def names(folder):
    return sorted(os.listdir(folder))
