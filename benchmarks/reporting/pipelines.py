"""The table of pipelines: one line for each, with the speed of every contender and its ratio to TensorFlow's."""

from __future__ import annotations

from benchmarks.reporting.numbers import number
from benchmarks.running.results import Row, Table, paired
from benchmarks.running.stats import ratios

OURS = ("unchanged script", "batched by hand")
HEAD = [
    "pipeline",
    "TensorFlow, k records/s",
    *(
        f"{name}{column}"
        for name in OURS
        for column in (", k records/s", " ÷ TensorFlow", " ÷ TensorFlow, by CPU time")
    ),
]
HOW_TO_READ = (
    "÷ TensorFlow: how many times as fast as TensorFlow with the same script, median and range over the rounds; by CPU "
    "time: TensorFlow's processor time divided by the row's, all threads."
)


def row_named(table: Table, contender: str, name: str) -> Row | None:
    return next((row for row in table.rows if (row.contender, row.row) == (contender, name)), None)


def speeds(tables: list[Table]) -> list[list[str]]:
    """Return one line for each pipeline."""
    lines = []
    for table in tables:
        tensorflow = row_named(table, "tensorflow", "")
        line = [table.workload, speed(table, tensorflow)]
        for name in OURS:
            row = row_named(table, "ours", name)
            line += [speed(table, row), *compared(table, row, tensorflow)]
        lines.append(line)
    return lines


def speed(table: Table, row: Row | None) -> str:
    """Return thousands of records per second, or why there are none."""
    if row is None or table.dataset is None:
        return ""
    return number(table.dataset.records / 1e3 / row.time.median) if row.status == "timed" else row.status.upper()


def compared(table: Table, row: Row | None, tensorflow: Row | None) -> list[str]:
    """Return how many times as fast as TensorFlow a row is, by the clock and by CPU time."""
    if row is None or tensorflow is None or {row.status, tensorflow.status} != {"timed"}:
        return ["", ""]
    ratio = table.between(row, tensorflow)
    cpu = ratios(*paired(tensorflow.cpu, row.cpu)) if all(row.cpu) else None
    return [
        f"{number(ratio.median)}× ({number(ratio.low)}–{number(ratio.high)})",
        f"{number(cpu.median)}×" if cpu else "",
    ]


def footnotes(tables: list[Table]) -> list[str]:
    """Return a sentence for each row that has no figure."""
    return [
        f"{table.workload}, {row.label}: {row.status}: {row.words}."
        for table in tables
        for row in table.rows
        if row.status != "timed"
    ]
