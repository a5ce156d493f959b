"""Rivals in environments of their own, and what the harness does about those that are slow or can't."""

import subprocess
import sys

import pytest

from benchmarks import __main__ as command
from benchmarks import contenders, report, rivals
from benchmarks.generate import dataset_of
from benchmarks.harness import Method, Row, Table, run, wants
from benchmarks.workloads import WORKLOADS

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


def test_what_is_beyond_a_rival_is_said_and_no_failure(rival, tiny):
    (row,) = run("loop", tiny, rival(), Method(rounds=1)).rows
    assert (row.status, row.reason) == ("missing", "no records")


def test_a_rival_runs_in_the_environment_made_for_it(rival, tiny, tmp_path, monkeypatch):
    monkeypatch.setattr(rivals, "FOLDER", tmp_path / "rivals")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "rivals" / "rival"], check=True)
    (path,) = rival(body="import sys; raise CannotError(sys.prefix)", module="absent_module").values()
    assert contenders.load(path).why_not() == "not installed: --install rival"
    (tmp_path / "rivals" / "rival" / "complete").touch()
    assert contenders.load(path).why_not() is None
    (row,) = run("loop", tiny, {"rival": path}, Method(rounds=1)).rows
    assert row.reason == str(tmp_path / "rivals" / "rival")


def test_an_environment_that_pip_can_not_make_is_not_used(rival, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(rivals, "FOLDER", tmp_path / "rivals")
    missing = str(tmp_path / "no-such-package")
    assert command.install(["rival"], rival(requirements=f"{missing!r},")) == 1
    assert "no-such-package" in capsys.readouterr().err
    assert rivals.interpreter("rival") is None
    assert command.install(["ours"], FOUND) == 2


def test_slow_rows_get_no_warm_up_and_leave_when_they_had_their_time():
    method = Method(rounds=5, patience=10.0)
    row = Row("slow", "slow", pass_seconds=4.0)
    assert not wants(row, 0, method)
    assert wants(row, 1, method)
    row.wall = [4.0, 4.0]
    assert wants(row, 3, method)
    row.wall = [4.0, 4.0, 4.0]
    assert not wants(row, 4, method)
    assert not wants(row, 5, method)
    assert wants(Row("quick", "quick", pass_seconds=0.9), 0, method)
    # Three rounds if at all possible.
    row.wall = [7.0, 7.0]
    assert wants(row, 3, method)
    row.wall = [15.0, 15.0]
    assert not wants(row, 3, method)


def test_a_row_of_fewer_rounds_is_paired_with_the_first(tiny):
    ours = Row("ours", "ours", ours=True, setting="s", wall=[1.0, 9.0, 9.0], cpu=[1.0, 9.0, 9.0])
    slow = Row("slow", "slow", setting="s", wall=[50.0], cpu=[50.0])
    table = Table("loop", "tiny", tiny, [ours, slow])
    assert table.ratio(slow) == (50.0, 50.0, 50.0)
    assert "1 of 3 rounds" in report.cells(table, slow)[2]
    assert "rounds" not in report.cells(table, ours)[2]


def test_every_rival_is_pinned():
    for path in FOUND.values():
        contender = contenders.load(path)
        if contender.requirements:
            assert "==" in contender.requirements[0], contender.name
