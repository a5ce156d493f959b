"""What commands say, word by word: index, port, schema, split, repair, folders, rows of CSV and JSON."""

import functools
import json
import os
import sys

import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.command import run_here
from tests.support.copying import read, write


@pytest.fixture
def run(capsysbinary):
    return functools.partial(run_here, capsysbinary)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def example(**features):
    return wire.example([(name.encode(), wire.feature(*value)) for name, value in features.items()])


def problem(text):
    return 2, "", f"tfrecord-fast: {text}\n"


# ---- index ----


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ([b"12345", b"1"], "a.idx has 2 records, but the file has 3"),
        ([b"12345"], "a.idx has 1 record, but the file has 3"),
        (
            [b"12345", b"12", b"2"],
            "a.idx has record 1 at byte 21, with 18 bytes; in the file it is at byte 21, with 17",
        ),
        (
            [b"1234", b"12", b"22"],
            "a.idx has record 0 at byte 0, with 20 bytes; in the file it is at byte 0, with 21",
        ),
    ],
)
def test_the_first_record_that_an_index_has_wrong_is_told(run, other, said):
    write("a", [b"12345", b"1", b"22"])
    write("b", other)
    assert run("index", "a", "--check") == problem("a: missing index a.idx")
    assert run("index", "b", "-o", "a.idx") == (0, f"a.idx: {len(other)} record{'s' * (len(other) > 1)}\n", "")
    assert run("index", "a", "--check") == (1, "", f"tfrecord-fast: a: {said}\n")
    status, out, _ = run("index", "a", "--check", "--json")
    error = {"reason": said, "offset": None, "record_index": None}
    assert status == 1 and json.loads(out) == {"path": "a", "index": "a.idx", "records": 3, "ok": False, "error": error}
    assert run("index", "a")[0] == 0
    assert run("index", "a", "--check") == (0, "a.idx: 3 records, matches its file\n", "")


def test_an_index_that_is_none_is_damage(run):
    write("a", [b"1"])
    open("a.idx", "wb").write(b"no index")
    status, out, err = run("index", "a", "--check")
    assert (status, out) == (1, "") and err.startswith("tfrecord-fast: a: cannot read the index: ")


def test_where_indexes_may_go(run):
    os.mkdir("to")
    os.mkdir("other")
    for name in ("a", "b", "other/a"):
        write(name, [b"1"])
    assert run("index", "-") == problem("cannot index standard input; pass a file")
    assert run("index", "a", "b", "-o", "no") == problem("no: to index several files, pass an existing folder")
    said = "to: several files have the same name; their indexes would collide"
    assert run("index", "a", "other/a", "-o", "to") == problem(said)
    said = "b: the index would replace this file"
    assert run("index", "b", "-o", "b") == problem(said)
    os.symlink("b", "link")
    assert run("index", "b", "-o", "link") == problem(said)
    assert os.listdir("to") == []
    assert run("index", "a", "b", "-o", "to/") == (0, "to/a.idx: 1 record\nto/b.idx: 1 record\n", "")
    assert run("index", "other/a", "-o", "to") == (0, "to/a.idx: 1 record\n", "")
    assert run("index", "a", "-o", "mine") == (0, "mine: 1 record\n", "")
    assert run("index", "gone", "a")[0] == 2 and run("index", "to", "a") != 0


def test_an_index_among_its_files_is_passed_over(run):
    write("a", [b"1"])
    assert run("index", "a")[0] == 0
    assert run("index", "a*") == (0, "a.idx: 1 record\n", "")
    write("b.gz", [b"1"], "GZIP")
    assert run("index", "b.gz", "a") == (0, "b.gz.idx: 1 record\na.idx: 1 record\n", "")


# ---- port ----


def notebook(*cells, **more):
    return {"cells": [{"cell_type": "markdown", "source": "# no code"}, *cells], **more}


def code(*lines, joined=False):
    source = [line + "\n" for line in lines[:-1]] + [lines[-1]]
    return {"cell_type": "code", "source": "".join(source) if joined else source}


CELLS = [
    code("%%bash", "import tensorflow as tf", "ls"),
    code("!pip install x", "%time 1", "?help", "tf?", "import tensorflow as tf  # data", "", "if 1:", "    !ls"),
    code("x = tf.io.parse_example", "tf.io.decode_raw", joined=True),
    code(""),
]


def test_cells_are_named_and_only_imports_change(run):
    given = notebook(*CELLS, nbformat=4)
    open("n.ipynb", "w").write(json.dumps(given) + "\n")
    assert run("port", "n.ipynb") == (0, "n.ipynb: 2 names: 2 available\n", "")
    status, out, _ = run("port", "n.ipynb", "--json")
    assert status == 0 and [(one["place"], one["name"], one["where"]) for one in map(json.loads, out.splitlines())] == [
        ("cell 3:1", "tf.io.parse_example", "here"),
        ("cell 3:2", "tf.io.decode_raw", "here"),
    ]
    assert run("port", "n.ipynb", "--write")[0] == 0
    text = open("n.ipynb").read()
    changed = json.loads(text)
    expected = json.loads(
        json.dumps(given).replace("import tensorflow as tf  #", "import tfrecord_fast.tensorflow as tf  #")
    )
    assert changed == expected and text.endswith("}\n") and not text.endswith("\n\n") and text.startswith('{\n "cells"')
    open("n.ipynb", "w").write(json.dumps(given))
    assert run("port", "n.ipynb", "--write")[0] == 0 and open("n.ipynb").read() == text.removesuffix("\n")


@pytest.mark.parametrize("text", ["[]", "{}", "no JSON", '{"cells": [{}]}', '{"cells": [{"cell_type": "code"}]}'])
def test_what_is_no_notebook_is_told(run, text):
    open("n.ipynb", "w").write(text)
    open("s.py", "w").write("x = 1\n")
    status, out, err = run("port", "n.ipynb", "s.py")
    assert status == 2 and err.startswith("tfrecord-fast: n.ipynb: ") and out == "s.py: 0 names: 0 available\n"


# ---- schema ----


def test_schemas_in_the_words_of_others(run):
    records = [
        example(n=("int64", [1, 2]), x=("float", [0.5]), s=("bytes", [b"a"])),
        example(n=("int64", [3, 4]), x=("float", [1.5]), s=("bytes", [b"b"]), v=("int64", [1, 2, 3])),
        example(n=("int64", [3, 4]), x=("float", [1.5]), s=("bytes", [b"b"]), v=("int64", [])),
    ]
    write("a", records)
    status, out, err = run("schema", "a", "--format", "tfds")
    assert (status, err) == (0, "") and out.splitlines()[1:-1] == [
        "    'n': tfds.features.Tensor(shape=(2,), dtype=np.int64),",
        "    's': tfds.features.Text(),",
        "    'v': tfds.features.Sequence(tfds.features.Tensor(shape=(), dtype=np.int64)),",
        "    'x': tfds.features.Tensor(shape=(), dtype=np.float32),",
    ]
    status, out, err = run("schema", "a", "--format", "tfmd")
    assert (status, err) == (0, "") and out.split("feature {\n")[1:] == [
        '  name: "n"\n  type: INT\n  presence { min_fraction: 1.0 min_count: 1 }\n  shape { dim { size: 2 } }\n}\n',
        '  name: "s"\n  type: BYTES\n  presence { min_fraction: 1.0 min_count: 1 }\n  shape { }\n}\n',
        '  name: "v"\n  type: INT\n  presence { min_count: 1 }\n  value_count { min: 0 max: 3 }\n}\n',
        '  name: "x"\n  type: FLOAT\n  presence { min_fraction: 1.0 min_count: 1 }\n  shape { }\n}\n',
    ]
    lists = wire.sequence_example([(b"c", wire.feature("int64", [1]))], [(b"s", [wire.feature("float", [1.0])])])
    write("b", [lists])
    for form, said in (
        ("tfds", "TFDS supports Examples only, not SequenceExamples"),
        ("tfmd", "TFMD supports Examples only, not SequenceExamples"),
    ):
        assert run("schema", "b", "--format", form) == problem(f"b: {said}")
    pytest.importorskip("pyarrow")
    status, out, _ = run("schema", "b", "--format", "arrow")
    assert status == 0 and out.startswith("c: int64\ns: ")


def test_a_schema_of_some_of_the_records(run):
    write("a", [example(n=("int64", [1]))] * 3)
    write("b", [example(n=("float", [1.0])), example(z=("int64", [1]))])
    status, _, err = run("schema", "a", "b", "--json")
    assert status == 1
    assert err == "tfrecord-fast: conflicting kinds: feature 'n' is float in b, but int64 in a\n"
    status, out, err = run("schema", "a", "b", "--json", "-n", 3)
    assert (status, err) == (0, "") and list(json.loads(out)["features"]) == ["n"]
    status, out, err = run("schema", "a", "b", "--json", "-n", 4)
    assert status == 1


# ---- split and repair ----


def test_options_of_split_that_do_not_fit(run):
    write("a", [b"%d" % i for i in range(40)])
    assert run("split", "a", "--into", 2, "-o", "-") == problem(
        "-o cannot be standard output: this command writes several files"
    )
    assert run("split", "a", "--into", 2, "-o", "") == problem("the output has no name")
    assert run("split", "a", "--into", 2, "-o", "x", "--names", "a,b") == problem("--names requires --ratio")
    said = "--ratio has 3 splits, but --names has 2"
    assert run("split", "a", "--ratio", "1:1:1", "--names", "a,b", "-o", "x") == problem(said)
    status, out, err = run("split", "a", "--records", 1, "-o", "x")
    lines = out.splitlines()
    assert (status, err) == (0, "") and sum(line.startswith("and ") and line.endswith(" more") for line in lines) == 1
    assert len(read("x-00000-of-00040")) == 1


def test_repair_says_what_it_can_not_do(run):
    os.mkdir("two")
    for name in ("two/a", "two/b"):
        write(name, [b"1"])
    assert run("repair", "two", "out") == problem("two: expected one file, got 2; repair them one by one")
    data = bytearray(open("two/a", "rb").read())
    data[-1] ^= 1
    open("two/a", "wb").write(data)
    status, out, err = run("repair", "two/a", "out")
    assert status == 1 and out == "two/a: no intact record, nothing was written\n" and not os.path.exists("out")
    assert err.startswith("tfrecord-fast: two/a: lost 17 bytes at byte 0: ")


# ---- folders ----


def test_folders_of_datasets_have_splits(run):
    os.makedirs("d/train")
    os.makedirs("d/test")
    write("d/train/a", [b"1"])
    write("d/test/b", [b"2"])
    write("d/c", [b"3"])
    open("d/dataset_dict.json", "w").write(json.dumps({"splits": ["train", "test"]}))
    assert run("cat", "d", "--raw")[1] == "1\n2\n"
    for splits in (["../d"], [""], [".."], "train", [5], None):
        open("d/dataset_dict.json", "w").write(json.dumps({"splits": splits}))
        status, _, err = run("cat", "d")
        assert status == 2 and err.endswith("d/dataset_dict.json: not a list of the files of a dataset\n")
    open("d/train/state.json", "w").write(json.dumps({"_data_files": [], "_indices_data_files": [{"filename": "i"}]}))
    status, _, err = run("cat", "d/train")
    reason = "the dataset has an indices mapping, which is not supported: call flatten_indices() and save it again"
    said = f"d/train/state.json: {reason}"
    assert status == 2 and err == f"tfrecord-fast: {said}\n"


# ---- Rows ----


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("a\n1\n", ["--types", "b=int"], "in.csv: no column 'b'; the columns are 'a'"),
        ("a,a\n1,2\n", [], "in.csv: several columns are named 'a'"),
        ('a\n"1\n', [], "in.csv: missing closing quote: the file ends within a field"),
        ("a\n1\nx\n", ["--types", "a=int"], "in.csv: column 'a', row 1: 'x' is not a valid int64"),
        ("a\n1.5\nx\n", ["--types", "a=float"], "in.csv: column 'a', row 1: 'x' is not a valid float"),
        (
            "a\n1\n1e39\n",
            [],
            "in.csv: column 'a', row 1: '1e39' exceeds float32; name the column a:bytes",
        ),
        (
            "a\n0.5\n16777217\n",
            [],
            "in.csv: column 'a', row 1: '16777217' would be rounded to a float32, because other",
        ),
        ("a\n1\n9223372036854775808\n", [], "in.csv: column 'a': a value exceeds int64: "),
    ],
)
def test_csv_that_can_not_be_rows(run, text, options, said):
    pytest.importorskip("pyarrow")
    open("in.csv", "w").write(text)
    status, out, err = run("convert", "in.csv", "out.tfrecord", *options)
    assert status in (1, 2) and out == "" and err.startswith(f"tfrecord-fast: {said}"), err
    assert os.listdir() == ["in.csv"]


def test_types_of_columns_are_arguments(run):
    for text in ("a", "a=x", "=", "a=int,b"):
        status, _, err = run("convert", "in.csv", "out.tfrecord", "--types", text)
        assert status == 2 and "expected NAME=TYPE, with one of int64 int float float32 string bytes text, got " in err
    pytest.importorskip("pyarrow")
    open("in.csv", "w").write("a,b,x=y\n1,2,3\n")
    assert run("convert", "in.csv", "out.tfrecord", "--types", "a=text,b=float,x=y=int") == (0, "", "")
    assert read("out.tfrecord") == tf.encode_examples({"a": [b"1"], "b": [2.0], "x=y": [3]}).tolist()
    assert run("schema", "out.tfrecord", "--json")[0] == 0
    open("s.json", "w").write(run("schema", "out.tfrecord", "--json")[1])
    assert run("convert", "in.csv", "again.tfrecord", "--schema", "s.json") == (0, "", "")
    assert read("again.tfrecord") == read("out.tfrecord")
    open("s.json", "w").write("{}")
    said = "s.json: not the output of `tfrecord-fast schema --json` for Examples"
    assert run("convert", "in.csv", "again.tfrecord", "--schema", "s.json") == problem(said)


def test_csv_holds_no_row_without_a_value(run):
    pytest.importorskip("pyarrow")
    write("a", [example(n=("int64", [1])), example()])
    status, _, err = run("convert", "a", "out.csv")
    assert status == 2 and "a CSV row without any value is an empty line, which readers skip" in err
    assert "record 1" in err and os.listdir() == ["a"]


@pytest.mark.parametrize("library", ["orjson", "json"])
def test_json_lines_are_those_of_python_whatever_writes_them(run, library, monkeypatch):
    if library == "json":
        monkeypatch.setitem(sys.modules, "orjson", None)
    records = [
        example(n=("int64", [1, -2]), x=("float", [0.1, float("nan")]), b=("bytes", [b"\xff", "zwölf".encode()])),
        example(n=("int64", [1 << 62]), x=("float", [float("-inf")])),
        example(n=("int64", []), b=("bytes", [b'"\\\n\x00'])),
    ]
    write("a", records)
    assert run("convert", "a", "out.jsonl") == (0, "", "")
    made = [json.loads(line) for line in open("out.jsonl", encoding="utf-8")]
    assert made[0]["n"] == [1, -2] and made[0]["b"] == [{"base64": "/w=="}, "zwölf"]
    assert made[0]["x"] == [0.1, {"f": "NaN"}] and made[1]["x"] in ([{"f": "-Infinity"}], {"f": "-Infinity"})
    assert "zwölf" in open("out.jsonl", encoding="utf-8").read()
    assert run("convert", "out.jsonl", "back.tfrecord") == (0, "", "")
    assert "NaN" in run("cat", "back.tfrecord", "--json")[1] and len(read("back.tfrecord")) == 3


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[1]", "in.jsonl: line 2: expected an object, got list"),
        ("5", "in.jsonl: line 2: expected an object, got int"),
        ("[" * 100_000, "in.jsonl: line 2"),
    ],
)
def test_json_that_is_no_row(run, line, said):
    open("in.jsonl", "w").write('{"a": 1}\n' + line + "\n")
    status, out, err = run("convert", "in.jsonl", "out.tfrecord")
    assert status == 1 and out == "" and err.startswith(f"tfrecord-fast: {said}") and len(err) < 300
    open("in.jsonl", "w").write('\n{"a": 1}\n  \n{"a": 2}')
    assert run("convert", "in.jsonl", "out.tfrecord") == (0, "", "")
    assert read("out.tfrecord") == tf.encode_examples({"a": [1, 2]}).tolist()


def test_shards_are_for_tfrecord_files(run):
    write("a", [example(n=("int64", [1]))])
    said = "--shards requires a TFRecord output, but out.jsonl will be jsonl"
    assert run("convert", "a", "out.jsonl", "--shards", 2) == problem(said)


def test_conditions_on_lists_and_without_ends(run):
    write("a", [example(n=("int64", [1]))])
    assert run("cat", "a", "--where", "(n == 1") == problem("--where: missing closing parenthesis")
