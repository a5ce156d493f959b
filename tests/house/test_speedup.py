"""The first figures: README.md, the home page and their charts have those of the benchmark's newest result."""

import json
import math
import re
import sys

import pytest

from benchmarks.data.pipelines import EVERY
from benchmarks.data.tasks import TASKS
from benchmarks.reporting.report import as_json
from benchmarks.reporting.saved import Saved, load
from benchmarks.running.method import Method
from benchmarks.running.results import Row, Size, Table
from tests.support.paths import ROOT

sys.path.insert(0, str(ROOT / "docs" / "making"))
try:
    import speedup
finally:
    sys.path.pop(0)

PAGES = ["README.md", "docs/index.md"]
ENVIRONMENT = {"date": "2026-01-02T03:04:05+00:00", "cores": 2}


def row(contender, seconds, name="", **fields):
    return Row(
        contender,
        contender,
        name,
        version="2.21.0",
        wall=[seconds] * 3,
        cpu=[seconds],
        ours=contender == "ours",
        **fields,
    )


def table(task, workload, *rows):
    return Table(task, workload, Size(1000, 5_000_000, 0), list(rows))


def run(*tables, **asked):
    return Saved(ENVIRONMENT, {"rounds": 5}, list(tables), asked)


def test_the_files_are_those_that_the_script_writes():
    for path, text in speedup.files().items():
        assert path.read_text() == text, f"python docs/making/speedup.py writes another {path.name}"


@pytest.mark.parametrize("page", PAGES)
def test_the_script_writes_every_ratio_of_a_page_and_its_charts(page):
    before, _, rest = (ROOT / page).read_text().partition(speedup.BEGIN)
    written, _, after = rest.partition(speedup.END)
    assert re.findall(r"[\d.]+×", written)
    assert not re.findall(r"[\d.]+ ?×|[\d.]+ times", before + after)
    assert all(f"{name}.svg" in before for name in speedup.THEMES)


def test_rows_are_of_tables_that_a_full_run_has_and_all_pipelines_and_images_are_among_them():
    named = {(task, workload) for task, workload, _ in speedup.ROWS.values()}
    assert all(workload in TASKS[task].workloads and workload in EVERY for task, workload in named)
    assert named >= {(task, workload) for task in ("pipelines", "images") for workload in TASKS[task].workloads}


def test_a_result_of_all_tables_has_all_rows_and_readme_stays_short():
    names = {}
    for task, workload, name in speedup.ROWS.values():
        names.setdefault((task, workload), []).append(name)
    tables = [
        table(*key, *(row(who, seconds, name) for name in ours for who, seconds in [("ours", 1), ("tensorflow", 25)]))
        for key, ours in names.items()
    ]
    whole = run(*tables)
    assert len(speedup.bars(whole)) == len(speedup.ROWS)
    page = speedup.with_figures((ROOT / "README.md").read_text(), speedup.figures(whole))
    assert page.count("| 25.0× |") == len(speedup.ROWS) and len(page.encode()) < 6000


def test_the_newest_result_has_our_rows_by_their_names():
    tables = {(table.task, table.workload): table for table in load(speedup.newest()).tables}
    rows = {name: [row.row for row in table.rows if row.ours] for name, table in tables.items()}
    assert not [name for *key, name in speedup.ROWS.values() if name not in rows.get(tuple(key), [name])]


def test_a_row_is_compared_by_the_row_of_ours_that_its_label_names_though_another_is_faster():
    feed = [
        row("ours", 2.0, "DataLoader"),
        row("ours", 1.0, "Grain"),
        row("ours", 3.0, "Keras"),
        row("tensorflow", 6.0),
    ]
    parse = [row("ours", 2.0, "ShardReader"), row("ours", 1.0, "parse_example"), row("tensorflow", 8.0)]
    rows = speedup.bars(run(table("train-feed", "ctr", *feed), table("parse", "emb", *parse)))
    assert [(bar.group, bar.cell) for bar in rows] == [(speedup.COLUMNS, "4.00×"), (speedup.LOOP, "3.00×")]


def test_the_ratio_is_to_tensorflows_fastest_row_of_the_kind():
    rows = [row("ours", 2.0, "antialias"), row("ours", 1.0, "bilinear")]
    rows += [row("tensorflow", 6.0, "antialias"), row("tensorflow", 4.0, "bilinear"), row("dali", 0.1, "antialias")]
    parse = [row("ours", 1.0, "ShardReader"), row("ours", 2.0, "ShardReader, 1 thread")]
    parse += [row("tensorflow", 9.0, share=0.3), row("tensorflow", 5.0, "another", share=0.3)]
    text = speedup.figures(run(table("images", "photos-train", *rows), table("parse", "ctr", *parse)))
    assert "| images to batches | random crops, not antialiased | 4.00× |\n|  | random crops | 3.00× |" in text
    assert "| click logs | 5.00× (on 30% of the data) |" in text


def test_a_row_without_ours_or_tensorflow_is_left_out():
    failed = row("ours", 1.0, "unchanged script", status="failed")
    by_hand, rival = row("ours", 1.0, "batched by hand"), row("tensorflow", 2.0)
    parsed = row("ours", 1.0, "ShardReader")
    tables = [table("pipelines", "cond", failed, by_hand, rival), table("parse", "emb", parsed, row("dali", 3.0))]
    rows = speedup.bars(run(*tables, table("parse", "ctr", parsed, rival)))
    assert [(bar.group, bar.task, bar.cell) for bar in rows] == [(speedup.COLUMNS, "click logs", "2.00×")]


def test_the_setting_is_that_of_the_run():
    text = speedup.figures(
        run(table("parse", "ctr", row("ours", 1.0, "ShardReader"), row("tensorflow", 2.0)), scale=0.5)
    )
    setting = text.partition("\n")[0]
    assert setting.startswith("Ratios to TensorFlow 2.21 on two cores, measured on 2026-01-02.")
    assert "the median of up to 5 rounds" in setting and "5.00 MB" in setting and "at 0.5 of the full scale" in setting


def test_data_frames_are_compared_with_those_from_parquet_and_tables_are_left_out():
    rows = [row("ours", 2.0, name) for name in ("ShardReader", "Arrow", "pandas", "polars", "DuckDB")]
    rows += [row("pyarrow", seconds, name) for name, seconds in [("Arrow", 9.0), ("polars", 3.0), ("DuckDB", 1.0)]]
    assert speedup.frames(run(table("tables", "ctr", *rows)))[0].endswith(" of the time from TFRecord: polars 1.50.")


IMPOSSIBLE = [{"wall": [math.nan]}, {"wall": [-1.0]}, {"wall": [0.0]}, {"wall": []}, {"cpu": [math.inf]}]


@pytest.mark.parametrize("change", [*IMPOSSIBLE, {"status": "failed"}], ids=str)
def test_a_result_without_possible_times_is_an_error_of_one_line(change, tmp_path, monkeypatch):
    path, method = tmp_path / "x.json", Method(rounds=3)
    rows = [row("ours", 1.0, "ShardReader"), row("tensorflow", 2.0)]
    result = json.loads(as_json([table("parse", "ctr", *rows)], ENVIRONMENT, method))
    monkeypatch.setattr(speedup, "newest", lambda: path)
    path.write_text(json.dumps(result))
    assert len(speedup.files()) == 4
    result["tables"][0]["rows"][1].update(change)
    path.write_text(json.dumps(result))
    with pytest.raises(SystemExit) as stopped:
        speedup.main()
    assert re.fullmatch(rf"{path}: (parse ctr tensorflow: a timed row needs|no table of ROWS) .*", stopped.value.code)
