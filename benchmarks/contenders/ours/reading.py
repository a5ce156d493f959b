"""tfrecord_fast reads records: in batches, one by one, by number."""

from __future__ import annotations

from benchmarks.contenders import Job, Reading, Setting, Tallying, cores
from benchmarks.contenders.kit.picking import Picking
from benchmarks.contenders.ours.features import COMPRESSIONS, count_of, features_of


def raw(job: Job, files: list[str] | None = None, compression: str = "") -> list[Setting]:
    import tfrecord_fast as tf

    dataset = tf.data.TFRecordDataset(files or job.dataset.files, compression).batch(job.dataset.batch)
    return [Reading(f"batch({job.dataset.batch})", dataset, records=lambda batch: batch.tolist())]


def raw_gzip(job: Job) -> list[Setting]:
    """In the order of the files, where one is inflated after the other, and all of them side by side."""
    import tfrecord_fast as tf

    (files, compression), n = job.packed(*COMPRESSIONS), job.dataset.batch
    read = {"in order": None, "interleaved": len(files)} if len(files) > 1 else {"in order": None}
    return [
        Reading(
            f"{f'num_parallel_reads={parallel}, ' if parallel else ''}batch({n})",
            tf.data.TFRecordDataset(files, compression, num_parallel_reads=parallel).batch(n),
            records=lambda batch: batch.tolist(),
            row=row,
            order="any" if parallel else "file",
        )
        for row, parallel in read.items()
    ]


def gzip_own(job: Job) -> list[Setting]:
    """The records in one file, written with the default options."""
    import tfrecord_fast as tf

    path = str(job.scratch / "own.tfrecord.gz")
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        for batch in tf.data.TFRecordDataset(job.dataset.files, "").batch(job.dataset.batch):
            writer.write_batch(batch)
    return [
        Reading(
            f"num_threads={threads}",
            tf.ShardReader(path, batch_size=job.dataset.batch, compression="GZIP", num_threads=threads),
            records=lambda batch: batch.tolist(),
            row=f"{threads} thread{'s' * (threads > 1)}",
        )
        for threads in (1, 2)
        if threads <= cores()
    ]


def loop(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    return [Reading("for record in dataset", tf.data.TFRecordDataset(job.dataset.files, ""))]


def memory(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    files, n = job.dataset.files, job.dataset.batch
    return [
        Tallying(
            f"batch({n})",
            tf.data.TFRecordDataset(files, "").batch(n),
            lambda batch: batch.tolist(),
            row="TFRecordDataset",
        ),
        Tallying(
            "num_threads=None, to columns",
            tf.ShardReader(files, features_of(job), batch_size=n),
            count=count_of,
            row="ShardReader",
        ),
    ]


def random(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    readers = {threads: tf.IndexedReader(job.dataset.files, num_threads=threads) for threads in (1, None)}
    settings: list[Setting] = []
    for threads, reader in readers.items():
        settings.append(
            Picking(
                f"take(indices), num_threads={threads}",
                job,
                reader.take,
                lambda batch: batch.tolist(),
                lambda numbers: numbers,
                row="take",
            )
        )
    for threads, reader in readers.items():
        settings.append(
            Picking(
                f"__getitems__(indices), num_threads={threads}",
                job,
                reader.__getitems__,
                numbers=lambda numbers: numbers.tolist(),
                row="list of bytes",
            )
        )
    settings.append(
        Picking(
            "[reader[i] for i in indices]",
            job,
            lambda numbers: [readers[1][i] for i in numbers],
            numbers=lambda numbers: numbers.tolist(),
            row="one by one",
        )
    )
    return settings
