"""What the workloads of the fault tests share: their input files, the kinds of wrong, the registry.

A workload is small, uses all of one path through the package, and says whether its answer is right.
"""

import os
import random

import numpy as np

import tfrecord_fast as tf

COMPRESSIONS = ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"]
_draw = random.Random(7)
RECORDS = [_draw.randbytes(_draw.randrange(300)) for _ in range(250)] + [_draw.randbytes(90_000), b"", b"last"]
ROWS = 300
COLUMNS = {
    "i": np.arange(ROWS),
    "f": np.linspace(0, 1, ROWS * 4, dtype=np.float32).reshape(ROWS, 4),
    "s": [b"row %d" % i for i in range(ROWS)],
}
FEATURES = {
    "f": tf.io.FixedLenFeature([4], tf.float32),
    "i": tf.io.FixedLenFeature([], tf.int64),
    "s": tf.io.FixedLenFeature([], tf.string),
}


class Wrong(Exception):
    """A wrong answer, or something wrong that was left."""


class Refused(Exception):
    """A command that reported a problem and ended with another status than 0."""


class Skipped(Exception):
    """Part of a file was skipped, and the reader's list says so."""


def expect(what, truth):
    if not truth:
        raise Wrong(what)


class Inputs:
    """The files that workloads read, made once."""

    def __init__(self, folder):
        self.folder = folder
        for kind in COMPRESSIONS:
            with tf.io.TFRecordWriter(self.records(kind), kind) as writer:
                writer.write_batch(RECORDS)
        self.rows = tf.encode_examples(COLUMNS)
        self.sequence_rows = [
            tf.train.SequenceExample(
                context=tf.train.Features(feature={"c": tf.train.Feature(int64_list=tf.train.Int64List(value=[i]))}),
                feature_lists=tf.train.FeatureLists(
                    feature_list={
                        "t": tf.train.FeatureList(
                            feature=[tf.train.Feature(float_list=tf.train.FloatList(value=[float(i), 1.0]))] * (i % 4)
                        )
                    }
                ),
            ).SerializeToString()
            for i in range(50)
        ]
        with tf.io.TFRecordWriter(self.examples) as writer:
            writer.write_batch(self.rows)
        tf.RecordIndex.build(self.records("")).save(self.index)

    def records(self, kind):
        return os.path.join(self.folder, f"records{kind}")

    @property
    def examples(self):
        return os.path.join(self.folder, "examples")

    @property
    def index(self):
        return os.path.join(self.folder, "records.idx")


class Workload:
    """One path through the package; `files` are the inputs, `out` is an empty folder of its own."""

    def __init__(self, files, out):
        self.files = files
        self.out = out
        self.killed = False
        self.prepare()

    def prepare(self):
        """What happens before anything fails."""

    def run(self):
        """What is done while calls fail. Raises Wrong for a wrong answer, anything else for what was reported."""
        raise NotImplementedError

    def check(self):
        """Looks at what `run` did, when nothing fails any more. Raises Wrong."""

    def left(self):
        """Raises Wrong for what may not be in `out`, whatever happened."""
        expect(f"files were left: {self.names()}", not self.names())

    def names(self):
        """The names in `out`, sorted; hidden ones count only if nothing killed the process that wrote them."""
        return sorted(name for name in os.listdir(self.out) if not (self.killed and name.startswith(".")))

    def path(self, name):
        return os.path.join(self.out, name)


WORKLOADS = {}


def workload(name, *parameters):
    """Registers a Workload, with parameters of its own if it has any."""

    def register(kind):
        for values in parameters or [()]:
            label = "-".join([name, *(str(value) or "plain" for value in values)])
            WORKLOADS[label] = type(kind.__name__, (kind,), {"parameters": values})
        return kind

    return register


def expect_records(got, expected=RECORDS):
    expect(f"{len(got)} records that are not the {len(expected)} expected", got == expected)
