"""`tfrecord-fast stats` in words: whole tables, figures as text, drift, captions of sample images."""

import functools
import io
import json
import math
import threading
import types

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.command import run_here
from tfrecord_fast import _core
from tfrecord_fast.cli import app
from tfrecord_fast.cli.commands.stats import collecting, samples, table
from tfrecord_fast.cli.commands.stats.drift import drifts, ks_distance
from tfrecord_fast.cli.commands.stats.figures import Frequent, Numbers
from tfrecord_fast.cli.commands.stats.texts import about, bytes_of, number, percent, shown_bytes, value_of
from tfrecord_fast.cli.console import Style
from tfrecord_fast.examples.messages.wire import Value

feature = wire.feature
NAN, INF = math.nan, math.inf


def write(path, *records):
    with tf.TFRecordWriter(path) as writer:
        writer.write_batch(list(records))
    return str(path)


def example(**features):
    return wire.example([(name.encode(), feature(*value)) for name, value in features.items()])


@pytest.fixture
def run(capfd):
    return functools.partial(run_here, capfd, "stats")


@pytest.fixture
def mixed(tmp_path):
    records = [
        example(
            n=(None, []),
            nan=("float", [NAN]),
            x=("float", [float(i), INF, -INF]),
            e=("int64", []),
            big=("int64", [i * 1000]),
            **{"w" * 41: ("bytes", [b"abc"] * (i + 1)), "v" * 40: ("bytes", [b"\xff\x00"])},
        )
        for i in range(3)
    ]
    return write(tmp_path / "mixed", *records, example(big=("int64", [0])))


HEAD = "FEATURE KIND PRESENT VALUES DISTINCT ZEROS MIN MEDIAN MEAN STD MAX TOP"


def test_a_table_has_a_row_for_each_feature_whatever_it_holds(mixed, run):
    status, out, err = run(mixed)
    lines = out.splitlines()
    assert (status, err) == (0, "")
    assert lines[0].startswith("1 file, 4 records, ") and lines[1] == "kinds: Example 4"
    assert lines[3:5] == ["duplicates: none", ""]
    assert [" ".join(line.split()) for line in lines[5:]] == [
        HEAD,
        "big int64 100 % 1 3 50 % 0 500 750 829.2 2,000 █ ▅ ▅ 0 50 %, 1,000 25 %",
        "e int64 75 % 0",
        "n none 0 % -",
        "nan float 75 % 1 0 0 % - - - - - 3 NaN",
        f"{'v' * 40} bytes 75 % 1 1 0 % 2 B 2 B 2 B 0 2 B █ ff 00 (2 bytes) 100 %",
        f'{"w" * 39}… bytes 75 % 1–3 1 0 % 3 B 3 B 3 B 0 3 B █ "abc" 100 %',
        "x float 75 % 3 5 11 % -∞ 1 1 0.8165 ∞ █ █ █ -∞ 33 %, ∞ 33 %, 6 infinite",
    ]
    widths = {line.index("  int64") for line in lines[6:8]} | {lines[5].index("  KIND")}
    assert widths == {40}  # all columns are aligned


def test_lists_have_a_table_of_their_own(tmp_path, run):
    records = [
        wire.sequence_example(
            [(b"id", feature("int64", [i]))],
            [
                (b"s", [feature("int64", [1] * (j + 1)) for j in range(i + 1)]),
                (b"u", [feature("float", [0.5])] * 2),
                (b"z", []),
            ],
        )
        for i in range(3)
    ]
    status, out, _ = run(write(tmp_path / "a", *records))
    assert status == 0 and [" ".join(line.split()) for line in out.splitlines()[4:]] == [
        "",
        HEAD,
        "id int64 100 % 1 3 33 % 0 1 1 0.8165 2 ███ 0 33 %, 1 33 %",
        "",
        "feature lists (values per step)",
        HEAD,
        "s int64 100 % 1–3 × 1–3 1 0 % 1 1 1 0 1 █ 1 100 %",
        "u float 100 % 2 × 1 1 0 % 0.5 0.5 0.5 0 0.5 █ 0.5 100 %",
        "z none 100 % -",
    ]


def test_of_many_features_the_first_are_printed(mixed, run, monkeypatch):
    monkeypatch.setattr(table, "_MOST_ROWS", 5)
    assert run(mixed)[1].splitlines()[-1] == "… 2 more features (--json has them all)"
    monkeypatch.setattr(table, "_MOST_ROWS", 7)
    assert "more features" not in run(mixed)[1]


def test_a_terminal_has_colours_for_what_is_missing(mixed, monkeypatch, run):
    monkeypatch.setattr(table.Style, "__call__", lambda self, role, text: f"<{role}:{text}>")
    lines = run(mixed)[1].splitlines()
    row = next(line for line in lines if line.startswith("<name:big"))
    assert "<kind:int64>" in row and "<text:0 50 %, 1,000 25 %   " in row and "<bad:" not in row
    assert "<bad:   75 %>" in next(line for line in lines if line.startswith("<name:nan"))
    assert lines[0].startswith("<head:1 file, 4 records, ")


def test_duplicates_and_uneven_files_are_told(tmp_path, run):
    none = write(tmp_path / "none")
    four = write(tmp_path / "four", b"\xff", b"\xff", b"\xff", b"a")
    lines = run(none, four)[1].splitlines()
    assert lines == [
        "2 files, 4 records, 4 B",
        "kinds: opaque bytes 3, text 1",
        "record sizes: 1 B – 1 B, mean 1 B",
        f"duplicates: 2 records are copies (50 %), the most frequent record occurs 3 times; record 1 of {four}"
        f" is a copy of record 0 of {four}",
        f"records per file: 0 ({none}) – 4 ({four}, 2 times the mean)",
    ]
    one = write(tmp_path / "one", b"a")
    lines = run(one, one)[1].splitlines()
    assert lines[3] == (
        f"duplicates: 1 record is a copy (50 %), the most frequent record occurs 2 times; record 0 of "
        f"{one} is a copy of record 0 of {one}"
    )
    assert lines[4] == f"records per file: 1 ({one}) – 1 ({one})"
    assert run(none)[1].splitlines() == ["1 file, 0 records, 0 B", "kinds: no records"]
    assert run(four, "-n", 2)[1].startswith("1 file, 2 records (stopped at --limit), 2 B\n")


@pytest.mark.parametrize(
    ("one", "two", "line", "score"),
    [
        (("int64", [1]), ("float", [1.0]), "different kinds", 1.0),
        (("int64", []), ("int64", []), "- L-infinity", 0.0),
        (("bytes", []), ("bytes", []), "- L-infinity", 0.0),
        (("int64", [1]), ("int64", []), "- KS", 0.0),
        (("bytes", [b"a"]), ("bytes", [b"b"]), "1.000 L-infinity", 1.0),
        (("float", [NAN]), ("float", [1.0]), "0.000 KS", 0.0),
        (("float", [2.0]), ("float", [1.0]), "1.000 KS", 1.0),
    ],
)
def test_drift_of_values_of_all_kinds(tmp_path, run, one, two, line, score):
    first, second = write(tmp_path / "1", example(a=one)), write(tmp_path / "2", example(a=two))
    status, out, err = run(first, "--against", second)
    assert (status, err) == (0, "")
    assert out.splitlines()[-1].split(None, 1) == ["a", line]
    page = tmp_path / "page.html"
    assert run(first, "--against", second, "--html", page)[0] == 0
    assert f'<td class="n" data-v="{score:.6f}">' in page.read_text()
    said = {"different kinds": "different kinds", "-": "no values"}.get(line.rpartition(" L")[0] or line)
    assert said is None or said in page.read_text()


def test_drift_of_many_different_texts_is_that_of_their_sizes(tmp_path, run):
    """And of what is missing."""
    records = [example(t=("bytes", [b"%d" % i])) for i in range(10_000)]
    longer = [example(t=("bytes", [b"%05d" % i])) for i in range(10_000)] + [example(b=("int64", [1]))] * 10_000
    status, out, _ = run(write(tmp_path / "1", *records), "--against", write(tmp_path / "2", *longer))
    assert status == 0
    assert [line.split() for line in out.splitlines()[-2:]] == [
        ["b", "only", "in", "the", "second", "set"],
        ["t", "≈", "1.000", "KS", "of", "sizes", "missing", "differs", "by", "0.500"],
    ]
    assert "≈ marks estimates: for features with more than a thousand distinct values" in out


def test_sets_without_features_do_not_differ():
    assert drifts([], []) == {} and list(table.drift_lines([], Style(False)))[1:] == []


def test_ks_of_nothing_is_none(tmp_path):
    class Empty:
        points = np.empty(0)

    class One:
        points = np.ones(1)

    assert ks_distance(Empty, One) == ks_distance(One, Empty) == 0.0


# ---- Figures ----


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [
        (0, 0, "0 %"), (1, 0, "0 %"), (0, 5, "0 %"), (1, 1001, "< 0.1 %"), (1, 1000, "0.1 %"), (99, 1000, "9.9 %"),
        (1, 10, "10 %"), (1, 3, "33 %"), (99, 100, "99 %"), (991, 1000, "99.1 %"), (996, 1000, "99.6 %"),
        (999, 1000, "99.9 %"), (9999, 10000, "> 99.9 %"), (7, 7, "100 %"),
    ],
)  # fmt: skip
def test_parts_in_percent(part, whole, text):
    """Only all of it is 100 %, and only nothing 0 %."""
    assert percent(part, whole) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (None, "-"), (0, "0 B"), (999, "999 B"), (999.5, "1 kB"), (1234, "1.23 kB"), (99_499, "99.5 kB"),
        (99_500, "100 kB"), (999_499, "999 kB"), (999_500, "1 MB"), (5e9, "5 GB"), (2.5e12, "2.5 TB"),
        (1e15, "1 PB"), (5e18, "5000 PB"),
    ],
)  # fmt: skip
def test_sizes(size, text):
    assert bytes_of(size) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"), (1234, "1,234"), (-5, "-5"), (INF, "∞"), (-INF, "-∞"), (NAN, "NaN"),
        (1000.0, "1,000"), (1000.6, "1,001"), (-12345.6, "-12,346"), (1e12, "1.000e+12"), (-2.5e13, "-2.500e+13"),
        (0.00012344, "0.0001234"), (0.000099999, "0.0001"), (0.00001234, "1.23e-05"), (0.0, "0"), (0.5, "0.5"),
    ],
)  # fmt: skip
def test_numbers(value, text):
    assert number(value) == text


def test_numbers_with_more_digits():
    assert [number(one, 6) for one in (1234.5, 123456.7, 2000.0, 0.1234567)] == [
        "1234.5",
        "123,457",
        "2,000",
        "0.123457",
    ]


@pytest.mark.parametrize(
    ("value", "exact", "most", "text"),
    [
        (12345.0, True, 12345, "12,345"), (99.4, False, 500, "99"), (100.0, False, 500, "≈ 100"),
        (1234.5, False, 5000, "≈ 1,230"), (123_456.0, False, 10**6, "≈ 123,000"), (30_047.1, False, 30_010, "≈ 30,000"),
        (30_060.0, False, 30_050, "≈ 30,050"),
    ],
)  # fmt: skip
def test_estimates(value, exact, most, text):
    assert about(value, exact, most) == text


@pytest.mark.parametrize(
    ("start", "size", "text"),
    [
        (b"train", None, '"train"'),
        (b"train", 9, '"train"… (9 bytes)'),
        (b"", None, '""'),
        (b'a"\n\x1b\xe2\x80\x8b', None, r'"a\"\n\u001b\u200b"'),
        (b"\xff\x00", None, "ff 00 (2 bytes)"),
        (b"\xff" * 12, None, " ".join(["ff"] * 12) + " (12 bytes)"),
        (b"\xff" * 13, None, " ".join(["ff"] * 12) + "… (13 bytes)"),
        (b"\xff\x00", 3, "ff 00… (3 bytes)"),
        ("zwölf".encode()[:3], 6, '"zw"… (6 bytes)'),  # in the middle of a letter
        ("zwölf".encode()[:3], 3, "7a 77 c3 (3 bytes)"),  # which isn't cut
        ("a€".encode()[:2], 9, '"a"… (9 bytes)'),
        ("a€".encode()[:3], 9, '"a"… (9 bytes)'),
        ("a😀".encode()[:4], 9, '"a"… (9 bytes)'),
        ("😀".encode()[:3], 9, "f0 9f 98… (9 bytes)"),
        (b"\xc3bcdef", 9, "c3 62 63 64 65 66… (9 bytes)"),
        (b"ab\xffd", 9, "61 62 ff 64… (9 bytes)"),
        (b"GIF89a" + bytes([3, 0, 2, 0]), 1234, "GIF image 3×2, 1.23 kB"),
        (b"GIF89a" + bytes([3, 0, 2, 0]), None, "GIF image 3×2, 10 B"),
        (b"x" * 40, None, '"' + "x" * 40 + '"'),
        (b"x" * 41, None, '"' + "x" * 40 + '"… (41 bytes)'),
    ],
)
def test_bytes_in_a_few_words(start, size, text):
    assert shown_bytes(start, size) == text


def test_frequent_values_in_words():
    assert value_of(Frequent(b"abcdef", 3, 6), 4) == '"abcd"… (6 bytes)' and value_of(Frequent(b"ab", 3, 5)) == (
        '"ab"… (5 bytes)'
    )
    assert value_of(Frequent(0.1234567, 2)) == "0.123457"


# ---- Captions of sample images ----


@pytest.mark.parametrize(
    ("features", "caption"),
    [
        ({}, ""),
        ({"label": Value("int64", [3])}, "label 3"),
        ({"image/class/label": Value("int64", [3]), "id": Value("int64", [1])}, "label 3"),
        ({"id": Value("int64", [1])}, ""),
        ({"label": Value("int64", [3]), "image/class/text": Value("bytes", [b"cat"])}, "cat"),
        ({"text": Value("bytes", [b"\xff"]), "label": Value("int64", [3])}, "label 3"),
        ({"text": Value("bytes", [b""]), "label": Value("int64", [3])}, "label 3"),
        ({"text": Value("bytes", [b"a\nb"]), "label": Value("int64", [3])}, "label 3"),
        ({"text": Value("bytes", [b"x" * 60]), "label": Value("int64", [3])}, "x" * 60),
        ({"text": Value("bytes", [b"x" * 61]), "label": Value("int64", [3])}, "label 3"),
        ({"text": Value("bytes", [b"a", b"b"]), "class": Value("int64", [4])}, "class 4"),
        ({"label": Value("float", [0.5]), "Classes": Value("int64", [4])}, "Classes 4"),
        ({"label_long": Value("int64", [1]), "label": Value("int64", [2])}, "label 2"),
        ({"labelb": Value("int64", [1]), "labela": Value("int64", [2])}, "labela 2"),
        ({"label": 5, "class": Value("int64", [4])}, "class 4"),
    ],
)
def test_a_caption_is_something_like_a_label(features, caption):
    assert samples._caption(features) == caption


def picture(colour, mode="RGB", form="PNG", **options):
    pillow = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    pillow.new(mode, (30, 20), colour).save(out, form, **options)
    return out.getvalue()


def images_of(record):
    return list(samples._images(record))


def test_images_are_found_in_records_lists_and_alone():
    png, gif = picture("red"), picture("blue", form="GIF")
    assert images_of(png) == [("image", png, "")]
    features = {b"label": ("int64", [7]), b"i": ("bytes", [png, gif, png]), b"t": ("bytes", [b"no"])}
    entries = [(key, feature(*value)) for key, value in features.items()]
    assert images_of(wire.example(entries)) == [("i", png, "label 7"), ("i", gif, "label 7")]
    steps = [feature("bytes", [gif, png]), feature("bytes", [png]), feature("bytes", [png])]
    lists = [(b"none", [feature("bytes", [])]), (b"numbers", [feature("int64", [1])]), (b"video", steps)]
    record = wire.sequence_example([(b"label", feature("int64", [7]))], lists)
    assert images_of(record) == [("video", gif, "label 7"), ("video", png, "label 7")]
    assert images_of(b"words") == []


def test_transparent_images_are_on_white(tmp_path):
    import base64
    import re

    pillow = pytest.importorskip("PIL.Image")
    clear, half = picture((255, 0, 0, 0), "RGBA"), picture((0, 0, 0, 128), "RGBA")
    palette = picture(0, "P", transparency=0)
    records = [example(i=("bytes", [one])) for one in (clear, half, palette, picture((255, 0, 0)))]
    assert app.run(["stats", write(tmp_path / "a", *records), "--html", str(tmp_path / "page")]) == 0
    wall = (tmp_path / "page").read_text().partition('<ul class="wall">')[2].partition("</ul>")[0]
    shown = [base64.b64decode(one) for one in re.findall(r"data:image/jpeg;base64,([^\"]*)", wall)]
    colours = [pillow.open(io.BytesIO(one)).convert("RGB").getpixel((5, 5)) for one in shown]
    expected = [(255, 255, 255), (127, 127, 127), (255, 255, 255), (254, 0, 0)]
    assert np.abs(np.subtract(colours, expected)).max() <= 2


def test_chips_say_what_is_odd_of_a_feature(tmp_path, capfd):
    unset = wire.example([(b"a", feature(None, [])), (b"two", feature("int64", [1]))])
    records = [unset, unset, example(a=("float", [NAN, INF]), two=("float", [1.0])), example(a=("float", [1.0]))]
    assert app.run(["stats", write(tmp_path / "a", *records), "--html", str(tmp_path / "page")]) == 1
    said = "tfrecord-fast: conflicting kinds: feature 'two' has int64 2 times, float 1 times\n"
    assert capfd.readouterr().err == said
    page = (tmp_path / "page").read_text()
    for chip in ("2 without a kind", "conflicting kinds", "25 % missing", "1 NaN", "1 infinite", "50 % missing"):
        assert f">{chip}</span>" in page


def test_quantiles_of_a_sketch_end_at_the_smallest_and_largest_value(tmp_path, run):
    values = np.random.default_rng(1).normal(size=30_000).astype(np.float32)
    path = write(tmp_path / "a", *tf.encode_examples({"x": values}).tolist())
    made = json.loads(run(path, "--json")[1])["features"]["x"]["float"]
    assert made["min"] == values.min() and made["max"] == values.max()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["-n", "x"], "argument -n/--limit: expected a number of records, got 'x'"),
        (["--columns", ","], "argument --columns: expected feature names, as label,age"),
    ],
)
def test_arguments_that_say_nothing_are_usage(argv, said, capsys):
    with pytest.raises(SystemExit) as end:
        app.run(["stats", "a", *argv])
    assert end.value.code == 2 and capsys.readouterr().err.endswith(f"error: {said}\n")


def page_of(tmp_path, *records):
    path = write(tmp_path / "a", *records)
    assert app.run(["stats", path, "--html", str(tmp_path / "page")]) in (0, 1)
    return (tmp_path / "page").read_text(), path


def test_the_wall_says_what_its_images_are(tmp_path):
    labelled = [example(i=("bytes", [picture("red")]), label=("int64", [3]))]
    page, path = page_of(tmp_path, *labelled, picture("red", form="JPEG"))
    wall = page.partition('<ul class="wall">')[2].partition("</ul>")[0]
    assert f'alt="i of record 0 of {path}: label 3" width="112" height="112">' in wall
    assert f'alt="image of record 1 of {path}: JPEG 30×20"' in wall
    assert "<figcaption>label 3<br>PNG 30×20</figcaption>" in wall
    assert "<figcaption>JPEG 30×20</figcaption>" in wall


def test_sample_records_are_told_in_short(tmp_path, monkeypatch):
    steps = [(b"four", [feature("int64", [i]) for i in range(4)]), (b"five", [feature("int64", [i]) for i in range(5)])]
    records = [wire.sequence_example([(b"c", feature("bytes", [b"<b>"]))], steps), b"some\nwords"]
    page, path = page_of(tmp_path, *records)
    size = len(records[0])
    assert f"<details open><summary>Record 0 of {path}: SequenceExample, {size} B</summary>" in page
    assert f"<details><summary>Record 1 of {path}: text, 10 B</summary><pre>[1] text, 10 bytes: &quot;some" in page
    assert '<th scope="row">four</th><td>int64</td><td>0, 1, 2, 3</td>' in page
    assert '<th scope="row">five</th><td>int64</td><td>0, 1, 2, 3, … 1 more steps</td>' in page
    assert '<th scope="row">c</th><td>bytes</td><td>&quot;&lt;b&gt;&quot;</td>' in page
    monkeypatch.setattr(samples, "_MOST_FEATURES", 2)
    page, _ = page_of(tmp_path, *records)
    assert page.count(
        "<p class=soft>… 1 more features</p>"
    ) == 1 and '<th scope="row">five</th><td>int64</td><td>0' not in (page)
    monkeypatch.setattr(samples, "_MOST_FEATURES", 3)
    assert "more features</p>" not in page_of(tmp_path, *records)[0]


def test_a_few_records_are_drawn_from_all(tmp_path):
    page, _ = page_of(tmp_path, *(example(n=("int64", [i])) for i in range(100)))
    assert page.count("<summary>Record ") == 8 and page.count("<details open>") == 1


def test_quantiles_of_a_sample_end_where_all_values_do():
    """Of other parts, as NumPy has them."""
    points, weights = np.array([2.0, 3.0, 5.0]), np.array([1, 2, 1])
    for exact in (True, False):
        core = types.SimpleNamespace(exact=exact, minimum=1.0, maximum=9.0, points=points)
        numbers = Numbers(core, False, points, weights)
        ends = [2.0, 5.0] if exact else [1.0, 9.0]
        assert numbers.quantiles([0.0, 1.0]) == ends
        parts = [0.1, 0.25, 0.5, 0.75, 0.9]
        assert numbers.quantiles(parts) == pytest.approx(np.quantile([2, 3, 3, 5], parts).tolist())


def test_keys_that_are_too_long_are_left_out(tmp_path, run):
    path = write(tmp_path / "a", example(a=("int64", [1]), **{"k" * 1025: ("int64", [1, 2])}))
    most = _core.MOST_FEATURES
    assert run(path)[1].splitlines()[-1] == (
        f"LEFT OUT: 1 values under keys after the first {most:,}, or under keys of more than 1,024 bytes"
    )


def test_counting_ends_when_it_is_stopped():
    stop = threading.Event()
    batches = [_core.record_batch([b"a", b"bcd"]), _core.record_batch([b""])]
    shard, run = collecting.Totals("path"), types.SimpleNamespace(stop=stop)
    counted = collecting._counted(iter(batches), shard, None, run)
    assert next(counted)[1].tolist() == [1, 3] and (shard.records, shard.payload_bytes) == (2, 4)
    stop.set()
    with pytest.raises(collecting._Stopped):
        next(counted)
