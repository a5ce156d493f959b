"""A contender that would take too long over all of the data is timed on its first records, and its row says so."""

import json
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks.data import parts
from benchmarks.data.answers import digest_of_files, frames
from benchmarks.data.generate import dataset_of
from benchmarks.data.parts import part_of, shares_of
from benchmarks.data.tasks import TASKS
from benchmarks.data.workloads import WORKLOADS
from benchmarks.reporting import report
from benchmarks.reporting.saved import load
from benchmarks.running.entering import Work
from benchmarks.running.harness import run
from benchmarks.running.method import Method

# Takes {each} seconds per record and {start} per pass.
SLOW = """
import time
from benchmarks.data.answers import frames
from benchmarks.contenders import Contender, Reading

def records(job):
    time.sleep({start})
    read = [record for path in job.dataset.files for record in frames(path, check=False)]
    time.sleep({each} * len(read))
    return read{spoil}

def loop(job):
    return [Reading("slowly", lambda: records(job))]

CONTENDER = Contender("{name}", "{name}", tasks={{"loop": loop}})
"""
METHOD = Method(rounds=2, trials=1, min_time=0.0, patience=0.6)  # 0.3 s per pass
LOOP = TASKS["loop"]


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(parts, "FEWEST_BYTES", 100_000)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return dataset_of(WORKLOADS["tiny"], 0.02, cache=tmp_path_factory.mktemp("data"))  # 20,000 records, 1.5 MB


@pytest.fixture
def rival(tmp_path):
    def make(name, each=0.0, start=0.0, spoil=""):
        path = tmp_path / f"{name}.py"
        path.write_text(SLOW.format(name=name, each=each, start=start, spoil=spoil))
        return {name: path}

    return make


def only_row(table):
    (row,) = table.rows
    return row


def test_a_part_is_the_first_records_of_each_file(tiny, tmp_path):
    part = part_of(tiny, 0.1, LOOP, tmp_path)
    for path, whole in zip(part.files, tiny.files, strict=True):
        some, all_of_it = list(frames(path)), list(frames(whole))
        assert 900 < len(some) < 1100 and some == all_of_it[: len(some)]
    assert part.answer == digest_of_files(part.files) and part.records == part.answer["records"]
    assert 0.1 <= part.file_bytes / tiny.file_bytes < 0.101


def test_data_has_the_parts_that_are_large_enough(tiny):
    assert shares_of(LOOP, tiny) == [0.1, 0.3]


def test_no_data_has_no_parts():
    assert shares_of(LOOP, None) == ()


def test_small_data_has_no_parts(tiny):
    assert shares_of(LOOP, part_of(tiny, 0.1, LOOP, Path(tiny.folder))) == []


def test_a_fast_contender_gets_all_of_the_data(tiny, rival):
    row = only_row(run("loop", tiny, rival("fast"), METHOD))
    assert (row.status, row.share, len(row.wall)) == ("timed", 1.0, 2)


def test_a_slow_contender_gets_a_part_whose_answer_is_compared(tiny, rival):
    table = run("loop", tiny, rival("slow", each=1e-4), METHOD)  # 2 s for all
    row = only_row(table)
    assert (row.status, row.share) == ("timed", 0.1)
    assert 1.9 < row.time.median < 4, "seconds are of all of the data"
    assert "on 10% of the data" in report.cells(table, row)[2]


def test_the_fixed_cost_of_a_pass_keeps_no_contender_from_more(tiny, rival):
    # If all of it were work, the whole would take ten times as long.
    row = only_row(run("loop", tiny, rival("starter", start=0.25), METHOD))
    assert (row.status, row.share) == ("timed", 1.0)


def test_right_on_a_part_and_wrong_on_more_is_wrong(tiny, rival):
    row = only_row(run("loop", tiny, rival("fading", spoil="[:15000]"), METHOD))
    assert (row.status, row.wall) == ("wrong", [])
    assert row.reason == "records: expected 20000, got 15000"


def test_wrong_on_the_first_part_is_wrong_without_a_longer_look(tiny, rival):
    row = only_row(run("loop", tiny, rival("wrong", each=1e-4, spoil="[:-1]"), METHOD))
    assert (row.status, row.share, row.wall) == ("wrong", 0.1, [])


def test_the_part_is_in_every_report(rival, tmp_path, capsys):
    (path,) = rival("slow", each=1e-3).values()
    out = tmp_path / "out.json"
    arguments = [
        "loop",
        "--workload",
        "tiny",
        "--scale",
        "0.02",
        "--rounds",
        "1",
        "--rivals",
        "floor",
        "--quick",
        "--data",
        str(tmp_path / "data"),
        "--json",
        str(out),
        "--rival-file",
        str(path),
    ]
    assert command.main(arguments) == 0
    assert "on 10% of the data" in capsys.readouterr().out.replace("\n", " ")
    rows = json.loads(out.read_text())["tables"][0]["rows"]
    assert [(row["contender"], row["share"]) for row in rows] == [("ours", 1.0), ("slow", 0.1)]
    assert [row.share for row in load(out).tables[0].rows] == [1.0, 0.1]


@pytest.mark.parametrize(
    "took, rate",
    [({0.01: 2.0}, 200), ({0.01: 2.0, 0.03: 2.2}, 10), ({0.01: 2.0, 0.03: 2.2, 0.1: 2.1}, 0)],
    ids=["all of one share's time is work", "the difference of two is", "noise is not"],
)
def test_expected_work_comes_from_the_last_two_shares(took, rate):
    work = Work()
    work.took = took
    assert work.rate() == pytest.approx(rate)
