"""pyarrow (https://arrow.apache.org): the same columns in Parquet files (Snappy, its defaults), and bytes from S3."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.contenders import Contender, Counting, Job, Setting
from benchmarks.contenders.kit.feeding import needs
from benchmarks.contenders.kit.frames import as_parquet, of_arrow_table
from benchmarks.contenders.kit.remote import records_of, side_by_side, stores_of
from benchmarks.data.answers import Answer
from benchmarks.native.store import BUCKET, Store

PARQUET = "another format: columns of Parquet, a quarter of the bytes, no checksums"
FIGURES = ("count", "min", "max", "mean")


def tables(job: Job) -> list[Setting]:
    from pyarrow import parquet

    paths = as_parquet(job)

    def read() -> Any:
        return parquet.read_table(paths)

    return of_arrow_table(job, read, "parquet.read_table")


def stats(job: Job) -> list[Setting]:
    """polars describes the columns: exact figures, of which quantiles are those of sorted columns."""
    needs("polars")
    import polars

    paths = as_parquet(job)

    def describe() -> Answer:
        described = polars.scan_parquet(paths).describe()
        rows = {row[0]: row[1:] for row in described.iter_rows()}
        figures = {
            name: {
                key: float(rows[key][i]) for key in (FIGURES if described.schema[name].is_numeric() else FIGURES[:1])
            }
            for i, name in enumerate(described.columns[1:])
        }
        return {"records": int(float(rows["count"][0])), "figures": figures}

    setting = Counting("polars.scan_parquet(…).describe()", describe, "polars")
    setting.leaves_out = f"{PARQUET}; three exact quantiles, of sorted columns, no frequent values, no histograms"
    return [setting]


def remote(job: Job) -> list[Setting]:
    """Read bytes with pyarrow.fs and divide them into records here; no CRC."""
    return [reading(store, title) for title, store in stores_of(job)]


def reading(store: Store, title: str) -> Setting:
    from pyarrow import fs

    system = fs.S3FileSystem(
        access_key="x",
        secret_key="x",
        region="us-east-1",
        scheme="http",
        endpoint_override=store.endpoint.removeprefix("http://"),
    )

    def read(name: str) -> Iterator[bytes]:
        with system.open_input_stream(f"{BUCKET}/{name}") as file:
            yield from records_of(file)

    setting = side_by_side(store, read, "fs.S3FileSystem.open_input_stream", f"fs, {title}")
    setting.leaves_out = "no CRC; records are cut in Python"
    return setting


CONTENDER = Contender(
    "pyarrow",
    "Parquet",
    package="pyarrow",
    module="pyarrow",
    install="pip install pyarrow",
    leaves_out=PARQUET,
    checks=False,
    tasks={"tables": tables, "stats": stats, "remote": remote},
)
