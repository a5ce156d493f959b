"""Tables as they were saved: what a run wrote as JSON, read again."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.data.pipelines import EVERY
from benchmarks.data.tasks import TASKS
from benchmarks.running.environment import Environment
from benchmarks.running.results import Row, Size, Table, Try

_SAME = ("cpu", "cores", "commit", "python", "numpy", "rounds", "trials", "min_time", "patience")  # in joined runs
_DERIVED = ("time", "base", "base_is_faster_by", "cpu_of_base")  # of a row, which computes them from its rounds


class Saved(NamedTuple):
    """One run: the machine, the method, the tables; and what data and rivals were asked for ({} where unknown)."""

    environment: Environment
    method: dict[str, Any]
    tables: list[Table]
    asked: dict[str, Any]


def load(path: str | Path) -> Saved:
    """Load a result, without the tables of tasks that no longer exist.

    Raises:
      ValueError: the file is not one of `python -m benchmarks --json`, or a time in it is impossible.
    """
    try:
        result = json.loads(Path(path).read_text())
        tables = [_table(table) for table in result["tables"] if table["task"] in TASKS]
        return Saved(result["environment"], result["method"], tables, result.get("asked", {}))
    except (AttributeError, KeyError, TypeError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: not a result of this harness ({type(error).__name__}: {error})") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def join(runs: Iterable[Saved]) -> Saved:
    """Several runs of one machine as one: the last table of a task and workload counts.

    Raises:
      ValueError: they are of different machines, commits, versions or methods.
    """
    runs = list(runs)
    first = {**runs[0].environment, **runs[0].method}
    for run in runs[1:]:
        other = {**run.environment, **run.method}
        different = [
            f"{name} {first.get(name)!r} and {other.get(name)!r}"
            for name in _SAME
            if first.get(name) != other.get(name)
        ]
        if different:
            raise ValueError(f"can't join these results: {'; '.join(different)}")
    tables = {(table.task, table.workload, table.cache): table for run in runs for table in run.tables}
    return Saved(runs[-1].environment, runs[-1].method, in_order(tables.values()), runs[-1].asked)


def in_order(tables: Iterable[Table]) -> list[Table]:
    """The tables as a run of all of them would give them: by task, workload and cache. Those that are not known here,
    such as the user's own files, come last, as they came."""
    tasks, workloads = list(TASKS), list(EVERY)

    def place(names: list[str], name: str) -> int:
        return names.index(name) if name in names else len(names)

    return sorted(tables, key=lambda table: (place(tasks, table.task), place(workloads, table.workload), table.cold))


def _table(saved: dict[str, Any]) -> Table:
    size = None
    if saved["records"] is not None:
        size = Size(saved["records"], saved["file_bytes"], saved["gzip_bytes"] or 0)
    rows = [_row(row) for row in saved["rows"]]
    for row in rows:
        possible = all(0 < seconds < math.inf for seconds in row.wall) and all(0 <= cpu < math.inf for cpu in row.cpu)
        if not possible or (row.status == "timed" and not row.wall):
            name = " ".join(filter(None, [saved["task"], saved["workload"], row.label]))
            raise ValueError(f"{name}: a timed row needs times, finite and above 0")
    return Table(saved["task"], saved["workload"], size, rows, saved.get("cache", "warm"), saved.get("seconds", 0.0))


def _row(saved: dict[str, Any]) -> Row:
    fields = {name: value for name, value in saved.items() if name not in _DERIVED}
    fields["tried"] = [_try(values) for values in fields["tried"]]
    fields.setdefault("checks", "no CRC" not in fields.get("leaves_out", ""))  # older results say it in words alone
    return Row(**fields)


def _try(saved: dict[str, Any]) -> Try:
    fields = {name: value for name, value in saved.items() if name != "size"}  # of results before `sizes`
    sizes = {float(share): size for share, size in saved.get("sizes", {}).items()}
    return Try(**{**fields, "sizes": sizes, "seconds": _seconds(saved["seconds"])})


def _seconds(value: float | None) -> float:
    return math.inf if value is None else value
