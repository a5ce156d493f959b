"""Ratios are between rows that do the same work, and no row's time or size is that of something else."""

import json
import time
from dataclasses import replace

import pytest

from benchmarks.contenders.kit.contender import Contender
from benchmarks.contenders.kit.job import Job
from benchmarks.contenders.kit.parsing import Parsing
from benchmarks.contenders.kit.reading import Reading, Tallying
from benchmarks.data import parts, reference
from benchmarks.data.answers import difference
from benchmarks.data.columns import Column, digest_of_columns, of_lists
from benchmarks.data.generate import dataset_of
from benchmarks.data.parts import Ladder
from benchmarks.data.tasks import TASKS
from benchmarks.data.workloads import WORKLOADS
from benchmarks.reporting import report
from benchmarks.reporting.document import short
from benchmarks.reporting.plots import message_of
from benchmarks.reporting.saved import load
from benchmarks.running import likeness
from benchmarks.running.entering import Entrant, Work, next_share, step_back
from benchmarks.running.method import Method
from benchmarks.running.results import Row, Size, Table, Try

SIZE = Size(1000, 1_000_000, 0)


def row(title, name="", seconds=1.0, **fields):
    ours = title == "tfrecord_fast"
    return Row(title, title, row=name, ours=ours, setting="s", wall=[seconds], cpu=[seconds], **fields)


@pytest.mark.parametrize(
    "task, ours, rival, faster",
    [
        pytest.param("tables", [("ShardReader", 1), ("pandas", 8)], ("pandas", 4), 0.5, id="a frame and a frame"),
        pytest.param("stats", [("ShardReader, records", 1), ("stats", 4)], ("polars", 16), 4, id="figures"),
        pytest.param("face-batches", [("plain", 1), ("face, every value", 2)], ("", 8), 4, id="the face"),
        pytest.param("engines", [("ShardReader", 1), ("Ray", 10), ("Spark", 5)], ("Ray", 100), 10, id="an engine"),
        pytest.param(
            "remote",
            [("ShardReader, 8 objects", 1), ("ShardReader, 2,000 objects", 5)],
            ("2,000 objects", 10),
            2,
            id="as many objects",
        ),
        pytest.param(
            "shards",
            [("ShardReader, 10 shards", 1), ("ShardReader, 10,000 shards", 4)],
            ("10,000 shards", 8),
            2,
            id="as many shards",
        ),
        pytest.param("parse", [("ShardReader", 2), ("ShardReader, 1 thread", 3)], ("", 8), 4, id="our fastest"),
    ],
)
def test_a_rival_is_held_against_our_row_of_its_kind(task, ours, rival, faster):
    other = row("rival", rival[0], rival[1])
    table = Table(task, "ctr", SIZE, [*(row("tfrecord_fast", *one) for one in ours), other])
    assert table.ratio(other).median == faster
    assert table.cpu_ratio(other).median == faster
    base = table.base_for(other)
    assert base.ours and not likeness.is_beside(task, base.row)
    assert "this row" in report.cells(table, base)
    assert report.number(max(faster, 1 / faster)) in short([table])
    assert report.number(max(faster, 1 / faster)) in message_of([table])


def test_where_we_have_no_such_row_there_is_no_ratio():
    beam = row("Apache Beam", "pipeline", 100)
    table = Table("engines", "ctr", SIZE, [row("tfrecord_fast", "ShardReader"), row("tfrecord_fast", "Ray", 2), beam])
    assert table.ratio(beam) is None and table.cpu_ratio(beam) is None
    assert table.as_json()["rows"][-1]["base_is_faster_by"] is None
    assert report.cells(table, beam)[-2:] == ["", ""]


def test_every_row_that_is_named_beside_the_others_is_there():
    """A name that no contender has any more would make the fastest row the base again."""
    source = {
        "tables": "tables.py",
        "engines": "engines.py",
        "stats": "figures.py",
        "pipelines": "pipelines.py",
        "face-batches": "face.py",
        "images": "images.py",
    }
    assert source.keys() == likeness.BESIDE.keys()
    for task, names in likeness.BESIDE.items():
        text = (reference.Path(likeness.__file__).parents[1] / "contenders" / "ours" / source[task]).read_text()
        assert all(f'"{name}"' in text for name in names), task


class Slow:
    """An iterator that takes its time to end, as TensorFlow's does."""

    def __init__(self):
        self.left = iter([b"one", b"two"])

    def __iter__(self):
        return self

    def __next__(self):
        return next(self.left)

    def __del__(self):
        time.sleep(0.3)


@pytest.mark.parametrize(
    "setting",
    [
        pytest.param(lambda: Reading("s", Slow), id="records"),
        pytest.param(lambda: Reading("s", Slow, records=lambda one: [one], count=lambda one: 1), id="batches"),
        pytest.param(lambda: Reading("s", lambda: map(bytes.upper, Slow())), id="mapped"),
        pytest.param(lambda: Tallying("s", Slow, count=lambda one: 1), id="counted"),
        pytest.param(lambda: Parsing("s", Slow, lambda one: {}, lambda one: 1), id="columns"),
    ],
)
def test_the_end_of_an_iterator_is_not_timed(setting):
    one = setting()
    start = time.perf_counter()
    assert one.run() == 2
    assert time.perf_counter() - start < 0.2
    start = time.perf_counter()
    one.cleanup()
    assert time.perf_counter() - start > 0.2


# ---- Answers ----


def test_columns_in_order_need_no_sum_of_records():
    batch = {"a": of_lists([[1], [2, 3], []], "int64"), "b": of_lists([[b"x"], [], [b"y"]], "string")}
    whole, quick = digest_of_columns([batch]), digest_of_columns([batch], records=False)
    assert whole.keys() - quick.keys() == {"in any order"} and quick["records"] == 3
    assert difference(whole, quick, "file") is None
    assert difference(whole, quick, "any").startswith("in any order")
    assert difference(whole, quick, "shuffled") is not None
    moved = batch | {"a": of_lists([[1, 2], [3], []], "int64")}
    assert difference(whole, digest_of_columns([moved], records=False), "file").startswith("a in order")
    lacking = digest_of_columns([{"a": batch["a"]}], records=False)
    assert difference(whole, lacking, "file").startswith("b in order")
    fewer = {name: Column(one.values, one.lengths[:2]) for name, one in batch.items()}
    assert difference(whole, digest_of_columns([fewer], records=False), "file").startswith("records")


def test_records_in_any_order_are_needed_where_there_is_no_other_sum():
    assert difference({"records": 1, "in any order": "x"}, {"records": 1}, "file").startswith("in any order")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    return dataset_of(WORKLOADS["tiny"], 0.02, cache=tmp_path_factory.mktemp("data"))


def test_the_same_bytes_are_read_back_once_and_others_anew(tiny, tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr(parts, "digest_of_files", lambda paths: read.append(paths) or {"records": -1})
    ladder = Ladder(TASKS["write"], tiny, tmp_path)
    copies = []
    for number, path in enumerate(tiny.files):
        copies.append(tmp_path / f"{number}")
        copies[-1].write_bytes(reference.Path(path).read_bytes())
    paths = list(map(str, copies))
    assert ladder.written(paths, tiny) == tiny.answer and read == []
    data = bytearray(copies[-1].read_bytes())
    data[-1] ^= 1
    copies[-1].write_bytes(data)
    assert ladder.written(paths, tiny) == {"records": -1} and read == [paths]
    assert ladder.written(paths, tiny) == {"records": -1} and read == [paths]
    # The same bytes in other files are another answer.
    assert ladder.written(paths[::-1], tiny) == {"records": -1} and len(read) == 2


# ---- Shares ----


def ladder_of(task, tiny, tmp_path):
    ladder = Ladder(TASKS[task], replace(tiny, gzip_files=[]), tmp_path)
    ladder.shares = [0.01, 0.03, 0.1, 0.3, 1.0]
    return ladder


def entrant_of(ladder, tmp_path):
    return Entrant(Contender("c", "c", {}), tmp_path, tmp_path, ladder=ladder)


def work_of(passes, answers):
    work = Work(), Work()
    work[0].took, work[1].took = passes, answers
    return {0: work}


@pytest.mark.parametrize(
    "task, passes, answers, share",
    [
        pytest.param("loop", {0.01: 5.0}, {0.01: 5.0}, 0.01, id="work that takes too long"),
        pytest.param("engines", {0.01: 5.0}, {0.01: 5.0}, 0.03, id="a job, whose start it may be"),
        pytest.param("engines", {0.01: 5.0, 0.03: 5.0}, {0.01: 5.0, 0.03: 5.0}, 1.0, id="it was its start"),
        pytest.param("engines", {0.01: 5.0, 0.03: 12.0}, {0.01: 5.0, 0.03: 12.0}, 0.03, id="both: it stays on more"),
        pytest.param("engines", {0.01: 9.0, 0.03: 25.0}, {0.01: 9.0, 0.03: 25.0}, 0.01, id="it was work"),
        pytest.param("loop", {0.01: 0.3, 0.03: 0.4}, {0.01: 0.3, 0.03: 0.4}, 0.1, id="noise beside a fixed cost"),
        pytest.param("loop", {0.01: 0.5, 0.03: 1.5}, {0.01: 0.5, 0.03: 1.5}, 0.01, id="too far, and back"),
        pytest.param("loop", {0.01: 0.0024}, {0.01: 0.08}, 1.0, id="a quick row with slow answers"),
        pytest.param("loop", {0.01: 0.009}, {0.01: 0.08}, 0.1, id="a slower row with slow answers"),
    ],
)
def test_how_far_a_row_climbs(task, passes, answers, share, tiny, tmp_path):
    entrant = entrant_of(ladder_of(task, tiny, tmp_path), tmp_path)
    one = Row("c", "c", share=max(passes))
    one.tried.append(Try(0, "s", "file", share=one.share, seconds=passes[one.share]))
    method = Method(patience=2.0)
    assert method.longest_pass == 1.0
    assert next_share(entrant, one, work_of(passes, answers), method) == share


def test_a_row_that_steps_back_has_the_size_of_what_it_wrote_there(tiny, tmp_path):
    entrant = entrant_of(ladder_of("write", tiny, tmp_path), tmp_path)
    one = Row("c", "c", share=0.3)
    one.tried.append(Try(0, "s", "file", share=0.3, seconds=9.0, sizes={0.1: 100, 0.3: 300}))
    step_back(entrant, one, 0.1, work_of({0.1: 1.0, 0.3: 9.0}, {0.1: 1.0, 0.3: 9.0}))
    assert (one.share, one.tried[0].seconds, one.tried[0].size) == (0.1, 1.0, 100)


def test_sizes_are_saved_by_share(tmp_path):
    written = row("tfrecord_fast", size=1000)
    written.tried.append(Try(0, "s", "file", sizes={0.1: 100, 1.0: 1000}))
    table = Table("write", "ctr", SIZE, [written])
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"environment": {}, "method": {}, "tables": [table.as_json()]}))
    (found,) = load(path).tables[0].rows
    assert found.tried[0].sizes == {0.1: 100, 1.0: 1000} and found == written


def test_parquet_files_are_made_once_for_the_same_files_and_features(tmp_path, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    from benchmarks.contenders.kit import frames

    dataset = dataset_of(WORKLOADS["ctr"], 0.001, cache=tmp_path / "data")
    tables = []
    for number in range(3):
        if number == 1:  # from now on nothing is parsed
            monkeypatch.setattr(frames, "columns_by_file", lambda given: pytest.fail("made again"))
        scratch = tmp_path / str(number)
        scratch.mkdir()
        given = replace(dataset, features=dict(list(dataset.features.items())[: 3 if number == 2 else None]))
        if number == 2:
            with pytest.raises(pytest.fail.Exception, match="made again"):
                frames.as_parquet(Job("tables", given, scratch))
            continue
        tables.append(parquet.read_table(frames.as_parquet(Job("tables", given, scratch))))
    assert tables[0].equals(tables[1]) and tables[0].num_rows == dataset.records
    assert len(tables[0].column_names) == len(dataset.features)
