"""What columns of CSV hold, where the command says it: nothing is guessed, and no value changes."""

import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support.command import COMMAND, run_here
from tfrecord_fast.cli import main

pytest.importorskip("pyarrow")

TEXT = "zip,n,x,big\n01234,1,1.0,9007199254740993\n5,2,1e3,-1\n"


@pytest.fixture
def run(tmp_path, capsys):
    """(status, columns or what it complained about)"""
    (tmp_path / "in.csv").write_text(TEXT)

    def call(*options):
        status, _, err = run_here(capsys, "convert", tmp_path / "in.csv", tmp_path / "out.tfrecord", *options)
        if status:
            return status, err
        records = list(tf.data.TFRecordDataset(str(tmp_path / "out.tfrecord")))
        parsed = tf.io.parse_example(records, tf.infer_features(records))
        return status, {key: column.tolist() for key, column in parsed.items()}

    return call


PLAIN = {"zip": [b"01234", b"5"], "n": [1, 2], "x": [1.0, 1000.0], "big": [9007199254740993, -1]}


def test_values_that_would_change_are_not_guessed(run):
    assert run() == (0, PLAIN)


def test_strings_are_what_the_file_says(run):
    columns = {"zip": [b"01234", b"5"], "n": [b"1", b"2"], "x": [b"1.0", b"1e3"], "big": [b"9007199254740993", b"-1"]}
    assert run("--strings") == (0, columns)


def test_types_say_what_columns_hold(run):
    assert run("--types", "n=string,x=bytes") == (0, {**PLAIN, "n": [b"1", b"2"], "x": [b"1.0", b"1e3"]})
    assert run("--strings", "--types", "n=int64")[1]["n"] == [1, 2]
    assert run("--types", "n=float")[1]["n"] == [1.0, 2.0]


def test_a_schema_says_it_too(run, tmp_path):
    assert run("--strings")[0] == 0
    printed = subprocess.run(
        [*COMMAND, "schema", "--json", str(tmp_path / "out.tfrecord")], capture_output=True, check=True
    )
    (tmp_path / "schema.json").write_bytes(printed.stdout)
    assert run("--schema", str(tmp_path / "schema.json"))[1]["n"] == [b"1", b"2"]
    (tmp_path / "schema.json").write_text("[]")
    status, said = run("--schema", str(tmp_path / "schema.json"))
    assert status == 2 and "schema --json" in said


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        (["--types", "zpi=string"], 2, "no column 'zpi'"),
        (["--types", "x=int64"], 1, "'1.0' is not a valid int64"),
        (["--schema", "nowhere"], 2, "No such file"),
    ],
)
def test_what_does_not_fit_is_told(run, options, status, words):
    got, said = run(*options)
    assert got == status and words in said


def test_types_are_for_csv(tmp_path, capsys):
    (tmp_path / "in.tfrecord").touch()
    assert main(["convert", str(tmp_path / "in.tfrecord"), str(tmp_path / "a.jsonl"), "--strings"]) == 2
    assert "a CSV input" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["convert", "a.csv", "b.tfrecord", "--types", "a=date"])
    assert "expected NAME=TYPE" in capsys.readouterr().err


@given(st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1))
@settings(deadline=None, max_examples=50)
def test_floats_are_written_with_as_few_digits_as_tell_them(tmp_path_factory, values):
    folder = tmp_path_factory.mktemp("floats")
    records = tf.encode_examples({"x": values, "id": list(range(len(values)))}).tolist()
    with tf.TFRecordWriter(folder / "in.tfrecord") as writer:
        writer.write_batch(records)
    assert main(["convert", f"{folder}/in.tfrecord", f"{folder}/a.csv"]) == 0
    assert main(["convert", f"{folder}/a.csv", f"{folder}/b.tfrecord", "--types", "x=float,id=int64"]) == 0
    assert list(tf.data.TFRecordDataset(f"{folder}/b.tfrecord")) == records


def test_what_the_last_row_says_holds_for_the_first(tmp_path):
    """A column's kind is known at the end of a file that is read in parts."""
    lines = ["n,x,s,z"] + [f"{i},{i},{i},1" for i in range(300_000)] + ["7,0.5,words,01"]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    assert main(["convert", str(tmp_path / "a.csv"), str(tmp_path / "a.tfrecord")]) == 0
    features = tf.infer_features(str(tmp_path / "a.tfrecord"))
    assert {key: one.dtype for key, one in features.items()} == {
        "n": tf.int64, "x": tf.float32, "s": tf.string, "z": tf.string
    }  # fmt: skip
    assert len(tf.RecordIndex.build(tmp_path / "a.tfrecord")) == 300_001


def test_a_wrong_value_far_behind_is_named_by_its_row(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("n\n" + "1\n" * 200_000 + "x\n")
    assert main(["convert", str(tmp_path / "a.csv"), str(tmp_path / "a.tfrecord"), "--types", "n=int64"]) == 1
    assert "row 200000: 'x' is not a valid int64" in capsys.readouterr().err


def test_a_long_text_and_no_rows(tmp_path):
    text = "words, and\n" * 200_000
    (tmp_path / "a.csv").write_text(f'n,s\n1,"{text}"\n')
    (tmp_path / "b.csv").write_text("n,s\n")
    for name, records in (("a", 1), ("b", 0)):
        assert main(["convert", str(tmp_path / f"{name}.csv"), str(tmp_path / f"{name}.tfrecord")]) == 0
        assert len(tf.RecordIndex.build(tmp_path / f"{name}.tfrecord")) == records
    assert text.encode() in next(tf.data.TFRecordDataset(str(tmp_path / "a.tfrecord")).as_numpy_iterator())


@pytest.mark.parametrize("text", ['a,b\n1,"x\n2,y\n3,z\n', 'a,b\n1,"x', 'a,b\n1,"x""', 'a\n1\n"', 'a\n1\n"\n\n'])
@pytest.mark.parametrize("options", [[], ["--strings"]])
def test_a_quote_that_is_not_closed_takes_no_rows(tmp_path, capsys, text, options):
    (tmp_path / "a.csv").write_text(text)
    assert main(["convert", str(tmp_path / "a.csv"), str(tmp_path / "a.tfrecord"), *options]) == 1
    assert "missing closing quote" in capsys.readouterr().err and not (tmp_path / "a.tfrecord").exists()


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\r", "\n\n", "\n\r\n"])
@pytest.mark.parametrize(("text", "rows"), [("a,b", 0), ('a,b\n1,"x"', 1), ('a,b\n"","x""y"', 1), ('a,b\n"",""', 1)])
def test_a_file_ends_with_or_without_a_newline(tmp_path, text, rows, end):
    (tmp_path / "a.csv").write_bytes((text + end).encode())
    assert main(["convert", str(tmp_path / "a.csv"), str(tmp_path / "a.tfrecord")]) == 0
    assert len(tf.RecordIndex.build(tmp_path / "a.tfrecord")) == rows


@pytest.mark.parametrize("number", [2**24 + 1, -(2**24) - 1, 2**53 + 1, 2**62 - 1, 10**30 + 1])
def test_an_integer_among_floats_is_not_rounded(tmp_path, capsys, number):
    (tmp_path / "a.csv").write_text(f"n\n1\n{number}\n1.5\n")
    assert main(["convert", str(tmp_path / "a.csv"), str(tmp_path / "a.tfrecord")]) == 1
    assert f"row 1: '{number}' would be rounded" in capsys.readouterr().err
    (tmp_path / "a.csv").write_text(f"n\n1\n{2**24}\n{-(2**62)}\n1.5\n\n")
    assert main(["convert", str(tmp_path / "a.csv"), str(tmp_path / "a.tfrecord")]) == 0
