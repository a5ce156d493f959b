"""The tasks that feed a training loop and make tables: contenders against the reference, and their helpers."""

import subprocess
import sys

import numpy as np
import pytest

from benchmarks import contenders
from benchmarks.contenders import CannotError, Job
from benchmarks.contenders.kit.feeding import SideBySide, buffer_of, count_of, needs, of_tensors
from benchmarks.data.columns import digest_of_columns
from benchmarks.data.generate import dataset_of
from benchmarks.data.reference import batches_of
from benchmarks.data.tasks import SHUFFLE
from benchmarks.data.workloads import WORKLOADS
from benchmarks.reporting.targets import not_measured, targets
from benchmarks.running.cputime import cpu_seconds
from benchmarks.running.harness import run
from benchmarks.running.method import Method
from benchmarks.running.results import Row, Size, Table
from tests.support.contenders import more_contenders

pytestmark = pytest.mark.alone

SHORT = Method(rounds=1, trials=1, min_time=0.0)
FOUND = contenders.found()
SMALL = {"ctr": 0.0005, "img": 0.015}


@pytest.mark.parametrize(
    "task, name, names, rows",
    [
        *more_contenders(
            ("train-feed", "ctr", ["ours", "vahidk", "array_record"], {"DataLoader", "DataLoader, 2 workers", "Grain"}),
            ("train-feed", "img", ["ours"], {"DataLoader", "DataLoader, 2 workers", "Grain"}),
        ),
        ("tables", "ctr", ["ours", "pyarrow"], {"ShardReader", "Arrow", "pandas", "polars", "DuckDB"}),
    ],
)
def test_ours_and_quick_rivals_give_the_reference(task, name, names, rows, data):
    table = run(task, data(task, name), {name: FOUND[name] for name in names}, SHORT)
    assert [(row.label, row.reason) for row in table.rows if row.status not in ("timed", "missing")] == []
    assert {row.status for row in table.rows if row.ours} == {"timed"}
    assert [(t.label, t.reason) for row in table.rows for t in row.tried if t.status != "ok"] == []
    assert rows <= {row.row for row in table.rows if row.contender == "ours"}


def test_a_training_loop_reads_the_same_records_from_eight_files(data):
    dataset = data("train-feed", "ctr")
    assert len(dataset.files) == 8
    assert digest_of_columns(batches_of(dataset)) == dataset.answer


@pytest.mark.parametrize("name", SMALL)
def test_side_by_side_and_back_gives_the_records(name, data):
    dataset = data("train-feed", name)
    layout = SideBySide(dataset)
    batches = [layout.columns(layout.collated(list(rows))) for rows in layout.rows()]
    assert digest_of_columns(batches) == dataset.answer


@pytest.mark.parametrize("name", SMALL)
def test_packed_and_back_gives_the_records(name, data):
    dataset = data("train-feed", name)
    layout = SideBySide(dataset)
    rows = [layout.unpacked(layout.packed(row)) for part in layout.rows() for row in part]
    assert digest_of_columns([layout.columns(layout.collated(rows))]) == dataset.answer


@pytest.mark.parametrize("name", ["tok", "emb", "seq"])
def test_what_does_not_go_side_by_side_is_not_measured(name, tmp_path):
    with pytest.raises(CannotError, match="other than scalars"):
        SideBySide(dataset_of(WORKLOADS[name], 0.0001, cache=tmp_path))


def test_tensors_of_bytes_are_read_as_strings(data):
    import torch

    (batch, *_) = batches_of(data("train-feed", "img"))
    strings = batch["image"].values
    nested = torch.nested.nested_tensor(
        [torch.frombuffer(bytearray(one), dtype=torch.uint8) for one in strings], layout=torch.jagged
    )
    numbers = {name: torch.from_numpy(batch[name].values) for name in batch if name != "image"}
    assert digest_of_columns([of_tensors(numbers | {"image": nested})]) == digest_of_columns([batch])


def test_the_records_of_a_batch_are_counted():
    assert count_of({"image": [b"a", b"b"], "label": np.zeros(2)}) == count_of({"label": np.zeros(2)}) == 2


def test_a_shuffle_buffer_of_large_records_is_smaller(data, tmp_path):
    small, large = (buffer_of(Job("train-feed", data("train-feed", name), tmp_path)) for name in ("ctr", "img"))
    assert small == SHUFFLE
    assert 800 < large < 1200


def test_what_a_rival_lacks_beside_it_is_named():
    needs("json")
    with pytest.raises(CannotError, match=r"not installed beside it: absent_module$"):
        needs("json", "absent_module")


SPENDING = """
import sys, time
start = time.process_time()
while time.process_time() - start < 0.3: pass
print("spent", flush=True)
sys.stdin.read()
"""


def test_the_processor_time_of_living_children_counts():
    before = cpu_seconds()
    child = subprocess.Popen([sys.executable, "-c", SPENDING], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdout.readline() == b"spent\n"
    living = cpu_seconds() - before
    child.communicate()
    ended = cpu_seconds() - before
    assert 0.25 < living <= ended + 0.02  # and not twice when it has ended
    assert ended < living + 0.3


def row(contender, seconds, name="", **fields):
    return Row(contender, contender, row=name, wall=[seconds], cpu=[seconds], setting="s", **fields)


def fed(*rivals):
    ours = [
        row("ours", 1.0, "DataLoader", ours=True),
        row("ours", 2.0, "DataLoader, 2 workers", ours=True),
        row("ours", 4.0, "DataLoader, 4 workers", ours=True),
    ]
    return Table("train-feed", "ctr", Size(10, 10, 0), [*ours, *rivals])


def test_the_fastest_rival_is_what_feeding_is_compared_with():
    rivals = row("slow", 90.0), row("quick", 8.0, "DataLoader"), row("quick", 9.0, "DataLoader, 2 workers")
    found = {t.measure: (t.measured, t.met) for t in targets([fed(*rivals)])}
    assert found == {
        "DataLoader, 2 workers: speed ÷ DataLoader": (0.5, True),
        "DataLoader, 4 workers: speed ÷ DataLoader, 2 workers": (0.5, False),
        "speed ÷ the fastest rival": (8.0, True),
        "DataLoader, 2 workers: speed ÷ the fastest rival, except DataLoaders without workers": (4.5, False),
    }


def test_without_rivals_the_fastest_is_not_missed():
    assert not_measured([fed()]) == []


def test_the_floor_is_no_rival():
    assert not any("rival" in t.measure for t in targets([fed(row("floor", 0.5, floor=True))]))


@pytest.mark.parametrize("name", ["webdataset", "streaming", "pyarrow"])
def test_a_format_of_its_own_says_so(name):
    assert contenders.load(FOUND[name]).leaves_out
