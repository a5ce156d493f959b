"""No build that is many times slower passes: ratios to a loop in C++, by CPU time, in one short run."""

import pytest

import tfrecord_fast as tf
from benchmarks import contenders
from benchmarks.__main__ import dataset_for
from benchmarks.data.tasks import TASKS
from benchmarks.reporting.guard import BOUNDS, broken
from benchmarks.running.harness import run
from benchmarks.running.method import Method
from benchmarks.running.results import Row, Table

pytestmark = pytest.mark.alone

FILES = {name: path for name, path in contenders.found().items() if name in ("ours", "floor")}


class Options:
    scale = 0.06  # of ctr: 8 MB
    seed = 0

    def __init__(self, folder):
        self.data = folder


@pytest.mark.skipif(bool(tf.build_info()["sanitizers"]), reason="sanitizers take their time")
def test_this_build_is_not_slow(tmp_path):
    if contenders.load(FILES["floor"]).why_not() is not None:
        pytest.skip(contenders.load(FILES["floor"]).why_not())
    method = Method(rounds=4, trials=1, min_time=0.05)
    tasks = ("raw", "loop", "parse")
    tables = [run(task, dataset_for(TASKS[task], "ctr", Options(tmp_path)), FILES, method) for task in tasks]
    assert not [row.reason for table in tables for row in table.rows if row.status in ("wrong", "failed")]
    assert broken(tables) == []


def made_up(cpu):
    rows = {task: Row("ours", "tfrecord_fast", cpu=[cpu, 2 * cpu]) for task in ("raw", "loop", "parse")}
    floor = Row("floor", "floor", "read + CRC", cpu=[1.0, 1.5])
    return [Table(task, "ctr", None, [row, floor] if task == "raw" else [row]) for task, row in rows.items()]


def test_a_bound_without_its_rows_is_reported():
    tables = made_up(1.0)
    tables[0].rows[1].row = "another name"
    assert broken(tables) == [f"{bound.task}: no CPU time of raw floor read + CRC" for bound in BOUNDS]
    tables = made_up(1.0)
    tables[1].rows[0].status = "failed"
    assert broken(tables) == ["loop: no CPU time of loop ours"]


def test_a_slow_build_is_caught_and_a_noisy_round_is_not():
    assert broken(made_up(5.9)) == []
    assert [text.split(":")[0] for text in broken(made_up(7))] == ["raw"]
    assert len(broken(made_up(20))) == len(BOUNDS)
