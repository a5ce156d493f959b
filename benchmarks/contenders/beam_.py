"""Apache Beam: `ReadFromTFRecord` in a pipeline of its in-process runner
(https://beam.apache.org/releases/pydoc/current/apache_beam.io.tfrecordio.html)."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any

from benchmarks.contenders import Contender, Counting, Job, Setting
from benchmarks.contenders.kit.engines import Pipeline, parsed
from benchmarks.contenders.kit.feeding import SideBySide
from benchmarks.data.answers import Answer
from benchmarks.data.columns import of_lists


def loop(job: Job, files: list[str] | None = None) -> list[Setting]:
    """A pipeline hands no record to its caller. The loop is inside it: a function of each record, whose results are
    summed up."""
    import apache_beam as beam
    from apache_beam.options.pipeline_options import PipelineOptions

    types = beam.io.filesystem.CompressionTypes
    compression = types.GZIP if files else types.UNCOMPRESSED
    out = str(job.scratch / "sum")
    options = PipelineOptions([f"--direct_num_workers={os.cpu_count()}", "--direct_running_mode=in_memory"])

    def summed(of_record: Any) -> list[Any]:
        with beam.Pipeline(options=options) as pipeline:
            sums = (
                pipeline
                | beam.Create(files or job.dataset.files)
                | beam.io.ReadAllFromTFRecord(compression_type=compression)
                | beam.Map(of_record)
                | beam.CombineGlobally(Adding())
            )
            sums | beam.Map(json.dumps) | beam.io.WriteToText(out, shard_name_template="")
        values: list[Any] = json.loads(Path(out).read_text())
        return values

    class Adding(beam.CombineFn):  # type: ignore[misc]
        def create_accumulator(self) -> list[int]:
            return [0, 0, 0]

        def add_input(self, accumulator: list[int], item: Any) -> list[int]:
            return [a + b for a, b in zip(accumulator, item, strict=True)]

        def merge_accumulators(self, accumulators: Any) -> list[int]:
            return [sum(values) for values in zip(*accumulators, strict=True)]

        def extract_output(self, accumulator: list[int]) -> list[int]:
            return accumulator

    def digested(record: bytes) -> tuple[int, int, int]:
        return 1, len(record), int.from_bytes(hashlib.sha256(record).digest(), "little")

    class Summing(Counting):
        partial = False
        order = "any"

        def answer(self) -> Answer:
            records, size, total = summed(digested)
            return {"records": records, "bytes": size, "in any order": f"{total % 2**256:064x}"}

    return [
        Summing(
            "ReadAllFromTFRecord, then a sum, in a pipeline in this process",
            lambda: {"records": summed(lambda record: (1, len(record), 0))[0]},
            row="pipeline",
        )
    ]


def loop_gzip(job: Job) -> list[Setting]:
    return loop(job, job.packed("GZIP")[0])


def engines(job: Job) -> list[Setting]:
    """Beam's reader, and protobuf's runtime for each record. Scalars only."""
    import apache_beam as beam

    SideBySide(job.dataset)
    dtypes = {name: dtype for name, (_, dtype, _) in job.dataset.features.items()}
    return [
        Pipeline(
            "ReadAllFromTFRecord | Map(Example.FromString, to a dict)",
            "pipeline",
            lambda: (beam.Create(job.dataset.files), beam.io.ReadAllFromTFRecord(), beam.Map(parsed, dtypes)),
            lambda row: 1,
            lambda rows: {name: of_lists([[row[name]] for row in rows], dtype) for name, dtype in dtypes.items()},
        )
    ]


CONTENDER = Contender(
    "beam",
    "Apache Beam",
    package="apache-beam",
    module="apache_beam",
    leaves_out="a pipeline, which hands nothing to its caller",
    requirements=("apache-beam==2.77.0", "google-crc32c", "numpy", "protobuf"),
    tasks={"raw-gzip": loop_gzip, "loop": loop, "engines": engines},
)
