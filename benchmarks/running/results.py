"""Results of a run: a table per task and dataset, a row per contender, a try per setting."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from benchmarks.data.dataset import Dataset
from benchmarks.running.likeness import KINDS, is_beside, kind_of
from benchmarks.running.stats import Spread, ratios, spread

MOST_WORDS = 160  # characters of a reason


@dataclass
class Try:
    """A setting: whether its answer was right, and its best time in the trial. `status` is ok, wrong or failed; `share`
    is as in Row; `sizes` are the bytes of the files that it wrote of each share, or of what is installed; `reason` also
    says why it was not carried on to the share of its row."""

    index: int
    label: str
    order: str
    status: str = "ok"
    reason: str = ""
    seconds: float = math.inf
    answer_seconds: float = 0.0
    sizes: dict[float, int] = field(default_factory=dict)
    share: float = 1.0

    @property
    def size(self) -> int:
        return self.sizes.get(self.share, 0)


@dataclass
class Row:
    """A row of a table. `status` is timed, wrong, failed or missing; `reason` says why it is not timed.
    `wall` and `cpu` are seconds per pass over the whole data, one figure per round. In a row that had only a `share` of
    it (parts.py) they are divided by the share, and so is `size`, the bytes of the files that were written (or of what
    is installed; else 0). `peak` is bytes of resident memory; `setting` is the best of `tried`; `pass_seconds` what
    a pass over its share took in the trial. `disk` is what the process read from the device, as a part of the files'
    bytes, one figure per round; empty where files are in the page cache."""

    contender: str
    title: str
    row: str = ""
    status: str = "timed"
    reason: str = ""
    leaves_out: str = ""
    checks: bool = True  # verifies the checksums of the data that it reads
    version: str = ""
    ours: bool = False
    floor: bool = False
    setting: str = ""
    share: float = 1.0
    passes: int = 1
    pass_seconds: float = 0.0
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak: int = 0
    size: int = 0
    disk: list[float] = field(default_factory=list)
    tried: list[Try] = field(default_factory=list)

    @property
    def label(self) -> str:
        return f"{self.title} {self.row}".rstrip()

    @property
    def time(self) -> Spread:
        return spread(self.wall)

    @property
    def words(self) -> str:
        """The reason on one line, of a length that a table holds; the JSON has all of it."""
        text = " ".join(self.reason.split())
        return text if len(text) <= MOST_WORDS else f"{text[:MOST_WORDS]}…"

    @property
    def is_sample(self) -> bool:
        """True for a row that was timed once, on a part of the data: too uncertain for a headline."""
        return len(self.wall) == 1 and self.share < 1

    def fail(self, error: Exception) -> None:
        self.status, self.reason = "failed", str(error)


class Size(NamedTuple):
    """The size of a dataset, as in saved results."""

    records: int
    file_bytes: int
    gzip_bytes: int


@dataclass
class Table:
    """A task on a dataset (None where it needs none); `cache` is what the page cache was before each pass, warm or
    cold; `seconds` how long it all took, answers included."""

    task: str
    workload: str
    dataset: Dataset | Size | None
    rows: list[Row] = field(default_factory=list)
    cache: str = "warm"
    seconds: float = 0.0

    @property
    def cold(self) -> bool:
        return self.cache == "cold"

    @property
    def timed(self) -> list[Row]:
        return [row for row in self.rows if row.status == "timed"]

    @property
    def base(self) -> Row | None:
        """Our fastest row that does all of the task, or the first row where none of ours is timed."""
        return fastest(self.able or [row for row in self.timed if row.ours]) or next(iter(self.timed), None)

    @property
    def able(self) -> list[Row]:
        """Our rows that do all of the task."""
        return [row for row in self.timed if row.ours and not is_beside(self.task, row.row)]

    def base_for(self, row: Row) -> Row | None:
        """Return our fastest row of the same kind, which a row is compared with, or None."""
        if self.task not in KINDS or not self.able:
            return self.base
        kind = kind_of(self.task, row.label)
        return fastest([candidate for candidate in self.able if kind_of(self.task, candidate.label) == kind])

    def ratio(self, row: Row) -> Spread | None:
        """How many times as fast as the row its base is; None for a row that is not timed, or has no base."""
        base = self.base_for(row)
        if base is None or row.status != "timed":
            return None
        return self.between(base, row)

    def between(self, fast: Row, slow: Row) -> Spread:
        """How many times as fast as `slow` the row `fast` is."""
        return ratios(*paired(slow.wall, fast.wall))

    def cpu_ratio(self, row: Row) -> Spread | None:
        """How many times its base's CPU time the row takes; None where the clock measured none."""
        base = self.base_for(row)
        if base is None or row.status != "timed" or not all(base.cpu):
            return None
        return ratios(*paired(row.cpu, base.cpu))

    def as_json(self) -> dict[str, Any]:
        rows = []
        for row in self.rows:
            ratio = self.ratio(row)
            fields = asdict(row)
            fields["tried"] = [
                {**t, "seconds": None if math.isinf(t["seconds"]) else t["seconds"]} for t in fields["tried"]
            ]
            fields["time"] = row.time._asdict() if row.wall else None
            base = self.base_for(row)
            fields["base"] = base.label if base else None
            fields["base_is_faster_by"] = ratio._asdict() if ratio else None
            cpu_ratio = self.cpu_ratio(row)
            fields["cpu_of_base"] = cpu_ratio._asdict() if cpu_ratio else None
            rows.append(fields)
        dataset = self.dataset
        return {
            "task": self.task,
            "workload": self.workload,
            "cache": self.cache,
            "seconds": round(self.seconds, 1),
            "base": self.base.label if self.base else None,
            "records": dataset.records if dataset else None,
            "file_bytes": dataset.file_bytes if dataset else None,
            "gzip_bytes": dataset.gzip_bytes if dataset else None,
            "rows": rows,
        }


def fastest(rows: Iterable[Row]) -> Row | None:
    return min(rows, key=lambda row: row.time.median, default=None)


def paired(times: list[float], base: list[float]) -> tuple[list[float], list[float]]:
    """The times of the rounds that both took part in, which are the first ones: a row that leaves does not come
    back."""
    rounds = min(len(times), len(base))
    return times[:rounds], base[:rounds]
