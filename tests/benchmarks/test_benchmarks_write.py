"""The writing tasks: what was written is read back and compared, and its size reported."""

from dataclasses import replace

import pytest

from benchmarks import contenders
from benchmarks.data.columns import Column, digest_of_columns, joined, lists_of, of_arrow
from benchmarks.data.pipelines import EVERY
from benchmarks.data.reference import batches_of, columns_by_file
from benchmarks.data.tasks import FLAT, TASKS
from benchmarks.reporting import report
from benchmarks.reporting.targets import PAIRS, not_measured, targets
from benchmarks.running.harness import run
from benchmarks.running.method import Method
from benchmarks.running.results import Row, Table
from tests.benchmarks.test_benchmarks_parse import FOUND, SHORT, SMALL  # noqa: F401  (of the fixture data)
from tests.support.contenders import more_contenders


def installed():
    return {key: path for key, path in FOUND.items() if contenders.load(path).why_not() is None}


def statuses(table):
    return [(t.label, t.reason) for row in table.rows for t in row.tried if t.status != "ok"]


@pytest.mark.parametrize("name", ["ctr", *more_contenders(*(name for name in FLAT if name != "ctr"))])
def test_columns_are_written_right_by_all(name, data):
    found = installed()
    if name != "ctr":  # the other rivals write once: they take long to start
        found = {key: found[key] for key in ("ours", "tensorflow") if key in found}
    table = run("write-columns", data("write-columns", name), found, Method(rounds=1, trials=1, min_time=0))
    assert statuses(table) == []
    assert table.base.ours and all(row.size > 0 for row in table.rows)


@pytest.mark.parametrize("task", ["write-gzip", *more_contenders("write-gzip-1")])
def test_gzip_files_are_written_right_by_all(task, data):
    dataset = data(task, "ctr")
    table = run(task, dataset, installed(), Method(rounds=1, trials=1, min_time=0))
    assert statuses(table) == []
    assert all(0.1 < row.size / dataset.file_bytes < 0.6 for row in table.rows)
    assert "MB on disk" in report.cells(table, table.rows[0])[2]


SPOILT = """
from benchmarks.contenders import Contender, load
from pathlib import Path
ours = load(Path({ours!r}))

def write(job):
    (setting,) = ours.tasks["write-columns"](job)
    values = setting.parts[-1]["C3"]
    values[-1] += 1
    return [setting]

CONTENDER = Contender("spoilt", "spoilt", tasks={{"write-columns": write}})
"""


def test_one_wrong_value_in_what_was_written_is_found(data, tmp_path):
    path = tmp_path / "spoilt.py"
    path.write_text(SPOILT.format(ours=str(FOUND["ours"])))
    (row,) = run("write-columns", data("write-columns", "ctr"), {"spoilt": path}, SHORT).rows
    assert (row.status, row.wall) == ("wrong", [])
    assert row.reason.startswith("C3 in order")


def test_columns_by_file_are_the_batches_joined(data):
    dataset = data("write-columns", "tok")
    parts = columns_by_file(dataset)
    assert len(parts) == len(dataset.files)
    assert digest_of_columns(parts) == digest_of_columns(batches_of(dataset)) == dataset.answer
    tokens = joined(parts)["input_token_ids"]
    assert tokens.values.tolist() == [one for row in lists_of(tokens) for one in row]


def test_nulls_among_arrows_values_are_records_without_values():
    pyarrow = pytest.importorskip("pyarrow")
    scalars = of_arrow(pyarrow.array([1, None, 3], "int64"), "int64")
    assert (scalars.values.tolist(), scalars.lengths.tolist()) == ([1, 3], [1, 0, 1])


def test_nulls_among_arrows_lists_are_records_without_values():
    pyarrow = pytest.importorskip("pyarrow")
    lists = of_arrow(pyarrow.array([[b"a"], None, [], [b"b", b"c"]], pyarrow.large_list(pyarrow.binary())), "string")
    assert (lists.values, lists.lengths.tolist()) == ([b"a", b"b", b"c"], [1, 0, 0, 2])


def test_nulls_inside_arrows_lists_are_refused():
    pyarrow = pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="1 nulls in lists"):
        of_arrow(pyarrow.array([[1, None]], pyarrow.list_(pyarrow.int64())), "int64")


# Targets.


def timed(contender, row, wall, **fields):
    return Row(contender, contender, row=row, wall=[wall], cpu=[wall], ours=contender == "ours", **fields)


def test_sizes_have_a_target_too(data):
    table = Table(
        "write-gzip",
        "ctr",
        data("write-gzip", "ctr"),
        [timed("ours", "", 1.0, size=106), timed("tensorflow", "", 4.5, size=100)],
    )
    assert [(t.at_least, t.measured, t.met) for t in targets([table])] == [(4, 4.5, True), (1.05, 1.06, False)]


def test_targets_between_our_own_rows(data):
    rows = [
        timed("ours", "ShardReader", 0.9),
        timed("ours", "ShardReader, 2 threads", 1.0),
        timed("ours", "ShardReader, 1 thread", 1.7),
    ]
    (target,) = targets([Table("parse", "ctr", data("write-columns", "ctr"), rows)])
    assert target.measure == "ShardReader, 2 threads: speed ÷ ShardReader, 1 thread"
    assert (target.measured, target.met) == (1.7, False)


def test_a_target_that_is_not_measured_says_why(data):
    missing = Row("tfx_bsl", "tfx-bsl", status="missing", reason="not installed: --install tfx_bsl")
    table = Table("parse-memory", "ctr", data("write-columns", "ctr"), [timed("ours", "", 1.0), missing])
    assert not_measured([table]) == [
        "parse-memory ctr, 10 × speed ÷ tfx_bsl: missing: not installed: --install tfx_bsl",
    ]


def test_the_error_of_one_row_is_not_the_reason_of_another(data):
    """Of the two targets here, the first has a row that failed, the second lacks one of ours."""
    failed = Row("ours", "tfrecord_fast", "Spark, Parquet", status="failed", reason="SparkException: awaitResult " * 20)
    rows = [timed("ours", "Spark", 2.0), failed, timed("ours", "ShardReader", 1.0), timed("beam", "pipeline", 9.0)]
    found = not_measured([Table("engines", "ctr", data("write-columns", "ctr"), rows)])
    (spark,) = [text for text in found if "Spark: speed" in text]
    (beam,) = [text for text in found if "Beam, batches" in text]
    assert spark.endswith("…") and len(spark) < 300 and "failed: SparkException" in spark
    assert beam.endswith("no such row here")


def test_every_target_names_an_existing_task_and_workload():
    for pair in PAIRS:
        contender = contenders.load(FOUND[pair.contender])
        assert pair.task in contender.tasks and pair.task in contenders.load(FOUND["ours"]).tasks
        assert set(pair.wanted) <= set(TASKS[pair.task].workloads) & set(EVERY)


def test_what_is_written_is_deleted_after_a_pass(tmp_path, data):
    job = contenders.Job("write-columns", replace(data("write-columns", "emb")), tmp_path)
    (setting,) = contenders.load(FOUND["ours"]).tasks["write-columns"](job)
    assert setting.run() == job.dataset.records
    assert len(list(tmp_path.iterdir())) == 2
    setting.cleanup()
    assert list(tmp_path.iterdir()) == []
    assert isinstance(columns_by_file(job.dataset)[0]["dense_embedding"], Column)
