"""Prepares TFRecord files for training with Apache Beam: scales numbers by the mean and the deviation of all rows,
replaces words by their index in a vocabulary, and divides rows into training and evaluation files.

python examples/beam_preprocess.py
"""

import os
import sys
import tempfile
import zlib

import apache_beam as beam
import numpy as np
import pyarrow.compute as pc
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.pvalue import AsDict, AsSingleton

import tfrecord_fast as tf
from tfrecord_fast.integrations.beam import ReadFromTFRecord, WriteToTFRecord

FEATURES = {
    "id": tf.FixedLenFeature([], tf.int64),
    "age": tf.FixedLenFeature([], tf.float32),
    "words": tf.VarLenFeature(tf.string),
}
ROWS = 20_000


def write(folder):
    rng = np.random.default_rng(0)
    words = np.array([b"red", b"green", b"blue"])
    columns = {
        "id": np.arange(ROWS),
        "age": rng.normal(40, 12, ROWS).astype(np.float32),
        "words": [words[rng.integers(0, 3, n)].tolist() for n in rng.integers(1, 4, ROWS)],
    }
    with tf.ExampleWriter(f"{folder}/raw.tfrecord", num_shards=4) as writer:
        writer.write(columns)


class Moments(beam.CombineFn):
    """Mean and deviation of a column, batch by batch."""

    def create_accumulator(self):
        return np.zeros(3)

    def add_input(self, sums, batch):
        ages = batch.column("age").to_numpy().astype(np.float64)
        return sums + np.array([len(ages), ages.sum(), (ages**2).sum()])

    def merge_accumulators(self, parts):
        return sum(parts)

    def extract_output(self, sums):
        count, total, squares = sums
        return total / count, np.sqrt(squares / count - (total / count) ** 2)


def words_of(batch):
    return pc.list_flatten(batch.column("words")).to_pylist()


def numbered(words):
    return {word: number for number, word in enumerate(sorted(words))}.items()


def prepared(batch, moments, vocabulary):
    """Return rows as dicts, which are written as Examples."""
    mean, deviation = moments
    for row in batch.to_pylist():
        yield {
            "id": row["id"],
            "age": (row["age"] - mean) / deviation,
            "words": [vocabulary[word] for word in row["words"]],
        }


def is_for_evaluation(row, parts=2):
    """Return True for one row of ten, the same in every run."""
    return int(zlib.crc32(b"%d" % row["id"]) % 10 == 0)


def run(source, target, arguments):
    with beam.Pipeline(options=PipelineOptions(arguments)) as pipeline:
        # Batches of columns: work on all rows of a batch at once is the fastest.
        batches = pipeline | ReadFromTFRecord(source, FEATURES, batch=1024)
        moments = batches | beam.CombineGlobally(Moments())
        words = batches | beam.FlatMap(words_of) | beam.Distinct() | beam.combiners.ToList() | beam.FlatMap(numbered)
        rows = batches | beam.FlatMap(prepared, AsSingleton(moments), AsDict(words))
        train, evaluation = rows | beam.Partition(is_for_evaluation, 2)
        train | "Train" >> WriteToTFRecord(f"{target}/train", file_name_suffix=".tfrecord.gz", num_shards=2)
        evaluation | "Eval" >> WriteToTFRecord(f"{target}/eval", file_name_suffix=".tfrecord.gz", num_shards=1)


def main():
    arguments = sys.argv[1:] or ["--runner=FnApiRunner"]  # in this process
    with tempfile.TemporaryDirectory() as folder:
        write(folder)
        run(f"{folder}/raw-*", f"{folder}/out", arguments)
        print(*sorted(os.listdir(f"{folder}/out")), sep="\n")
        table = tf.read_table(f"{folder}/out/train-*")
        ages = table.column("age").to_numpy()
        print(f"{table.num_rows} rows to train with: mean {abs(ages.mean()):.1f}, deviation {ages.std():.1f}")


if __name__ == "__main__":
    main()
