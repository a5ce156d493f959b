"""ArrayRecord: Google's random-access record files, uncompressed, one record a chunk, as its README advises for random
access (https://github.com/google/array_record)."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import Any

from benchmarks.contenders import Contender, Importing, Job, Setting, cores
from benchmarks.contenders.kit.feeding import Feeding, SideBySide, needs
from benchmarks.contenders.kit.imaging import (
    Photos,
    collated,
    computed,
    count_of,
    of_arrays,
    photos_of,
    row_of,
    step_of,
)
from benchmarks.contenders.kit.picking import Picking
from benchmarks.data.answers import frames


def random(job: Job) -> list[Setting]:
    from array_record.python import array_record_module

    path = str(job.scratch / "all.array_record")
    writer = array_record_module.ArrayRecordWriter(path, "group_size:1,uncompressed")
    for file in job.dataset.files:
        for record in frames(file, check=False):
            writer.write(record)
    writer.close()
    options = ("", "readahead_buffer_size:0,max_parallelism:0", "readahead_buffer_size:0")
    return [
        Picking(
            f"read(indices), options={option!r}",
            job,
            array_record_module.ArrayRecordReader(path, option).read,
            numbers=lambda numbers: numbers.tolist(),
        )
        for option in options
    ]


def train_feed(job: Job) -> list[Setting]:
    """Through Grain, shuffled as a whole. A record's numbers lie side by side, for `numpy.frombuffer` to make arrays
    of; batches are made before Grain's threads take them, which is quicker."""
    needs("grain")
    import grain
    from array_record.python import array_record_module

    job.needs_features()
    layout = SideBySide(job.dataset)
    paths = job.outputs(".array_record")
    for path, rows in zip(paths, layout.rows(), strict=True):
        writer = array_record_module.ArrayRecordWriter(path, "group_size:1,uncompressed")
        for row in rows:
            writer.write(layout.packed(row))
        writer.close()
    records = grain.MapDataset.source(grain.sources.ArrayRecordDataSource(paths)).shuffle(seed=1).map(layout.unpacked)
    batches = records.batch(job.dataset.batch, batch_fn=layout.collated)
    return [
        Feeding(
            f"MapDataset.shuffle.map(frombuffer).batch, num_threads={threads}",
            batches.to_iter_dataset(grain.ReadOptions(num_threads=threads, prefetch_buffer_size=threads)),
            layout.columns,
            "Grain",
        )
        for threads in (0, 2, 16)
    ]


def images(job: Job) -> list[Setting]:
    """Through Grain, with Pillow on its threads: its worker processes start anew for each pass, which takes seconds. A
    record is a label of eight bytes and a JPEG."""
    needs("grain", "PIL")
    import grain
    from array_record.python import array_record_module

    step, paths = step_of(job), job.outputs(".array_record")
    for path, photos in zip(paths, photos_of(job), strict=True):
        writer = array_record_module.ArrayRecordWriter(path, "group_size:1,uncompressed")
        for label, data in photos:
            writer.write(label.to_bytes(8, "little") + data)
        writer.close()

    def image(record: bytes, rng: Any) -> tuple[Any, int]:
        return computed(step, record[8:], rng), int.from_bytes(record[:8], "little")

    passes = count()

    def data(threads: int) -> Any:
        records = grain.MapDataset.source(grain.sources.ArrayRecordDataSource(paths)).seed(next(passes))
        batches = records.random_map(image).batch(job.dataset.batch, batch_fn=collated)
        return batches.to_iter_dataset(grain.ReadOptions(num_threads=threads, prefetch_buffer_size=threads))

    def setting(label: str, source: Any) -> Setting:
        return Photos(job, f"MapDataset.random_map(Pillow).batch, {label}", source, of_arrays, count_of, row_of(job))

    return [setting(f"num_threads={threads}", partial(data, threads)) for threads in (cores(), 16)]


def importing(job: Job) -> list[Setting]:
    return [Importing("array_record.python.array_record_module", "array_record")]


CONTENDER = Contender(
    "array_record",
    "array_record",
    package="array_record",
    module="array_record",
    install="pip install array_record",
    requirements=("array_record==0.8.6", "numpy", "grain==0.2.18", "pillow", "protobuf"),
    tasks={"random": random, "train-feed": train_feed, "images": images, "import": importing},
)
