"""python -m benchmarks compare A.json B.json: what moved between two runs, beyond their noise."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import NamedTuple

from benchmarks.data.tasks import TASKS
from benchmarks.reporting.report import number
from benchmarks.reporting.saved import Saved, load
from benchmarks.running.results import Row, Table
from benchmarks.running.stats import Spread

_COLD = " (cold)"
_SAME = ("cpu", "cores", "system", "python", "numpy")  # for a comparison that means something
_SAME_METHOD = ("rounds", "trials", "min_time", "patience")
ENOUGH = 3  # rounds, in both runs, for ranges that say something


class Move(NamedTuple):
    """How many times as fast as a row our row of its kind was, in each run."""

    task: str
    workload: str
    label: str
    before: Spread
    after: Spread
    rounds: int = ENOUGH  # in the run that has fewer

    @property
    def apart(self) -> bool:
        """True if the ranges over the rounds do not overlap."""
        return self.after.low > self.before.high or self.after.high < self.before.low

    @property
    def beyond_noise(self) -> bool:
        """True if the ranges do not overlap and have enough rounds."""
        return self.apart and self.rounds >= ENOUGH

    @property
    def within_spread(self) -> bool:
        """True if one median lies in the range of the other run."""
        return _holds(self.before, self.after.median) or _holds(self.after, self.before.median)


def _holds(spread: Spread, value: float) -> bool:
    return spread.low <= value <= spread.high


def task_of(table: Table) -> str:
    """The task's name; a cold task is a task of its own."""
    return f"{table.task}{_COLD if table.cold else ''}"


def compared(before: Saved, after: Saved) -> Iterator[tuple[tuple[str, str, str], Move | str]]:
    """For each row that both runs timed: how it moved, or why that can't be said. In both runs it is held against the
    row of ours that it is held against in the first: of two that are about as fast, either may be the fastest."""
    others = {(task_of(table), table.workload): table for table in after.tables}
    for table in before.tables:
        about = task_of(table), table.workload
        other = others.get(about)
        for row in table.timed if other else ():
            base, ratio = table.base_for(row), table.ratio(row)
            again = _timed(other, row.label)
            if base is None or base is row or ratio is None or again is None:
                continue
            key = *about, row.label
            base_again = _timed(other, base.label)
            if base_again is None:
                yield key, f"{base.label} is not timed in the second"
            elif why := _why_not(table, row, base, other, again, base_again):
                yield key, why
            else:
                rounds = min(len(side.wall) for side in (row, base, again, base_again))
                yield key, Move(*key, ratio, other.between(base_again, again), rounds)


def _timed(table: Table, label: str) -> Row | None:
    return next((row for row in table.timed if row.label == label), None)


def _why_not(table: Table, row: Row, base: Row, other: Table, again: Row, base_again: Row) -> str:
    """Why the ratios can't be compared; "" where they can."""
    for one, two in ((row, again), (base, base_again)):
        if one.share != two.share:
            return f"{one.label} on {one.share:.0%} of the data, then {two.share:.0%}"
    sizes = [one.dataset.file_bytes if one.dataset else 0 for one in (table, other)]
    if sizes[0] != sizes[1]:
        return f"{number(sizes[0] / 1e6)} MB of data, then {number(sizes[1] / 1e6)}"
    return ""


def moves(before: Saved, after: Saved) -> list[Move]:
    """Of the rows that both runs timed on the same data."""
    return [move for _, move in compared(before, after) if isinstance(move, Move)]


def not_comparable(before: Saved, after: Saved) -> list[str]:
    """The rows that both runs timed, but not alike, each with the reason."""
    return [f"{_name(*key)}: {why}" for key, why in compared(before, after) if isinstance(why, str)]


def differences(before: Saved, after: Saved) -> Iterator[str]:
    """Return the differences that make two runs less comparable, and the rows that only one of them has."""
    for name in _SAME:
        one, other = before.environment.get(name), after.environment.get(name)
        if one != other:
            yield f"{name}: {one} and {other}"
    for name in _SAME_METHOD:
        if before.method.get(name) != after.method.get(name):
            yield f"{name}: {before.method.get(name)} and {after.method.get(name)}"
    versions = [
        {row.title: row.version for t in run.tables for row in t.rows if row.version} for run in (before, after)
    ]
    for title in sorted(versions[0].keys() & versions[1].keys()):
        if versions[0][title] != versions[1][title]:
            yield f"{title}: {versions[0][title]} and {versions[1][title]}"
    rows = [_rows(run) for run in (before, after)]
    for key in rows[0]:
        if key not in rows[1]:
            yield f"{_name(*key)}: only in the first ({rows[0][key]})"
        elif rows[0][key] != rows[1][key]:
            yield f"{_name(*key)}: {rows[0][key]}, then {rows[1][key]}"
    yield from (f"{_name(*key)}: only in the second ({rows[1][key]})" for key in rows[1] if key not in rows[0])


def _rows(run: Saved) -> dict[tuple[str, str, str], str]:
    return {(task_of(table), table.workload, row.label): row.status for table in run.tables for row in table.rows}


def _name(task: str, workload: str, label: str) -> str:
    return " ".join(filter(None, [task, workload, label]))


def _text(spread: Spread) -> str:
    return f"{number(spread.median)} ({number(spread.low)}–{number(spread.high)})"


def slower(before: Saved, after: Saved) -> list[Move]:
    """Where we lost ground against others, beyond the noise. Rows of our own don't count as others."""
    ours = {(task_of(t), t.workload, row.label) for t in _tables(before, after) for row in t.rows if row.ours}
    return [
        m for m in moves(before, after) if m.beyond_noise and m.after.median < m.before.median and m[:3] not in ours
    ]


def _tables(*runs: Saved) -> Iterator[Table]:
    for run in runs:
        yield from run.tables


def main(argv: list[str]) -> int:
    """Compare two results. Exit status: 0; 1 with --fail if ours is slower beyond the noise; 2 for invalid files, or
    if no row can be compared."""
    parser = argparse.ArgumentParser("python -m benchmarks compare", description=__doc__.partition(": ")[2])
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--fail", action="store_true", help="exit status 1 if we got slower beyond the noise")
    options = parser.parse_args(argv)
    try:
        before, after = load(options.before), load(options.after)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    for difference in differences(before, after):
        print(difference)
    both, unlike = moves(before, after), not_comparable(before, after)
    for text in unlike:
        print(f"not comparable: {text}")
    if not both:
        print(f"{options.before} and {options.after} have no row that can be compared", file=sys.stderr)
        return 2
    for move in both:
        if move.apart:
            up = move.after.median > move.before.median
            word = "few " if not move.beyond_noise else "up  " if up else "DOWN"
            rounds = "" if move.beyond_noise else f", too few rounds ({move.rounds})"
            name = _name(move.task, move.workload, move.label)
            print(f"{word} {name}: {_text(move.before)} → {_text(move.after)}{rounds}")
    if enough := [move for move in both if move.rounds >= ENOUGH]:
        alike = sum(not move.apart for move in enough)
        share = f"{alike} overlap ({alike / len(enough):.0%})"
        print(f"of {len(enough)} ratios of {ENOUGH} rounds or more, the ranges of {share}")
    within = sum(move.within_spread for move in both)
    more = {
        "apart, but of too few rounds": sum(move.apart and not move.beyond_noise for move in both),
        "not comparable": len(unlike),
    }
    print(
        f"{within} of {len(both)} ratios lie within the spread of the other run, "
        f"{sum(not move.apart for move in both)} have ranges that overlap; "
        f"{sum(move.beyond_noise for move in both)} moved beyond it"
        + "".join(f"; {count} {what}" for what, count in more.items() if count)
    )
    unknown = {move.task.removesuffix(_COLD) for move in both} - TASKS.keys()
    if unknown:
        print(f"tasks of another version of the harness: {', '.join(sorted(unknown))}")
    return int(options.fail and bool(slower(before, after)))
