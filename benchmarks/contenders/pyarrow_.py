"""The same columns in Parquet files (Snappy, pyarrow's defaults), read by pyarrow (https://arrow.apache.org)."""

from __future__ import annotations

from typing import Any

from benchmarks.contenders import Contender, Job, Setting
from benchmarks.contenders.kit.feeding import SideBySide
from benchmarks.contenders.kit.frames import of_arrow_table
from benchmarks.data.reference import columns_by_file


def tables(job: Job) -> list[Setting]:
    import pyarrow as pa
    from pyarrow import parquet

    SideBySide(job.dataset)  # scalars only: a column of values each
    paths = job.outputs(".parquet")
    for path, columns in zip(paths, columns_by_file(job.dataset), strict=True):
        parquet.write_table(pa.table({name: pa.array(column.values) for name, column in columns.items()}), path)

    def read() -> Any:
        return parquet.read_table(paths)

    return of_arrow_table(job, read, "parquet.read_table")


CONTENDER = Contender(
    "pyarrow",
    "Parquet",
    package="pyarrow",
    module="pyarrow",
    install="pip install pyarrow",
    leaves_out="another format: columns of Parquet, a quarter of the bytes",
    tasks={"tables": tables},
)
