"""A run that was broken off goes on: which tables of a saved result need not be measured again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.reporting.saved import Saved, load
from benchmarks.running.environment import Environment
from benchmarks.running.method import Method
from benchmarks.running.results import Table

# Of the environment: those of the run that goes on are kept. A machine may have a little less memory after a reboot.
_MAY_DIFFER = ("date", "load_average", "memory_bytes")


def begun(path: Path, environment: Environment, method: Method, asked: Mapping[str, Any]) -> Saved | None:
    """Return the run that wrote `path`, to continue it, or None if the file is missing.

    Raises:
      ValueError: the file is not a result, or is of another commit, machine, method or data.
    """
    if not path.exists():
        return None
    saved = load(path)
    if different := list(_differences(saved, environment, method, asked)):
        raise ValueError(f"{path}: can't go on with this run: {'; '.join(different)}")
    saved.environment["load_average"] = max(saved.environment["load_average"], environment["load_average"])
    return saved


def other_versions(saved: Iterable[Table], table: Table) -> list[str]:
    """The contenders that have another version in this table than in the saved ones, in words."""
    before = {row.title: row.version for table in saved for row in table.rows if row.version}
    now = {row.title: row.version for row in table.rows if row.version}
    return [
        f"{title} was {before[title]}, and is {version}"
        for title, version in now.items()
        if before.get(title, version) != version
    ]


def _differences(saved: Saved, environment: Environment, method: Method, asked: Mapping[str, Any]) -> Iterator[str]:
    now = {**environment, **asdict(method), **asked}
    then = {**saved.environment, **saved.method, **saved.asked}
    for name in sorted(now.keys() | then.keys()):
        if name not in _MAY_DIFFER and now.get(name) != then.get(name):
            yield f"{name} was {then.get(name)!r}, and is {now.get(name)!r}"
