"""The parsing tasks: the reference against the values that the data was made from, and contenders against it."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks import contenders
from benchmarks.data.answers import difference
from benchmarks.data.columns import Column, digest_of_columns, fixed, padded, ragged, step_name
from benchmarks.data.reference import figures_of, messages, parsed_answer
from benchmarks.data.tasks import EXAMPLES
from benchmarks.data.workloads import WORKLOADS, Ragged
from benchmarks.reporting import report
from benchmarks.running.harness import run
from benchmarks.running.method import Method
from tests.support.contenders import more_contenders

ONE = np.ones(1, np.int64)
SHORT = Method(rounds=2, trials=1, min_time=0.0)
FOUND = contenders.found()
SMALL = {"ctr": 0.003, "wide": 0.005, "tok": 0.003, "emb": 0.003, "img": 0.005, "seq": 0.005, "one": 0.02}


def plain_column(values):
    if isinstance(values, Ragged):
        return Column(*values)
    return Column(values, np.ones(len(values), int)) if isinstance(values, list) else fixed(values)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_reference_gives_the_values_that_the_records_were_made_from(name, data):
    workload = WORKLOADS[name]
    made = (
        {step_name(key) if key in workload.sequences else key: plain_column(values) for key, values in columns.items()}
        for shard in range(workload.shards)
        for columns, _ in workload.chunks(shard, workload.records_at(SMALL[name]))
    )
    assert data("parse", name).answer == digest_of_columns(made)


@pytest.mark.parametrize(
    "task, name",
    [
        ("parse", "ctr"),
        *more_contenders(
            ("parse-memory", "tok"),
            ("parse-single", "img"),
            ("epoch", "tok"),
            ("face-batches", "ctr"),
        ),
    ],
)
def test_all_that_is_installed_parses_to_the_reference(task, name, data):
    parses_to_the_reference(task, data(task, name), FOUND)


# The other rivals run each kind of task once, above: they start slowly. The benchmark itself compares all answers.
@pytest.mark.parametrize(
    "task, name",
    [
        ("parse-single", "one"),
        ("face-batches", "tok"),
        *more_contenders(
            *(("parse", name) for name in EXAMPLES if name != "ctr"),
            ("parse-gzip", "tok"),
            ("parse-memory", "seq"),
            ("parse-single", "seq"),
            ("shards", "ctr"),
        ),
    ],
)
def test_we_and_tensorflow_parse_to_the_reference(task, name, data):
    parses_to_the_reference(task, data(task, name), {key: FOUND[key] for key in ("ours", "tensorflow", "floor")})


def parses_to_the_reference(task, dataset, found):
    installed = {key: path for key, path in found.items() if contenders.load(path).why_not() is None}
    table = run(task, dataset, installed, SHORT)
    assert [(row.label, row.reason) for row in table.rows if row.status not in ("timed", "missing")] == []
    assert {row.status for row in table.rows if row.ours} == {"timed"}
    assert [(t.label, t.reason) for row in table.rows for t in row.tried if t.status != "ok"] == []
    assert "ours" in {row.contender for row in table.rows}


SPOILT = """
from benchmarks.contenders import Contender, load
from benchmarks.contenders.kit.parsing import Parsing
from pathlib import Path
ours = load(Path({ours!r}))

def spoil(columns):
    values, lengths = columns["C3"]
    values = values.copy()
    {how}
    return columns | {{"C3": columns["C3"]._replace(values=values)}}

def parse(job):
    setting = ours.tasks["parse"](job)[0]
    honest = setting.columns
    setting.columns = lambda item: spoil(honest(item))
    setting.order = {order!r}
    return [setting]

CONTENDER = Contender("spoilt", "spoilt", tasks={{"parse": parse}})
"""


@pytest.mark.parametrize("order", ["file", "any"])
@pytest.mark.parametrize("how", ["values[7] += 1", "values[[4, 9]] = values[[9, 4]] + (values[4] == values[9])"])
def test_one_wrong_value_is_reported_and_not_timed(how, order, data, tmp_path):
    path = tmp_path / "spoilt.py"
    path.write_text(SPOILT.format(ours=str(FOUND["ours"]), how=how, order=order))
    (row,) = run("parse", data("parse", "ctr"), {"spoilt": path}, SHORT).rows
    assert (row.status, row.wall) == ("wrong", [])
    assert row.reason.startswith("C3 in order" if order == "file" else "in any order")


def columns(**lists):
    return {name: fixed(np.array(values)) for name, values in lists.items()}


def test_the_checksum_is_the_same_however_records_are_batched():
    whole = {"a": fixed(np.arange(6).reshape(3, 2)), "b": ragged([b"x", b"yz", b""], [0, 1, 1, 3])}
    parts = [
        {"a": fixed(np.array([[0, 1]])), "b": ragged([b"x"], [0, 1])},
        {"a": fixed(np.array([[2, 3], [4, 5]])), "b": ragged([b"yz", b""], [0, 0, 2])},
    ]
    assert digest_of_columns([whole]) == digest_of_columns(parts)


@pytest.mark.parametrize(
    "other",
    [
        columns(a=[1, 3, 2]),
        columns(a=[1, 2, 3], b=[0, 0, 0]),
        columns(a=[1.0, 2.0, 3.0]),
        columns(a=[1, 2]),
        {"a": ragged(np.array([1, 2, 3]), [0, 2, 2, 3])},
    ],
)
def test_the_checksum_tells_values_that_differ(other):
    assert difference(digest_of_columns([columns(a=[1, 2, 3])]), digest_of_columns([other]), "file")


def test_the_sum_of_records_is_the_same_in_any_order():
    answer = digest_of_columns([columns(a=[1, 2], b=[3, 4])])
    assert difference(answer, digest_of_columns([columns(a=[2, 1], b=[4, 3])]), "any") is None


def test_the_sum_of_records_tells_values_that_went_to_another_record():
    answer = digest_of_columns([columns(a=[1, 2], b=[3, 4])])
    assert difference(answer, digest_of_columns([columns(a=[2, 1], b=[3, 4])]), "any").startswith("in any order")


def test_padding_is_left_out():
    assert padded([[1, 2], [3, 0]], [2, 1]).values.tolist() == [1, 2, 3]


def test_padding_must_be_zero():
    with pytest.raises(ValueError, match="padding"):
        padded([[1, 2], [3, 9]], [2, 1])


def test_columns_must_fit_together():
    with pytest.raises(ValueError, match="do not fit together"):
        digest_of_columns([columns(a=[1, 2], b=[3])])


@pytest.mark.parametrize(
    "feature, says",
    [
        (["fixed", "int64", []], r"feature 'input_token_ids': \d+ values, not 1"),
        (["varlen", "float32", []], "int64_list, not float_list"),
    ],
)
def test_the_reference_says_what_does_not_fit(feature, says, data, tmp_path):
    dataset = replace(data("parse", "tok"), features={"input_token_ids": feature})
    with pytest.raises(ValueError, match=says):
        parsed_answer(dataset, tmp_path)


def test_the_reference_is_outside_protobufs_default_pool():
    from google.protobuf import descriptor_pool

    example, _ = messages()
    assert example.DESCRIPTOR.file.pool is not descriptor_pool.Default()


def test_a_record_at_a_time_is_reported_in_microseconds(data):
    table = run("parse-single", data("parse-single", "ctr"), {"ours": FOUND["ours"]}, SHORT)
    assert "µs/record" in report.columns(table)


IN_ORDER = """
from benchmarks.contenders import Contender, load
ours = load({ours!r})

def epoch(job):
    setting = ours.tasks["parse"](job)[0]
    setting.order = "shuffled"
    return [setting]

CONTENDER = Contender("lazy", "lazy", tasks={{"epoch": epoch}})
"""


def test_an_epoch_in_the_order_of_the_files_is_wrong(data, tmp_path):
    path = tmp_path / "lazy.py"
    path.write_text(IN_ORDER.format(ours=FOUND["ours"]).replace("PosixPath(", "__import__('pathlib').Path("))
    (row,) = run("epoch", data("epoch", "ctr"), {"lazy": path}, SHORT).rows
    assert (row.status, row.wall) == ("wrong", [])
    assert "not shuffled" in row.reason


STATS = """
from benchmarks.contenders import Contender, Counting, load
from pathlib import Path
ours = load(Path({ours!r}))

def stats(job):
    honest = ours.tasks["stats"](job)[0]
    def spoilt():
        answer = honest.answer()
        answer["figures"][{name!r}][{key!r}] += {by}
        return answer
    return [Counting("spoilt", spoilt)]

CONTENDER = Contender("spoilt", "spoilt", tasks={{"stats": stats}})
"""


@pytest.mark.parametrize(
    "name, key, by",
    [("C1", "mean", 1e-3), ("C1", "min", -1), ("I1", "max", 1), ("I1", "count", 1)],
)
def test_a_wrong_figure_is_reported_and_not_timed(name, key, by, data, tmp_path):
    path = tmp_path / "spoilt.py"
    path.write_text(STATS.format(ours=str(FOUND["ours"]), name=name, key=key, by=by))
    (row,) = run("stats", data("stats", "ctr"), {"spoilt": path}, SHORT).rows
    assert (row.status, row.reason.split(":")[0]) == ("wrong", f"{key} of feature {name!r}")


def test_figures_that_lack_a_feature_are_wrong():
    assert difference({"figures": {"a": {"count": 1}}}, {"figures": {}})


def test_figures_are_those_of_the_reference_and_who_has_none_says_so(data):
    rivals = {key: FOUND[key] for key in ("ours", "pyarrow") if contenders.load(FOUND[key]).why_not() is None}
    table = run("stats", data("stats", "ctr"), rivals, SHORT)
    assert [(row.label, row.reason) for row in table.rows if row.status in ("wrong", "failed")] == []
    silent = [row.row for row in table.timed if "figures" in row.leaves_out]
    assert silent == ["ShardReader, records", "ShardReader, columns"]


def test_figures_of_the_reference_are_numpys():
    first = {"a": fixed(np.array([3, -1])), "b": fixed(np.array([0.5, 2.5], np.float32)), "c": Column([b"x"], ONE)}
    last = {"a": fixed(np.array([7])), "b": fixed(np.array([], np.float32)), "c": Column([b"y"], ONE)}
    assert figures_of([first, last]) == {
        "a": {"count": 3, "min": -1, "max": 7, "mean": 3.0},
        "b": {"count": 2, "min": 0.5, "max": 2.5, "mean": 1.5},
        "c": {"count": 2},
    }
