"""The harness: answers before times, a wrong one never timed, and every contender taken by the same loop."""

import ctypes
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import contenders
from benchmarks.data.answers import difference, digest
from benchmarks.data.generate import dataset_of
from benchmarks.data.tasks import TASKS
from benchmarks.data.workloads import WORKLOADS
from benchmarks.native import build
from benchmarks.reporting import document, report
from benchmarks.reporting.reasons import REASONS, UNKNOWN, load_reasons, reason_for, reasons
from benchmarks.reporting.saved import load
from benchmarks.reporting.targets import LIMITS, PAIRS, measure_of, not_measured, targets
from benchmarks.running.environment import environment
from benchmarks.running.harness import run
from benchmarks.running.method import Method
from benchmarks.running.process import ContenderFailed, Process
from benchmarks.running.results import Row, Size, Table
from benchmarks.running.stats import Spread, ratios, spread
from benchmarks.running.worker import Worker
from tests.support.contenders import more_contenders
from tests.support.paths import ROOT

SHORT = Method(rounds=2, trials=1, min_time=0.0)
FOUND = contenders.found()
TITLES = {name: contenders.load(path).title for name, path in FOUND.items()}

# A contender in plain Python, of which each test spoils a part.
PLAIN = """
from benchmarks.data.answers import frames
from benchmarks.contenders import Contender, Reading, Setting, Writing
from benchmarks.data.generate import framed

def read(files):
    return [record for path in files for record in frames(path, check=False)]

def loop(job):
    return {loop}

def put(path, records):
    with open(path, "wb") as file:
        file.write(framed(records){spoil})

def write(job):
    return [Writing("framed", job, put, job.loaded())]

CONTENDER = Contender("{name}", "{name}", tasks={{"loop": loop, "write": write}})
"""
HONEST = 'Reading("a list", lambda: read(job.dataset.files))'


@pytest.fixture
def plain(tmp_path):
    def make(loop=f"[{HONEST}]", spoil="", name="plain"):
        path = tmp_path / f"{name}.py"
        path.write_text(PLAIN.format(loop=loop, spoil=spoil, name=name))
        return {name: path}

    return make


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return dataset_of(WORKLOADS["tiny"], 0.001, cache=tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def ctr(tmp_path_factory):
    return dataset_of(WORKLOADS["ctr"], 0.005, gzip=True, cache=tmp_path_factory.mktemp("data"))


def installed():
    """Our package, and TensorFlow and the floor if they are installed."""
    return {name: path for name, path in FOUND.items() if contenders.load(path).why_not() is None}


def only_row(table):
    (row,) = table.rows
    return row


# What is wrong is not timed.


def test_an_honest_contender_is_timed_each_round(plain, tiny):
    row = only_row(run("loop", tiny, plain(), SHORT))
    assert (row.status, len(row.wall), len(row.cpu), row.setting) == ("timed", 2, 2, "a list")
    assert row.peak > 1_000_000


@pytest.mark.parametrize(
    "spoil, says",
    [
        ("[:-1]", "records"),
        ("[::-1]", "in order"),
        ("[:1] * 2 + read(job.dataset.files)[2:]", "bytes|in order"),
    ],
)
def test_a_wrong_answer_is_reported_and_not_timed(plain, tiny, spoil, says):
    loop = f'[Reading("spoilt", lambda: read(job.dataset.files){spoil})]'
    table = run("loop", tiny, plain(loop), SHORT)
    row = only_row(table)
    assert row.status == "wrong"
    assert says.split("|")[0] in row.reason or says.split("|")[-1] in row.reason
    assert row.wall == []
    assert "WRONG" in report.cells(table, row)[2]


def test_a_flipped_bit_is_wrong(plain, tiny):
    loop = """[Reading("spoilt", lambda: [bytes([r[0] ^ (i == 500)]) + r[1:]
               for i, r in enumerate(read(job.dataset.files))])]"""
    assert only_row(run("loop", tiny, plain(loop), SHORT)).status == "wrong"


def test_any_order_is_fine_only_if_the_setting_says_so(plain, tiny):
    loop = '[Reading("turned", lambda: read(job.dataset.files)[::-1], order="any")]'
    assert only_row(run("loop", tiny, plain(loop), SHORT)).status == "timed"


def test_files_written_right_are_timed(plain, tiny):
    assert only_row(run("write", tiny, plain(), SHORT)).status == "timed"


def test_files_written_wrong_are_found(plain, tiny):
    cut = only_row(run("write", tiny, plain(spoil="[:-1]"), SHORT))
    assert (cut.status, cut.wall) == ("wrong", [])
    assert "truncated" in cut.reason


def test_a_wrong_setting_leaves_the_right_one(plain, tiny):
    loop = f'[Reading("cut", lambda: read(job.dataset.files)[1:]), {HONEST}]'
    row = only_row(run("loop", tiny, plain(loop), SHORT))
    assert (row.status, row.setting) == ("timed", "a list")
    assert [tried.status for tried in row.tried] == ["wrong", "ok"]


def test_an_answer_that_is_right_only_at_first_is_wrong(plain, tiny):
    # Right at first, and nothing to do in the passes that are timed.
    row = only_row(run("loop", tiny, plain('[Reading("once", iter(read(job.dataset.files)))]'), SHORT))
    assert (row.status, row.wall) == ("wrong", [])


@pytest.mark.parametrize(
    "loop, says",
    [
        ("1 / 0", "ZeroDivisionError"),
        ("__import__('os').abort()", "died with status -6"),
        ("print('noise') or [Reading('x', lambda: 1 / 0)]", "ZeroDivisionError"),
    ],
)
def test_a_contender_that_fails_says_how(plain, tiny, loop, says):
    row = only_row(run("loop", tiny, plain(loop), SHORT))
    assert row.status == "failed"
    assert says in row.reason


def test_a_failure_leaves_the_others_alone(plain, tiny):
    table = run("loop", tiny, plain("1 / 0", name="broken") | plain(), SHORT)
    assert [row.status for row in table.rows] == ["failed", "timed"]
    assert table.base is table.rows[1]


def test_a_contender_that_hangs_is_given_up(plain):
    (path,) = plain("__import__('time').sleep(60)").values()
    process = Process(path, contenders.load(path), timeout=1.0)
    with pytest.raises(ContenderFailed, match="no answer in 1 s"):
        process.call("prepare", task="loop", dataset=None, scratch="")
    process.close()


# Everything that is installed, end to end.


@pytest.mark.parametrize("task", more_contenders("raw", "raw-gzip", "loop", "write"))
def test_all_that_is_installed_gives_the_answer(task, ctr):
    table = run(task, ctr, installed(), SHORT)
    assert {row.contender for row in table.rows} >= {"ours"}
    assert [(row.label, row.reason) for row in table.rows if row.status != "timed"] == []
    assert [(t.label, t.reason) for row in table.rows for t in row.tried if t.status != "ok"] == []
    assert table.base.ours
    assert all(table.ratio(row).low > 0 for row in table.rows)


def test_import_is_timed_in_fresh_interpreters():
    table = run("import", None, {"ours": FOUND["ours"]}, SHORT)
    assert 0 < only_row(table).time.median < 5
    assert [target.task for target in targets([table])] == ["import"]


def test_the_processor_time_of_an_import_is_without_the_interpreters_and_numpys():
    tasks = {"import": lambda job: [contenders.Importing("colorsys")]}
    worker = Worker(contenders.Contender("own", "Own", tasks=tasks))
    worker.prepare("import", None, "")
    found = worker.time(0, passes=1)
    assert 0 < found["cpu"] < 0.03  # to start an interpreter with NumPy alone takes longer


@pytest.fixture
def floor():
    if build.why_not():
        pytest.skip(build.why_not())
    return contenders.load(FOUND["floor"])


def test_the_floor_counts_records_and_bytes(floor, tmp_path, tiny):
    (setting, *_) = floor.tasks["raw"](contenders.Job("raw", tiny, tmp_path))
    assert setting.answer() == {key: tiny.answer[key] for key in ("records", "bytes")}


@pytest.mark.parametrize(
    "damage",
    [lambda good: good[:-1], lambda good: good[:5], lambda good: good[:40] + bytes([good[40] ^ 1]) + good[41:]],
    ids=["a byte is missing", "a header is cut", "a bit is flipped"],
)
def test_the_floor_refuses_damage(damage, floor, tmp_path, tiny):
    path = tmp_path / "damaged"
    path.write_bytes(damage(Path(tiny.files[0]).read_bytes()))
    counts = ctypes.c_int64(), ctypes.c_int64()
    assert build.floor().floor_read_crc(str(path).encode(), *map(ctypes.byref, counts)) == -1


def test_finding_contenders_imports_none_of_them():
    code = "import sys; from benchmarks import contenders; contenders.found(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    measured = {contenders.load(path).module for path in FOUND.values()} - {""}
    assert not measured & set(done.stdout.split())


def test_a_rival_that_is_not_installed_says_how_to_get_it(tmp_path, tiny):
    path = tmp_path / "absent.py"
    path.write_text(
        "from benchmarks.contenders import Contender\n"
        'CONTENDER = Contender("absent", "Absent", tasks={"loop": None}, module="absent_module", '
        'install="pip install absent")\n'
    )
    row = only_row(run("loop", tiny, {"absent": path}, SHORT))
    assert (row.status, row.reason) == ("missing", "not installed: pip install absent")


# What is reported.


def test_ratios_are_taken_round_by_round():
    # The second round is slow for both, which is not a difference between them.
    assert ratios([2.0, 20.0, 2.2], [1.0, 10.0, 1.0]) == Spread(2.0, 2.0, 2.2)
    assert spread([3.0, 1.0, 2.0]) == Spread(2.0, 1.0, 3.0)


ANSWER = digest([b"a", b"b"])


@pytest.mark.parametrize(
    "got, partial, says",
    [
        (digest([b"a", b"b"]), False, None),
        (digest([b"a"]), False, "records: expected 2, got 1"),
        ({"records": 2}, True, None),
        ({"records": 2}, False, "bytes: expected 2, got None"),
    ],
)
def test_difference_names_what_differs(got, partial, says):
    assert difference(ANSWER, got, partial=partial) == says


def timed(contender, wall, **fields):
    return Row(contender, contender, wall=wall, cpu=wall, setting="s", **fields)


@pytest.fixture
def table(tiny):
    return Table(
        "raw",
        "tiny",
        tiny,
        [
            timed("ours", [0.1, 0.1], ours=True),
            timed("tensorflow", [4.0, 5.0]),
            timed("floor", [0.08, 0.05], row="read + CRC", floor=True),
            Row("lame", "lame", status="wrong", reason="records: expected 2, got 1"),
        ],
    )


def test_a_busy_machine_is_reported():
    assert report.busy({"load_average": 0.1, "cores": 2}) == ""
    said = report.busy({"load_average": 12.0, "cores": 2})
    assert "load 12.0 on 2 cores" in said and "ratios are more reliable" in said


def test_the_end_is_one_sentence_about_the_fastest_rival(table, tiny):
    slower = Table("parse", "tiny", tiny, [timed("ours", [0.3], ours=True), timed("pyarrow", [0.2])])
    assert report.conclusion([table]) == "tfrecord_fast was 45.0× faster than the fastest rival (tensorflow, raw tiny)."
    assert report.conclusion([table, slower]) == (
        "tfrecord_fast was 45.0× faster than the fastest rival at best (tensorflow, raw tiny), and 1.50× slower at "
        "worst (pyarrow, parse tiny)."
    )
    assert report.conclusion([slower]) == "tfrecord_fast was 1.50× slower than the fastest rival (pyarrow, parse tiny)."


def test_without_a_rival_the_end_compares_nothing(table, tiny):
    table.rows = [row for row in table.rows if row.contender != "tensorflow"]
    failed = Table("raw", "tiny", tiny, [Row("ours", "ours", status="failed", ours=True), timed("tensorflow", [1.0])])
    assert report.conclusion([table, failed]) == "No rival was timed: nothing to compare with."


def test_rivals_that_are_not_installed_are_named_and_have_no_row(table):
    table.rows += [Row(name, name, status="missing", reason="not installed: x") for name in ("gone", "away", "gone")]
    assert "not installed" not in printed(report.installed([table])[0], report.show)
    assert "WRONG" in printed(report.installed([table])[0], report.show)
    assert report.not_installed([table]).startswith("Not installed, and not shown: away, gone. --list")
    assert report.not_installed(report.installed([table])) == ""


def test_targets_are_met_or_not(table):
    assert [(t.measure, t.at_least, round(t.measured, 2), t.met) for t in targets([table])] == [
        ("speed ÷ tensorflow", 30, 45.0, True),
        ("speed ÷ floor read + CRC", 0.9, 0.65, False),
    ]


def test_a_met_target_gives_no_reason(table):
    met, _ = targets([table])
    assert met.reason == ""


def test_a_missed_target_without_a_known_reason_says_so_in_markdown(table):
    assert UNKNOWN in document.targets_page([table], environment(), {})


def test_a_missed_target_without_a_known_reason_says_so_in_json(table):
    assert json.loads(report.as_json([table], environment(), SHORT))["targets"][1]["reason"] == UNKNOWN


def test_a_missed_target_with_a_known_reason_gives_it(table):
    table.rows[1].wall, table.rows[1].title = [1.0, 1.0], "TensorFlow"
    (known, *_) = targets([table])
    assert known.reason == next(one.text for one in reasons() if (one.task, one.workload) == ("raw", ""))


def test_every_reason_belongs_to_a_target():
    wanted = {
        (pair.task, at, measure_of(pair, "" if pair.contender == "ours" else TITLES[pair.contender]))
        for pair in PAIRS
        for at in pair.wanted
    }
    wanted |= {(limit.task, at, limit.measure) for limit in LIMITS for at in limit.wanted}
    assert [one for one in reasons() if not any(speaks_of(one, *target) for target in wanted)] == []


def speaks_of(reason, task, workload, measure):
    return reason.task == task and reason.workload in ("", workload) and measure.startswith(reason.measure)


@pytest.mark.parametrize("reason", reasons(), ids=lambda one: " ".join(filter(None, one[:3])))
def test_the_results_that_a_reason_names_missed_its_target(reason):
    found = targets(load(REASONS.parent / reason.results).tables)
    assert any(speaks_of(reason, t.task, t.workload, t.measure) and not t.met for t in found)


def test_the_reason_of_a_workload_comes_before_that_of_all():
    assert reason_for("parse", "seq", "speed ÷ TensorFlow") != reason_for("parse", "ctr", "speed ÷ TensorFlow")


def test_a_target_without_a_known_reason_says_so():
    assert reason_for("none", "ctr", "speed ÷ TensorFlow") == UNKNOWN


@pytest.mark.parametrize("text", ["no JSON", '[{"task": "raw"}]', "[1]"])
def test_a_file_that_holds_no_reasons_is_refused(text, tmp_path):
    (tmp_path / "reasons.json").write_text(text)
    with pytest.raises(ValueError, match="no list of reasons"):
        load_reasons(tmp_path / "reasons.json")


def of_memory(size):
    row = timed("ours", [1.0], ours=True, peak=200_000_000)
    return Table("memory", "img", Size(10, size, 0), [row])


def test_the_memory_target_is_about_a_large_file(tiny):
    (target,) = targets([of_memory(10_000_000_000)])
    assert (target.task, target.measured, target.met) == ("memory", 200.0, True)


def test_a_small_file_does_not_measure_the_memory_target():
    assert targets([of_memory(9)]) == []
    (line,) = not_measured([of_memory(9)])
    assert "the data is too small" in line


def printed(table, show):
    out = io.StringIO()
    show([table], out)
    return out.getvalue()


@pytest.mark.parametrize(
    "form",
    [
        lambda table: printed(table, report.show),
        lambda table: printed(table, report.show_plain),
        lambda table: document.markdown([table], environment(), SHORT),
    ],
    ids=["rich", "plain", "markdown"],
)
def test_tables_in_every_form_have_ratios_and_what_is_wrong(table, form):
    text = form(table)
    assert "45.0×" in text
    assert "WRONG: records: expected 2, got 1" in text


def test_json_has_the_ratios_of_timed_rows(table):
    rows = json.loads(report.as_json([table], environment(), SHORT))["tables"][0]["rows"]
    assert rows[1]["base_is_faster_by"] == {"median": 45.0, "low": 40.0, "high": 50.0}


def test_json_has_no_time_of_a_wrong_row(table):
    rows = json.loads(report.as_json([table], environment(), SHORT))["tables"][0]["rows"]
    assert (rows[3]["time"], rows[3]["status"]) == (None, "wrong")


def test_json_names_the_machine(table):
    read = json.loads(report.as_json([table], environment(), SHORT))
    assert set(read["environment"]) >= {"date", "commit", "cpu", "cores", "python"}


@pytest.fixture
def command_line(tmp_path):
    """Runs the command on a little of one workload, with these contenders' files. Returns its exit status."""

    def call(*files):
        out = ["--json", str(tmp_path / "out.json"), "--markdown", str(tmp_path / "out.md")]
        added = [text for path in files for text in ("--rival-file", str(path))]
        return command.main(
            [
                "loop",
                "--workload",
                "tiny",
                "--scale",
                "0.001",
                "--rounds",
                "1",
                "--rivals",
                "floor",
                "--quick",
                "--data",
                str(tmp_path / "data"),
                *out,
                *added,
            ]
        )

    return call


def test_the_command_line_writes_json_and_markdown(tmp_path, plain, command_line, capsys):
    (path,) = plain(f'[Reading("cut", lambda: read(job.dataset.files)[1:]), {HONEST}]').values()
    assert command_line(path) == 0
    (table,) = json.loads((tmp_path / "out.json").read_text())["tables"]
    assert [(row["contender"], row["status"]) for row in table["rows"]] == [("ours", "timed"), ("plain", "timed")]
    assert "| tiny | plain |" in (tmp_path / "out.md").read_text()
    assert capsys.readouterr().out.splitlines()[-1].endswith("than the fastest rival (plain, loop tiny).")


def test_a_wrong_contender_on_the_command_line_is_exit_status_1(plain, command_line, capsys):
    (path,) = plain('[Reading("cut", lambda: read(job.dataset.files)[1:])]', name="bad").values()
    assert command_line(path) == 1
    assert "WRONG" in capsys.readouterr().out


@pytest.mark.parametrize("argument", [["read"], ["--workload", "ctr,cta"], ["--rivals", "nobody"]])
def test_command_line_refuses_what_it_does_not_know(argument):
    with pytest.raises(SystemExit) as stopped:
        command.main(argument)
    assert stopped.value.code == 2


def test_every_task_of_a_contender_is_a_task():
    assert {task for path in FOUND.values() for task in contenders.load(path).tasks} <= set(TASKS)
