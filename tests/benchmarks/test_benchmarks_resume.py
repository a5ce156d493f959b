"""A run that was broken off goes on: what it had is kept, and only that of the same commit, machine and settings."""

import json
import shutil

import pytest

from benchmarks import __main__ as command
from benchmarks.data.userfiles import FilesError
from benchmarks.reporting import output
from benchmarks.running.environment import hash_of, sources


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("resume")


@pytest.fixture
def run(tmp_path, folder, monkeypatch):
    """Runs two tasks on a little of `tiny`, and gives the exit status and the tasks that were measured."""
    measured = []
    real = command.run

    def counted(task, *rest):
        measured.append(task)
        if task == stop_at[0]:
            raise stop_by[0]
        return real(task, *rest)

    stop_at, stop_by = [""], [KeyboardInterrupt]
    monkeypatch.setattr(command, "run", counted)
    monkeypatch.chdir(tmp_path)

    def go(*more, stop="", by=KeyboardInterrupt):
        measured.clear()
        stop_at[0], stop_by[0] = stop, by
        common = ["raw", "loop", "--workload", "tiny", "--scale", "0.001", "--rounds", "1", "--quick"]
        return command.main([*common, "--rivals", "floor", "--data", str(folder / "data"), *more]), list(measured)

    return go


@pytest.fixture
def broken_off(run, tmp_path, folder):
    """What a run left that was broken off in its second task."""
    if not (folder / "run.json").exists():
        assert run("--json", str(folder / "run.json"), stop="loop") == (130, ["raw", "loop"])
    return shutil.copy(folder / "run.json", tmp_path)


@pytest.mark.parametrize(("by", "status"), [(KeyboardInterrupt, 130), (FilesError("no"), 2)])
def test_what_was_measured_is_shown_and_drawn_once_however_it_ends(run, by, status, tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    drawn = []
    monkeypatch.setattr(output, "page", lambda tables, *_: drawn.append([table.task for table in tables]) or "a page")
    assert run("--workload", "tiny,img", "--html", "page.html", stop="loop", by=by)[0] == status
    assert drawn == [["raw", "raw"]]
    assert (tmp_path / "page.html").read_text() == "a page"
    assert "Raw reading" in capsys.readouterr().out


def tasks_in(path):
    return [table["task"] for table in json.loads(path.read_text())["tables"]]


def test_a_run_that_was_broken_off_goes_on(run, broken_off, tmp_path, capsys):
    path = tmp_path / "run.json"
    assert tasks_in(path) == ["raw"]
    first = json.loads(path.read_text())
    first["environment"]["load_average"] = 99.0
    path.write_text(json.dumps(first))
    assert run("--json", "run.json", "--resume") == (0, ["loop"])
    assert "goes on after 1 of its tables" in capsys.readouterr().err
    whole = json.loads(path.read_text())
    assert [table["task"] for table in whole["tables"]] == ["raw", "loop"]
    assert whole["tables"][0] == first["tables"][0]  # what was measured is kept as it was
    assert whole["environment"] == first["environment"]  # the busier beginning of the two counts, and the first date
    assert run("--json", "run.json", "--resume") == (0, [])
    assert [file.name for file in tmp_path.iterdir() if "json" in file.name] == ["run.json"]


def test_without_resume_it_begins_again(run, broken_off):
    assert run("--json", "run.json") == (0, ["raw", "loop"])


def test_what_does_not_exist_yet_is_begun(run, tmp_path):
    assert run("--json", "new.json", "--resume") == (0, ["raw", "loop"])
    assert tasks_in(tmp_path / "new.json") == ["raw", "loop"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--seed", "1"], "seed was 0, and is 1"),
        (["--scale", "0.002"], "scale was 0.001, and is 0.002"),
        (["--rounds", "2"], "rounds was 1, and is 2"),
        (["--rivals", "tensorflow"], "contenders was"),
        (["--workload", "tiny,img"], None),  # more of the same: only what is missing is measured
    ],
)
def test_only_a_run_with_the_same_settings_goes_on(run, broken_off, more, said, tmp_path, capsys):
    before = (tmp_path / "run.json").read_text()
    if said is None:
        assert run("--json", "run.json", "--resume", *more)[1] == ["raw", "loop", "loop"]
        assert tasks_in(tmp_path / "run.json") == ["raw", "raw", "loop", "loop"]
        return
    assert run("--json", "run.json", "--resume", *more) == (2, [])
    assert said in capsys.readouterr().err
    assert (tmp_path / "run.json").read_text() == before


@pytest.mark.parametrize("name", ["commit", "sources", "extension", "cpu", "cores", "python", "numpy", "system"])
def test_only_a_run_of_the_same_commit_and_machine_goes_on(run, broken_off, name, tmp_path, capsys):
    saved = json.loads((tmp_path / "run.json").read_text())
    saved["environment"][name] = "another"
    (tmp_path / "run.json").write_text(json.dumps(saved))
    assert run("--json", "run.json", "--resume") == (2, [])
    assert f"{name} was 'another', and is" in capsys.readouterr().err


def test_sources_and_extension_are_told_apart_by_what_they_hold(tmp_path):
    (tmp_path / "a.py").write_text("1")
    before = hash_of([tmp_path / "a.py"])
    (tmp_path / "a.py").write_text("2")
    assert hash_of([tmp_path / "a.py"]) != before
    assert {"reading.py", "harness.py"} <= {path.name for path in sources()}


def test_a_machine_may_have_another_size_of_memory(run, broken_off, tmp_path):
    saved = json.loads((tmp_path / "run.json").read_text())
    saved["environment"]["memory_bytes"] -= 4096
    (tmp_path / "run.json").write_text(json.dumps(saved))
    assert run("--json", "run.json", "--resume") == (0, ["loop"])


def test_a_contender_of_another_version_stops_the_run(run, broken_off, tmp_path, capsys):
    saved = json.loads((tmp_path / "run.json").read_text())
    (ours,) = [row for row in saved["tables"][0]["rows"] if row["ours"]]
    now, ours["version"] = ours["version"], "0.0.0"
    (tmp_path / "run.json").write_text(json.dumps(saved))
    assert run("--json", "run.json", "--resume")[0] == 2
    assert f"{ours['title']} was 0.0.0, and is {now}" in capsys.readouterr().err
    assert tasks_in(tmp_path / "run.json") == ["raw"]


def test_files_are_known_by_place_size_and_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.tfrecord"
    path.write_bytes(b"1")

    def asked(name):
        return command.asked_for(command.arguments(["--files", name], {}, "bench"), [])

    before = asked("a.tfrecord")
    assert asked(str(path)) == before
    path.write_bytes(b"12")
    assert asked("a.tfrecord") != before


@pytest.mark.parametrize("arguments", [[], ["--json", "."]])
def test_it_needs_a_file_to_go_on_with(run, arguments, capsys):
    with pytest.raises(SystemExit):
        run("--resume", *arguments)
    assert "--resume needs --json FILE" in capsys.readouterr().err


def test_a_file_that_is_no_result_is_refused(run, tmp_path, capsys):
    (tmp_path / "run.json").write_text("{}")
    assert run("--json", "run.json", "--resume") == (2, [])
    assert "not a result" in capsys.readouterr().err
