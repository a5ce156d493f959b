"""The task of pipelines: scripts for TensorFlow, run by both, with answers compared."""

import copy
import os

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import contenders
from benchmarks.contenders.kit.scripted import Scripted, described, leaves, totals
from benchmarks.contenders.ours.by_hand import batches
from benchmarks.data.elements import difference_of_elements
from benchmarks.data.generate import dataset_of
from benchmarks.data.pipelines import EVERY, IMPORT, PIPELINES, SCRIPTS
from benchmarks.data.tasks import TASKS
from benchmarks.data.workloads import WORKLOADS
from benchmarks.reporting import document, report
from benchmarks.reporting.saved import load
from benchmarks.running.environment import environment
from benchmarks.running.harness import run
from benchmarks.running.method import Method
from benchmarks.running.results import Row, Size, Table
from tests.support.contenders import more_contenders

FOUND = contenders.found()
SHORT = Method(rounds=1, trials=1, min_time=0.0)
RECORDS = {"patches": 9, "detection": 20, "jpeg-augment": 40, "jpeg-onehot": 70, "speech": 40}  # of a file
SMALL = {name: RECORDS.get(name, 120) / pipeline.workload.records for name, pipeline in PIPELINES.items()}
EXACT, ROUNDED, FLIPPED = PIPELINES["speech"], PIPELINES["ctr-40"], PIPELINES["jpeg-augment"]


def test_every_script_is_a_workload_of_the_task():
    assert list(PIPELINES) == list(TASKS["pipelines"].workloads)
    assert {path.stem.replace("_", "-") for path in SCRIPTS.glob("[a-z]*.py")} == set(PIPELINES)
    others = WORKLOADS.keys() | TASKS["images"].workloads
    assert not PIPELINES.keys() & others and len(EVERY) == len(PIPELINES) + len(others)


@pytest.mark.parametrize("name", PIPELINES)
def test_only_the_import_of_a_script_changes(name):
    lines = PIPELINES[name].script("tensorflow").splitlines()
    ours = PIPELINES[name].script("tfrecord_fast.tensorflow").splitlines()
    changed = [pair for pair in zip(lines, ours, strict=True) if pair[0] != pair[1]]
    assert changed == [(IMPORT, "import tfrecord_fast.tensorflow as tf")]


@pytest.mark.parametrize("name", PIPELINES)
def test_records_have_the_mean_size_that_is_stated(name):
    workload = PIPELINES[name].workload
    n = min(workload.records, 2_000_000 // workload.mean_bytes + 20)
    sizes = [len(record) for _, records in workload.chunks(0, n) for record in records]
    assert len(sizes) == n
    assert np.mean(sizes) == pytest.approx(workload.mean_bytes, rel=0.05)


@pytest.mark.parametrize(
    "name",
    ["bert-inside", *more_contenders(*(name for name in PIPELINES if name != "bert-inside"))],
)
def test_scripts_and_hands_give_the_batches_of_tensorflow(name, data):
    if why := contenders.load(FOUND["tensorflow"]).why_not():
        pytest.skip(why)
    table = run("pipelines", data("pipelines", name), {key: FOUND[key] for key in ("ours", "tensorflow")}, SHORT)
    assert [(row.label, row.status, row.reason) for row in table.rows] == [
        ("tfrecord_fast unchanged script", "timed", ""),
        ("tfrecord_fast batched by hand", "timed", ""),
        ("TensorFlow", "timed", ""),
    ]


def element(first=0.0):
    values = np.linspace(first, 5, 60, dtype=np.float32).reshape(4, 15)
    return {"x": values, "y": (np.arange(4), np.array([b"a", b"bc", b"", b"d"], object))}


def answer_of(pipeline, *elements):
    found = [described(one, pipeline) for one in elements]
    return {"tolerance": pipeline.tolerance, "first file": found, "all": totals(found, pipeline)}


def moved(one):
    return {**one, "x": one["x"][:, ::-1]}


def swapped(one):
    return {**one, "x": one["x"][::-1]}


def in_another_dtype(one):
    return {**one, "y": (one["y"][0].astype(np.int32), one["y"][1])}


def of_another_shape(one):
    return {**one, "x": one["x"][:, :, None]}


def of_other_strings(one):
    return {**one, "y": (one["y"][0], one["y"][1][::-1])}


def of_other_names(one):
    return {"z": one["x"], "y": one["y"]}


CHANGES = (moved, swapped, in_another_dtype, of_another_shape, of_other_strings, of_other_names)


@pytest.mark.parametrize("pipeline", [EXACT, ROUNDED], ids=["exact", "rounded"])
@pytest.mark.parametrize("change", CHANGES)
def test_a_batch_that_differs_is_found(pipeline, change):
    expected = answer_of(pipeline, element(), element(1.0))
    assert difference_of_elements(expected, answer_of(pipeline, element(), element(1.0))) is None
    assert difference_of_elements(expected, answer_of(pipeline, *map(change, (element(), element(1.0))))) is not None


def test_batches_in_another_order_or_number_are_found():
    expected = answer_of(EXACT, element(), element(1.0))
    assert "batch 0" in difference_of_elements(expected, answer_of(EXACT, element(1.0), element()))
    assert "expected 2, got 1" in difference_of_elements(expected, answer_of(EXACT, element()))


def test_a_shuffled_epoch_with_another_value_is_found():
    expected = answer_of(ROUNDED, element(), element(1.0))
    other = copy.deepcopy(expected)
    other["all"] = totals([described(one, ROUNDED) for one in (element(), element(1.001))], ROUNDED)
    assert "all batches, /x, sums" in difference_of_elements(expected, other)


def test_rounding_is_no_difference_where_a_pipeline_says_so():
    rounded = {**element(), "x": element()["x"] * np.float32(1 + 1e-7)}
    assert difference_of_elements(answer_of(ROUNDED, element()), answer_of(ROUNDED, rounded)) is None
    assert difference_of_elements(answer_of(EXACT, element()), answer_of(EXACT, rounded)) is not None


def test_mirrored_images_are_equal_and_swapped_ones_are_not():
    expected = answer_of(FLIPPED, element())
    assert difference_of_elements(expected, answer_of(FLIPPED, moved(element()))) is None
    assert difference_of_elements(expected, answer_of(FLIPPED, swapped(element()))) is not None


def test_leaves_are_named_by_where_they_are():
    assert [path for path, _ in leaves(element())] == ["/x", "/y/0", "/y/1"]
    assert [path for path, _ in leaves(5)] == [""]


def test_a_script_that_does_not_shuffle_is_refused(tmp_path):
    dataset = dataset_of(PIPELINES["bert-inside"].workload, SMALL["bert-inside"], cache=tmp_path / "data")
    job = contenders.Job("pipelines", dataset, tmp_path)

    def unshuffled(files, buffer=1):
        return batches(files, 1, 32, lambda records: np.array([len(record) for record in records]), False)

    with pytest.raises(ValueError, match="not shuffled"):
        Scripted(job, unshuffled).answer()


def row(contender, name, seconds):
    title = "TensorFlow" if contender == "tensorflow" else "tfrecord_fast"
    times = [seconds, seconds]
    return Row(contender, title, row=name, ours=contender == "ours", setting="s", wall=times, cpu=times)


def table_of(*rows):
    return Table("pipelines", "bert-inside", Size(1000, 1_000_000, 0), list(rows))


def test_a_pipeline_has_one_line():
    rows = [row("ours", "unchanged script", 0.5), row("ours", "batched by hand", 0.1), row("tensorflow", "", 2.0)]
    ((title, note, head, lines),) = [one for one in report.sections([table_of(*rows)]) if one[0] != "Targets"]
    assert title == TASKS["pipelines"].title and "÷ TensorFlow" in note
    assert lines == [
        ["bert-inside", "0.500", "2.00", "4.00× (4.00–4.00)", "4.00×", "10.0", "20.0× (20.0–20.0)", "20.0×"]
    ]
    assert len(head) == len(lines[0])
    text = document.markdown([table_of(*rows)], environment(), SHORT)
    assert "| bert-inside | 0.500 | 2.00 | 4.00× (4.00–4.00) | 4.00× | 10.0 | 20.0× (20.0–20.0) | 20.0× |" in text


def test_a_row_without_a_figure_says_why():
    wrong = row("ours", "unchanged script", 1.0)
    wrong.status, wrong.reason = "wrong", "batch 0, /x, sums"
    ((_, note, _, lines),) = report.sections([table_of(wrong, row("tensorflow", "", 2.0))])
    assert lines == [["bert-inside", "0.500", "WRONG", "", "", "", "", ""]]
    assert "bert-inside, tfrecord_fast unchanged script: wrong: batch 0, /x, sums." in note


def test_a_quick_run_of_one_pipeline(tmp_path, capsys):
    options = ["pipelines", "--only", "bert-inside", "--quick", "--scale", "0.01", "--cores", "1"]
    path = tmp_path / "out.json"
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    try:
        assert command.main([*options, "--rivals", "floor", "--data", str(tmp_path), "--json", str(path)]) == 0
    finally:
        if cores:
            os.sched_setaffinity(0, cores)
    (table,) = load(path).tables
    assert [row.row for row in table.timed] == ["unchanged script", "batched by hand"]
    assert load(path).environment["cores"] == 1
    assert "bert-inside" in capsys.readouterr().out
