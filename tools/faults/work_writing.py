"""Workloads that write: what is there afterwards is complete, or was never given its name."""

import contextlib
import csv
import io
import json
import os
import shutil

import tfrecord_fast as tf
from tfrecord_fast.cli.app import run as run_command
from tools.faults.work_kit import (
    COLUMNS,
    COMPRESSIONS,
    RECORDS,
    ROWS,
    Refused,
    Workload,
    Wrong,
    expect,
    expect_records,
    workload,
)

LARGE = [RECORDS[250]] * 40  # several blocks, for several threads
SHARDS = 3


def intact(path, kind=None):
    """The records of a file up to where it breaks off."""
    got = []
    try:
        for record in tf.data.TFRecordDataset(path, kind):
            got.append(record)
    except tf.errors.DataLossError:
        pass
    return got


@workload("write", *[(kind,) for kind in COMPRESSIONS])
class Write(Workload):
    """A file that grows as it is written: what was flushed is in it, and nothing that was not written."""

    first, rest = RECORDS[:100], RECORDS[100:]

    def prepare(self):
        self.flushed = 0

    def open(self):
        return tf.io.TFRecordWriter(self.path("file"), self.parameters[0], num_threads=2)

    def run(self):
        with self.open() as writer:
            writer.write_batch(self.first)
            writer.flush()
            self.flushed = len(self.first)
            for record in self.rest[:5]:
                writer.write(record)
            writer.write_batch(self.rest[5:])
        self.flushed = len(self.first + self.rest)

    def check(self):
        expect_records(list(tf.data.TFRecordDataset(self.path("file"), self.parameters[0])), self.first + self.rest)

    def left(self):
        names = self.names()
        expect(f"other files: {names}", names in ([], ["file"]))
        got = intact(self.path("file"), self.parameters[0]) if names else []
        expect("records that were not written", got == (self.first + self.rest)[: len(got)])
        expect(f"{len(got)} records of the {self.flushed} that were flushed", len(got) >= self.flushed)


@workload("write-large", ("GZIP",), ("ZSTD",), ("SNAPPY",))
class WriteLarge(Write):
    """Blocks that several threads compress."""

    first, rest = LARGE[:20], LARGE[20:]


class _Object:
    """A file object that only writes."""

    def __init__(self, path):
        self._file = open(path, "wb")  # closed by the workload

    def write(self, data):
        return self._file.write(data)

    def flush(self):
        self._file.flush()

    def close(self):
        self._file.close()


@workload("write-object", *[(kind,) for kind in COMPRESSIONS])
class WriteObject(Write):
    def run(self):
        with contextlib.closing(_Object(self.path("file"))) as self.object:
            super().run()

    def open(self):
        return tf.io.TFRecordWriter(self.object, self.parameters[0], num_threads=2)


@workload("write-dropped", ("",), ("GZIP",))
class WriteDropped(Workload):
    """A writer that nobody closes: what it holds is written when it is dropped, or a warning says why not."""

    def run(self):
        writer = tf.io.TFRecordWriter(self.path("file"), self.parameters[0], num_threads=2)
        writer.write_batch(RECORDS)
        del writer

    def left(self):
        got = intact(self.path("file"), self.parameters[0]) if os.listdir(self.out) else []
        expect("records that were not written", got == RECORDS[: len(got)])


@workload("append", ("",), ("GZIP",), ("ZSTD",), ("SNAPPY",))
class Append(Workload):
    """What was in the file stays."""

    def prepare(self):
        shutil.copy(self.files.records(self.parameters[0]), self.path("file"))

    def run(self):
        with tf.io.TFRecordWriter(self.path("file"), self.parameters[0], append=True, num_threads=2) as writer:
            writer.write_batch(RECORDS)

    def check(self):
        expect_records(list(tf.data.TFRecordDataset(self.path("file"), self.parameters[0])), RECORDS * 2)

    def left(self):
        expect(f"other files: {self.names()}", self.names() == ["file"])
        got = intact(self.path("file"), self.parameters[0])
        expect("records that were there are gone", got[: len(RECORDS)] == RECORDS)
        expect("records that were not written", got == (RECORDS * 2)[: len(got)])


OLD = [b"an old record"]
FINAL = [f"rows-{shard:05}-of-{SHARDS:05}" for shard in range(SHARDS)]


@workload(
    "shards", *[(kind, how) for kind in COMPRESSIONS for how in ("", "sync")], ("", "over"), ("ZSTD", "over-sync")
)
class Shards(Workload):
    """ExampleWriter: whole files or none; "over": where whole files were before, either these or the new ones."""

    def prepare(self):
        self.over = self.parameters[1].startswith("over")
        for name in FINAL if self.over else []:
            with tf.io.TFRecordWriter(self.path(name)) as writer:
                writer.write_batch(OLD)

    def run(self):
        kind, how = self.parameters
        options = {"num_shards": SHARDS, "options": kind, "num_threads": 2, "sync": how.endswith("sync")}
        with tf.ExampleWriter(self.path("rows"), **options) as writer:
            writer.write(COLUMNS)
            writer.write_example({"i": 5, "f": [1.0] * 4, "s": b"z"})
            writer.write_batch(self.files.rows)

    def check(self):
        expect(f"files are missing or too many: {self.names()}", self.names() == FINAL)
        expect("old files are still there", all(intact(self.path(name)) != OLD for name in FINAL))

    def left(self):
        names = self.names()
        expect(f"other files: {names}", set(names) <= set(FINAL))
        expect(f"old files are gone: {names}", not self.over or names == FINAL)
        alone = tf.encode_examples({"i": [5], "f": [[1.0] * 4], "s": [b"z"]})[0]
        records = [*self.files.rows, alone, *self.files.rows]
        for name in names:
            got = intact(self.path(name))
            expect(f"{name} is torn", got == records[FINAL.index(name) :: SHARDS] or (self.over and got == OLD))


@workload("index-save")
class IndexSave(Workload):
    """Where an index was before: the old one or the new one is there, whole."""

    def prepare(self):
        with open(self.path("a.idx"), "w") as file:
            file.write("0 20\n")

    def run(self):
        index = tf.RecordIndex.build(self.files.records(""))
        index.save(self.path("a.idx"))
        expect("the index of a part", len(index) == len(RECORDS))

    def check(self):
        index = tf.RecordIndex.build(self.files.records(""))
        expect("another index", tf.RecordIndex.load(self.path("a.idx")) == index)

    def left(self):
        expect(f"other files: {self.names()}", self.names() == ["a.idx"])
        with open(self.path("a.idx"), "rb") as file, open(self.files.index, "rb") as new:
            expect("the index is torn", file.read() in (b"0 20\n", new.read()))


@workload("index-save-link")
class IndexSaveLink(IndexSave):
    """What is at the end of a link is replaced, and the link stays."""

    def prepare(self):
        with open(self.path("real"), "w") as file:
            file.write("0 20\n")
        os.symlink("real", self.path("a.idx"))

    def left(self):
        expect(f"other files: {self.names()}", self.names() == ["a.idx", "real"])
        expect("the link is gone", os.path.islink(self.path("a.idx")))
        with open(self.path("real"), "rb") as file, open(self.files.index, "rb") as new:
            expect("the index is torn", file.read() in (b"0 20\n", new.read()))


@workload("shards-link", ("",), ("GZIP",))
class ShardsLink(Workload):
    """The same for ExampleWriter."""

    def prepare(self):
        with tf.io.TFRecordWriter(self.path("real")) as writer:
            writer.write_batch(OLD)
        os.symlink("real", self.path("rows"))

    def run(self):
        with tf.ExampleWriter(self.path("rows"), options=self.parameters[0], num_threads=2) as writer:
            writer.write(COLUMNS)

    def check(self):
        expect_records(intact(self.path("rows")), list(self.files.rows))

    def left(self):
        expect(f"other files: {self.names()}", self.names() == ["real", "rows"])
        expect("the link is gone", os.path.islink(self.path("rows")))
        expect("the file is torn", intact(self.path("real")) in (OLD, list(self.files.rows)))


@workload("convert", *[(name, how) for name in ("jsonl", "csv", "parquet", "tfrecord.gz") for how in ("", "over")])
class Convert(Workload):
    """The whole table or none; "over": or the one that was there before."""

    def prepare(self):
        kind, self.over = self.parameters
        self.target = f"table.{kind}"
        self.source = self.path(".plain") if kind == "csv" else self.files.examples
        if kind == "csv":  # has no lists
            with tf.io.TFRecordWriter(self.source) as writer:
                writer.write_batch(tf.encode_examples({key: COLUMNS[key] for key in "is"}))
        if self.over:
            with open(self.path(self.target), "wb") as file:
                file.write(OLD[0])

    def run(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            status = run_command(["convert", self.source, self.path(self.target)])
        if status != 0:
            expect("it failed without a word", said.getvalue())
            raise Refused(said.getvalue())

    def check(self):
        expect("there is no new table", self.rows() == list(range(ROWS)))

    def names(self):
        return [name for name in super().names() if name != ".plain"]

    def left(self):
        expect(f"other files: {self.names()}", set(self.names()) <= {self.target})
        expect("the old table is gone", self.names() or not self.over)
        if self.names():
            expect(f"{self.target} is torn", self.rows() in (list(range(ROWS)), *([OLD] if self.over else [])))

    def rows(self):
        with open(self.path(self.target), "rb") as file:
            if file.read() == OLD[0]:
                return OLD
        try:
            return list(ROWS_OF[self.parameters[0].split(".")[0]](self.path(self.target)))
        except (OSError, ValueError, KeyError) as error:
            raise Wrong(f"{self.target} is torn: {error}") from error


COPYING = {
    "merge": ["merge", "{in}", "{out}"],
    "shuffle": ["shuffle", "{in}", "{out}", "--memory", "1MB"],
    "split": ["split", "{in}", "--records", "100", "-o", "{out}"],
    "ratio": ["split", "{in}", "--ratio", "2:1", "-o", "{out}"],
    "repair": ["repair", "{in}", "{out}", "--report", "{out}.json"],
    "index": ["index", "{in}", "-o", "{out}"],
}
MADE_BY_COPYING = {
    "split": [f"rows-{part:05}-of-00003" for part in range(3)],
    "ratio": ["rows-test", "rows-train"],
    "repair": ["rows", "rows.json"],
}


@workload("copying", *[(name, how) for name in COPYING for how in ("", "over")])
class Copying(Workload):
    """The commands that copy records: all files whole, or none; "over": or those that were there before."""

    def prepare(self):
        self.command, how = self.parameters
        self.finals = MADE_BY_COPYING.get(self.command, ["rows"])
        self.over = bool(how)
        for name in self.finals if self.over else []:
            with open(self.path(name), "wb") as file:
                file.write(OLD[0])

    def run(self):
        places = {"in": self.files.records(""), "out": self.path("rows")}
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(_Text(said)):
            status = run_command([word.format(**places) for word in COPYING[self.command]])
        if status != 0:
            expect("it failed without a word", said.getvalue())
            raise Refused(said.getvalue())

    def check(self):
        expect(f"files are missing: {self.names()}", self.names() == self.finals)
        expect("old files are still there", not any(self.is_old(name) for name in self.finals))

    def left(self):
        names = self.names()
        expect(f"other files: {names}", set(names) <= set(self.finals))
        expect(f"old files are gone: {names}", not self.over or names == self.finals)
        for name in names:
            if not (self.over and self.is_old(name)):
                self.look(name)

    def is_old(self, name):
        with open(self.path(name), "rb") as file:
            return file.read() == OLD[0]

    def look(self, name):
        if name.endswith(".json"):  # a read that ends early makes a file look cut, which is what is reported then
            with open(self.path(name)) as file:
                report = json.load(file)
            expect("the report is torn", report["records"] == len(RECORDS) or report["lost"])
        elif self.command == "repair":
            got = list(tf.data.TFRecordDataset(self.path(name)))
            expect("it has others", got == RECORDS[: len(got)])
            if name + ".json" not in self.names():  # it comes last, and without it the command has failed
                return
            with open(self.path(name + ".json"), "rb") as file:
                expect("some are gone without a word", len(got) == len(RECORDS) or b'"offset"' in file.read())
        elif self.command == "index":
            index = tf.RecordIndex.build(self.files.records(""))
            expect("the index is torn", tf.RecordIndex.load(self.path(name)) == index)
        elif self.command == "split":
            part = int(name[5:10])
            expect_records(intact(self.path(name)), RECORDS[part * 100 : part * 100 + 100])
        else:
            got = list(tf.data.TFRecordDataset(self.path(name)))
            expect(f"{name} has others", set(got) <= set(RECORDS))
            expect(f"{name} is torn", self.command == "ratio" or sorted(got) == sorted(RECORDS))


class _Text(io.StringIO):
    """Standard output as the console takes it; what is printed goes to `said`."""

    def __init__(self, said):
        super().__init__()
        self.buffer = self
        self._said = said

    def write(self, data):
        self._said.write(data.decode() if isinstance(data, bytes) else data)
        return len(data)


def _rows_of_jsonl(path):
    with open(path) as file:
        return [json.loads(line)["i"] for line in file]


def _rows_of_csv(path):
    with open(path) as file:
        return [int(row["i"]) for row in csv.DictReader(file)]


def _rows_of_parquet(path):
    import pyarrow.parquet

    return pyarrow.parquet.read_table(path)["i"].to_pylist()


def _rows_of_tfrecord(path):
    return [tf.train.Example.FromString(record).features.feature["i"].int64_list.value[0] for record in intact(path)]


ROWS_OF = {
    "jsonl": _rows_of_jsonl,
    "csv": _rows_of_csv,
    "parquet": _rows_of_parquet,
    "tfrecord": _rows_of_tfrecord,
}
