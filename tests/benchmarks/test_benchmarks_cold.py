"""Cold runs: files leave the page cache before each timed pass, and tables say what came from the device."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import contenders
from benchmarks.data.generate import dataset_of
from benchmarks.data.tasks import TASKS
from benchmarks.data.workloads import WORKLOADS
from benchmarks.reporting import compare, report
from benchmarks.reporting.saved import load
from benchmarks.reporting.targets import not_measured, targets
from benchmarks.running import pagecache
from benchmarks.running.entering import timed
from benchmarks.running.harness import run
from benchmarks.running.method import Method

OURS = {"ours": contenders.found()["ours"]}
COLD = Method(rounds=2, trials=1, cold=True)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    made = dataset_of(WORKLOADS["tiny"], 0.05, cache=tmp_path_factory.mktemp("data"))  # 3.7 MB
    if (why := pagecache.why_not(made.files)) is not None:
        pytest.skip(why)
    return made


def test_a_dropped_file_is_not_resident_and_is_when_it_is_read(tiny):
    (path, *_) = tiny.files
    Path(path).read_bytes()
    assert pagecache.resident(path) == 1.0
    pagecache.drop([path])
    assert pagecache.resident(path) < pagecache.MOST_LEFT


def test_a_cold_pass_reads_the_files_from_the_device(tiny):
    table = run("raw", tiny, OURS, COLD)
    (row,) = table.rows
    assert (table.cache, row.passes, len(row.wall)) == ("cold", 1, 2)
    if not any(row.disk):
        pytest.skip("the system does not tell what was read from the device")
    assert all(0.9 < share < 1.5 for share in row.disk)
    assert report.columns(table)[-1] == report.FROM_DISK and report.cells(table, row)[-1].endswith("%")


MAPPING = """
import mmap
from benchmarks.data.answers import frames
from benchmarks.contenders import Contender, Reading

KEPT = []

def records(files):
    for path in files:
        with open(path, "rb") as file:
            KEPT.append(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))
        sum(KEPT[-1][::4096])
        yield from frames(path, check=False)

def raw(job):
    return [Reading("mapped for good", lambda: records(job.dataset.files))]

CONTENDER = Contender("mapping", "mapping", tasks={"raw": raw})
"""


def test_a_contender_that_keeps_files_mapped_spoils_no_other(tiny, tmp_path):
    path = tmp_path / "mapping.py"
    path.write_text(MAPPING)
    rows = run("raw", tiny, {"mapping": path} | OURS, COLD).rows
    assert [(row.status, len(row.wall)) for row in rows] == [("timed", 2), ("timed", 2)]
    if not any(rows[1].disk):
        pytest.skip("the system does not tell what was read from the device")
    assert all(share > 0.9 for row in rows for share in row.disk)


def test_a_warm_pass_reads_nothing_from_it(tiny, monkeypatch):
    read = []

    def noted(*arguments):
        wall, cpu, disk = timed(*arguments)
        read.append(disk)
        return wall, cpu, disk

    monkeypatch.setattr("benchmarks.running.harness.timed", noted)
    pagecache.drop(tiny.files)  # a run brings them back before it times
    table = run("raw", tiny, OURS, Method(rounds=2, trials=1, min_time=0.0))
    assert len(read) >= 2 and max(read) < 0.1 * tiny.file_bytes
    assert (table.cache, table.rows[0].disk) == ("warm", [])
    assert report.FROM_DISK not in report.columns(table)


def test_what_is_settled_came_into_the_page_cache_anew(tiny):
    (path, *_) = tiny.files
    pagecache.drop([path])
    assert pagecache.resident(path) < pagecache.MOST_LEFT
    before = pagecache.device_bytes()
    pagecache.settle([path])
    assert pagecache.resident(path) == 1.0
    if before:
        pagecache.settle([path])  # though all of it was there
        assert pagecache.device_bytes() - before >= 2 * Path(path).stat().st_size


def test_files_in_memory_are_not_settled(tiny, monkeypatch):
    monkeypatch.setattr(pagecache, "file_system", lambda path: "tmpfs")
    monkeypatch.setattr(pagecache, "drop", lambda files: pytest.fail("files in memory can't be dropped"))
    pagecache.settle(tiny.files)


@pytest.mark.parametrize("cold", [False, True])
def test_a_warm_run_settles_all_that_it_times_once(tiny, cold, monkeypatch):
    settled = []
    monkeypatch.setattr(pagecache, "settle", lambda files: settled.append(list(files)))
    monkeypatch.setattr("benchmarks.data.parts.SHARES", (0.1,))
    monkeypatch.setattr("benchmarks.data.parts.FEWEST_BYTES", 1)
    run("raw", tiny, OURS, Method(rounds=1, trials=1, min_time=0.0, cold=cold))
    assert [len(files) for files in settled] == ([] if cold else [2, 2])  # a tenth of the data, and all of it
    assert cold or settled[-1] == list(tiny.files)


def test_what_is_written_anew_for_a_task_is_not_settled(tiny, monkeypatch):
    monkeypatch.setattr(pagecache, "settle", lambda files: pytest.fail("ten gigabytes would be read once more"))
    monkeypatch.setitem(TASKS, "raw", replace(TASKS["raw"], repeated=1))
    run("raw", tiny, OURS, Method(rounds=1, trials=1, min_time=0.0))


def test_from_cold_to_every_report(tiny, tmp_path, capsys):
    files = {name: tmp_path / f"out.{name}" for name in ("json", "markdown")}
    arguments = [f"--{name}={path}" for name, path in files.items()]
    data = str(Path(tiny.folder).parent)
    assert (
        command.main(
            [
                "raw",
                "--cold",
                "--workload",
                "tiny",
                "--scale",
                "0.05",
                "--rounds",
                "1",
                "--rivals",
                "floor",
                "--quick",
                "--data",
                data,
                *arguments,
            ]
        )
        == 0
    )
    assert "cold page cache" in capsys.readouterr().out
    text = files["markdown"].read_text()
    assert "files dropped from the page cache before each timed pass" in text and "from disk" in text
    result = json.loads(files["json"].read_text())
    assert result["method"]["cold"] and result["tables"][0]["cache"] == "cold"
    saved = load(files["json"])
    assert saved.tables[0].cold
    # Targets are about files in the page cache; a cold task is compared only with a cold one.
    assert targets(saved.tables) == [] and not_measured(saved.tables) == []
    assert {task for (task, _, _), _ in compare.compared(saved, saved)} == {"raw (cold)"}


def test_data_in_memory_has_no_cold_run(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(pagecache, "file_system", lambda path: "tmpfs")
    assert (
        command.main(
            [
                "raw",
                "--cold",
                "--quick",
                "--workload",
                "tiny",
                "--scale",
                "0.001",
                "--rivals",
                "floor",
                "--data",
                str(tmp_path),
            ]
        )
        == 2
    )
    assert "lies on tmpfs, in memory" in capsys.readouterr().err


def test_the_file_system_of_a_path_is_that_of_its_mount():
    if not Path("/proc/self/mounts").exists():
        pytest.skip("no /proc")
    assert pagecache.file_system("/proc/self/status") == "proc"
    if Path("/dev/shm").is_dir():
        assert pagecache.file_system("/dev/shm") == "tmpfs"


def test_a_task_that_does_not_read_files_as_they_are_is_refused(capsys):
    with pytest.raises(SystemExit):
        command.main(["write", "--cold"])
    assert "write does not read files from cold" in capsys.readouterr().err
