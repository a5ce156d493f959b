"""TensorFlow parses: from files, from memory, one record at a time, shuffled."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.contenders import Job, Reading, Setting, shards_of
from benchmarks.contenders.kit.feeding import buffer_of
from benchmarks.contenders.kit.parsing import Parsing
from benchmarks.contenders.tensorflow_.features import COMPRESSIONS, Parser, columns_of, count_of, features_of, kinds
from benchmarks.data.columns import Batch, Column, step_name
from benchmarks.data.tasks import SHUFFLE


def parse(job: Job, files: list[str] | None = None, compression: str = "") -> list[Setting]:
    import tensorflow as tf

    files, n = files or job.dataset.files, job.dataset.batch
    auto = tf.data.AUTOTUNE

    def read(names: Any, parallel: int | None = None) -> Any:
        return tf.data.TFRecordDataset(names, compression, 8 << 20, num_parallel_reads=parallel).batch(n)

    def interleaved(of_file: Any) -> Any:
        return tf.data.Dataset.from_tensor_slices(files).interleave(
            of_file, cycle_length=2, num_parallel_calls=auto, deterministic=False
        )

    def settings(name: str, parser: Parser) -> list[Setting]:
        made = [
            (f"batch({n}).map(parse)", "file", read(files).map(parser)),
            (f"batch({n}).map(parse, AUTOTUNE).prefetch", "file", read(files).map(parser, auto)),
            (
                f"num_parallel_reads=2, batch({n}).map(parse, AUTOTUNE).prefetch",
                "any",
                read(files, 2).map(parser, auto),
            ),
            (
                f"interleave(batch({n}), 2).map(parse, AUTOTUNE).prefetch",
                "any",
                interleaved(read).map(parser, auto, deterministic=False),
            ),
            (f"interleave(batch({n}).map(parse), 2).prefetch", "any", interleaved(lambda file: read(file).map(parser))),
        ]
        return [
            Parsing(
                label + name, data.prefetch(auto) if "prefetch" in label else data, columns_of, count_of, order=order
            )
            for label, order, data in made
        ]

    return [setting for name, parser in kinds(job) for setting in settings(name, parser)]


def shards(job: Job) -> list[Setting]:
    """From the files that all else is read from, and from the most shards."""
    found = []
    for files in (job.dataset.files, job.dataset.shardings[-1]):
        for setting in parse(job, files):
            setting.row = shards_of(files)
            found.append(setting)
    return found


def parse_gzip(job: Job) -> list[Setting]:
    return parse(job, *job.packed(*COMPRESSIONS))


def parse_memory(job: Job) -> list[Setting]:
    import tensorflow as tf

    batches = [tf.constant(batch) for batch in job.batches()]
    return [
        Parsing(label + name, partial(map, call, batches), columns_of, count_of, row=label)
        for name, parser in kinds(job)
        for label, call in (("eager", parser), ("tf.function", tf.function(parser)))
    ]


def parse_single(job: Job) -> list[Setting]:
    import tensorflow as tf

    context, sequences = features_of(job)
    records = [tf.constant(record) for batch in job.loaded() for record in batch]

    def one(record: Any) -> Any:
        return tf.io.parse_single_example(record, context)

    def one_sequence(record: Any) -> Any:
        return tf.io.parse_single_sequence_example(record, context, sequences)

    parser = one_sequence if sequences else one

    def column(value: Any, steps: bool = False) -> Column:
        dense = value.values if isinstance(value, tf.SparseTensor) else value
        array = np.asarray(dense.numpy(), object if dense.dtype == tf.string else None)
        array = array if steps else array.ravel()
        return Column(array.tolist() if array.dtype == object else array, np.array([len(array)]))

    def columns(item: Any) -> Batch:
        found, lists = item if isinstance(item, tuple) else (item, {})
        made = {name: column(value) for name, value in found.items()}
        return made | {step_name(name): column(value, steps=True) for name, value in lists.items()}

    return [
        Parsing(label, partial(map, call, records), columns, lambda _: 1)
        for label, call in (("eager", parser), ("tf.function", tf.function(parser)))
    ]


def epoch(job: Job, buffer: int = SHUFFLE) -> list[Setting]:
    """Records are shuffled before they are batched, and parsed by the batch."""
    import tensorflow as tf

    files, compression = job.sources(*COMPRESSIONS)
    n, auto = job.dataset.batch, tf.data.AUTOTUNE
    parsed = bool(job.dataset.features or job.dataset.sequences)
    parsers: list[tuple[str, Parser | None]] = [*kinds(job)] if parsed else [("", None)]

    def setting(label: str, records: Any, name: str, parser: Parser | None) -> Setting:
        batches = records.shuffle(buffer).batch(n)
        if parser is None:
            return Reading(
                f"{label}.shuffle.batch({n}).prefetch",
                batches.prefetch(auto),
                lambda batch: batch.numpy(),
                lambda batch: int(batch.shape[0]),
                order="shuffled",
            )
        return Parsing(
            f"{label}.shuffle.batch({n}).map(parse, AUTOTUNE).prefetch{name}",
            batches.map(parser, auto).prefetch(auto),
            columns_of,
            count_of,
            order="shuffled",
        )

    def read(names: Any, parallel: int | None = None) -> Any:
        return tf.data.TFRecordDataset(names, compression, 8 << 20, num_parallel_reads=parallel)

    interleaved = tf.data.Dataset.from_tensor_slices(files).interleave(
        read, cycle_length=2, block_length=16, num_parallel_calls=auto, deterministic=False
    )
    sources = {"TFRecordDataset": read(files), "num_parallel_reads=2": read(files, 2), "interleave(2)": interleaved}
    return [setting(label, records, name, parser) for name, parser in parsers for label, records in sources.items()]


def train_feed(job: Job) -> list[Setting]:
    """Skip the conversion: an epoch yields TensorFlow's tensors."""
    job.needs_features()
    return epoch(job, buffer_of(job))
