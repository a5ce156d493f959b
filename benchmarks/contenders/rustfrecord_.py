"""rustfrecord: Examples as dicts of PyTorch tensors, one at a time (https://pypi.org/project/rustfrecord/)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.contenders import CannotError, Contender, Importing, Job, Setting
from benchmarks.contenders.kit.parsing import Parsing
from benchmarks.data.columns import Batch, of_lists


def parse(job: Job, files: list[str] | None = None, compressed: bool = False) -> list[Setting]:
    from rustfrecord import Reader

    if job.dataset.sequences:
        raise CannotError("no SequenceExamples")
    names = list(job.dataset.features)

    def records() -> Iterator[Any]:
        for file in files or job.dataset.files:
            yield from Reader(file, compressed=compressed, features=names)

    def columns(record: Any) -> Batch:
        def values(name: str, dtype: str) -> Any:
            if name not in record:  # a feature that this record lacks
                return []
            if dtype != "string":
                return np.asarray(record[name]).ravel()
            # One value comes as its bytes, several as a list of such.
            several = record[name] if isinstance(record[name], list) else [record[name]]
            return [bytes(np.asarray(value, np.uint8)) for value in several]

        return {name: of_lists([values(name, dtype)], dtype) for name, (_, dtype, _) in job.dataset.features.items()}

    return [Parsing("Reader(features=…), one at a time", records, columns, lambda _: 1)]


def parse_gzip(job: Job) -> list[Setting]:
    return parse(job, job.packed("GZIP")[0], True)


def importing(job: Job) -> list[Setting]:
    return [Importing("rustfrecord", "rustfrecord")]


CONTENDER = Contender(
    "rustfrecord",
    "rustfrecord",
    package="rustfrecord",
    module="rustfrecord",
    leaves_out="no SequenceExamples, no batches",
    requirements=("rustfrecord==0.1.7",),
    tasks={"parse": parse, "parse-gzip": parse_gzip, "import": importing},
)
