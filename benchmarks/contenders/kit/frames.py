"""Arrow tables and data frames in the plain form of data/columns.py, and a row for each kind of frame. It needs
NumPy."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contenders.kit.feeding import SideBySide
from benchmarks.contenders.kit.importing import importable
from benchmarks.contenders.kit.job import Job
from benchmarks.contenders.kit.parsing import Parsing
from benchmarks.contenders.kit.setting import Setting
from benchmarks.data.columns import Batch, fixed, of_arrow
from benchmarks.data.reference import columns_by_file


def of_table(job: Job, table: Any) -> Batch:
    """The columns of an Arrow table."""
    return {
        name: of_arrow(table.column(name).combine_chunks(), dtype)
        for name, (_, dtype, _) in job.dataset.features.items()
    }


def of_pandas(frame: Any) -> Batch:
    return {name: fixed(frame[name].to_numpy()) for name in frame.columns}


def of_polars(frame: Any) -> Batch:
    return {column.name: fixed(column.to_numpy()) for column in frame.get_columns()}


def of_duckdb(table: Any) -> Batch:
    return {name: fixed(np.ma.getdata(values)) for name, values in table.fetchnumpy().items()}


def as_parquet(job: Job) -> list[str]:
    """The same columns in Parquet files, one for each file: Snappy, pyarrow's defaults. Scalars only. They are made in
    Python, which takes longest, so they are kept beside data that has a folder of its own."""
    import pyarrow as pa
    from pyarrow import parquet

    SideBySide(job.dataset)
    paths = job.outputs(".parquet")
    about = hashlib.sha256(repr([pa.__version__, job.dataset.files, job.dataset.features]).encode()).hexdigest()[:12]
    folder = Path(job.dataset.folder) / f"parquet-{about}" if job.dataset.folder else None
    if folder is not None and folder.is_dir():
        for kept, path in zip(sorted(folder.iterdir()), paths, strict=True):
            shutil.copyfile(kept, path)
        return paths
    for path, columns in zip(paths, columns_by_file(job.dataset), strict=True):
        parquet.write_table(pa.table({name: pa.array(column.values) for name, column in columns.items()}), path)
    if folder is not None:
        keep(paths, folder)
    return paths


def keep(paths: list[str], folder: Path) -> None:
    """Copies files into a folder that is complete as soon as it is there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
    try:
        for number, path in enumerate(paths):
            shutil.copyfile(path, draft / f"{number:05}.parquet")
        draft.rename(folder)
    except OSError:
        pass  # another process was first, or the disk is full: the frames are created again
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def whole(label: str, make: Callable[[], Any], columns: Callable[[Any], Batch], row: str) -> Setting:
    """A setting that makes one table of all records."""
    return Parsing(label, lambda: iter([make()]), columns, len, row)


def of_arrow_table(job: Job, read: Callable[[], Any], label: str) -> list[Setting]:
    """Settings that make an Arrow table by `read`, and from it pandas', polars' and DuckDB's tables."""
    settings = [whole(label, read, lambda table: of_table(job, table), "Arrow")]
    if importable("pandas"):
        settings.append(whole(f"{label}.to_pandas()", lambda: read().to_pandas(), of_pandas, "pandas"))
    if importable("polars"):
        import polars

        settings.append(whole(f"polars.from_arrow({label})", lambda: polars.from_arrow(read()), of_polars, "polars"))
    if importable("duckdb"):
        settings.append(into_duckdb(f"from_arrow({label})", lambda connection: connection.from_arrow(read())))
    return settings


def into_duckdb(label: str, relation_of: Callable[[Any], Any]) -> Setting:
    """A setting that makes a table in DuckDB's memory of the relation that the function makes for a connection."""
    import duckdb

    connection = duckdb.connect()

    def make() -> Any:
        connection.execute("drop table if exists kept")
        relation_of(connection).create("kept")
        return connection.table("kept")

    return whole(f"{label}.create(table)", make, of_duckdb, "DuckDB")
