"""tfrecords, by ssbuild: TensorFlow's record reader and writer in C++, without the rest, in the settings of its README
(https://github.com/ssbuild/tfrecords)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.contenders import Contender, Importing, Job, Reading, Setting, Writing


def loop(job: Job, files: list[str] | None = None, compression: str = "NONE") -> list[Setting]:
    import tfrecords

    options = tfrecords.TFRecordOptions(compression_type=getattr(tfrecords.TFRecordCompressionType, compression))

    def records(shared: bool) -> Iterator[bytes]:
        for file in files or job.dataset.files:
            yield from tfrecords.tf_record_iterator(file, options=options, with_share_memory=shared)

    return [
        Reading(
            f"tf_record_iterator(with_share_memory={shared}), one at a time",
            partial(records, shared),
            row="iterator",
        )
        for shared in (True, False)
    ]


def loop_gzip(job: Job) -> list[Setting]:
    return loop(job, *job.packed("GZIP", "ZLIB"))


def write(job: Job, compression: str = "NONE", level: int | None = None, suffix: str = "") -> list[Setting]:
    import tfrecords

    kind = getattr(tfrecords.TFRecordCompressionType, compression)
    options = tfrecords.TFRecordOptions(compression_type=kind, compression_level=level)

    def batches(path: str, parts: list[list[bytes]]) -> None:
        with tfrecords.TFRecordWriter(path, options=options) as writer:
            for part in parts:
                writer.write_batch(part)

    n = job.dataset.batch
    parts = [[records[i : i + n] for i in range(0, len(records), n)] for records in job.loaded()]
    return [Writing(f"write_batch(list of {n})", job, batches, parts, suffix=suffix)]


def write_gzip(job: Job) -> list[Setting]:
    return write(job, "GZIP", 1 if job.task == "write-gzip-1" else None, ".gz")


def importing(job: Job) -> list[Setting]:
    return [Importing("tfrecords", "tfrecords")]


CONTENDER = Contender(
    "tfrecords",
    "ssbuild/tfrecords",
    package="tfrecords",
    module="tfrecords",
    leaves_out="parses no Examples",
    requirements=("tfrecords==0.3.1", "numpy"),
    tasks={
        "raw": loop,
        "raw-gzip": loop_gzip,
        "loop": loop,
        "write": write,
        "write-gzip": write_gzip,
        "write-gzip-1": write_gzip,
        "import": importing,
    },
)
