"""python -m benchmarks.native: micro-benchmarks of the core's hot rooms, one core, no Python, answers checked first."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data.generate import CACHE, dataset_of
from benchmarks.data.workloads import WORKLOADS
from benchmarks.native.programs import ROOMS, Figure, ProgramFailed, Room, program, run, why_not
from benchmarks.reporting.report import number
from benchmarks.running.environment import environment
from benchmarks.running.stats import spread

MOST_BYTES = 4e6  # of a workload's file
HEAD = ["room", "case", "how", "figure", "unit", "(min–max)"]
QUICK, FULL = (3, 2.0), (7, 20.0)  # rounds, milliseconds of each


def file_of(name: str, data: Path, quick: bool) -> str:
    """The first shard of a workload."""
    workload = WORKLOADS[name]
    size = MOST_BYTES / 4 if quick else MOST_BYTES
    return dataset_of(workload, min(1.0, size * workload.shards / workload.total_bytes), cache=data).files[0]


def measured(room: Room, options: argparse.Namespace) -> Iterator[tuple[str, Figure]]:
    """The rows of a room, each with its case. Says on standard error what this processor lacks."""
    path = program(room)
    for name in room.workloads or ("",):
        files = [file_of(name, options.data, options.quick)] if name else []
        figures, lacking = run(path, *(QUICK if options.quick else FULL), *files)
        for figure in figures:
            yield f"{name}: {figure.case}" if name else figure.case, figure
        for how, why in lacking:
            print(f"{room.name}: not measured: {how} ({why})", file=sys.stderr)


def row(room: Room, case: str, figure: Figure) -> list[str]:
    middle, low, high = spread(figure.rounds)
    return [room.name, case, figure.how, number(middle), figure.unit, f"{number(low)}–{number(high)}"]


def show(rows: list[list[str]]) -> None:
    widths = [max(len(line[i]) for line in rows) for i in range(len(HEAD))]
    for number_of_line, line in enumerate(rows):
        right = [
            text.rjust(width) if i == 3 else text.ljust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        if number_of_line > 0 and line[:2] != rows[number_of_line - 1][:2]:
            print()
        print("  ".join(right).rstrip())


def arguments(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m benchmarks.native", description=__doc__.partition(": ")[2])
    parser.add_argument("room", nargs="*", metavar="ROOM", help=f"of {', '.join(ROOMS)} (default: all)")
    parser.add_argument(
        "--quick", action="store_true", help="short rounds of little data: to see that it runs, not for figures"
    )
    parser.add_argument("--data", type=Path, default=CACHE, help="folder that keeps the data made")
    parser.add_argument("--json", type=Path, help="file to write the figures of every round to")
    options = parser.parse_args(argv)
    for name in options.room:
        if name not in ROOMS:
            parser.error(f"unknown room {name!r}; choose from {', '.join(ROOMS)}")
    return options


def main(argv: list[str] | None = None) -> int:
    """Exit status: 0; 1 if an answer was wrong; 2 if a room can't be built here."""
    options = arguments(argv)
    rows, figures, status = [HEAD], [], 0
    for room in (ROOMS[name] for name in options.room or ROOMS):
        if (lacks := why_not(room)) is not None:
            print(f"{room.name}: not measured: {lacks}", file=sys.stderr)
            status = max(status, 2)
            continue
        try:
            for case, figure in measured(room, options):
                rows.append(row(room, case, figure))
                figures.append(
                    {"room": room.name, "case": case, "how": figure.how, "unit": figure.unit, "rounds": figure.rounds}
                )
        except ProgramFailed as error:
            print(f"{room.name}: {error}", file=sys.stderr)
            status = 1
    show(rows)
    if options.json:
        options.json.write_text(json.dumps({"environment": environment(), "figures": figures}, indent=1) + "\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
