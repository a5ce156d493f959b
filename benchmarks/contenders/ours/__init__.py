"""tfrecord_fast itself."""

from __future__ import annotations

from benchmarks.contenders import Contender, Importing, Job, Setting
from benchmarks.contenders.ours.engines import engines
from benchmarks.contenders.ours.face import face_batches
from benchmarks.contenders.ours.feeding import train_feed
from benchmarks.contenders.ours.figures import stats
from benchmarks.contenders.ours.images import images
from benchmarks.contenders.ours.parsing import epoch, parse, parse_gzip, parse_memory, parse_single, shards
from benchmarks.contenders.ours.pipelines import pipelines
from benchmarks.contenders.ours.reading import gzip_own, loop, memory, random, raw, raw_gzip
from benchmarks.contenders.ours.remote import remote
from benchmarks.contenders.ours.tables import tables
from benchmarks.contenders.ours.writing import write, write_columns, write_gzip


def importing(job: Job) -> list[Setting]:
    return [Importing("tfrecord_fast", "tfrecord_fast")]


CONTENDER = Contender(
    "ours",
    "tfrecord_fast",
    package="tfrecord_fast",
    module="tfrecord_fast",
    install="pip install .",
    ours=True,
    tasks={
        "raw": raw,
        "raw-gzip": raw_gzip,
        "parse": parse,
        "parse-gzip": parse_gzip,
        "parse-memory": parse_memory,
        "parse-single": parse_single,
        "shards": shards,
        "epoch": epoch,
        "train-feed": train_feed,
        "tables": tables,
        "engines": engines,
        "stats": stats,
        "gzip-own": gzip_own,
        "face-batches": face_batches,
        "pipelines": pipelines,
        "images": images,
        "loop": loop,
        "memory": memory,
        "random": random,
        "remote": remote,
        "write": write,
        "write-columns": write_columns,
        "write-gzip": write_gzip,
        "write-gzip-1": write_gzip,
        "import": importing,
    },
)
