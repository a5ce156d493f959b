"""`tfrecord-fast cat`: records decoded, for people and as JSON; which ones are printed."""

import base64
import functools
import io
import json
import os
import pty
import struct
import subprocess

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.command import COMMAND, run_here
from tests.support.paths import REAL_FILES
from tests.support.real_files import manifest
from tfrecord_fast.cli.commands import cat
from tfrecord_fast.images.headers import image_of


@pytest.fixture
def run(capsysbinary):
    return functools.partial(run_here, capsysbinary, "cat")


def write(path, *records, compression=""):
    with tf.io.TFRecordWriter(path, compression) as writer:
        writer.write_batch(list(records))
    return path


def example(**features):
    return wire.example([(name.encode(), wire.feature(*value)) for name, value in features.items()])


PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">II", 28, 14) + b"\x08\0\0\0\0"


def test_an_example_is_a_line_per_feature(tmp_path, run):
    record = wire.example(
        [
            (b"label", wire.feature("int64", [3])),
            (b"x", wire.feature("float", [0.1, float("nan")])),
            (b"image", wire.feature("bytes", [PNG])),
            (b"name", wire.feature("bytes", ["zwölf\n\x1b[31m\u200b".encode()])),
            (b"raw", wire.feature("bytes", [b"\xff\x00"])),
            (b"none", b""),
            (b"nothing", wire.feature("int64", [])),
        ]
    )
    status, out, err = run(write(tmp_path / "a", record))
    assert (status, err) == (0, "")
    assert out.splitlines() == [
        f"[0] Example, {len(record)} bytes",
        "  label    int64  3",
        "  x        float  [0.1, nan]",
        f"  image    bytes  PNG image 28×14, {len(PNG)} bytes",
        '  name     bytes  "zwölf\\n\\u001b[31m\\u200b"',
        "  raw      bytes  2 bytes: ff 00",
        "  none     none   []",
        "  nothing  int64  []",
    ]


def test_what_is_long_is_cut_unless_asked_for(tmp_path, run):
    record = example(v=("int64", range(1000)), s=("bytes", [b"x" * 500]), b=("bytes", [b"\xff" * 100]))
    path = write(tmp_path / "a", record)
    _, out, _ = run(path)
    assert "7, … 992 more]" in out and "… 420 more characters" in out and "100 bytes: ff ff" in out
    assert max(map(len, out.splitlines())) < 140
    _, full, _ = run(path, "--full")
    assert str(list(range(1000))) in full and "x" * 500 in full and " ".join(["ff"] * 100) in full and "…" not in full


def test_a_sequence_example_has_context_and_steps(tmp_path, run):
    record = wire.sequence_example(
        [(b"id", wire.feature("int64", [7]))],
        [(b"s", [wire.feature("float", [1.0, 2.0]), b"", wire.feature("float", [3.0])])],
    )
    assert run(write(tmp_path / "a", record))[1].splitlines()[1:] == [
        "  context",
        "    id  int64  7",
        "  feature_lists",
        "    s  float  3 steps: [1.0, 2.0], [], [3.0]",
    ]


def test_an_event_a_tensor_and_a_message(tmp_path, run):
    summary = wire.field(1, wire.field(1, b"loss") + wire.varint(2 << 3 | 5) + struct.pack("<f", 0.1))
    event = b"\x09" + struct.pack("<d", 1.5) + b"\x10\x07" + wire.field(5, summary)
    tensor = b"\x08\x03" + wire.field(2, wire.field(2, b"\x08\x02")) + wire.field(4, struct.pack("<2i", 5, -6))
    packed = b"\x08\x09" + wire.field(2, wire.field(2, b"\x08\x02")) + wire.field(10, b"\x05" + b"\xff" * 9 + b"\x01")
    message = b"\x20\x05" + wire.field(9, b"words") + b"\x19" + struct.pack("<d", 0.5) + wire.field(5, b"\x08\x01")
    _, out, _ = run(write(tmp_path / "a", event, tensor, packed, message))
    assert '    [0] tag "loss"  simple_value 0.1' in out and "  step       7" in out and "  wall_time  1.5" in out
    assert '  dtype   "int32"\n  shape   [2]\n  values  [5, -6]' in out and "[5, -1]" in out
    assert out.endswith(
        '  4 varint  5\n  9 bytes  "words"\n  3 fixed64  0.5 or 4602678819172646912\n'
        "  5 bytes  message\n    1 varint  1\n"
    )


def test_text_and_bytes_are_on_one_line(tmp_path, run):
    assert run(write(tmp_path / "a", b"words", b"\xff\x00", b"", PNG))[1].splitlines() == [
        '[0] text, 5 bytes: "words"',
        "[1] opaque bytes, 2 bytes: ff 00",
        "[2] empty, 0 bytes",
        f"[3] PNG image 28×14, {len(PNG)} bytes",
    ]


def test_json_holds_everything(tmp_path, run):
    record = example(v=("int64", range(100)), f=("float", [float("inf"), 0.1]), b=("bytes", [b"\xff", b"x"]))
    status, out, _ = run(write(tmp_path / "a", record, b"words", b"\xff"), "--json")
    first, second, third = map(json.loads, out.splitlines())
    assert status == 0 and first["kind"] == "Example" and first["size"] == len(record)
    assert first["features"] == {"v": list(range(100)), "f": [{"f": "Infinity"}, 0.1], "b": [{"base64": "/w=="}, "x"]}
    assert (second["encoding"], second["data"]) == ("utf-8", "words") and third["encoding"] == "base64"


def test_forms_can_be_asked_for(tmp_path, run):
    record = example(a=("int64", [1]))
    path = write(tmp_path / "a", record)
    assert run(path, "--as", "base64")[1] == base64.b64encode(record).decode() + "\n"
    assert "1 bytes  message" in run(path, "--as", "proto")[1]
    status, _, err = run(path, "--as", "event")
    assert status == 1 and f"{path}: the record is not a TensorBoard event (looks like Example) (record 0)" in err
    status, out, err = run(write(tmp_path / "b", record, b"words"), "--as", "example")
    assert status == 1 and out.startswith("[0] Example") and "(looks like text) (record 1)" in err


@pytest.fixture
def numbered(tmp_path):
    records = [example(label=("int64", [i % 10]), name=("bytes", [f"n{i}".encode()])) for i in range(5000)]
    return write(tmp_path / "n", *records)


def indices(out):
    return [int(line[1 : line.index("]")]) for line in out.splitlines() if line.startswith("[")]


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_skip_and_limit_count_over_all_files(tmp_path, run, compression):
    path = write(tmp_path / "a", *[str(i).encode() for i in range(3000)], compression=compression)
    assert indices(run("--skip", 2998, "-n", 4, path, path)[1].replace(f"{path} ", "")) == [2998, 2999, 0, 1]
    assert indices(run("--skip", 6000, path, path)[1]) == []


def test_records_by_number_with_an_index(numbered, run, monkeypatch):
    tf.RecordIndex.build(numbered).save(f"{numbered}.idx")
    monkeypatch.setattr(cat, "batches", None)  # nothing is read in order
    assert indices(run(numbered, "--skip", 4000, "-n", 3)[1]) == [4000, 4001, 4002]
    assert len(indices(run(numbered, "--skip", 4000)[1])) == 1000
    monkeypatch.undo()
    os.utime(f"{numbered}.idx", (0, 0))  # older than the file: not used
    monkeypatch.setattr(cat, "IndexedReader", None)
    assert indices(run(numbered, "--skip", 4000, "-n", 1)[1]) == [4000]


def test_where_chooses_records(numbered, run):
    assert indices(run(numbered, "--where", "label == 3", "-n", 3)[1]) == [3, 13, 23]
    assert indices(run(numbered, "--where", "label=3 and name > 'n9'", "-n", 2)[1]) == [93, 903]


RECORD = {
    "none": ("int64", []),
    "i": ("int64", [3]),
    "f": ("float", [0.1]),
    "s/t-u": ("bytes", [b"x y"]),
    "l": ("int64", [1, 2]),
}
CONDITIONS = {
    "i == 3": True, "i = 3": True, "i != 3": False, "3 <= i": True, "i<2.5": False, "i >= 3 and f < 1": True,
    "f == 0.1": True, "f == 1e-1": True, "s/t-u == 'x y'": True, '`s/t-u` == "x y"': True, "s/t-u < 'y'": True,
    "not i == 3": False, "not (i == 2 or i == 3)": False, "i == 2 or i == 3": True, "gone": False, "none == 1": False,
    "not gone": True, "l": True, "i == 1 or i == 3 and f == 2": False, "not none == 1": True, "i == -1": False,
}  # fmt: skip


@pytest.mark.parametrize("text", CONDITIONS)
def test_conditions(tmp_path, run, text):
    path = write(tmp_path / "a", example(**RECORD))
    status, out, err = run(path, "--where", text)
    assert (status, bool(out), err) == (0, CONDITIONS[text], "")


@pytest.mark.parametrize(
    "text", ["", "i ==", "== 3", "i == 3)", "(i == 3", "i 3", "3", "i == 'x", "i == 3; import os", "i == $", "and"]
)
def test_conditions_that_can_not_be_read_are_usage(tmp_path, run, text):
    status, out, err = run(write(tmp_path / "a", example(**RECORD)), "--where", text)
    assert (status, out) == (2, "") and "--where: " in err


@pytest.mark.parametrize("text", ["'a b' == 1", "1 == 'x'", "1 == 1", "'x' = 'x'", "i == 3 or 2 < 'a b'"])
def test_values_that_are_compared_with_values_are_usage(tmp_path, run, text):
    """Such as names in quotes, which belong in backticks."""
    status, out, err = run(write(tmp_path / "a", example(**RECORD)), "--where", text)
    assert (
        (status, out) == (2, "") and "a comparison of two values" in err and "`" in err and len(err.splitlines()) == 1
    )


def test_a_name_with_a_blank_stands_in_backticks(tmp_path, run):
    path = write(tmp_path / "a", example(**{"a b": ("int64", [1])}))
    assert [bool(run(path, "--where", f"`a b` == {number}")[1]) for number in (1, 2)] == [True, False]


UNFIT = [
    ("l == 1", "2 values"),
    ("i == '3'", "'i' is a number, compared with text; write text in quotes, and numbers without"),
    ("'3' == i", "'i' is a number, compared with text"),
    ("s/t-u == 3", "'s/t-u' is text, compared with a number"),
    ("3 == s/t-u", "'s/t-u' is text, compared with a number"),
    ("s/t-u == i", "'s/t-u' is text, compared with a number"),
    ("f < i", ""),
]


@pytest.mark.parametrize(("text", "word"), UNFIT)
def test_conditions_that_do_not_fit_are_told(tmp_path, run, text, word):
    status, _, err = run(write(tmp_path / "a", example(**RECORD)), "--where", text)
    assert (status == 1 and word in err and "(record 0)" in err) if word else status == 0


@pytest.mark.parametrize(
    ("text", "printed", "said"),
    [
        ("lebel == 3", 0, "'lebel' in the 5,000 records read (did you mean 'label'?)"),
        ("label == 3 or other == 1", 500, "'other' in the 5,000 records read"),
        ("not other == 1", 5000, "'other' in the 5,000 records read"),
        ("label < other", 0, "'other' in the 5,000 records read"),
    ],
)
def test_a_name_that_no_record_has_is_told(numbered, run, text, printed, said):
    status, out, err = run(numbered, "--where", text)
    assert (status, len(indices(out))) == (2, printed)
    assert err == f"tfrecord-fast: --where: no feature {said}\n"


def test_a_name_that_no_record_up_to_the_limit_has_is_a_warning(numbered, run):
    status, out, err = run(numbered, "--where", "not other == 1", "-n", 3)
    assert (status, indices(out)) == (0, [0, 1, 2]) and "'other'" in err


def test_a_name_that_some_file_has_is_not_told(tmp_path, numbered, run):
    other = write(tmp_path / "other", example(other=("int64", [1])), example(other=("float", [1.0])))
    assert run(numbered, other, "--where", "other == 1")[::2] == (0, "")
    assert run(numbered, other, "--where", "label == 77")[::2] == (0, "")


def test_a_feature_list_is_told_apart_from_features(tmp_path, run):
    record = wire.sequence_example([(b"c", wire.feature("int64", [1]))], [(b"s", [wire.feature("int64", [1])])])
    status, out, err = run(write(tmp_path / "a", record), "--where", "s == 1")
    assert (status, out) == (2, "") and "'s' is a feature list" in err


def test_where_needs_examples(tmp_path, run):
    status, _, err = run(write(tmp_path / "a", b"words"), "--where", "a == 1")
    assert status == 1 and "looks like text" in err


def in_a_terminal(command, **environment):
    ours, theirs = pty.openpty()
    done = subprocess.run(command, stdout=theirs, env={**os.environ, "TERM": "xterm", **environment})
    os.close(theirs)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    assert done.returncode == 0
    return shown


def test_colours_are_for_terminals(tmp_path, run):
    path = write(tmp_path / "a", example(a=("int64", [1])))
    command = [*COMMAND, "cat", str(path)]
    assert "\x1b[36ma\x1b[0m" in in_a_terminal(command)
    assert "\x1b" not in in_a_terminal(command, NO_COLOR="1") and "\x1b" not in run(path)[1]


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "WEBP", "BMP"])
def test_sizes_of_images_are_those_that_pillow_says(form):
    image = pytest.importorskip("PIL.Image")
    made = io.BytesIO()
    image.fromarray(np.zeros((14, 29, 3), np.uint8)).save(made, form)
    assert image_of(made.getvalue()) == (form.replace("WEBP", "WebP"), 29, 14)
    for cut in range(20):
        image_of(made.getvalue()[:cut])


@pytest.mark.parametrize("row", manifest(), ids=lambda row: row["file"])
def test_real_files_are_printed_whole(row, run):
    path = REAL_FILES / row["file"]
    status, out, _ = run(path, "--json")
    assert len(out.splitlines()) == int(row["records"]) and status == (row["kind"] == "none")
    if row["kind"] == "Example":
        lines = [json.loads(line)["features"] for line in out.splitlines()]
        for record, line in zip(tf.data.TFRecordDataset(str(path)), lines[:50], strict=False):
            said = tf.train.Example.FromString(record).features.feature
            assert set(said) == set(line)
            for key, feature in said.items():
                kind = feature.WhichOneof("kind")
                assert (line[key] is None) == (kind is None)
                assert kind is None or len(getattr(feature, kind).value) == len(line[key])
                if kind == "int64_list":
                    assert list(feature.int64_list.value) == line[key]
    assert run(path, "-n", 3)[0] in (0, 1)


@pytest.mark.parametrize("where", ["(" * 5000 + "a" + ")" * 5000, "not " * 5000 + "a", "a == " + "9" * 5000])
def test_a_condition_without_end_is_an_error(tmp_path, run, where):
    status, out, err = run(write(tmp_path / "a", example(a=("int64", [1]))), "--where", where)
    assert status == 2 and not out and "--where: " in err and len(err.splitlines()) == 1


def test_a_condition_may_be_nested(tmp_path, run):
    path = write(tmp_path / "a", example(a=("int64", [1])))
    assert run(path, "--where", "(" * 60 + "a == 1" + ")" * 60)[1] == run(path)[1]


FIELDS = {"id": ("int64", [1]), "tag": ("bytes", [b"a"]), "x": ("float", [0.5])}


def test_columns_are_the_only_features_printed_in_their_order(tmp_path, run):
    path = write(tmp_path / "a", example(**FIELDS), example(tag=("bytes", [b"b"])))
    assert run(path, "--columns", "x,id") == (
        0, f"[0] Example, {len(example(**FIELDS))} bytes\n  x   float  0.5\n  id  int64  1\n[1] Example, 16 bytes\n", ""
    )  # fmt: skip
    status, out, err = run(path, "--columns", "tag", "--columns", "id", "--json", "--where", "x")
    assert (status, err) == (0, "") and json.loads(out)["features"] == {"tag": ["a"], "id": [1]}
    assert list(json.loads(out)["features"]) == ["tag", "id"]


def test_columns_of_a_sequence_example_are_features_and_lists(tmp_path, run):
    steps = [(b"s", [wire.feature("int64", [1])]), (b"t", [wire.feature("int64", [2])])]
    path = write(tmp_path / "a", wire.sequence_example([(b"c", wire.feature("int64", [7]))], steps), b"")
    status, out, _ = run(path, "--columns", "c,t", "--json")
    first, second = map(json.loads, out.splitlines())
    assert (status, first["context"], first["feature_lists"]) == (0, {"c": [7]}, {"t": [[2]]})
    assert second["kind"] == "empty"


@pytest.mark.parametrize(
    ("options", "status", "word"),
    [
        (["--columns", "idd"], 2, "--columns: no feature 'idd' in the 1 records read (did you mean 'id'?)"),
        (["--columns", "idd", "-n", "1"], 0, "no feature 'idd'"),
        (["--columns", "id", "--as", "raw"], 2, "--columns requires decoded Examples, but --as raw"),
        (["--columns", "id", "--base64", "--json"], 2, "--as base64"),
    ],
)
def test_columns_that_can_not_be_printed_are_named(tmp_path, run, options, status, word):
    ended, _, err = run(write(tmp_path / "a", example(**FIELDS)), *options)
    assert ended == status and word in err and len(err.splitlines()) == 1


def test_columns_need_examples(tmp_path, run):
    status, out, err = run(write(tmp_path / "a", example(**FIELDS), b"words"), "--columns", "id")
    assert (status, len(out.splitlines())) == (1, 2) and "looks like text (record 1)" in err


@pytest.mark.parametrize(
    "options", [[], ["-n", "3"], ["--limit", "12", "--json"], ["--where", "label == 3", "--skip", "5"]]
)
def test_head_is_cat_with_a_limit(numbered, run, capsysbinary, options):
    limit = [] if "-n" in options or "--limit" in options else ["-n", "10"]
    assert run_here(capsysbinary, "head", numbered, *options) == run(numbered, *options, *limit)
