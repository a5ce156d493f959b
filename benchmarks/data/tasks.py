"""The tasks: what is measured. A new one is an entry here and a function in the contenders' files."""

from __future__ import annotations

import math
from dataclasses import dataclass

PLAIN = ("ctr", "tok", "emb", "img", "tiny", "wide", "seq")
PACKED = ("ctr", "tok", "emb", "wide", "seq")
EXAMPLES = ("ctr", "wide", "tok", "emb", "img", "seq")
SHUFFLED = ("ctr", "tok", "emb")
SHUFFLE = 10_000  # records in the buffer of a shuffled epoch
ENGINES = 5.0  # times the data: what a command or an engine spends on a pass, however small, is not what is measured
COLD = ("raw", "raw-gzip", "parse", "parse-gzip", "shards", "epoch", "loop")  # those that read files as they are
SCRIPTS = (  # the pipelines of pipelines.py
    "jpeg-augment",
    "jpeg-onehot",
    "detection",
    "bert-outside",
    "bert-inside",
    "tokens",
    "ctr-40",
    "speech",
    "patches",
    "sequences",
    "filter",
    "cond",
    "python-if",
)
IMAGES = ("photos-train", "photos-evaluate", "photos-decode", "photos-large")  # of photos.py
FLAT = ("ctr", "wide", "tok", "emb", "img")  # no SequenceExamples


@dataclass(frozen=True)
class Task:
    """A task.

    Args:
      workloads: the most interesting first; empty for a task without data.
      gzip: reads the GZIP files.
      parsed: the answer is of all columns' values, rather than of records.
      figures: the answer has the figures of all features besides.
      shardings: other numbers of shards that the same records are also read from.
      shards: reads the same records from that many files instead, so that each worker of a loader has some.
      repeated: the data is repeated in one file of that many bytes, which is removed afterwards.
      scale: times as much data as the other tasks have.
      most_bytes: the data is scaled down to about that much.
      jobs: a pass may start a job of an engine, which takes seconds, however little data there is.
      scripted: runs the workload's script; the answer is TensorFlow's.
      images: computes images from the workload's photographs; the answer is Pillow's.
      one: takes one record at a time, and is reported in time per record.
    """

    name: str
    title: str
    workloads: tuple[str, ...]
    gzip: bool = False
    parsed: bool = False
    figures: bool = False
    shardings: tuple[int, ...] = ()
    shards: int = 0
    repeated: float = 0.0
    scale: float = 1.0
    most_bytes: float = math.inf
    scripted: bool = False
    images: bool = False
    one: bool = False
    jobs: bool = False


TASKS = {
    task.name: task
    for task in (
        Task("raw", "Raw reading, in batches", PLAIN),
        Task("raw-gzip", "Raw reading of compressed files, in batches", PACKED, gzip=True),
        Task("parse", "From files to columns", EXAMPLES, parsed=True),
        Task("parse-gzip", "From compressed files to columns", PACKED, gzip=True, parsed=True),
        Task("parse-memory", "From serialized batches in memory to columns", EXAMPLES, parsed=True),
        Task(
            "parse-single", "Parsing one record at a time", (*EXAMPLES, "one"), parsed=True, most_bytes=1.5e6, one=True
        ),
        Task("shards", "From 1 to 10,000 shards to columns", ("ctr",), parsed=True, shardings=(1, 10, 1_000, 10_000)),
        Task("gzip-own", "A GZIP file that this package wrote, on one thread and on two", ("ctr",)),
        Task(
            "epoch",
            f"A shuffled epoch, to columns, from a buffer of {SHUFFLE:,} records",
            SHUFFLED,
            parsed=True,
            most_bytes=30e6,
        ),
        Task(
            "train-feed",
            "Shuffled records that arrive as tensors in a training loop",
            ("ctr", "img"),
            parsed=True,
            shards=8,
        ),
        Task("tables", "From files to tables and data frames", ("ctr",), parsed=True),
        Task(
            "engines",
            "Engines that divide the work: from files to blocks",
            ("ctr",),
            parsed=True,
            scale=ENGINES,
            jobs=True,
        ),
        Task("stats", "From files to figures of every feature", ("ctr",), figures=True, scale=ENGINES),
        Task("pipelines", "Scripts for TensorFlow, unchanged", SCRIPTS, scripted=True),
        Task("images", "From JPEGs in records to batches of images", IMAGES, images=True),
        Task("face-batches", "From files to columns, through the face with tensors", ("ctr", "tok"), parsed=True),
        Task("loop", "A Python loop over the records, as bytes", PLAIN),
        Task("write", "Writing raw records that are in memory", PLAIN),
        Task("write-columns", "From columns in memory to files", FLAT, parsed=True, most_bytes=48e6),
        Task("write-gzip", "Writing GZIP files of records in memory, default level", SHUFFLED, most_bytes=32e6),
        Task("write-gzip-1", "Writing GZIP files of records in memory, level 1", SHUFFLED, most_bytes=32e6),
        Task("random", "Random access, each record once, 1,000 at a time", ("ctr", "tok", "emb", "img", "tiny")),
        Task(
            "remote",
            "From a store of objects, 30 ms to the first byte and 80 MB/s per connection",
            ("img",),
            shardings=(1, 8, 2_000),
            scale=2.5,
        ),
        Task("memory", "Reading one file of 10 GB: memory first", ("img",), repeated=10e9),
        Task("import", "Import time, NumPy being there", ()),
    )
}
