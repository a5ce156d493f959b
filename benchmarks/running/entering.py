"""How contenders enter a table: their answers compared, and for each row the share of the data that it is timed on.

Every contender begins with a small part of the data (parts.py), and climbs to the largest share whose work, without the
fixed cost of a pass, is expected to take no longer than `Method.longest_pass`; nearly all reach the whole. The
expectation comes from the passes so far: with two shares, from the difference of their times; with one, as if all of
its time were work. On every share that a row climbs to, each of its settings is compared with the reference."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import contenders
from benchmarks.contenders import Contender
from benchmarks.data.answers import Answer, difference
from benchmarks.data.dataset import Dataset
from benchmarks.data.parts import Ladder
from benchmarks.running import pagecache
from benchmarks.running.method import Method
from benchmarks.running.process import ContenderCannot, ContenderFailed, Process
from benchmarks.running.results import Row, Table, Try

HOPELESS = 2.0  # a setting this many times slower than its row's best gets no second chance
CHECKING = 10  # an answer is taken to need at most this many times a pass
SHORT = 0.5  # seconds: a pass on a part that is shorter is timed twice
QUICK = 0.25  # of the longest pass that is wanted: a row with shorter ones may have answers that take longer
LONGEST_ANSWER = 10.0  # seconds, of such a row
FIRST_LOOK, LOOK = 3, 2  # times the longest pass: what the next share may take, when one share is known, and later
JOB = 30.0  # seconds: the same where a pass may start a job of an engine, whatever share is known
CLEAR = 0.5  # seconds: a pass that takes longer is not slow for its start-up alone

Tell = Callable[[str], None]


@dataclass
class Entrant:
    """A contender that takes part in one table. `process` is None once it can't run, and while it is parked, until
    `wake` starts another one. `prepared` are the shares of the data that the process is ready for."""

    contender: Contender
    path: Path
    folder: Path
    rows: list[Row] = field(default_factory=list)
    process: Process | None = None
    partial: dict[int, bool] = field(default_factory=dict)  # by setting: True if it only counts
    ladder: Ladder | None = None
    prepared: set[float] = field(default_factory=set)
    parked: bool = False

    def best(self, row: Row) -> Try:
        return min(self.running(row), key=lambda t: t.seconds)

    def running(self, row: Row) -> list[Try]:
        """The settings that still take part."""
        return [t for t in row.tried if t.status == "ok" and t.share == row.share and not t.reason]

    def call(self, do: str, **arguments: Any) -> dict[str, Any]:
        assert self.process is not None
        return self.process.call(do, **arguments)

    def close(self) -> None:
        if self.process is not None:
            self.process.close()

    def park(self, files: list[str]) -> None:
        """Ends the process if it has files mapped: mapped pages stay in the page cache, for every contender."""
        if self.process is not None and pagecache.maps(self.process.child.pid, files):
            give_up(self)
            self.parked = True
            self.prepared.clear()

    def wake(self, task: str, share: float, method: Method) -> None:
        """Makes the process ready for the share; a new process if it was parked."""
        if self.process is None:
            self.process = Process(self.path, self.contender, method.timeout)
        if share not in self.prepared:
            prepare(self, task, share)


def enter_all(
    found: dict[str, Path], task: str, ladder: Ladder, folder: Path, method: Method, table: Table, tell: Tell
) -> list[Entrant]:
    """The contenders that can do the task and gave right answers. Their rows go into the table, and for the others the
    reason why they have none.

    As many processes as there are cores start, and answer on the smallest part, at once: nothing is timed yet.
    """
    loaded = [(name, path, contenders.load(path)) for name, path in found.items()]
    entrants = [
        Entrant(contender, path, folder / name, ladder=ladder)
        for name, path, contender in loaded
        if task in contender.tasks
    ]
    ladder.dataset(ladder.shares[0])  # made here, not by several threads at once
    tell(f"answers: {', '.join(entrant.contender.name for entrant in entrants)}")
    try:
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda entrant: begin(entrant, task, method), entrants))
        for entrant in entrants:
            if entrant.process is not None:
                tell(f"{entrant.contender.name}: answers on more")
                climb(entrant, task, method)
            table.rows += entrant.rows
    except BaseException:
        close_all(entrants)
        raise
    return [entrant for entrant in entrants if entrant.process is not None]


def begin(entrant: Entrant, task: str, method: Method) -> None:
    """Starts the process and compares the answers of all settings on the smallest part."""
    contender, ladder = entrant.contender, entrant.ladder
    assert ladder is not None
    about: dict[str, Any] = {
        "contender": contender.name,
        "title": contender.title,
        "leaves_out": contender.leaves_out,
        "checks": contender.checks,
        "ours": contender.ours,
        "floor": contender.floor,
    }
    missing = contender.why_not()
    if missing is not None:
        entrant.rows = [Row(**about, status="missing", reason=missing)]
        return
    entrant.folder.mkdir()
    entrant.process = Process(entrant.path, contender, method.timeout)
    rows: dict[str, Row] = {}
    try:
        share = ladder.shares[0]
        prepared = prepare(entrant, task, share)
        for index, setting in enumerate(prepared["settings"]):
            own = {name: setting[name] for name in ("leaves_out", "checks") if setting[name] is not None}
            row = rows.setdefault(
                setting["row"], Row(**about | own, row=setting["row"], version=prepared["version"], share=share)
            )
            tried = Try(index, setting["label"], setting["order"], share=share)
            row.tried.append(tried)
            entrant.partial[index] = setting["partial"]
            check(entrant, tried, task)
    except ContenderCannot as error:
        entrant.rows = [Row(**about, status="missing", reason=str(error))]
        return give_up(entrant)
    except ContenderFailed as error:
        # The process is gone, or can't even start the task.
        entrant.rows = list(rows.values()) or [Row(**about)]
        for row in entrant.rows:
            row.fail(error)
        return give_up(entrant)
    entrant.rows = list(rows.values())
    for row in entrant.rows:
        judge(row)


def close_all(entrants: list[Entrant]) -> None:
    """All are told before one is waited for: some take seconds to end."""
    for entrant in entrants:
        if entrant.process is not None:
            entrant.process.hang_up()
    for entrant in entrants:
        entrant.close()


def give_up(entrant: Entrant) -> None:
    entrant.close()
    entrant.process = None


def prepare(entrant: Entrant, task: str, share: float) -> dict[str, Any]:
    assert entrant.ladder is not None
    dataset = entrant.ladder.dataset(share)
    folder = entrant.folder / f"{share:g}"
    folder.mkdir(exist_ok=True)
    prepared = entrant.call(
        "prepare", task=task, dataset=dataset.as_json() if dataset else None, scratch=str(folder), share=share
    )
    entrant.prepared.add(share)
    return prepared


def judge(row: Row) -> None:
    """A row with no right answer is not timed."""
    if all(tried.status != "ok" for tried in row.tried):
        worst = next((t for t in row.tried if t.status == "wrong"), row.tried[0])
        row.status, row.reason, row.setting = worst.status, worst.reason, worst.label


def check(entrant: Entrant, tried: Try, task: str) -> None:
    """Compares the setting's answer on its share with the reference's; what was written is read back by the
    reference."""
    assert entrant.process is not None and entrant.ladder is not None
    about = {"setting": tried.index, "share": tried.share}
    dataset, partial = entrant.ladder.dataset(tried.share), entrant.partial[tried.index]
    try:
        start = time.monotonic()
        answer: Answer = entrant.call("answer", **about)["answer"]
        tried.answer_seconds = time.monotonic() - start
    except ContenderFailed as error:
        if entrant.process.child.poll() is not None:
            raise
        tried.status, tried.reason = "failed", str(error)
        return
    try:
        tried.sizes[tried.share] = answer.pop("installed", 0)
        if "written" in answer and dataset is not None:
            paths, partial = answer["written"], False
            tried.sizes[tried.share] = sum(map(os.path.getsize, paths))
            answer = entrant.ladder.written(paths, dataset)
        wrong = difference(dataset.answer if dataset else {}, answer, tried.order, partial)
    except (ValueError, OSError) as error:
        wrong = str(error)
    entrant.call("cleanup", **about)
    if wrong is not None:
        tried.status, tried.reason = "wrong", wrong


# ---- From share to share ----


class Work:
    """The times of a setting's passes over shares of the data."""

    def __init__(self) -> None:
        self.took: dict[float, float] = {}

    def rate(self) -> float:
        """Seconds that all of the data is expected to take, without the fixed cost of a pass."""
        (share, seconds), *before = sorted(self.took.items(), reverse=True)
        whole = seconds / share
        if before:
            whole = min(whole, max(0.0, seconds - before[0][1]) / (share - before[0][0]))
        return whole


def climb(entrant: Entrant, task: str, method: Method) -> None:
    """Brings each row to the share that it is timed on."""
    ladder = entrant.ladder
    assert ladder is not None
    for row in entrant.rows:
        work: dict[int, tuple[Work, Work]] = {}  # passes and answers, by setting
        try:
            while row.status == "timed" and row.share < 1:
                for tried in entrant.running(row):
                    measure_share(entrant, row, tried, work.setdefault(tried.index, (Work(), Work())))
                if row.status != "timed" or (share := next_share(entrant, row, work, method)) == row.share:
                    break
                if share < row.share:
                    step_back(entrant, row, share, work)
                    break
                entrant.wake(task, share, method)
                rise(entrant, row, share, task)
        except ContenderCannot as error:
            row.status, row.reason = "missing", str(error)
        except ContenderFailed as error:
            row.fail(error)
    for share in entrant.prepared - {row.share for row in entrant.rows if row.status == "timed"}:
        try:
            entrant.call("forget", share=share)
            entrant.prepared.discard(share)
        except ContenderFailed:
            pass  # the rows' own turns will tell


def measure_share(entrant: Entrant, row: Row, tried: Try, work: tuple[Work, Work]) -> None:
    """Times a pass over the row's share; a short one twice, since the first one warms up."""
    tried.seconds, _, _ = timed(entrant, row, tried, 1)
    if tried.seconds < SHORT:
        tried.seconds = min(tried.seconds, timed(entrant, row, tried, 1)[0])
    work[0].took[row.share] = tried.seconds
    work[1].took[row.share] = tried.answer_seconds


def next_share(entrant: Entrant, row: Row, work: dict[int, tuple[Work, Work]], method: Method) -> float:
    """The largest share that the row's fastest setting does in time, its answer included; the row's own share where it
    should stay. The row also goes to the next share, to learn more, if that does not take much longer even if all is
    work, since what the fixed cost is only another share tells, and a larger one better; if that was too far, it goes
    back to an earlier one. An answer is made in Python, so that it keeps a quick row from more only if it takes
    long."""
    assert entrant.ladder is not None
    running = [work[tried.index] for tried in entrant.running(row)]
    passes, answers = (min(one[i].rate() for one in running) for i in (0, 1))
    answers = min(answers, CHECKING * passes)  # the first one includes what a process does only once
    limit = method.longest_pass

    def fits(share: float) -> bool:
        quick = passes * share <= QUICK * limit
        return passes * share <= limit and answers * share <= max(2 * limit, LONGEST_ANSWER * quick)

    been, took = sorted(running[0][0].took), min(one[0].took[row.share] for one in running)
    job = entrant.ladder.task.jobs
    if len(been) > 1 and not fits(row.share) and not (job and took <= JOB / 2):
        return max((s for s in been if fits(s)), default=been[0])
    above = [share for share in entrant.ladder.shares if share > row.share]
    longest = JOB if job else (FIRST_LOOK if len(been) == 1 else LOOK) * limit
    look = above[0] if took * above[0] / row.share <= longest else row.share
    return max((s for s in above if fits(s)), default=look)


def step_back(entrant: Entrant, row: Row, share: float, work: dict[int, tuple[Work, Work]]) -> None:
    """Goes back to a share that the row had before, where its answers were right and its passes are known."""
    for tried in entrant.running(row):
        tried.share, tried.seconds = share, work[tried.index][0].took[share]
    row.share = share


def rise(entrant: Entrant, row: Row, share: float, task: str) -> None:
    """Checks the answers on the share of the settings that may still be the row's best."""
    running = entrant.running(row)
    best = entrant.best(row).seconds
    row.share = share
    for tried in running:
        if tried.seconds > max(HOPELESS * best, CLEAR):
            tried.reason = f"{tried.seconds / best:.1f} × as slow as the best on {tried.share:.0%} of the data"
            continue
        tried.share = share
        check(entrant, tried, task)
    # Right on a part and wrong on more is wrong.
    if not entrant.running(row):
        row.tried.sort(key=lambda t: t.status == "ok")
        worst = row.tried[0]
        row.status, row.reason, row.setting = worst.status, worst.reason, worst.label


def timed(entrant: Entrant, row: Row, tried: Try, passes: int) -> tuple[float, float, float]:
    """Wall and CPU seconds of one pass over the row's share, and the bytes that it read from devices. A number of
    records that differs from the answer's makes the row wrong."""
    assert entrant.ladder is not None
    reply = entrant.call("time", setting=tried.index, passes=passes, share=row.share)
    counts, dataset = set(reply["records"]), entrant.ladder.dataset(row.share)
    if dataset is not None and counts != {dataset.records}:
        row.status, row.reason = "wrong", f"records in a timed pass: expected {dataset.records}, got {counts}"
    return reply["wall"] / passes, reply["cpu"] / passes, reply["disk"] / passes


def files_of(dataset: Dataset) -> list[str]:
    """All that a contender may read."""
    return [*dataset.files, *dataset.gzip_files, *(path for files in dataset.shardings for path in files)]
