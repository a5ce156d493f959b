"""ArrayRecord: Google's random-access record files, uncompressed, one record a chunk, as its README advises for random
access (https://github.com/google/array_record)."""

from __future__ import annotations

from benchmarks.contenders import Contender, Importing, Job, Setting
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
            f"read(indices), options={given!r}",
            job,
            array_record_module.ArrayRecordReader(path, given).read,
            numbers=lambda numbers: numbers.tolist(),
        )
        for given in options
    ]


def importing(job: Job) -> list[Setting]:
    return [Importing("array_record.python.array_record_module", "array_record")]


CONTENDER = Contender(
    "array_record",
    "array_record",
    package="array_record",
    module="array_record",
    install="pip install array_record",
    requirements=("array_record==0.8.6", "numpy"),
    tasks={"random": random, "import": importing},
)
