"""Guards against regressions on noisy machines: ratios of CPU time within one run, by the best of its rounds, and
bounds that only a build several times slower breaks. Never absolute times."""

from __future__ import annotations

from typing import NamedTuple

from benchmarks.running.results import Row, Table


class Bound(NamedTuple):
    """Our CPU time on a task is at most `at_most` times that of another row, named by task, contender and row."""

    task: str
    other: tuple[str, str, str]
    at_most: float


# At least two and a half times what was measured (2026-11, 8 MB of ctr): 2.4, 2.1 and 4.5.
BOUNDS = [
    Bound("raw", ("raw", "floor", "read + CRC"), 6),
    Bound("loop", ("raw", "floor", "read + CRC"), 8),
    Bound("parse", ("raw", "floor", "read + CRC"), 12),
]


def cheapest(row: Row) -> float:
    """CPU seconds of its best round."""
    return min(row.cpu)


def broken(tables: list[Table]) -> list[str]:
    """The bounds that the tasks break, or that have no rows to hold, in words. The tables are of one run, one
    workload, and data of one size."""
    rows = {(t.task, row.contender, row.row): cheapest(row) for t in tables for row in t.timed}
    breaches = []
    for bound in BOUNDS:
        ours = [seconds for (task, contender, _), seconds in rows.items() if (task, contender) == (bound.task, "ours")]
        other = rows.get(bound.other)
        if not ours or not other:
            lacking = " ".join(bound.other) if ours else f"{bound.task} ours"
            breaches.append(f"{bound.task}: no CPU time of {lacking}")
            continue
        ratio = min(ours) / other
        if ratio > bound.at_most:
            breaches.append(
                f"{bound.task}: {ratio:.1f} × the CPU time of {' '.join(bound.other)}, at most {bound.at_most:g}"
            )
    return breaches
