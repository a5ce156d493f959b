"""tfrecord_fast itself."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import Contender, Importing, Job, Picking, Reading, Setting, Writing


def raw(job: Job, files: list[str] | None = None, compression: str = "") -> list[Setting]:
    import tfrecord_fast as tf

    dataset = tf.data.TFRecordDataset(files or job.dataset.files, compression).batch(job.dataset.batch)
    return [Reading(f"batch({job.dataset.batch})", dataset, records=lambda batch: batch.tolist())]


def raw_gzip(job: Job) -> list[Setting]:
    return raw(job, job.dataset.gzip_files, "GZIP")


def loop(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    return [Reading("for record in dataset", tf.data.TFRecordDataset(job.dataset.files, ""))]


def random(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    readers = {threads: tf.IndexedReader(job.dataset.files, num_threads=threads) for threads in (1, None)}
    return [
        Picking(f"take(indices), num_threads={threads}", job, reader.take, lambda batch: batch.tolist(),
                lambda numbers: numbers, row="take")
        for threads, reader in readers.items()
    ] + [
        Picking(f"__getitems__(indices), num_threads={threads}", job, reader.__getitems__, row="list of bytes",
                numbers=lambda numbers: numbers.tolist())
        for threads, reader in readers.items()
    ] + [
        Picking("[reader[i] for i in indices]", job, lambda numbers: [readers[1][i] for i in numbers],
                numbers=lambda numbers: numbers.tolist(), row="one by one")
    ]  # fmt: skip


def write(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    def each(path: str, records: list[bytes]) -> None:
        with tf.io.TFRecordWriter(path) as writer:
            for record in records:
                writer.write(record)

    def batches(path: str, parts: list[Any]) -> None:
        with tf.io.TFRecordWriter(path) as writer:
            for part in parts:
                writer.write_batch(part)

    n = job.dataset.batch
    loaded = job.loaded()
    lists = [[records[i : i + n] for i in range(0, len(records), n)] for records in loaded]
    batched = [list(tf.data.TFRecordDataset(path, "").batch(n)) for path in job.dataset.files]
    return [
        Writing("write(bytes)", job, each, loaded, row="write"),
        Writing(f"write_batch(list of {n})", job, batches, lists, row="write_batch"),
        Writing(f"write_batch(RecordBatch of {n})", job, batches, batched, row="write_batch"),
    ]


def importing(job: Job) -> list[Setting]:
    return [Importing("tfrecord_fast")]


CONTENDER = Contender(
    "ours",
    "tfrecord_fast",
    package="tfrecord_fast",
    module="tfrecord_fast",
    install="pip install .",
    ours=True,
    tasks={"raw": raw, "loop": loop, "random": random, "raw-gzip": raw_gzip, "write": write, "import": importing},
)
