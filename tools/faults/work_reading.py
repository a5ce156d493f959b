"""Workloads that read, parse and encode."""

import json

import numpy as np

import tfrecord_fast as tf
from tools.faults.work_kit import (
    COLUMNS,
    COMPRESSIONS,
    FEATURES,
    RECORDS,
    ROWS,
    Skipped,
    Workload,
    expect,
    expect_records,
    workload,
)


def flat(batches):
    return [record for batch in batches for record in batch]


def expect_records_or_skipped(reader, expected):
    """All the records, or some of them in order and a word about the rest."""
    got = flat(reader)
    if reader.skipped:
        rest = iter(expected)
        expect("records that are not in the file", all(record in rest for record in got))
        raise Skipped(reader.skipped[0].reason)
    expect_records(got, expected)


def expect_columns(batches):
    rows = {key: np.concatenate([np.asarray(batch[key]) for batch in batches]) for key in FEATURES} if batches else {}
    expect("rows are missing", rows and len(rows["i"]) == ROWS)
    for key, column in COLUMNS.items():
        expect(f"other values of {key!r}", rows[key].tolist() == np.asarray(column, rows[key].dtype).tolist())


@workload("read", *[(kind,) for kind in COMPRESSIONS])
class Read(Workload):
    def run(self):
        path = self.files.records(self.parameters[0])
        expect_records(flat(tf.ShardReader(path, batch_size=60, num_threads=2)))


@workload("read-one-by-one", *[(kind,) for kind in COMPRESSIONS])
class ReadOneByOne(Workload):
    def run(self):
        expect_records(list(tf.python_io.tf_record_iterator(self.files.records(self.parameters[0]))))


@workload("skip", *[(kind,) for kind in COMPRESSIONS])
class Skip(Workload):
    def run(self):
        path = self.files.records(self.parameters[0])
        reader = tf.ShardReader(path, batch_size=60, on_corrupt="skip", num_threads=2)
        expect_records_or_skipped(reader, RECORDS)


@workload("skip-file")
class SkipFile(Workload):
    def run(self):
        paths = [self.files.records(kind) for kind in COMPRESSIONS]
        reader = tf.ShardReader(paths, batch_size=60, on_corrupt="skip_file", num_threads=2)
        expect_records_or_skipped(reader, RECORDS * len(paths))


@workload("read-several")
class ReadSeveral(Workload):
    def run(self):
        paths = [self.files.records(kind) for kind in COMPRESSIONS]
        reader = tf.ShardReader(paths, batch_size=60, num_threads=2, cycle_length=3, block_length=5)
        expect_records(sorted(flat(reader)), sorted(RECORDS * len(paths)))


@workload("shuffle")
class Shuffle(Workload):
    def run(self):
        reader = tf.ShardReader(self.files.records(""), batch_size=60, shuffle_buffer=100, seed=3, num_threads=2)
        expect_records(sorted(flat(reader)), sorted(RECORDS))


@workload("resume", ("", 0), ("", 100), ("GZIP", 100), ("ZSTD", 0))
class Resume(Workload):
    def run(self):
        kind, buffer = self.parameters
        reader = tf.ShardReader(self.files.records(kind), batch_size=60, shuffle_buffer=buffer, seed=3)
        iterator = iter(reader)
        first = list(next(iterator))
        state = json.loads(json.dumps(reader.state_dict()))
        iterator.close() if hasattr(iterator, "close") else None
        again = tf.ShardReader(self.files.records(kind), batch_size=60, shuffle_buffer=buffer, seed=3)
        again.load_state_dict(state)
        expect_records(sorted(first + flat(again)), sorted(RECORDS))


@workload("parse-file")
class ParseFile(Workload):
    def run(self):
        expect_columns(list(tf.ShardReader(self.files.examples, FEATURES, batch_size=70, num_threads=2)))


@workload("parse")
class Parse(Workload):
    def run(self):
        expect_columns([tf.parse_example(self.files.rows, FEATURES)])


@workload("parse-lists")
class ParseLists(Workload):
    def run(self):
        columns = tf.parse_example(
            self.files.rows,
            {
                "i": tf.io.VarLenFeature(tf.int64),
                "f": tf.io.RaggedFeature(tf.float32),
                "s": tf.io.FixedLenSequenceFeature([], tf.string, allow_missing=True),
            },
        )
        expect("other integers", columns["i"].values.tolist() == list(range(ROWS)))
        expect("other floats", columns["f"].values.tolist() == COLUMNS["f"].reshape(-1).tolist())
        expect("other strings", columns["s"][:, 0].tolist() == COLUMNS["s"])


@workload("parse-sequences")
class ParseSequences(Workload):
    def run(self):
        rows = self.files.sequence_rows
        context, lists, lengths = tf.io.parse_sequence_example(
            rows, {"c": tf.io.FixedLenFeature([], tf.int64)}, {"t": tf.io.FixedLenSequenceFeature([2], tf.float32)}
        )
        expect("other contexts", context["c"].tolist() == list(range(len(rows))))
        expect("other lengths", lengths["t"].tolist() == [i % 4 for i in range(len(rows))])
        expect("other steps", lists["t"][7, 2].tolist() == [7.0, 1.0])


@workload("infer")
class Infer(Workload):
    def run(self):
        expect("other features", tf.infer_features(self.files.examples) == FEATURES)


@workload("encode")
class Encode(Workload):
    def run(self):
        expect("other rows", tf.encode_examples(COLUMNS, num_threads=2).tolist() == self.files.rows.tolist())


@workload("encode-mixed")
class EncodeMixed(Workload):
    """Columns that are copied, converted or looked through first."""

    def run(self):
        columns = {
            "half": np.arange(20, dtype=np.float16),
            "lists": [[1] * (i % 3) for i in range(20)],
            "masked": np.ma.masked_equal(np.arange(20) % 4, 0),
            "ragged": tf.RaggedTensor.from_row_lengths(np.arange(20), [1] * 20),
            "text": ["é" * i for i in range(20)],
        }
        rows = tf.encode_examples(columns, num_threads=2)
        parsed = tf.parse_example(
            rows, {"ragged": tf.io.FixedLenFeature([], tf.int64), "text": tf.io.VarLenFeature(tf.string)}
        )
        expect("other integers", parsed["ragged"].tolist() == list(range(20)))
        expect("other texts", [text.decode() for text in parsed["text"].values.tolist()] == columns["text"])


@workload("messages")
class Messages(Workload):
    def run(self):
        example = tf.train.Example.FromString(self.files.rows[5])
        expect("another value", list(example.features.feature["i"].int64_list.value) == [5])
        expect("another message", tf.train.Example.FromString(example.SerializeToString()) == example)


@workload("index-reads")
class IndexReads(Workload):
    def run(self):
        reader = tf.IndexedReader(self.files.records(""), indexes=self.files.index, num_threads=2)
        order = np.random.RandomState(1).permutation(len(RECORDS))
        expect_records(reader.take(order).tolist(), [RECORDS[i] for i in order])
        expect("another record", reader[5] == RECORDS[5] and reader[250] == RECORDS[250])


@workload("index-less-reads")
class IndexLessReads(Workload):
    """The index is made on the way; rows are parsed."""

    def run(self):
        reader = tf.IndexedReader(self.files.examples, FEATURES, num_threads=2)
        expect("other rows", reader.take([3, 299, 3])["i"].tolist() == [3, 299, 3])


@workload("dataset", (1,), (2,))
class Dataset(Workload):
    def run(self):
        paths = [self.files.records(""), self.files.records("GZIP")]
        got = list(tf.data.TFRecordDataset(paths, num_parallel_reads=self.parameters[0]))
        expect_records(sorted(got), sorted(RECORDS * 2))


@workload("dataset-threads")
class DatasetThreads(Workload):
    """Python's threads: map, interleave and prefetch."""

    def run(self):
        names = tf.data.Dataset.from_tensor_slices([self.files.examples, self.files.examples])
        rows = names.interleave(tf.data.TFRecordDataset, cycle_length=2, num_parallel_calls=2)
        rows = rows.map(lambda record: tf.parse_single_example(record, FEATURES)["i"], num_parallel_calls=2).prefetch(3)
        expect("other rows", sorted(map(int, rows)) == sorted([*range(ROWS)] * 2))


@workload("dataset-parsed")
class DatasetParsed(Workload):
    """What runs in the native reader."""

    def run(self):
        rows = tf.data.TFRecordDataset(self.files.examples).batch(64)
        expect_columns(list(rows.map(lambda batch: tf.parse_example(batch, FEATURES))))


@workload("read-object", *[(kind,) for kind in COMPRESSIONS])
class ReadObject(Workload):
    """An unbuffered file, which the core reads by its descriptor, and a buffered one, which Python reads."""

    def run(self):
        for buffering in (0, -1):
            with open(self.files.records(self.parameters[0]), "rb", buffering) as file:
                expect_records(list(tf.data.TFRecordDataset(file)))


@workload("verify")
class Verify(Workload):
    def run(self):
        reader = tf.ShardReader([self.files.records(""), self.files.records("ZSTD")], verify_crc=True, num_threads=2)
        expect("another count", sum(len(batch) for batch in reader) == 2 * len(RECORDS))
