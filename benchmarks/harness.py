"""Runs a task: the same work for every contender, answers compared first, times taken in turns.

For each task and workload, each contender gets a fresh process. Every setting's answer is held against the
reference; one that is wrong is reported and not timed. Each setting is then tried, and the best of a row
stays. Then the rows are timed in rounds, A B C A B C, with a round that does not count before. Files are in
the page cache. A row whose pass is short makes several a round, so that no time is shorter than `min_time`;
times are per pass.
"""

from __future__ import annotations

import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import contenders
from benchmarks.answers import Answer, difference, digest_of_files
from benchmarks.contenders import Contender
from benchmarks.dataset import Dataset
from benchmarks.process import ContenderCannot, ContenderFailed, Process
from benchmarks.reference import answer_of_written
from benchmarks.stats import Spread, ratios, spread
from benchmarks.tasks import TASKS

HOPELESS = 2.0  # a setting so many times slower than its row's best gets no second trial

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Method:
    rounds: int = 5
    trials: int = 2  # passes a setting gets to show that it is the best of its row
    min_time: float = 0.2  # seconds; see above
    patience: float = 60.0  # seconds of timed passes after which a row gets no more rounds than one
    timeout: float = 900.0  # seconds that any one command may take
    scratch: str = ""  # folder for what is written; "" for memory where there is room, else the system's


@dataclass
class Try:
    """A setting: what its answer was worth, and its best time in the trial. `status` is ok, wrong or
    failed; `size` as in Row."""

    index: int
    label: str
    order: str
    status: str = "ok"
    reason: str = ""
    seconds: float = math.inf
    answer_seconds: float = 0.0
    size: int = 0


@dataclass
class Row:
    """A row of a table. `status` is timed, wrong, failed or missing; `reason` says why it is not timed.
    `wall`, `cpu` are seconds per pass, one a round; `peak` bytes of resident memory; `size` bytes of the files that
    were written, or of what is installed, 0 elsewhere; `setting` the best of `tried`."""

    contender: str
    title: str
    row: str = ""
    status: str = "timed"
    reason: str = ""
    leaves_out: str = ""
    version: str = ""
    ours: bool = False
    floor: bool = False
    setting: str = ""
    passes: int = 1
    pass_seconds: float = 0.0
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    peak: int = 0
    size: int = 0
    tried: list[Try] = field(default_factory=list)

    @property
    def label(self) -> str:
        return f"{self.title} {self.row}".rstrip()

    @property
    def time(self) -> Spread:
        return spread(self.wall)

    def fail(self, error: ContenderFailed) -> None:
        self.status, self.reason = "failed", str(error)


@dataclass
class Table:
    """A task on a dataset (None where it needs none)."""

    task: str
    workload: str
    dataset: Dataset | None
    rows: list[Row] = field(default_factory=list)

    @property
    def timed(self) -> list[Row]:
        return [row for row in self.rows if row.status == "timed"]

    @property
    def base(self) -> Row | None:
        """What the others are compared with: our fastest row, or the first where ours is not timed."""
        ours = [row for row in self.timed if row.ours]
        return min(ours, key=lambda row: row.time.median) if ours else next(iter(self.timed), None)

    def ratio(self, row: Row) -> Spread | None:
        """How many times as fast as the row the base is."""
        base = self.base
        if base is None or row.status != "timed":
            return None
        return self.between(base, row)

    def between(self, fast: Row, slow: Row) -> Spread:
        """How many times as fast as the second the first is."""
        return ratios(*paired(slow.wall, fast.wall))

    def cpu_ratio(self, row: Row) -> Spread | None:
        """How many times the base's CPU time the row takes; None where the clock saw none."""
        base = self.base
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
            fields["base_is_faster_by"] = ratio._asdict() if ratio else None
            cpu_ratio = self.cpu_ratio(row)
            fields["cpu_of_base"] = cpu_ratio._asdict() if cpu_ratio else None
            rows.append(fields)
        dataset = self.dataset
        return {
            "task": self.task,
            "workload": self.workload,
            "base": self.base.label if self.base else None,
            "records": dataset.records if dataset else None,
            "file_bytes": dataset.file_bytes if dataset else None,
            "gzip_bytes": dataset.gzip_bytes if dataset else None,
            "rows": rows,
        }


def paired(times: list[float], base: list[float]) -> tuple[list[float], list[float]]:
    """Those of the rounds that both took part in, which are the first: a row leaves, and does not come back."""
    rounds = min(len(times), len(base))
    return times[:rounds], base[:rounds]


@dataclass
class Entrant:
    """A contender in the running for one table."""

    contender: Contender
    process: Process
    rows: list[Row]
    folder: Path

    def best(self, row: Row) -> Try:
        return min((t for t in row.tried if t.status == "ok"), key=lambda t: t.seconds)


def run(
    task: str,
    dataset: Dataset | None,
    files: dict[str, Path],
    method: Method,
    tell: Tell = lambda text: None,
) -> Table:
    """Measures the contenders of `files` (name to file) on one task and dataset."""
    table = Table(task, dataset.name if dataset else "", dataset)
    with scratch(method, dataset) as folder:
        entrants = []
        try:
            for name, path in files.items():
                contender = contenders.load(path)
                if task not in contender.tasks:
                    continue
                tell(f"{name}: answers")
                entrant = enter(contender, path, task, dataset, folder / name, method, table)
                if entrant is not None:
                    entrants.append(entrant)
            for entrant in entrants:
                tell(f"{entrant.contender.name}: trial")
                try_settings(entrant, dataset, method)
            take_turns(entrants, dataset, method, tell)
        finally:
            for entrant in entrants:
                entrant.process.close()
    return table


def enter(
    contender: Contender,
    path: Path,
    task: str,
    dataset: Dataset | None,
    folder: Path,
    method: Method,
    table: Table,
) -> Entrant | None:
    """Starts the contender and compares the answers of its settings; its rows go into the table. None if it
    can't run at all."""
    about: dict[str, Any] = {
        "contender": contender.name,
        "title": contender.title,
        "leaves_out": contender.leaves_out,
        "ours": contender.ours,
        "floor": contender.floor,
    }
    missing = contender.why_not()
    if missing is not None:
        table.rows.append(Row(**about, status="missing", reason=missing))
        return None
    folder.mkdir()
    process = Process(path, contender, method.timeout)
    rows: dict[str, Row] = {}
    try:
        prepared = process.call(
            "prepare", task=task, dataset=dataset.as_json() if dataset else None, scratch=str(folder)
        )
        for index, setting in enumerate(prepared["settings"]):
            row = rows.setdefault(setting["row"], Row(**about, row=setting["row"], version=prepared["version"]))
            tried = Try(index, setting["label"], setting["order"])
            row.tried.append(tried)
            check(process, tried, setting["partial"], task, dataset)
    except ContenderCannot as error:
        process.close()
        table.rows.append(Row(**about, status="missing", reason=str(error)))
        return None
    except ContenderFailed as error:
        # The process is gone, or can't even start the task.
        process.close()
        for row in rows.values() or [Row(**about)]:
            row.fail(error)
            table.rows.append(row)
        return None
    for row in rows.values():
        if all(tried.status != "ok" for tried in row.tried):
            worst = next((t for t in row.tried if t.status == "wrong"), row.tried[0])
            row.status, row.reason, row.setting = worst.status, worst.reason, worst.label
    table.rows += rows.values()
    return Entrant(contender, process, list(rows.values()), folder)


def check(process: Process, tried: Try, partial: bool, task: str, dataset: Dataset | None) -> None:
    """Compares the setting's answer with the reference's; what was written is read back by the reference."""
    try:
        start = time.monotonic()
        answer: Answer = process.call("answer", setting=tried.index)["answer"]
        tried.answer_seconds = time.monotonic() - start
    except ContenderFailed as error:
        if process.child.poll() is not None:
            raise
        tried.status, tried.reason = "failed", str(error)
        return
    expected = dataset.answer if dataset else {}
    try:
        tried.size = answer.pop("installed", 0)
        if "written" in answer and dataset is not None:
            paths, partial = answer["written"], False
            tried.size = sum(map(os.path.getsize, paths))
            answer = answer_of_written(paths, dataset) if TASKS[task].parsed else digest_of_files(paths)
        wrong = difference(expected, answer, tried.order, partial)
    except (ValueError, OSError) as error:
        wrong = str(error)
    process.call("cleanup", setting=tried.index)
    if wrong is not None:
        tried.status, tried.reason = "wrong", wrong


def measure(entrant: Entrant, row: Row, tried: Try, passes: int, dataset: Dataset | None) -> tuple[float, float]:
    """Wall and CPU seconds of one pass. A count that is not the answer's makes the row wrong."""
    reply = entrant.process.call("time", setting=tried.index, passes=passes)
    counts = set(reply["records"])
    if dataset is not None and counts != {dataset.records}:
        row.status, row.reason = "wrong", f"records in a timed pass: expected {dataset.records}, got {counts}"
    return reply["wall"] / passes, reply["cpu"] / passes


def try_settings(entrant: Entrant, dataset: Dataset | None, method: Method) -> None:
    """Finds the best setting of each row and how many passes make a round."""
    for row in entrant.rows:
        if row.status != "timed":
            continue
        # One that has no other to be better than is only tried for how many passes make a round, and not at all where
        # its answer took so long that it is one.
        able = [tried for tried in row.tried if tried.status == "ok"]
        trials = method.trials if len(able) > 1 else 1
        if len(able) == 1 and able[0].answer_seconds > method.patience:
            able[0].seconds, trials = able[0].answer_seconds, 0
        try:
            for tried in row.tried:
                for _ in range(trials if tried.status == "ok" else 0):
                    wall, _ = measure(entrant, row, tried, 1, dataset)
                    tried.seconds = min(tried.seconds, wall)
                    if wall > HOPELESS * entrant.best(row).seconds or wall > method.patience / 4:
                        break
            best = entrant.best(row)
        except ContenderFailed as error:
            row.fail(error)
            continue
        row.setting, row.pass_seconds, row.size = best.label, best.seconds, best.size
        row.passes = max(1, math.ceil(method.min_time / max(best.seconds, 1e-6)))


def take_turns(entrants: list[Entrant], dataset: Dataset | None, method: Method, tell: Tell) -> None:
    for number in range(method.rounds + 1):
        tell(f"round {number} of {method.rounds}" if number else "warm-up")
        for entrant in entrants:
            for row in entrant.rows:
                if row.status == "timed" and wants(row, number, method):
                    take_turn(entrant, row, dataset, counts=number > 0)


def wants(row: Row, number: int, method: Method) -> bool:
    """Whether the row takes part in the round; slow ones need no warm-up, and leave when they had their time."""
    if number == 0:
        return row.pass_seconds * row.passes < method.patience / 4
    return not row.wall or (len(row.wall) == number - 1 and sum(row.wall) * row.passes < method.patience)


def take_turn(entrant: Entrant, row: Row, dataset: Dataset | None, counts: bool) -> None:
    try:
        entrant.process.call("forget_peak")
        wall, cpu = measure(entrant, row, entrant.best(row), row.passes, dataset)
        peak = entrant.process.call("peak", setting=entrant.best(row).index)["peak"]
    except ContenderFailed as error:
        row.fail(error)
        return
    if counts:
        row.wall.append(wall)
        row.cpu.append(cpu)
        row.peak = max(row.peak, peak)


@contextmanager
def scratch(method: Method, dataset: Dataset | None) -> Iterator[Path]:
    """A folder for what is written: in memory, so that no disk is measured, where there is room for it."""
    parent = method.scratch or None
    memory = Path("/dev/shm")
    need = 3 * dataset.file_bytes if dataset else 0
    if parent is None and memory.is_dir() and shutil.disk_usage(memory).free > need:
        parent = str(memory)
    with tempfile.TemporaryDirectory(prefix="tfrecord-bench-", dir=parent) as folder:
        yield Path(folder)
