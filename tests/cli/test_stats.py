"""`tfrecord-fast stats`: figures, their JSON, the table; files that are damaged, mixed or no TFRecord files."""

import collections
import contextlib
import functools
import io
import itertools
import json
import math
import threading
from concurrent.futures import CancelledError

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.command import run_here
from tests.support.paths import REAL_FILES
from tests.support.real_files import manifest
from tfrecord_fast.base import workers
from tfrecord_fast.cli import app
from tfrecord_fast.cli.commands.stats import collecting


def write(path, *records):
    with tf.TFRecordWriter(path) as writer:
        writer.write_batch(list(records))
    return str(path)


def example(**features):
    return wire.example([(name.encode(), wire.feature(*value)) for name, value in features.items()])


@pytest.fixture
def run(capfd):
    return functools.partial(run_here, capfd, "stats")


@pytest.fixture
def figures(run):
    """The object of --json, for files that are fine."""

    def call(*argv):
        status, out, err = run("--json", *argv)
        assert (status, err) == (0, "")
        return json.loads(out)

    return call


@pytest.fixture
def some(tmp_path):
    rng = np.random.default_rng(1)
    rows = []
    for i in range(500):
        features = {"n": ("int64", [i % 7]), "x": ("float", [float(np.float32(rng.normal()))])}
        if i % 5:
            features["word"] = ("bytes", [[b"a", b"bb", b"\xff"][i % 3]] * (i % 4))
        rows.append(example(**features))
    return write(tmp_path / "some", *rows)


def test_json_has_the_figures_of_each_feature(some, figures):
    made = figures(some)
    n, word = made["features"]["n"], made["features"]["word"]
    assert (made["records"], made["files"], made["kinds"]) == (500, 1, {"Example": 500})
    assert (n["kind"], n["present"], n["missing"], n["values"], n["distinct"]) == ("int64", 500, 0, 500, 7)
    assert n["top"][0] == {"value": 0, "count": 72} and n["int64"]["zeros"] == 72
    assert n["int64"]["histogram"]["counts"] == [72, 72, 72, 71, 71, 71, 71]
    assert (word["missing"], word["values_per_record"]["min"], word["values_per_record"]["max"]) == (100, 0, 3)
    assert {"value": {"base64": "/w=="}, "count": 200} in word["top"]


def test_figures_are_polars(some, figures):
    polars = pytest.importorskip("polars")
    made = figures(some)["features"]["x"]["float"]
    column = polars.from_arrow(tf.read_table([some]))["x"].cast(polars.Float64)
    assert made["min"] == column.min() and made["max"] == column.max()
    assert made["mean"] == pytest.approx(column.mean(), rel=1e-12)
    assert made["std"] == pytest.approx(column.std(ddof=0), rel=1e-12)
    for part, value in made["quantiles"].items():
        assert value == pytest.approx(column.quantile(float(part), "linear"), rel=1e-12)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), max_size=5), min_size=1, max_size=20)
)
def test_quantiles_are_numpys(tmp_path_factory, rows):
    path = write(tmp_path_factory.mktemp("q") / "a", *[example(a=("float", row)) for row in rows])
    out = io.TextIOWrapper(io.BytesIO())
    with contextlib.redirect_stdout(out):
        assert app.run(["stats", "--json", path]) == 0
    out.seek(0)
    feature = json.load(out)["features"]["a"]
    values = np.array([one for row in rows for one in row], np.float64)
    assert feature["values"] == len(values)
    for part, value in feature["float"]["quantiles"].items() if len(values) else []:
        assert value == pytest.approx(np.quantile(values, float(part)), rel=1e-9, abs=1e-40)


def test_nan_and_infinities_are_marked(tmp_path, figures):
    values = [1.0, math.nan, math.inf, -math.inf, 3.0]
    made = figures(write(tmp_path / "a", *[example(a=("float", [one])) for one in values]))["features"]["a"]["float"]
    assert (made["nan"], made["inf"], made["-inf"], made["mean"], made["std"]) == (1, 1, 1, 2.0, 1.0)
    assert (made["min"], made["max"]) == ({"f": "-Infinity"}, {"f": "Infinity"})


def test_large_integers_keep_all_digits(tmp_path, figures):
    path = write(tmp_path / "a", *[example(a=("int64", [one])) for one in (2**63 - 1, -(2**63), 2**53 + 1)])
    made = figures(path)["features"]["a"]
    assert (made["int64"]["min"], made["int64"]["max"]) == (-(2**63), 2**63 - 1)
    assert {"value": 2**53 + 1, "count": 1} in made["top"]


@pytest.fixture(scope="module")
def all_different(tmp_path_factory):
    """30,051 different values of each kind. Without a limit, the estimates of two are larger."""
    values = np.arange(2_060_102, 2_090_153)
    columns = {"i": values, "b": [b"%d" % one for one in values], "x": np.append(values[:-1], np.nan)}
    return write(tmp_path_factory.mktemp("different") / "a", *tf.encode_examples(columns, nan="value"))


def test_there_are_no_more_different_values_than_values(all_different, figures):
    made = figures(all_different)["features"]
    assert [made[name]["distinct"] for name in ("i", "b")] == [30_051, 30_051] and not made["i"]["exact"]
    assert 29_500 < made["x"]["distinct"] <= 30_050


def test_different_values_are_not_rounded_up_beyond_the_values(all_different, tmp_path, run):
    assert run(all_different, "--html", tmp_path / "page.html")[0] == 0
    page = (tmp_path / "page.html").read_text()
    assert page.count("≈ 30,051") >= 2 and "30,100" not in page and "30,800" not in page
    assert run(all_different)[1].count("≈ 30,051") == 2


def test_there_are_no_more_different_records_than_records(tmp_path, figures):
    batch = tf.encode_examples({"a": np.arange(1_060_000) + 2**24})  # the estimate is 1,060,512
    made = figures(write(tmp_path / "a", *batch))
    assert not made["duplicates"]["exact"] and 1_040_000 < made["duplicates"]["distinct"] <= 1_060_000


def test_sequence_examples_have_contexts_and_lists(tmp_path, figures):
    record = wire.sequence_example(
        [(b"c", wire.feature("int64", [1]))],
        [(b"s", [wire.feature("float", [1.0, 2.0]), wire.feature("float", [3.0])])],
    )
    made = figures(write(tmp_path / "a", record, record))
    assert made["kinds"] == {"SequenceExample": 2} and list(made["features"]) == ["c"]
    s = made["feature_lists"]["s"]
    assert (s["steps_per_record"]["max"], s["values_per_step"]["min"], s["values_per_step"]["max"]) == (2, 1, 2)
    assert s["float"]["mean"] == 2.0


def test_the_table_has_a_row_for_each_feature(some, run):
    status, out, err = run(some)
    assert (status, err) == (0, "")
    row = next(line for line in out.splitlines() if line.startswith("word"))
    assert row.split()[:4] == ["word", "bytes", "80", "%"] and '"bb"' in row
    assert "500 records" in out and "█" in out
    units = {line.split()[0]: " B " in line for line in out.splitlines() if " %" in line and line[:1].isalpha()}
    assert units["word"] and not units["x"]


def test_several_files_are_one_set_and_their_sizes_are_told(tmp_path, run, figures):
    one = write(tmp_path / "1", *[example(a=("int64", [i])) for i in range(10)])
    two = write(tmp_path / "2", *[example(a=("int64", [i])) for i in range(5, 35)])
    made = figures(one, two)
    assert [shard["records"] for shard in made["shards"]] == [10, 30] and made["features"]["a"]["values"] == 40
    assert made["duplicates"]["copies"] == 5 and made["duplicates"]["first"][0] == [
        {"path": one, "record": 5},
        {"path": two, "record": 0},
    ]
    assert f"10 ({one}) – 30 ({two}, 1.5 times the mean)" in run(one, two)[1]


def test_a_limit_counts_over_all_files(tmp_path, figures):
    paths = [write(tmp_path / str(i), *[example(a=("int64", [i]))] * 5) for i in range(3)]
    made = figures("-n", 7, *paths)
    assert made["records"] == 7 and made["features"]["a"]["values"] == 7 and made["limited"]


def test_columns_are_chosen_and_an_unknown_one_is_told(some, run, figures):
    assert list(figures("--columns", "n,x", some)["features"]) == ["n", "x"]
    status, _, err = run("--columns", "n,nosuch", some)
    assert status == 2 and "no record has a feature 'nosuch'" in err


@pytest.mark.parametrize("compression", ["GZIP", "ZSTD"])
def test_compressed_files_have_the_same_figures(tmp_path, some, figures, compression):
    path = tmp_path / "a"
    with tf.TFRecordWriter(path, compression) as writer:
        writer.write_batch(list(tf.data.TFRecordDataset(some)))
    made, plain = figures(path), figures(some)
    assert made["features"] == plain["features"] and made["shards"][0]["compression"] == compression


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_figures_do_not_depend_on_the_number_of_threads(tmp_path, figures, monkeypatch, threads):
    rng = np.random.default_rng(2)
    paths = [
        write(tmp_path / str(i), *[example(a=("int64", [int(v)]), b=("bytes", [b"%d" % v])) for v in part])
        for i, part in enumerate(np.array_split(rng.zipf(1.3, 9000) % 100_000, 4))
    ]
    monkeypatch.setattr(collecting, "_UNIT_RECORDS", 500)
    monkeypatch.setattr(collecting, "_FIRST_RECORDS", 300)
    expected = figures(*paths)
    monkeypatch.setattr(collecting, "default_threads", lambda: threads)
    assert figures(*paths) == expected


@pytest.mark.parametrize("others", [0, (1 << 20) - 400])  # with them, hashes are not listed, but in a table
def test_duplicates_are_those_of_a_dictionary(tmp_path, figures, monkeypatch, others):
    rng = np.random.default_rng(3)
    texts = [rng.bytes(size) for size in rng.integers(0, 400, 300)]
    parts = [[texts[i] for i in rng.integers(0, len(texts), n)] for n in (400, 0, 1, 900)]
    parts.insert(2, [*(b"other %d" % i for i in range(others)), *texts[:3]])
    paths = [write(tmp_path / str(i), *part) for i, part in enumerate(parts)]
    if not others:
        monkeypatch.setattr(collecting, "_UNIT_RECORDS", 70)
    made = figures(*paths)["duplicates"]
    counts, first, pairs = collections.Counter(), {}, []
    for path, part in zip(paths, parts, strict=True):
        for record, text in enumerate(part):
            place = {"path": path, "record": record}
            if text in first:
                pairs.append([first[text], place])
            first.setdefault(text, place)
            counts[text] += 1
    assert made["exact"] and made["distinct"] == len(counts) and made["most"] == max(counts.values())
    assert made["copies"] == sum(counts.values()) - len(counts)
    assert made["repeated"] == sum(count > 1 for count in counts.values())
    if others:  # of all pairs, those within a file come first
        assert len(made["first"]) == 20
        text_at = {(path, i): text for path, part in zip(paths, parts, strict=True) for i, text in enumerate(part)}
        assert all(len({text_at[one["path"], one["record"]] for one in pair}) == 1 for pair in made["first"])
    else:
        assert made["first"] == pairs[:20]


@pytest.mark.parametrize("size", [9_000, 40_000, 300_000])
def test_ranks_of_quantiles_are_off_by_less_than_one_percent(tmp_path, figures, size):
    rng = np.random.default_rng(4)
    columns = {f"f{i}": rng.normal(size=size).astype(np.float32) for i in range(6)}
    columns |= {f"i{i}": rng.integers(-(10**9), 10**9, size) for i in range(6)}
    columns |= {f"j{i}": rng.integers(0, 1 << 24, size) for i in range(2)}  # which three bytes tell apart
    batch = tf.encode_examples(columns)
    paths = [write(tmp_path / str(i), *batch[i * size // 3 : (i + 1) * size // 3]) for i in range(3)]
    made = figures(*paths)["features"]
    for name, values in columns.items():
        kind = "float" if name.startswith("f") else "int64"
        assert not made[name]["exact"]
        for part, value in made[name][kind]["quantiles"].items():
            assert abs(np.mean(values <= value) - float(part)) < 0.01, (name, part)


def test_values_that_come_late_or_rarely_are_all_taken(tmp_path, figures):
    rng = np.random.default_rng(6)
    values = rng.integers(0, 10**6, 5000)
    often = write(tmp_path / "often", *tf.encode_examples({"x": rng.integers(0, 3, 150_000)}))
    late = write(tmp_path / "late", *tf.encode_examples({"y": values}))
    x = tf.encode_examples({"x": np.ones(145_000, np.int64)})
    both = tf.encode_examples({"x": np.ones(5000, np.int64), "y": values})
    rare = write(tmp_path / "rare", *itertools.chain(*([both[i], *x[29 * i : 29 * i + 29]] for i in range(5000))))
    for paths in ((often, late), (rare,)):
        made = figures(*paths)["features"]["y"]
        for part, value in made["int64"]["quantiles"].items():
            assert abs(np.mean(values <= value) - float(part)) < 0.003


@pytest.mark.parametrize("phase", [0, 1])
def test_frequent_strings_are_found_wherever_they_stand(tmp_path, figures, phase):
    texts = [b"same" if i % 2 == phase else b"u%d" % i for i in range(200_000)]
    top = figures(write(tmp_path / "a", *tf.encode_examples({"a": texts})))["features"]["a"]["top"]
    assert len(top) == 1 and top[0]["value"] == "same" and 99_000 < top[0]["count"] <= 100_000


@pytest.mark.parametrize("values", [[0.5, 1.5, 2.0, 2.0], [-np.inf, 0.25, 3.0, np.inf, np.nan], list(range(900))])
def test_bars_have_numpys_counts(tmp_path, figures, values):
    columns = {"a": np.array(values, np.float32)}
    made = figures(write(tmp_path / "a", *tf.encode_examples(columns, nan="value")))["features"]["a"]["float"]
    finite = columns["a"][np.isfinite(columns["a"])]
    assert made["histogram"]["counts"] == np.histogram(finite, made["histogram"]["edges"])[0].tolist()
    assert sum(made["histogram"]["counts"]) == len(finite)


def test_strings_that_hold_the_constants_of_the_hash_differ(tmp_path, figures):
    secret = (0xE7037ED1A0B428DB).to_bytes(8, "little")
    made = figures(write(tmp_path / "a", *(bytes([i]) * 16 + secret + b"12345678" for i in range(5))))
    assert made["duplicates"]["distinct"] == 5


def test_quantiles_beside_infinities_are_infinite(tmp_path, figures):
    values = np.array([-np.inf, 1, 2, np.inf], np.float32)
    made = figures(write(tmp_path / "a", *tf.encode_examples({"a": values})))["features"]["a"]["float"]["quantiles"]
    assert (made["0.25"], made["0.5"], made["0.75"]) == ({"f": "-Infinity"}, 1.5, {"f": "Infinity"})


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_without_threads_all_is_counted_here(tmp_path, figures, monkeypatch, threads):
    paths = [write(tmp_path / str(i), *[example(a=("int64", [k])) for k in range(900)]) for i in range(3)]
    monkeypatch.setattr(collecting, "default_threads", lambda: 2)
    monkeypatch.setattr(collecting, "_FIRST_RECORDS", 100)
    monkeypatch.setattr(collecting, "_UNIT_RECORDS", 100)
    expected, left, start = figures(*paths), itertools.repeat(True, threads), threading.Thread.start

    def refuse(thread):
        if not next(left, False):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert figures(*paths) == expected


def test_calls_that_are_dropped_end_the_wait_for_them():
    one = workers.Workers(1, "one")
    begun, go_on = threading.Event(), threading.Event()
    first = one.submit(lambda: (begun.set(), go_on.wait(60)))
    second = one.submit(list)
    assert begun.wait(60)
    one.stop()
    with pytest.raises(CancelledError):
        second.result()
    go_on.set()
    assert first.result() == (None, True)


def test_damage_is_told_and_what_precedes_it_is_counted(tmp_path, run):
    path = tmp_path / "a"
    write(path, *[example(a=("int64", [i])) for i in range(10)])
    data = bytearray(path.read_bytes())
    data[-6] ^= 1
    path.write_bytes(data)
    status, out, err = run("--json", path)
    made = json.loads(out)
    assert status == 1 and "record 9" in err and str(path) in err
    assert made["records"] == 9 and made["features"]["a"]["int64"]["max"] == 8
    assert made["shards"][0]["error"]["record_index"] == 9


def test_what_is_no_tfrecord_file_is_named(tmp_path, run):
    path = tmp_path / "a"
    path.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
    status, _, err = run(path)
    assert status == 2 and "git lfs pull" in err
    status, _, err = run(tmp_path / "missing")
    assert status == 2 and "missing" in err


def test_records_that_are_no_examples_have_sizes_and_kinds(tmp_path, run, figures):
    path = write(tmp_path / "a", b"some words", b"more words here", b"some words")
    made = figures(path)
    assert made["kinds"] == {"text": 3} and made["features"] == {} and made["duplicates"]["copies"] == 1
    assert (made["record_bytes"]["min"], made["record_bytes"]["max"]) == (10, 15)
    assert "text 3" in run(path)[1]


def test_a_record_of_another_kind_among_examples_is_told(tmp_path, run):
    status, out, err = run("--json", write(tmp_path / "a", example(a=("int64", [1])), b"some words"))
    assert status == 1 and "1 of 2 records are not Examples (they look like text): the first is record 1 of" in err
    assert json.loads(out)["kinds"] == {"Example": 1, "text": 1}


def test_the_first_of_many_records_of_another_kind_is_told(tmp_path, run, monkeypatch):
    monkeypatch.setattr(collecting, "_FIRST_RECORDS", 3)
    monkeypatch.setattr(collecting, "_UNIT_RECORDS", 2)
    path = write(tmp_path / "a", *[example(a=("int64", [1])), b"some words"] * 10)
    assert "10 of 20 records are not Examples (they look like text): the first is record 1 of" in run(path)[2]


def test_a_key_of_two_kinds_is_told(tmp_path, run):
    status, _, err = run(write(tmp_path / "a", example(a=("int64", [1])), example(a=("float", [1.0]))))
    assert status == 1 and "conflicting kinds: feature 'a' has int64 1 times, float 1 times" in err


def test_an_empty_file_has_no_records(tmp_path, figures):
    (tmp_path / "a").write_bytes(b"")
    made = figures(tmp_path / "a")
    assert (made["records"], made["kinds"], made["features"]) == (0, {}, {})


@pytest.mark.parametrize(
    ("one", "two", "measure", "distance"),
    [
        ([0] * 5 + [1] * 5, [0] * 2 + [1] * 8, "L-infinity", 0.3),
        ([0] * 5, [1] * 5, "L-infinity", 1.0),
        (range(1000, 1200), range(1050, 1250), "KS", 0.25),
    ],
)
def test_drift_of_numbers(tmp_path, figures, one, two, measure, distance):
    first = write(tmp_path / "1", *[example(a=("int64", [v])) for v in one])
    second = write(tmp_path / "2", *[example(a=("int64", [v])) for v in two])
    (drift,) = figures(first, "--against", second)["drift"]
    assert (drift["measure"], drift["exact"]) == (measure, True) and drift["distance"] == pytest.approx(distance)


def test_drift_of_a_set_against_itself_is_none(some, run, figures):
    made = figures(some, "--against", some)
    assert all(drift["distance"] == drift["missing"] == 0 for drift in made["drift"])
    assert made["against"]["features"] == made["features"]


def test_ks_is_scipys(tmp_path, figures):
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(3)
    one, two = rng.normal(0, 1, 400).astype(np.float32), rng.normal(0.3, 2, 300).astype(np.float32)
    paths = [
        write(tmp_path / str(i), *[example(a=("float", [float(v)])) for v in part]) for i, part in enumerate((one, two))
    ]
    (drift,) = figures(paths[0], "--against", paths[1])["drift"]
    assert drift["distance"] == pytest.approx(stats.ks_2samp(one, two).statistic)


def test_drift_tells_features_that_only_one_set_has(tmp_path, run, figures):
    one = write(tmp_path / "1", *[example(a=("int64", [1]), b=("bytes", [b"x"]))] * 4)
    two = write(tmp_path / "2", *[example(a=("int64", [1])), example(), example(c=("int64", [1])), example()])
    drift = {one["feature"]: one for one in figures(one, "--against", two)["drift"]}
    assert (drift["b"]["only_in"], drift["c"]["only_in"], drift["a"]["missing"]) == ("first", "second", 0.75)
    assert "only in the first set" in run(one, "--against", two)[1]


@pytest.mark.parametrize("row", manifest(), ids=lambda row: row["file"])
def test_real_files_have_the_counts_and_the_status_of_info(row, capfd, run):
    path = REAL_FILES / row["file"]
    status = app.run(["info", "--json", str(path)])
    info = json.loads(capfd.readouterr().out)
    mine, out, _ = run("--json", path)
    made = json.loads(out)
    assert mine == status and made["records"] == info["records"]
    (shard,) = made["shards"]
    assert (shard["payload_bytes"], shard["error"]) == (info["payload_bytes"], info["error"])
    assert info["records"] == 0 or set(info["kinds"]) <= set(made["kinds"])
    if "Example" in row["kind"]:
        assert made["kinds"] == {row["kind"]: info["records"]}
        assert len(made["features"]) + len(made["feature_lists"]) >= int(row["n_features"] or 0)
