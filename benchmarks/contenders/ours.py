"""tfrecord_fast itself."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import (
    CannotError,
    Contender,
    Importing,
    Job,
    Parsing,
    Picking,
    Reading,
    Setting,
    Tallying,
    Writing,
    cores,
    shards_of,
)

PACKED = ("GZIP", "ZLIB", "ZSTD")


def raw(job: Job, files: list[str] | None = None, compression: str = "") -> list[Setting]:
    import tfrecord_fast as tf

    dataset = tf.data.TFRecordDataset(files or job.dataset.files, compression).batch(job.dataset.batch)
    return [Reading(f"batch({job.dataset.batch})", dataset, records=lambda batch: batch.tolist())]


def raw_gzip(job: Job) -> list[Setting]:
    """In the order of the files, where one is inflated after the other, and all of them side by side."""
    import tfrecord_fast as tf

    (files, compression), n = job.packed(*PACKED), job.dataset.batch
    read = {"in order": None, "interleaved": len(files)} if len(files) > 1 else {"in order": None}
    return [
        Reading(f"{f'num_parallel_reads={parallel}, ' if parallel else ''}batch({n})",
                tf.data.TFRecordDataset(files, compression, num_parallel_reads=parallel).batch(n),
                records=lambda batch: batch.tolist(), row=row, order="any" if parallel else "file")
        for row, parallel in read.items()
    ]  # fmt: skip


def columns_of(item: Any) -> Any:
    """Of what `parse_example` or `parse_sequence_example` gives, in the plain form of columns.py."""
    from benchmarks.columns import Column, fixed, padded, ragged, step_name

    def column(value: Any, lengths: Any = None) -> Column:
        if hasattr(value, "row_splits"):
            values = value.values.tolist() if hasattr(value.values, "decode_raw") else value.values
            return ragged(values, value.row_splits)
        return fixed(value) if lengths is None else padded(value, lengths)

    context, sequences, lengths = item if isinstance(item, tuple) else (item, {}, {})
    columns = {name: column(value) for name, value in context.items()}
    return columns | {step_name(name): column(value, lengths.get(name)) for name, value in sequences.items()}


def count_of(item: Any) -> int:
    context, _, lengths = item if isinstance(item, tuple) else (item, {}, {})
    first = next(iter((context or lengths).values()))
    return len(first.row_splits) - 1 if hasattr(first, "row_splits") else len(first)


def features_of(job: Job) -> Any:
    """What ShardReader takes: a dict, or a pair for SequenceExamples."""
    import tfrecord_fast as tf
    from benchmarks.workloads import feature_objects

    context = feature_objects(job.dataset.features, tf)
    return (context, feature_objects(job.dataset.sequences, tf)) if job.dataset.sequences else context


def parser_of(features: Any) -> Any:
    import tfrecord_fast as tf

    if isinstance(features, tuple):
        return lambda batch: tf.io.parse_sequence_example(batch, *features)
    return lambda batch: tf.io.parse_example(batch, features)


def parse(job: Job, files: list[str] | None = None, compression: str = "") -> list[Setting]:
    import tfrecord_fast as tf

    files, n = files or job.dataset.files, job.dataset.batch
    features = features_of(job)
    parser = parser_of(features)
    batches = tf.data.TFRecordDataset(files, compression).batch(n)

    def reader(row: str, threads: int | None, deterministic: bool = True, cycle: int = 1) -> Setting:
        given = {"deterministic": False} if not deterministic else {}
        if cycle > 1:
            given |= {"cycle_length": cycle, "block_length": n}
        label = ", ".join(f"{name}={value}" for name, value in {"num_threads": threads, **given}.items())
        made = tf.ShardReader(files, features, batch_size=n, compression_type=compression, num_threads=threads, **given)
        return Parsing(label, made, columns_of, count_of, f"ShardReader{row}", "any" if given else "file")

    fewer = [threads for threads in (1, 2, 4, 8, 16) if threads == 1 or threads <= cores()]
    return [
        reader("", None),
        reader("", None, deterministic=False),
        reader("", None, cycle=len(files)),
        *(reader(f", {threads} thread{'s' * (threads > 1)}", threads) for threads in fewer),
        Parsing("parse_example of each TFRecordDataset.batch", lambda: map(parser, batches), columns_of, count_of,
                "parse_example"),
    ]  # fmt: skip


def parse_gzip(job: Job) -> list[Setting]:
    return parse(job, *job.packed(*PACKED))


def shards(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    features, n = features_of(job), job.dataset.batch
    return [
        Parsing("", tf.ShardReader(files, features, batch_size=n, compression_type=""), columns_of, count_of,
                f"ShardReader, {shards_of(files)}")
        for files in (*job.dataset.shardings, job.dataset.files)
    ]  # fmt: skip


def parse_memory(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    parser = parser_of(features_of(job))
    lists = job.batches()
    batched = [batch for path in job.dataset.files
               for batch in tf.data.TFRecordDataset(path, "").batch(job.dataset.batch)]  # fmt: skip
    return [
        Parsing("parse_example(RecordBatch)", lambda: map(parser, batched), columns_of, count_of, "RecordBatch"),
        Parsing("parse_example(list)", lambda: map(parser, lists), columns_of, count_of, "list of bytes"),
    ]


def parse_single(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    features = features_of(job)
    records = [record for part in job.loaded() for record in part]
    if isinstance(features, tuple):
        one = lambda record: tf.io.parse_single_sequence_example(record, *features)  # noqa: E731
    else:
        one = lambda record: tf.io.parse_single_example(record, features)  # noqa: E731
    return [Parsing(f"parse_single{'_sequence' * bool(job.dataset.sequences)}_example", lambda: map(one, records),
                    of_one, lambda _: 1)]  # fmt: skip


def of_one(item: Any) -> Any:
    """As `columns_of`, of one record."""
    import numpy as np

    from benchmarks.columns import Column, step_name

    def column(value: Any, steps: bool = False) -> Column:
        dense = value.values if hasattr(value, "dense_shape") else value
        if isinstance(dense, bytes):
            return Column([dense], np.array([1]))
        if hasattr(dense, "decode_raw"):
            return Column(np.asarray(dense).ravel().tolist(), np.array([len(dense)]))
        array = np.asarray(dense)
        return Column(array if steps else array.ravel(), np.array([len(array) if steps else array.size]))

    context, sequences = item if isinstance(item, tuple) else (item, {})
    columns = {name: column(value) for name, value in context.items()}
    return columns | {step_name(name): column(value, steps=True) for name, value in sequences.items()}


def epoch(job: Job) -> list[Setting]:
    import tfrecord_fast as tf
    from benchmarks.tasks import SHUFFLE

    files, compression = job.sources(*PACKED)
    features, n = features_of(job), job.dataset.batch
    dataset = tf.data.TFRecordDataset(files, compression).shuffle(SHUFFLE).batch(n)
    if not features:
        reader = tf.ShardReader(files, None, batch_size=n, compression_type=compression, shuffle_buffer=SHUFFLE)
        made: dict[str, tuple[str, Any]] = {f"ShardReader(shuffle_buffer={SHUFFLE})": ("ShardReader", reader),
                f"shuffle({SHUFFLE}).batch({n}).prefetch(2)": ("Dataset", dataset.prefetch(2))}  # fmt: skip
        return [Reading(label, source, records=lambda batch: batch.tolist(), row=row, order="shuffled")
                for label, (row, source) in made.items()]  # fmt: skip
    parser = parser_of(features)

    def reader_of(**given: Any) -> Any:
        return tf.ShardReader(files, features, batch_size=n, compression_type=compression, shuffle_buffer=SHUFFLE,
                              **given)  # fmt: skip

    return [
        *(Parsing(f"shuffle_buffer={SHUFFLE}", reader_of(deterministic=not row), columns_of, count_of,
                  f"ShardReader{row}", "shuffled")
          for row in ("", ", any order")),
        Parsing(f"shuffle({SHUFFLE}).batch({n}).map(parse).prefetch(2)", dataset.map(parser).prefetch(2), columns_of,
                count_of, "Dataset", "shuffled"),
    ]  # fmt: skip


def gzip_own(job: Job) -> list[Setting]:
    """The records in one file, written with the default options."""
    import tfrecord_fast as tf

    path = str(job.scratch / "own.tfrecord.gz")
    with tf.io.TFRecordWriter(path, "GZIP") as writer:
        for batch in tf.data.TFRecordDataset(job.dataset.files, "").batch(job.dataset.batch):
            writer.write_batch(batch)
    return [
        Reading(f"num_threads={threads}",
                tf.ShardReader(path, batch_size=job.dataset.batch, compression_type="GZIP", num_threads=threads),
                records=lambda batch: batch.tolist(), row=f"{threads} thread{'s' * (threads > 1)}")
        for threads in (1, 2) if threads <= cores()
    ]  # fmt: skip


def map_single(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    if job.dataset.sequences:
        raise CannotError("not measured: SequenceExamples")
    features = features_of(job)
    dataset = tf.data.TFRecordDataset(job.dataset.files, "").map(lambda one: tf.io.parse_single_example(one, features))
    return [Parsing("map(parse_single_example)", dataset, of_one, lambda _: 1)]


def loop(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    return [Reading("for record in dataset", tf.data.TFRecordDataset(job.dataset.files, ""))]


def memory(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    files, n = job.dataset.files, job.dataset.batch
    return [
        Tallying(f"batch({n})", tf.data.TFRecordDataset(files, "").batch(n), lambda batch: batch.tolist(),
                 row="TFRecordDataset"),
        Tallying("num_threads=None, to columns", tf.ShardReader(files, features_of(job), batch_size=n), count=count_of,
                 row="ShardReader"),
    ]  # fmt: skip


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


def columns_given(job: Job) -> list[Any]:
    """The columns of each file as ExampleWriter takes them."""
    import numpy as np

    import tfrecord_fast as tf

    def given(column: Any, kind: str, shape: list[int]) -> Any:
        values, lengths = column
        if kind == "varlen":
            return tf.RaggedTensor(values, np.concatenate([[0], np.cumsum(lengths)]))
        if isinstance(values, list) and not shape:
            return values
        return np.array(values, object if isinstance(values, list) else None).reshape(len(lengths), *shape)

    return [
        {name: given(part[name], kind, shape) for name, (kind, _, shape) in job.dataset.features.items()}
        for part in job.columns()
    ]


def write_columns(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    if job.dataset.sequences:
        raise CannotError("ExampleWriter takes no SequenceExamples")

    def put(path: str, columns: Any) -> None:
        with tf.ExampleWriter(path) as writer:
            writer.write(columns)

    return [Writing("ExampleWriter.write(columns)", job, put, columns_given(job))]


def write_gzip(job: Job) -> list[Setting]:
    import tfrecord_fast as tf

    level = 1 if job.task == "write-gzip-1" else None
    options = tf.io.TFRecordOptions("GZIP", compression_level=level)
    batched = [list(tf.data.TFRecordDataset(path, "").batch(job.dataset.batch)) for path in job.dataset.files]

    def put(path: str, parts: list[Any]) -> None:
        with tf.io.TFRecordWriter(path, options) as writer:
            for part in parts:
                writer.write_batch(part)

    return [Writing(f"write_batch(RecordBatch of {job.dataset.batch})", job, put, batched, suffix=".gz")]


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
        "gzip-own": gzip_own,
        "map-single": map_single,
        "loop": loop,
        "memory": memory,
        "random": random,
        "write": write,
        "write-columns": write_columns,
        "write-gzip": write_gzip,
        "write-gzip-1": write_gzip,
        "import": importing,
    },
)
