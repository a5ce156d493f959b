"""Rivals in environments of their own, and what the harness does about those that are slow or fail."""

import subprocess
import sys

import pytest

from benchmarks import __main__ as command
from benchmarks import contenders
from benchmarks.contenders import dali_
from benchmarks.contenders.kit import environments
from benchmarks.data.generate import dataset_of
from benchmarks.data.workloads import WORKLOADS
from benchmarks.reporting import report
from benchmarks.running.harness import run, wants
from benchmarks.running.method import Method
from benchmarks.running.results import Row, Table

FOUND = contenders.found()
RIVAL = """
from benchmarks.contenders import CannotError, Contender

def loop(job):
    {body}

CONTENDER = Contender("{name}", "Rival", tasks={{"loop": loop}}, module="{module}", requirements=({requirements}))
"""


@pytest.fixture
def rival(tmp_path):
    def make(name="rival", body="raise CannotError('no records')", module="", requirements="'pip',"):
        path = tmp_path / f"{name}.py"
        path.write_text(RIVAL.format(name=name, body=body, module=module, requirements=requirements))
        return {name: path}

    return make


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return dataset_of(WORKLOADS["tiny"], 0.001, cache=tmp_path_factory.mktemp("data"))


def test_what_a_rival_cannot_do_is_reported_and_is_no_failure(rival, tiny):
    (row,) = run("loop", tiny, rival(), Method(rounds=1)).rows
    assert (row.status, row.reason) == ("missing", "no records")


@pytest.fixture
def environment(tmp_path, monkeypatch):
    """The folder of an environment made for the rival, which is not complete yet."""
    monkeypatch.setattr(environments, "FOLDER", tmp_path / "rivals")
    folder = tmp_path / "rivals" / "rival"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    return folder


def test_an_environment_that_is_not_complete_is_not_used(rival, environment):
    (path,) = rival(module="absent_module").values()
    assert contenders.load(path).why_not() == "not installed: --install rival"


def test_a_rival_runs_in_the_environment_made_for_it(rival, tiny, environment):
    (environment / "complete").touch()
    files = rival(body="import sys; raise CannotError(sys.prefix)", module="absent_module")
    (row,) = run("loop", tiny, files, Method(rounds=1)).rows
    assert row.reason == str(environment)


def test_an_environment_that_pip_cannot_make_is_not_used(rival, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(environments, "FOLDER", tmp_path / "rivals")
    missing = str(tmp_path / "no-such-package")
    assert command.install(["rival"], rival(requirements=f"{missing!r},")) == 1
    assert "no-such-package" in capsys.readouterr().err
    assert environments.interpreter("rival") is None


def test_a_contender_without_requirements_gets_no_environment(capsys):
    assert command.install(["ours"], FOUND) == 2
    assert "ours: has no environment of its own" in capsys.readouterr().err


@pytest.mark.parametrize(
    "pass_seconds, wall, number, stays",
    [
        pytest.param(4.0, [], 0, False, id="a slow row gets no warm-up"),
        pytest.param(0.9, [], 0, True, id="a quick row gets one"),
        pytest.param(4.0, [], 1, True, id="everyone gets a first round"),
        pytest.param(4.0, [4.0, 4.0], 3, True, id="a slow row stays while it has time"),
        pytest.param(4.0, [4.0, 4.0, 4.0], 4, False, id="it leaves when it has had its time"),
        pytest.param(4.0, [4.0, 4.0, 4.0], 5, False, id="a row that left does not come back"),
        pytest.param(4.0, [7.0, 7.0], 3, True, id="it gets three rounds if that takes less than twice its time"),
        pytest.param(4.0, [15.0, 15.0], 3, False, id="it does not if that takes more"),
    ],
)
def test_slow_rows_take_part_in_fewer_rounds(pass_seconds, wall, number, stays):
    row = Row("slow", "slow", pass_seconds=pass_seconds, wall=wall)
    assert wants(row, number, Method(rounds=5, patience=10.0)) == stays


def test_a_row_of_fewer_rounds_is_paired_with_the_first(tiny):
    ours = Row("ours", "ours", ours=True, setting="s", wall=[1.0, 9.0, 9.0], cpu=[1.0, 9.0, 9.0])
    slow = Row("slow", "slow", setting="s", wall=[50.0], cpu=[50.0])
    table = Table("loop", "tiny", tiny, [ours, slow])
    assert table.ratio(slow) == (50.0, 50.0, 50.0)
    assert "1 of 3 rounds" in report.cells(table, slow)[2]
    assert "rounds" not in report.cells(table, ours)[2]


OWN_WORDS = """
from benchmarks.contenders import Contender, Reading, Writing
from benchmarks.data.answers import frames
from benchmarks.data.generate import framed

def loop(job):
    read = lambda: [record for path in job.dataset.files for record in frames(path)]
    own = Reading("own", read, row="own")
    own.leaves_out, own.checks = "its own words", True
    return [own, Reading("other", read, row="other")]

def put(path, records):
    with open(path, "wb") as file:
        file.write(framed(records))

def write(job):
    return [Writing("framed", job, put, job.loaded())]

CONTENDER = Contender("words", "Words", tasks={"loop": loop, "write": write}, leaves_out="no CRC", checks=False)
"""


@pytest.mark.parametrize(
    "task, said",
    [
        pytest.param("loop", [("own", "its own words", True), ("other", "no CRC", False)], id="a setting's words"),
        pytest.param("write", [("", "", True)], id="what writes has no checksums to look at"),
    ],
)
def test_a_row_may_leave_out_something_else_than_its_contender(task, said, tiny, tmp_path):
    path = tmp_path / "words.py"
    path.write_text(OWN_WORDS)
    table = run(task, tiny, {"words": path}, Method(rounds=1, trials=1, min_time=0))
    assert [row.status for row in table.rows] == ["timed"] * len(said)
    assert [(row.row, row.leaves_out, row.checks) for row in table.rows] == said


@pytest.mark.parametrize(
    "records, size",
    [
        pytest.param(180, 180, id="a part that is smaller than a batch"),
        pytest.param(1024, 1024, id="one batch"),
        pytest.param(1025, 513, id="one record more"),
        pytest.param(2500, 834, id="three batches, two records of padding"),
        pytest.param(0, 1024, id="no records"),
    ],
)
def test_dali_pads_as_little_as_can_be(records, size):
    assert dali_.even(records, 1024) == size


def test_every_rival_is_pinned():
    for path in FOUND.values():
        contender = contenders.load(path)
        if contender.requirements:
            assert "==" in contender.requirements[0], contender.name
