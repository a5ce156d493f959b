"""The user's own files in the harness, and the command that runs it."""

import gzip
import json
import re
import struct
import zlib
from pathlib import Path

import pytest

import tfrecord_fast as tf
from benchmarks import __main__ as command
from benchmarks import contenders
from benchmarks.data.answers import bitwise_crc, compression_of, frames
from benchmarks.data.infer import infer
from benchmarks.data.userfiles import FilesError, dataset_of_files, features_of_file, fitting, found, tasks_for
from benchmarks.running.progress import Progress
from tests.support.contenders import more_contenders
from tfrecord_fast.cli.app import run as cli
from tfrecord_fast.cli.commands import bench

COLUMNS = {"id": [1, 2, 3], "vector": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], "name": [b"a", b"bc", b""]}
FEATURES = {"id": ["fixed", "int64", []], "name": ["fixed", "string", []], "vector": ["fixed", "float32", [2]]}


@pytest.fixture
def plain(tmp_path):
    path = tmp_path / "some.tfrecord"
    with tf.ExampleWriter(path) as writer:
        writer.write(COLUMNS)
    return path


def packed(plain, kind):
    path = plain.with_name(f"{kind}.tfrecord")
    data = plain.read_bytes()
    if kind == "ZSTD":
        data = pytest.importorskip("zstandard").compress(data)
    path.write_bytes({"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress, "ZSTD": bytes}[kind](data))
    return path


def dataset(path, features="inferred", compression=None):
    return dataset_of_files([str(path)], features, compression, path.parent / "cache")


@pytest.mark.parametrize("kind", ["GZIP", *more_contenders("", "ZLIB", "ZSTD")])
def test_files_of_any_compression_are_measured_from_end_to_end(kind, plain, capsys):
    path = packed(plain, kind)
    out = path.with_suffix(".json")
    rival = "tensorflow" if kind == "ZSTD" else "floor"
    tasks = (
        ["raw-gzip", "parse-gzip", "parse-memory", "epoch"]
        if kind
        else ["raw", "parse", "parse-memory", "epoch", "loop"]
    )
    command.main(
        [
            *tasks,
            "--files",
            str(path),
            "--rounds",
            "1",
            "--quick",
            "--rivals",
            rival,
            "--json",
            str(out),
            "--data",
            str(path.parent / "cache"),
        ]
    )
    tables = {table["task"]: table["rows"] for table in json.loads(out.read_text())["tables"]}
    assert list(tables) == tasks
    wrong = [
        (task, row["contender"], row["reason"])
        for task, rows in tables.items()
        for row in rows
        if row["status"] not in ("timed", "missing")
    ]
    assert wrong == []
    assert {row["status"] for rows in tables.values() for row in rows if row["ours"]} == {"timed"}
    if kind == "ZSTD" and "TensorFlow" in capsys.readouterr().out:
        assert {row["reason"] for row in tables["raw-gzip"] if row["contender"] == "tensorflow"} <= {"no ZSTD"}


def another(plain):
    other = plain.with_name("more.tfrecord")
    other.write_bytes(plain.read_bytes())
    return other


def test_a_pattern_matches_its_files_in_order(plain):
    other = another(plain)
    assert found([str(plain.parent / "*.tfrecord")]) == [str(other), str(plain)]


def test_a_folder_is_its_record_files(plain):
    nested = plain.parent / "a" / "b"
    nested.mkdir(parents=True)
    (nested / "some.tfrecord").write_bytes(plain.read_bytes())
    (plain.parent / "notes.txt").write_text("no records")
    assert found([str(plain.parent)]) == [str(nested / "some.tfrecord"), str(plain)]
    assert found([str(nested), str(plain.parent)]) == [str(nested / "some.tfrecord"), str(plain)]
    (plain.parent / "empty").mkdir()
    with pytest.raises(FilesError, match="no files in the folder"):
        found([str(plain.parent / "empty")])


def test_a_pipe_gets_a_line_for_each_table(capsys):
    with Progress(2) as progress:
        for table in ("raw", "parse"):
            progress.next(table)
            progress.finished()
    assert re.fullmatch(r"1/2 raw: \d+ s\n2/2 parse: \d+ s\n", capsys.readouterr().err)


def test_several_files_are_one_dataset(plain):
    made, _ = dataset_of_files([str(plain), str(another(plain))], "inferred", None, plain.parent / "cache")
    assert (made.records, made.name) == (6, "some.tfrecord and 1 more")


def test_a_file_that_two_patterns_match_counts_once(plain):
    made, notes = dataset_of_files(
        [str(plain), str(plain.parent / "*.tfrecord")], "inferred", None, plain.parent / "cache"
    )
    assert (made.records, made.files) == (3, [str(plain)])
    assert notes == ["files that several patterns match are taken once (2 names)"]


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB", "ZSTD"])
def test_an_empty_file_beside_others_is_left_out(kind, plain, tmp_path):
    empty = tmp_path / "empty.tfrecord"
    empty.write_bytes(b"")
    made, notes = dataset_of_files([str(empty), str(packed(plain, kind))], "inferred", None, tmp_path / "cache")
    assert (made.records, len(made.files), len(made.gzip_files)) == (3, 1, 1 if kind else 0)
    assert notes == [f"files without records are left out: {empty}"]


def test_of_too_much_the_first_records_are_taken(plain, monkeypatch, tmp_path):
    monkeypatch.setattr("benchmarks.data.userfiles.MOST_BYTES", plain.stat().st_size)
    made, notes = dataset_of_files([str(plain), str(another(plain))], "inferred", None, tmp_path / "cache")
    assert (made.records, len(made.files)) == (4, 2)  # two of three records are half of each file
    assert "the first records of each file are taken" in notes[0]
    assert not {str(plain)} & set(made.files)


def test_of_too_much_that_is_compressed_the_first_files_are_taken(plain, monkeypatch, tmp_path):
    files = [packed(plain, "GZIP"), tmp_path / "more.gz"]
    files[1].write_bytes(files[0].read_bytes())
    monkeypatch.setattr("benchmarks.data.userfiles.MOST_BYTES", 1)
    made, notes = dataset_of_files([str(path) for path in files], "inferred", None, tmp_path / "cache")
    assert (made.records, made.gzip_files) == (3, [str(files[0])])
    assert "the first 1 of 2 files are taken" in notes[0]


def test_a_cut_file_has_no_first_part(plain, monkeypatch, tmp_path):
    plain.write_bytes(plain.read_bytes()[:-20] + b"\x7f" * 6)
    monkeypatch.setattr("benchmarks.data.userfiles.MOST_BYTES", plain.stat().st_size - 1)
    with pytest.raises(FilesError, match=r"some\.tfrecord: truncated"):
        dataset(plain)


def test_a_scale_of_files_is_refused(plain, capsys):
    with pytest.raises(SystemExit):
        command.main(["--files", str(plain), "--scale", "0.1"])
    assert "--scale is of the workloads" in capsys.readouterr().err


def test_a_list_that_is_always_empty_is_varlen(tmp_path):
    path = str(tmp_path / "some")
    with tf.io.TFRecordWriter(path) as writer:
        # The feature `a` with an int64_list of no values, in bytes.
        writer.write(bytes.fromhex("0a090a070a016112021a00"))
    assert infer([path])[0] == {"a": ["varlen", "int64", []]}


def test_a_pattern_that_matches_nothing_is_refused(plain):
    with pytest.raises(FilesError, match="no such file"):
        found([str(plain.parent / "*.gz")])


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB", "ZSTD"])
def test_compression_is_told_by_the_bytes(kind, plain):
    assert compression_of(str(packed(plain, kind))) == kind


@pytest.mark.parametrize("kind", ["", "GZIP", "ZLIB", "ZSTD"])
def test_features_are_inferred_whatever_the_compression(kind, plain):
    made, notes = dataset(packed(plain, kind))
    assert (made.only_packed, made.features, notes) == (bool(kind), FEATURES, [])


def test_a_header_that_looks_like_gzip_is_not_gzip(tmp_path):
    length = struct.pack("<Q", 0x088B1F)
    crc = bitwise_crc(length)
    (tmp_path / "plain").write_bytes(length + struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF))
    assert compression_of(str(tmp_path / "plain")) == ""
    (tmp_path / "packed").write_bytes(length + b"\0" * 4)
    assert compression_of(str(tmp_path / "packed")) == "GZIP"


def test_bitwise_crc_is_that_of_the_standard():
    assert bitwise_crc(b"123456789") == 0xE3069283


def test_a_length_is_not_believed_before_its_crc(tmp_path):
    path = tmp_path / "other"
    path.write_bytes(struct.pack("<QI", 2**60, 0) + b"x" * 20)
    with pytest.raises(ValueError, match="the CRC of a length is wrong"):
        list(frames(str(path)))
    with pytest.raises(FilesError, match="not a TFRecord file"):
        dataset(path)


def test_files_of_different_compressions_are_refused(plain, tmp_path, capsys):
    other = packed(plain, "GZIP")
    assert command.main(["--files", str(plain), str(other), "--data", str(tmp_path / "cache")]) == 2
    errors = capsys.readouterr().err
    assert f"python -m benchmarks: files compressed differently: {plain} is not compressed, {other} is GZIP; " in errors
    assert "one kind at a time, as --files 'FOLDER/*.gz'" in errors


def test_a_compressed_file_that_is_cut_is_refused(plain, tmp_path):
    other = packed(plain, "GZIP")
    other.write_bytes(other.read_bytes()[:-20])
    assert command.main(["--files", str(other), "--data", str(tmp_path / "cache")]) == 2


def damaged(data):
    """The data with bytes changed behind its header."""
    return data[:20] + bytes(byte ^ 0x55 for byte in data[20:-8]) + data[-8:]


@pytest.mark.parametrize("spoil", [damaged, lambda data: data[:-20]], ids=["changed", "cut"])
@pytest.mark.parametrize("kind", ["GZIP", "ZLIB", "ZSTD"])
def test_a_damaged_file_is_named(kind, spoil, plain, tmp_path, capsys):
    other = packed(plain, kind)
    other.write_bytes(spoil(other.read_bytes()))
    assert command.main(["--files", str(other), "--data", str(tmp_path / "cache")]) == 2
    assert f"python -m benchmarks: {other}: " in capsys.readouterr().err


def test_a_file_that_can_not_be_read_is_named(plain, monkeypatch):
    def refuse(path):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr("benchmarks.data.userfiles.compression_of", refuse)
    with pytest.raises(FilesError, match=r"Permission denied: .*some\.tfrecord"):
        dataset(plain)


def test_records_that_are_not_what_the_features_say_are_refused(tmp_path, capsys):
    path, features = tmp_path / "raw", tmp_path / "features.py"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"no protobuf")
    features.write_text(GIVEN)
    arguments = ["parse", "--files", str(path), "--features", str(features), "--data", str(tmp_path / "cache")]
    assert command.main(arguments) == 2
    assert f"{path}: a record is not a valid Example" in capsys.readouterr().err


def test_files_without_a_record_are_refused(tmp_path):
    empty = tmp_path / "empty"
    empty.write_bytes(b"")
    with pytest.raises(FilesError, match="no record"):
        dataset(empty)


def test_features_are_inferred_as_varlen_if_they_vary(tmp_path):
    path = str(tmp_path / "some")
    with tf.io.TFRecordWriter(path) as writer:
        for features in ({"a": [1], "b": [1, 2], "c": [0.5]}, {"a": [2], "b": [3]}):
            writer.write(tf.train.example(features).SerializeToString())
    assert infer([path])[0] == {
        "a": ["fixed", "int64", []],
        "b": ["varlen", "int64", []],
        "c": ["varlen", "float32", []],
    }


def test_a_feature_of_two_kinds_is_left_out_and_reported(tmp_path):
    path = str(tmp_path / "some")
    with tf.io.TFRecordWriter(path) as writer:
        for features in ({"a": [1], "b": [1]}, {"a": [0.5], "b": [2]}):
            writer.write(tf.train.example(features).SerializeToString())
    features, sequences, notes = infer([path])
    assert (list(features), sequences) == (["b"], {})
    assert notes == ["feature 'a' is left out: float_list and int64_list"]


@pytest.fixture
def unparsed(tmp_path):
    """A dataset of a record that is not an Example, and the notes about it."""
    path = tmp_path / "raw"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"no protobuf")
    return dataset(path)


def test_records_that_are_not_examples_are_read_and_not_parsed(unparsed):
    made, _ = unparsed
    assert [task.name for task in tasks_for(made, [])] == ["raw"]
    assert fitting(made) == ["raw", "epoch", "loop"]


@pytest.mark.parametrize("kind, names", [("", ["raw", "parse"]), ("GZIP", ["raw-gzip", "parse-gzip"])])
def test_files_without_named_tasks_are_read_and_parsed(kind, names, plain, tmp_path, capsys):
    arguments = ["--files", str(packed(plain, kind)), "--data", str(tmp_path / "cache")]
    options = command.arguments(arguments, {}, "bench")
    assert [task.name for task, *_ in command.plan_of_files(options)] == names
    assert "to measure more, name the tasks: bench parse-memory epoch" in capsys.readouterr().err


@pytest.mark.parametrize(
    "task, says",
    [("parse", "no features to parse"), ("raw-gzip", "not compressed"), ("import", "does not support files")],
)
def test_a_task_that_does_not_fit_the_files_is_refused(task, says, unparsed):
    made, _ = unparsed
    with pytest.raises(FilesError, match=says):
        tasks_for(made, [task])


GIVEN = """
import tfrecord_fast as tf
FEATURES = {"id": tf.io.FixedLenFeature([], tf.int64), "vector": tf.io.VarLenFeature(tf.float32)}
"""


def test_features_can_be_given_in_python(plain):
    path = plain.with_name("features.py")
    path.write_text(GIVEN)
    made, _ = dataset(plain, str(path))
    assert made.features == {"id": ["fixed", "int64", []], "vector": ["varlen", "float32", []]}


@pytest.mark.parametrize(
    "text, says",
    [
        ("", "sets no FEATURES"),
        ("import no_such_module", "features.py: ModuleNotFoundError: No module named 'no_such_module'"),
        ("FEATURES = ['a']", "features.py: FEATURES must be a dict"),
        ("FEATURES = ({}, {}, {})", "features.py: FEATURES must be a dict"),
        ("FEATURES = {'a': tf.io.FixedLenFeature([], tf.int64, default_value=0)}", "'a': default values"),
        ("FEATURES = {'a': tf.io.FixedLenFeature([], tf.uint8)}", "'a': uint8, not one of int64"),
        ("FEATURES = {'a': tf.io.RaggedFeature(tf.int64, value_key='b')}", "'a': its value_key is 'b'"),
        ("FEATURES = {'a': tf.io.SparseFeature('i', 'v', tf.int64, 3)}", "'a': SparseFeature"),
    ],
)
def test_features_that_not_all_have_are_refused(text, says, tmp_path):
    path = tmp_path / "features.py"
    path.write_text(f"import tfrecord_fast as tf\n{text}\n")
    with pytest.raises(FilesError, match=says):
        features_of_file(path)


@pytest.fixture
def namesakes(tmp_path, plain):
    """Two files of the same name in two folders, as a dataset."""
    other = tmp_path / "other" / plain.name
    other.parent.mkdir()
    other.write_bytes(plain.read_bytes())
    made, _ = dataset_of_files([str(plain), str(other)], "inferred", None, tmp_path / "cache")
    return made


def test_files_of_the_same_name_are_written_separately(tmp_path, namesakes):
    assert len(set(contenders.Job("write", namesakes, tmp_path).outputs())) == 2


def test_files_of_the_same_name_are_indexed_separately(tmp_path, namesakes):
    assert len({contenders.index_of(path, tmp_path) for path in namesakes.files}) == 2


# The command.


def test_the_command_runs_the_harness(plain, capsys):
    out = plain.with_name("out.json")
    arguments = [
        "bench",
        "raw",
        "--files",
        str(plain),
        "--rounds",
        "1",
        "--quick",
        "--rivals",
        "floor",
        "--json",
        str(out),
        "--data",
        str(plain.parent / "cache"),
    ]
    assert cli(arguments) == 0
    assert "Raw reading" in capsys.readouterr().out
    assert json.loads(out.read_text())["tables"][0]["workload"] == "some.tfrecord"


def test_the_command_has_the_harnesss_own_help(capsys):
    with pytest.raises(SystemExit) as stopped:
        cli(["bench", "--help"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out.startswith("usage: tfrecord-fast bench")


def test_the_command_finds_the_installed_harness_before_a_checkout(tmp_path):
    package = tmp_path / "site-packages" / "tfrecord_fast"
    (package.parent / "benchmarks").mkdir(parents=True)
    (package.parent / "benchmarks" / "__main__.py").write_text("somebody else's")
    assert bench.home(package) is None
    (package / "_bench" / "benchmarks").mkdir(parents=True)
    (package / "_bench" / "benchmarks" / "__main__.py").touch()
    assert bench.home(package) == package / "_bench"


def test_what_the_command_lacks_is_reported(monkeypatch, capsys):
    monkeypatch.setitem(bench._NEEDS, "no_such_module", "no-such-package")
    assert cli(["bench", "--list"]) == 2
    assert "bench needs no-such-package: pip install 'tfrecord_fast[bench]'" in capsys.readouterr().err


def test_a_missing_harness_is_reported(monkeypatch, capsys):
    monkeypatch.setattr(bench, "home", lambda package: None)
    assert cli(["bench", "--list"]) == 2
    assert "the benchmark harness is missing" in capsys.readouterr().err


def test_the_installed_size_is_that_of_the_files():
    size = contenders.installed_bytes("tfrecord_fast", "no-such-distribution")
    assert size >= Path(tf._core.__file__).stat().st_size


def test_what_is_not_installed_has_no_size():
    assert contenders.installed_bytes("no_such_module", "no-such-distribution") == 0
