"""What the project reaches for: the ratio to a rival's best, in one run, per task and workload."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.harness import Table


class Target(NamedTuple):
    task: str
    workload: str
    measure: str
    at_least: float  # or, in seconds, at most
    measured: float
    met: bool


# (task, rival's contender, its row): workload to the ratio that is to be reached.
RATIOS: dict[tuple[str, str, str], dict[str, float]] = {
    ("raw", "tensorflow", ""): {"ctr": 15, "tok": 15, "emb": 8, "img": 5, "tiny": 30},
    ("raw", "floor", "read + CRC"): dict.fromkeys(("ctr", "tok", "emb", "img", "tiny"), 0.7),
    ("raw-gzip", "floor", "inflate"): dict.fromkeys(("ctr", "wide", "tok", "emb", "seq"), 0.85),
    ("random", "array_record", ""): {"ctr": 5},
    ("write", "tensorflow", ""): {"ctr": 5, "emb": 4, "img": 1.5, "tiny": 8},
}
LOOP_RECORDS_PER_SECOND = 6e6  # tiny
IMPORT_SECONDS = 0.030  # over NumPy


def targets(tables: list[Table]) -> list[Target]:
    """The targets that these tables measure."""
    return [target for table in tables if table.base is not None and table.base.ours for target in of(table)]


def of(table: Table) -> list[Target]:
    assert table.base is not None
    found = []
    for row in table.timed:
        wanted = RATIOS.get((table.task, row.contender, row.row), {}).get(table.workload)
        ratio = table.ratio(row)
        if wanted is not None and ratio is not None:
            measure = f"speed ÷ {row.label}"
            found.append(Target(table.task, table.workload, measure, wanted, ratio.median, ratio.median >= wanted))
    seconds = table.base.time.median
    if table.task == "loop" and table.workload == "tiny" and table.dataset is not None:
        rate = table.dataset.records / seconds / 1e6
        wanted = LOOP_RECORDS_PER_SECOND / 1e6
        found.append(Target("loop", "tiny", "million records/s", wanted, rate, rate >= wanted))
    if table.task == "import":
        measure = "ms over NumPy, at most"
        met = seconds <= IMPORT_SECONDS
        found.append(Target("import", "", measure, IMPORT_SECONDS * 1e3, seconds * 1e3, met))
    return found
