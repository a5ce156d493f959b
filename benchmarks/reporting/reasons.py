"""Why a target is missed, and what is next: what a report prints beside it.

The reasons are data, `results/reasons.json`, beside the results that they speak of. A reason is what was found out
about the code (docs/performance/), not about one run, so it holds for every report until someone finds out more.
Targets that were never missed have none.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.data.places import BENCHMARKS

REASONS = BENCHMARKS / "results" / "reasons.json"
UNKNOWN = "not looked into yet: it was met in earlier runs, or is new"


class Reason(NamedTuple):
    """Why the targets of a task and measure are missed.

    Attributes:
      measure: how the names of the measures begin.
      workload: "" for all workloads that have no reason of their own.
      results: the file, beside the reasons, of a run that missed one of these targets.
    """

    task: str
    measure: str
    workload: str
    results: str
    why: str
    next: str

    @property
    def text(self) -> str:
        return f"{self.why}. Next: {self.next}"


def load_reasons(path: Path = REASONS) -> list[Reason]:
    """Raises ValueError where the file does not hold reasons."""
    try:
        return [Reason(**entry) for entry in json.loads(path.read_text())]
    except (TypeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: no list of reasons ({error})") from None


@cache
def reasons() -> tuple[Reason, ...]:
    """Those that reports print."""
    return tuple(load_reasons())


def reason_for(task: str, workload: str, measure: str) -> str:
    """The workload's own reason rather than that of all of them."""
    for where in (workload, ""):
        for reason in reasons():
            if (reason.task, reason.workload) == (task, where) and measure.startswith(reason.measure):
                return reason.text
    return UNKNOWN
