"""The tasks: what is measured. A new one is an entry here and a function of that name in the contenders'
files.

To come, under these names: parse, parse-gzip, write-columns, shuffle.
"""

from __future__ import annotations

from dataclasses import dataclass

PLAIN = ("ctr", "tok", "emb", "img", "tiny", "wide", "seq")
PACKED = ("ctr", "tok", "emb", "wide", "seq")


@dataclass(frozen=True)
class Task:
    """`workloads` in the order of interest, empty for a task without data; `gzip` if it reads the GZIP
    files."""

    name: str
    title: str
    workloads: tuple[str, ...]
    gzip: bool = False


TASKS = {
    task.name: task
    for task in (
        Task("raw", "Raw reading, in batches", PLAIN),
        Task("raw-gzip", "Raw reading of GZIP files, in batches", PACKED, gzip=True),
        Task("loop", "A Python loop over the records, as bytes", PLAIN),
        Task("write", "Writing raw records that are in memory", PLAIN),
        Task("random", "Random access, each record once, 1,000 at a time", ("ctr", "tok", "emb", "img", "tiny")),
        Task("import", "Import time, NumPy being there", ()),
    )
}
