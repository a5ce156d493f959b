"""tfrecord_fast parses: from files, from memory, one record at a time, shuffled."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import Job, Reading, Setting, cores, shards_of
from benchmarks.contenders.kit.parsing import Parsing
from benchmarks.contenders.ours.features import (
    COMPRESSIONS,
    columns_of,
    count_of,
    features_of,
    groups_of,
    of_one,
    parser_of,
    ungrouped,
)
from benchmarks.data.tasks import SHUFFLE


def parse(job: Job, files: list[str] | None = None, compression: str = "") -> list[Setting]:
    import tfrecord_fast as tf

    files, n = files or job.dataset.files, job.dataset.batch
    features = features_of(job)
    parser = parser_of(features)
    batches = tf.data.TFRecordDataset(files, compression).batch(n)
    groups = groups_of(features)

    def grouped(threads: int) -> Setting:
        reader = tf.ShardReader(
            files, features, batch_size=n, compression=compression, num_threads=threads, groups=groups
        )
        row = f"ShardReader, {threads} thread{'s' * (threads > 1)}, groups"
        return Parsing("groups={…}", reader, lambda item: columns_of(ungrouped(item, groups)), count_of, row)

    def reader(row: str, threads: int | None, deterministic: bool = True, cycle: int = 1) -> Setting:
        given: dict[str, Any] = {"deterministic": False} if not deterministic else {}
        if cycle > 1:
            given |= {"cycle_length": cycle, "block_length": n}
        label = ", ".join(f"{name}={value}" for name, value in {"num_threads": threads, **given}.items())
        made = tf.ShardReader(files, features, batch_size=n, compression=compression, num_threads=threads, **given)
        return Parsing(label, made, columns_of, count_of, f"ShardReader{row}", "any" if given else "file")

    fewer = [threads for threads in (1, 2, 4, 8, 16) if threads == 1 or threads <= cores()]
    return [
        reader("", None),
        reader("", None, deterministic=False),
        reader("", None, cycle=len(files)),
        *(reader(f", {threads} thread{'s' * (threads > 1)}", threads) for threads in fewer),
        *(grouped(threads) for threads in fewer[:2] if groups),
        Parsing(
            "parse_example of each TFRecordDataset.batch",
            lambda: map(parser, batches),
            columns_of,
            count_of,
            "parse_example",
        ),
    ]


def parse_gzip(job: Job) -> list[Setting]:
    return parse(job, *job.packed(*COMPRESSIONS))


def shards(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    features, n = features_of(job), job.dataset.batch
    return [
        Parsing(
            "",
            tf.ShardReader(files, features, batch_size=n, compression=""),
            columns_of,
            count_of,
            f"ShardReader, {shards_of(files)}",
        )
        for files in (*job.dataset.shardings, job.dataset.files)
    ]


def parse_memory(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    parser = parser_of(features_of(job))
    lists = job.batches()
    batched = [
        batch for path in job.dataset.files for batch in tf.data.TFRecordDataset(path, "").batch(job.dataset.batch)
    ]
    return [
        Parsing("parse_example(RecordBatch)", lambda: map(parser, batched), columns_of, count_of, "RecordBatch"),
        Parsing("parse_example(list)", lambda: map(parser, lists), columns_of, count_of, "list of bytes"),
    ]


def parse_single(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    features = features_of(job)
    records = [record for batch in job.loaded() for record in batch]

    def one(record: bytes) -> Any:
        return tf.io.parse_single_example(record, features)

    def one_sequence(record: bytes) -> Any:
        return tf.io.parse_single_sequence_example(record, *features)

    parser = one_sequence if isinstance(features, tuple) else one
    return [
        Parsing(
            f"parse_single{'_sequence' * bool(job.dataset.sequences)}_example",
            lambda: map(parser, records),
            of_one,
            lambda _: 1,
        )
    ]


def epoch(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    files, compression = job.sources(*COMPRESSIONS)
    features, n = features_of(job), job.dataset.batch
    dataset = tf.data.TFRecordDataset(files, compression).shuffle(SHUFFLE).batch(n)
    if not features:
        reader = tf.ShardReader(files, None, batch_size=n, compression=compression, shuffle_buffer=SHUFFLE)
        readers: dict[str, tuple[str, Any]] = {
            f"ShardReader(shuffle_buffer={SHUFFLE})": ("ShardReader", reader),
            f"shuffle({SHUFFLE}).batch({n}).prefetch(2)": ("Dataset", dataset.prefetch(2)),
        }
        return [
            Reading(label, source, records=lambda batch: batch.tolist(), row=row, order="shuffled")
            for label, (row, source) in readers.items()
        ]
    parser = parser_of(features)

    def reader_of(**given: Any) -> Any:
        return tf.ShardReader(files, features, batch_size=n, compression=compression, shuffle_buffer=SHUFFLE, **given)

    return [
        *(
            Parsing(
                f"shuffle_buffer={SHUFFLE}",
                reader_of(deterministic=not row),
                columns_of,
                count_of,
                f"ShardReader{row}",
                "shuffled",
            )
            for row in ("", ", any order")
        ),
        Parsing(
            f"shuffle({SHUFFLE}).batch({n}).map(parse).prefetch(2)",
            dataset.map(parser).prefetch(2),
            columns_of,
            count_of,
            "Dataset",
            "shuffled",
        ),
    ]
