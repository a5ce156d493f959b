"""Saved results: read again, compared, and as a page with plots."""

import copy
import json
import re

import pytest

from benchmarks import __main__ as command
from benchmarks.reporting import document, output, report, saved
from benchmarks.reporting.compare import main as compare
from benchmarks.reporting.saved import load
from benchmarks.running.method import Method
from benchmarks.running.results import Row, Size, Table

pytest.importorskip("matplotlib", reason="the plots are drawn with it")

from benchmarks.reporting import page, plots

WHERE = {
    "date": "2026-01-02T03:04:05+00:00",
    "commit": "0123456789ab",
    "cpu": "A processor",
    "cores": 2,
    "load_average": 0.0,
    "system": "A system",
    "python": "3.11",
    "numpy": "2.0",
}


def row(contender, title, times, name="", **given):
    given = {"ours": contender == "ours", "floor": contender == "floor", **given}
    return Row(contender, title, name, version="1", wall=list(times), cpu=list(times), **given)


def tables(rival=(2.0, 2.1, 1.9)):
    size = Size(1000, 1_000_000, 0)
    ours = row("ours", "tfrecord_fast", [0.1, 0.11, 0.09])
    return [
        Table(
            "raw",
            "ctr",
            size,
            [ours, row("tensorflow", "TensorFlow", rival), row("floor", "floor", [0.08, 0.08, 0.08], "read + CRC")],
        ),
        Table("raw", "img", size, [ours, Row("other", "A rival", status="failed", reason="it <fell> over")]),
        Table(
            "parse",
            "ctr",
            size,
            [
                row("ours", "tfrecord_fast", [0.2, 0.2, 0.2], "ShardReader, 1 thread"),
                row("ours", "tfrecord_fast", [0.1, 0.1, 0.11], "ShardReader, 2 threads"),
            ],
        ),
        Table(
            "import", "", None, [row("ours", "tfrecord_fast", [0.01] * 3), row("tensorflow", "TensorFlow", [2.0] * 3)]
        ),
    ]


@pytest.fixture
def result(tmp_path):
    def make(name="a", **given):
        path = tmp_path / f"{name}.json"
        path.write_text(report.as_json(tables(**given), WHERE, Method(rounds=3)))
        return path

    return make


def test_what_was_saved_gives_the_same_tables(result):
    assert list(report.sections(load(result()).tables)) == list(report.sections(tables()))


NO_ROW = b'{"tables": [{"task": "raw", "workload": "", "records": null, "rows": [1]}]}'


@pytest.mark.parametrize("data", [b"{}", b"[]", b"no JSON", b"\xff", NO_ROW])
def test_what_is_not_a_result_is_refused(data, tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=f"{path}: not a result"):
        load(path)


@pytest.mark.parametrize("arguments", [["report", "x.json"], ["compare", "x.json", "x.json"]], ids=lambda one: one[0])
def test_a_command_refuses_what_is_not_a_result(arguments, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.json").write_text("{}")
    assert command.main(arguments) == 2
    assert "not a result" in capsys.readouterr().err


def test_of_several_results_the_last_table_counts(result):
    joined = saved.join([load(result("a")), load(result("b", rival=[1.0] * 3))])
    assert [(t.task, t.workload) for t in joined.tables] == [(t.task, t.workload) for t in tables()]
    assert joined.tables[0].rows[1].wall == [1.0] * 3


def of_workload(one, name):
    return Table(one.task, name, one.dataset, one.rows)


def test_joined_tables_are_in_the_order_of_one_run(result, tmp_path):
    first, last = load(result("a")), load(result("b"))
    last.tables[:] = [of_workload(last.tables[2], "tok"), of_workload(last.tables[0], "tok")]
    joined = saved.join([first, last]).tables
    assert [(t.task, t.workload) for t in joined] == [
        ("raw", "ctr"),
        ("raw", "tok"),
        ("raw", "img"),
        ("parse", "ctr"),
        ("parse", "tok"),
        ("import", ""),
    ]


@pytest.mark.parametrize(("part", "name"), [("environment", "cpu"), ("environment", "commit"), ("method", "rounds")])
def test_results_of_another_machine_commit_or_method_are_not_joined(result, part, name, capsys):
    one, other = result("a"), result("b")
    changed = json.loads(other.read_text())
    changed[part][name] = "another"
    other.write_text(json.dumps(changed))
    assert command.main(["report", str(one), str(other)]) == 2
    assert f"can't join these results: {name} " in capsys.readouterr().err


def test_a_task_has_one_section_and_one_plot_wherever_its_tables_are(tmp_path):
    one, other = tables()[0], tables()[2]
    mixed = [one, other, of_workload(one, "img"), of_workload(other, "img")]
    titles = [title for title, *_ in report.sections(mixed)]
    assert titles == ["Raw reading, in batches", "From files to columns", "Targets"]
    text = document.markdown(mixed, WHERE, Method(rounds=3))
    html = page.page(mixed, WHERE, {"rounds": 3})
    assert [text.count(f"## {title}") for title in titles[:2]] == [1, 1]
    assert [html.count(f"<h2>{title}") for title in titles] == [1, 1, 1]
    names = [plot.name for plot in plots.plots(mixed, [])]
    assert len(names) == len(set(names))


def test_a_page_has_a_plot_of_everything_and_needs_nothing_else(result, tmp_path):
    path = tmp_path / "page.html"
    assert command.main(["report", str(result()), "--html", str(path), "--svg", str(tmp_path / "svg")]) == 0
    text = path.read_text()
    assert text.count("<svg") == 6  # three tasks, scaling, targets, and all at a glance
    for wanted in (
        "TensorFlow",
        "MB/s",
        "ms, shorter is better",
        "<th>status</th><th>reason</th>",
        "<td>failed</td><td>it &lt;fell&gt; over</td>",
        "0123456789ab",
        "A processor",
    ):
        assert wanted in text, wanted
    outside = re.sub(r'(xmlns(:\w+)?|rdf:\w+|cc:\w+)="[^"]*"|<!DOCTYPE[^>]*>', "", text)
    assert not re.findall(r"(?:src|href)=\"https?:", outside)
    names = {"task-raw", "task-parse", "task-import", "scaling-threads", "targets", "overview"}
    assert {file.stem for file in (tmp_path / "svg").iterdir()} == names


def test_the_size_of_most_tables_is_the_data_and_others_say_theirs():
    some = tables()
    for task in ("loop", "write"):
        some.append(Table(task, "ctr", Size(1000, 1_000_000, 0), some[0].rows))
    some.append(Table("stats", "ctr", Size(5000, 5_000_000, 0), some[0].rows))
    assert report.commonest(some)["ctr"].file_bytes == 1_000_000
    assert "| 1,000 | 1.00 |" in document.markdown(some, WHERE, Method(rounds=3))
    notes = {title: note for title, note, *_ in report.sections(some)}
    assert notes["From files to figures of every feature"].endswith(". ctr: 5.00 MB here.")
    assert not [title for title, note in notes.items() if "here" in note and "figures" not in title]


def test_where_we_win_the_title_says_by_how_much():
    assert plots.message_of(tables()[:1]) == (
        "Raw reading, in batches: tfrecord_fast is 20.0× faster than the fastest rival"
    )


def test_a_rival_timed_once_on_a_part_of_the_data_is_in_no_headline():
    [table] = tables()[:1]
    rival = next(row for row in table.timed if not row.ours and not row.floor)
    rival.wall, rival.share = rival.wall[:1], 0.01
    assert plots.message_of([table]) == "Raw reading, in batches"
    assert "faster" not in document.short([table])


def test_where_we_lose_the_title_says_so():
    lost = plots.message_of(tables(rival=[0.05] * 3)[:1])
    assert lost == "Raw reading, in batches: TensorFlow is 2.00× faster on ctr"


def test_missing_matplotlib_is_reported_before_anything_is_measured(monkeypatch, capsys, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    assert command.main(["raw", "--html", str(tmp_path / "x.html")]) == 2
    assert "tfrecord_fast[bench]" in capsys.readouterr().err


def test_json_in_a_folder_is_named_by_date_and_commit(tmp_path):
    assert output.json_path(tmp_path, WHERE) == tmp_path / "2026-01-02-0123456789ab.json"
    assert output.json_path(tmp_path / "x", WHERE) == tmp_path / "x"


def test_the_same_result_has_not_moved(result, capsys):
    assert compare([str(result()), str(result()), "--fail"]) == 0
    assert (
        capsys.readouterr()
        .out.splitlines()[-1]
        .startswith(
            "4 of 4 ratios lie within the spread of the other run, 4 have ranges that overlap; 0 moved beyond it"
        )
    )


def test_what_got_slower_beyond_the_noise_is_reported(result, capsys):
    assert compare([str(result("a")), str(result("b", rival=[1.0, 1.1, 0.9]))]) == 0
    assert "DOWN raw ctr TensorFlow: 20.0" in capsys.readouterr().out


def test_what_got_slower_is_exit_status_1_if_asked_for(result):
    assert compare([str(result("a")), str(result("b", rival=[1.0, 1.1, 0.9])), "--fail"]) == 1


@pytest.mark.parametrize("wall", [[float("nan")], [0.0], [-1.0], [float("inf")], []], ids=str)
def test_an_impossible_time_is_an_error_that_names_file_and_row(wall, result, capsys):
    wrong = changed(result("b"), lambda table: table["rows"][1].update(wall=wall))
    assert compare([str(result("a")), wrong, "--fail"]) == 2
    assert capsys.readouterr().err == f"{wrong}: raw ctr TensorFlow: a timed row needs times, finite and above 0\n"


def test_results_without_a_common_row_are_an_error(result, tmp_path, capsys):
    path = tmp_path / "b.json"
    path.write_text(report.as_json([], WHERE, Method(rounds=3)))
    assert compare([str(result("a")), str(path), "--fail"]) == 2
    assert "b.json have no row that can be compared" in capsys.readouterr().err


def test_how_many_ranges_overlap_is_counted_among_rows_of_enough_rounds(result, capsys):
    few = changed(result("b", rival=[1.0, 1.1, 0.9]), lambda table: table["rows"][2].update(wall=[0.08]))
    assert compare([str(result("a")), few]) == 0
    assert "of 3 ratios of 3 rounds or more, the ranges of 2 overlap (67%)" in capsys.readouterr().out


def test_what_got_faster_is_reported_and_is_no_failure(result, capsys):
    assert compare([str(result("b", rival=[1.0, 1.1, 0.9])), str(result("a")), "--fail"]) == 0
    assert "up   raw ctr TensorFlow: 10.0" in capsys.readouterr().out


def changed(path, change):
    """The saved result with another first table."""
    saved_one = json.loads(path.read_text())
    change(saved_one["tables"][0])
    path.write_text(json.dumps(saved_one))
    return str(path)


def faster_base(table):
    table["rows"].append({**copy.deepcopy(table["rows"][0]), "row": "threads", "wall": [0.01] * 3})


def no_base(table):
    faster_base(table)
    table["rows"][0]["status"] = "failed"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (no_base, "not comparable: raw ctr TensorFlow: tfrecord_fast is not timed in the second"),
        (
            lambda table: table["rows"][1].update(share=0.01, wall=[0.1] * 3),
            "not comparable: raw ctr TensorFlow: TensorFlow on 100% of the data, then 1%",
        ),
        (
            lambda table: (table.update(file_bytes=2_000_000), table["rows"][1].update(wall=[0.1] * 3)),
            "not comparable: raw ctr TensorFlow: 1.00 MB of data, then 2.00",
        ),
        (
            lambda table: table["rows"][1].update(wall=[0.1]),
            "few  raw ctr TensorFlow: 20.0 (19.1–21.1) → 1.00 (1.00–1.00), too few rounds (1)",
        ),
    ],
    ids=["base", "share", "size", "rounds"],
)
def test_what_was_not_measured_alike_has_not_moved(result, change, said, capsys):
    assert compare([str(result("a")), changed(result("b"), change), "--fail"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert said in lines
    assert "; 0 moved beyond it; " in lines[-1]


def test_rows_are_held_against_the_same_row_of_ours_though_another_is_faster_now(result, capsys):
    before, after = str(result("a")), changed(result("b"), faster_base)
    assert compare([before, after]) == 0
    out = capsys.readouterr().out
    assert "DOWN" not in out and "up  " not in out and "not comparable" not in out


def test_another_method_is_reported(result, tmp_path, capsys):
    other = tmp_path / "b.json"
    other.write_text(report.as_json(tables(), WHERE, Method(rounds=3, patience=2.0)))
    compare([str(result("a")), str(other)])
    assert "patience: 60.0 and 2.0" in capsys.readouterr().out


def test_what_makes_runs_differ_is_reported(result, tmp_path, capsys):
    other = json.loads(result().read_text())
    other["environment"]["cores"] = 16
    rows = other["tables"][0]["rows"]
    rows[1]["version"] = "2"
    rows.append({**copy.deepcopy(rows[1]), "contender": "new", "title": "New"})
    del other["tables"][3]
    path = tmp_path / "other.json"
    path.write_text(json.dumps(other))
    compare([str(result()), str(path)])
    lines = capsys.readouterr().out.splitlines()
    for line in (
        "cores: 2 and 16",
        "TensorFlow: 1 and 2",
        "raw ctr New: only in the second (timed)",
        "import TensorFlow: only in the first (timed)",
    ):
        assert line in lines, line


@pytest.mark.parametrize("name", ["json", "markdown", "html", "svg"])
def test_a_result_without_a_folder_is_refused_before_anything_is_measured(tmp_path, capsys, monkeypatch, name):
    monkeypatch.setattr(command, "measure", lambda *_: pytest.fail("it measures"))
    path = tmp_path / "none" / "out"
    if name == "svg":  # a folder itself, which is made
        path = tmp_path / "file"
        path.write_bytes(b"")
    assert command.main(["raw", "--quick", f"--{name}", str(path)]) == 2
    assert f"--{name} {path}" in capsys.readouterr().err


def test_a_row_of_ours_that_failed_is_no_missing_rival():
    size = Size(1000, 1_000_000, 0)
    rows = [row("ours", "tfrecord_fast", [0.1] * 3), Row("ours", "tfrecord_fast", "Spark", status="failed", ours=True)]
    rows += [Row("other", "A rival", status="failed", reason="it fell\nover " * 40)]
    text = document.missing([Table("raw", "ctr", size, rows)])
    assert "tfrecord_fast" not in text
    assert "**Missing here:** A rival (it fell over it fell over" in text and len(text) < 250


def test_what_rows_of_one_name_leave_out_differs_by_task():
    size = Size(1000, 1_000_000, 0)
    ours = row("ours", "tfrecord_fast", [0.1])
    one = Table("tables", "ctr", size, [ours, row("p", "Parquet", [0.2], "polars", leaves_out="another format")])
    other = Table("stats", "ctr", size, [ours, row("p", "Parquet", [0.2], "polars", leaves_out="exact quantiles")])
    assert report.left_out([one]) == "- Parquet polars: another format"
    assert report.left_out([one, other]) == "- Parquet polars: another format (in tables); exact quantiles (in stats)"


@pytest.mark.parametrize("checks", [True, False])
def test_a_rival_that_looks_at_no_checksum_has_a_mark(checks):
    size = Size(1000, 1_000_000, 0)
    rival = row("rival", "A rival", [0.2], leaves_out="no CRC" if checks else "another format", checks=checks)
    text = document.short([Table("raw", "ctr", size, [row("ours", "tfrecord_fast", [0.1]), rival])])
    assert ("A rival\\*" in text) != checks
    assert ("without checking any checksums" in text) != checks


@pytest.mark.parametrize("words, checks", [("checks no CRC, no GZIP", False), ("parses no Examples", True)])
def test_an_older_result_says_in_words_whether_checksums_are_looked_at(words, checks, tmp_path):
    size = Size(1000, 1_000_000, 0)
    saved = json.loads(
        report.as_json([Table("raw", "ctr", size, [row("a", "A", [0.2], leaves_out=words)])], WHERE, Method(rounds=3))
    )
    del saved["tables"][0]["rows"][0]["checks"]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(saved))
    assert load(path).tables[0].rows[0].checks == checks
