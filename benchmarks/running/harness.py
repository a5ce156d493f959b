"""Runs a task: the same work for every contender, answers compared first, times taken in turns.

For each task and workload, each contender gets a fresh process. Every setting's answer is compared with the
reference; one that is wrong is reported and not timed (entering.py). Each setting is then tried, and the best of a row
stays. Then the rows are timed in rounds, A B C A B C, after a warm-up round that does not count. Files are in the page
cache, or, in a cold run, dropped from it before each pass. A row with a short pass makes several per round, so that
nothing shorter than `min_time` is timed; times are per pass.
"""

from __future__ import annotations

import math
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.data.dataset import Dataset
from benchmarks.data.parts import Ladder
from benchmarks.data.tasks import TASKS
from benchmarks.running import pagecache
from benchmarks.running.entering import HOPELESS, Entrant, Tell, close_all, enter_all, files_of, timed
from benchmarks.running.method import FEW_ROUNDS, Method
from benchmarks.running.process import ContenderFailed
from benchmarks.running.results import Row, Table, Try


def run(
    task: str,
    dataset: Dataset | None,
    files: dict[str, Path],
    method: Method,
    tell: Tell = lambda text: None,
) -> Table:
    """Measures the contenders of `files` (name to file) on one task and dataset."""
    start = time.monotonic()
    table = Table(task, dataset.name if dataset else "", dataset, cache="cold" if method.cold else "warm")
    with scratch(method, dataset) as folder:
        # Files that are written for a task are still in the page cache.
        settled = not method.cold and not TASKS[task].repeated
        ladder = Ladder(TASKS[task], dataset, folder / "parts", settle if settled else None)
        entrants = enter_all(files, task, ladder, folder, method, table, tell)
        try:
            for entrant in entrants:
                park(entrant, method)
            for entrant in entrants:
                tell(f"{entrant.contender.name}: trial")
                try_settings(entrant, method)
            take_turns(entrants, method, tell)
        finally:
            close_all(entrants)
    table.seconds = time.monotonic() - start
    return table


def settle(dataset: Dataset) -> None:
    pagecache.settle(files_of(dataset))


def measure(entrant: Entrant, row: Row, tried: Try, passes: int, method: Method) -> tuple[float, float, float]:
    """Like `timed`, with the files where the method wants them: in the page cache or not."""
    assert entrant.ladder is not None
    entrant.wake(entrant.ladder.task.name, row.share, method)
    dataset = entrant.ladder.dataset(row.share)
    if method.cold and dataset is not None:
        pagecache.drop(files_of(dataset))
    entrant.call("forget_peak")
    return timed(entrant, row, tried, passes)


def park(entrant: Entrant, method: Method) -> None:
    """In a cold run no contender keeps files mapped while others are timed."""
    assert entrant.ladder is not None
    if method.cold:
        entrant.park([path for share in entrant.prepared for path in files_of_share(entrant, share)])


def files_of_share(entrant: Entrant, share: float) -> list[str]:
    assert entrant.ladder is not None
    dataset = entrant.ladder.dataset(share)
    return files_of(dataset) if dataset else []


def try_settings(entrant: Entrant, method: Method) -> None:
    """Finds the best setting of each row and how many passes make a round."""
    for row in entrant.rows:
        if row.status != "timed":
            continue
        # A setting without competition is tried only to learn how many passes make a round, and not at all where its
        # answer took so long that one pass does. On a part of the data a pass of each was timed already.
        able = entrant.running(row)
        trials = method.trials if len(able) > 1 and not method.cold else 1
        if row.share < 1 and not method.cold:
            trials = 0
        elif len(able) == 1 and able[0].answer_seconds > method.patience and math.isinf(able[0].seconds):
            able[0].seconds, trials = able[0].answer_seconds, 0
        try:
            for tried in able if trials else ():
                tried.seconds = math.inf  # what a smaller share took does not count here
            for tried in able:
                for _ in range(trials):
                    wall, _, _ = measure(entrant, row, tried, 1, method)
                    park(entrant, method)
                    tried.seconds = min(tried.seconds, wall)
                    if wall > HOPELESS * entrant.best(row).seconds or wall > method.patience / 4:
                        break
            best = entrant.best(row)
        except ContenderFailed as error:
            row.fail(error)
            continue
        row.setting, row.pass_seconds, row.size = best.label, best.seconds, round(best.size / exact(entrant, row))
        row.passes = passes_of(best.seconds, method)


def passes_of(seconds: float, method: Method) -> int:
    """Return the number of passes, of `seconds` each, in a round."""
    return 1 if method.cold else max(1, math.ceil(method.min_time / max(seconds, 1e-6)))


def exact(entrant: Entrant, row: Row) -> float:
    assert entrant.ladder is not None
    return entrant.ladder.exact(row.share)


def take_turns(entrants: list[Entrant], method: Method, tell: Tell) -> None:
    for number in range(method.rounds + 1):
        tell(f"round {number} of {method.rounds}" if number else "warm-up")
        for entrant in entrants:
            for row in entrant.rows:
                if row.status == "timed" and wants(row, number, method):
                    take_turn(entrant, row, method, counts=number > 0)


def wants(row: Row, number: int, method: Method) -> bool:
    """Return True if the row takes part in the round.

    A slow row needs no warm-up after its trial. It leaves when it has had its time; with fewer than FEW_ROUNDS
    rounds, when it has had twice that time.
    """
    if number == 0:
        return row.pass_seconds * row.passes < method.patience / 10 and not method.cold
    spent = sum(row.wall) * row.passes * row.share
    stays = spent < (2 if len(row.wall) < FEW_ROUNDS else 1) * method.patience
    return not row.wall or (len(row.wall) == number - 1 and stays)


def take_turn(entrant: Entrant, row: Row, method: Method, counts: bool) -> None:
    best, share = entrant.best(row), exact(entrant, row)
    try:
        wall, cpu, read = measure(entrant, row, best, row.passes, method)
        peak = entrant.call("peak", setting=best.index, share=row.share)["peak"]
        park(entrant, method)
    except ContenderFailed as error:
        row.fail(error)
        return
    if not counts:
        # More is known now than from the trial, whose one pass may have found what another one had read ahead.
        row.passes = passes_of(wall, method)
    else:
        row.wall.append(wall / share)
        row.cpu.append(cpu / share)
        row.peak = max(row.peak, peak)
        if method.cold and (size := bytes_read(entrant, row)) > 0:
            row.disk.append(read / size)


def bytes_read(entrant: Entrant, row: Row) -> int:
    """The size of the files that a pass over the row's share reads."""
    assert entrant.ladder is not None
    dataset, task = entrant.ladder.dataset(row.share), entrant.ladder.task
    if dataset is None:
        return 0
    return dataset.gzip_bytes if task.gzip or dataset.only_packed else dataset.file_bytes


@contextmanager
def scratch(method: Method, dataset: Dataset | None) -> Iterator[Path]:
    """A folder for what is written: in memory, so that no disk is measured, where there is room for it."""
    parent = method.scratch or None
    memory = Path("/dev/shm")
    # Of an object store's files rivals have copies in their own formats.
    need = (8 if dataset and dataset.shardings else 3) * dataset.file_bytes if dataset else 0
    if parent is None and memory.is_dir() and shutil.disk_usage(memory).free > need:
        parent = str(memory)
    with tempfile.TemporaryDirectory(prefix="tfrecord-bench-", dir=parent) as folder:
        yield Path(folder)
