"""What commands refuse, in which words, in this process; and what they do at the edges of their arguments."""

import functools
import io
import json
import os
import tempfile
import threading
import types

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.command import run_here
from tests.support.copying import read, write
from tfrecord_fast.cli import arguments, files, main
from tfrecord_fast.cli.arguments import count_of, fraction_of, seed_of, size_of
from tfrecord_fast.cli.commands import bench, sample, shuffle, split
from tfrecord_fast.cli.commands.schema import formats as schema_formats
from tfrecord_fast.cli.commands.schema import surveys
from tfrecord_fast.cli.console import Console, OutputClosed, Style, counted
from tfrecord_fast.cli.formats import base, casts, csv_files, orc, parquet
from tfrecord_fast.cli.records.showing import Shower

pa = pytest.importorskip("pyarrow")


@pytest.fixture
def run(capsysbinary):
    return functools.partial(run_here, capsysbinary)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where commands run: two files of Examples, and a schema that Arrow has."""
    monkeypatch.chdir(tmp_path)
    write("a", tf.encode_examples({"n": [1, 2, 3]}))
    write("b", tf.encode_examples({"n": [4]}))
    parquet_module = pytest.importorskip("pyarrow.parquet")
    parquet_module.write_table(pa.table({"n": [1]}), "s.parquet")
    return tmp_path


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "convert a out.csv --schema s.parquet",
            "--schema s.parquet requires a Parquet or Arrow output, but the output is csv",
        ),
        (
            "convert a out.csv --cast text",
            "--cast requires a Parquet, Arrow or ORC input",
        ),
        ("convert a out.csv --nan null", "--nan requires a JSON lines output, but out.csv will be csv"),
        (
            "convert a out.csv --strings",
            "--types, --schema, --strings and --delimiter require a CSV input",
        ),
        (
            "convert a s.parquet out.jsonl",
            "inputs of several formats (parquet, tfrecord): convert each format by itself",
        ),
        (
            "convert a out.parquet --schema a.arrow",
            "Failed to open local file 'a.arrow'. Detail: [errno 2] No such file",
        ),
        ("convert gone.jsonl out.tfrecord", "gone.jsonl: No such file or directory"),
        ("merge a out.csv", "out.csv: this command writes only TFRecord; `tfrecord-fast convert` writes others"),
        ("merge a a", "a: the output is also an input; use --in-place to replace it"),
        ("merge a .", ".: the output is a folder; pass the name of a file"),
        ("merge a no/", "no/: the output is a folder; pass the name of a file"),
        ("repair a --in-place --report a", "a: the report would replace the input"),
        ("repair a out --report out", "out: the report and the output have the same name"),
        ("repair a", "missing output: pass OUT, or --in-place to replace the input"),
    ],
)
def test_what_can_not_be_done_is_told(folder, run, line, said):
    before = sorted(os.listdir())
    status, out, err = run(*line.split())
    assert (status, out) == (2, "") and err.startswith(f"tfrecord-fast: {said}") and len(err.splitlines()) == 1
    assert sorted(os.listdir()) == before and read("a") == tf.encode_examples({"n": [1, 2, 3]}).tolist()


def test_a_schema_that_can_not_be_read_is_told(folder, run):
    open("s.arrow", "wb").write(b"no arrow at all")
    open("t.parquet", "wb").write(b"no parquet at all")
    for name in ("s.arrow", "t.parquet"):
        status, _, err = run("convert", "a", "out.parquet", "--schema", name)
        assert status == 2 and err.startswith(f"tfrecord-fast: {name}: cannot read the schema: ")


def test_columns_that_are_in_the_schema_only_are_null(folder, run):
    module = pytest.importorskip("pyarrow.parquet")
    schema = pa.schema({"gone": pa.string(), "n": pa.int8()})
    module.write_table(schema.empty_table(), "s.parquet")
    assert run("convert", "a", "out.parquet", "--schema", "s.parquet") == (0, "", "")
    made = module.read_table("out.parquet")
    assert made.schema.equals(schema) and made.to_pydict() == {"gone": [None] * 3, "n": [1, 2, 3]}
    assert casts._as_type(pa.nulls(2), pa.date32()).equals(pa.nulls(2, pa.date32()))
    module.write_table(pa.table({"m": [1]}), "s.parquet")
    said = "out.parquet: feature 'n' is not in the schema"
    status, _, err = run("convert", "a", "out.parquet", "--schema", "s.parquet")
    assert status == 2 and err.startswith("tfrecord-fast: ") and err.endswith(f"{said}\n")


def test_a_decimal_of_many_digits_is_no_integer(folder, run):
    import decimal

    module = pytest.importorskip("pyarrow.parquet")
    for digits, fits in (("92233720368547758.07", True), ("92233720368547758.08", False)):
        table = pa.table({"d": pa.array([decimal.Decimal(digits), None], pa.decimal128(25, 2))})
        module.write_table(table, "d.parquet")
        status, _, err = run("convert", "d.parquet", "out.tfrecord", "--cast", "int")
        if fits:
            assert (status, err) == (0, "") and read("out.tfrecord")[0] == tf.encode_examples({"d": [2**63 - 1]})[0]
        else:
            said = "a decimal exceeds int64; use --cast text"
            assert (status, err) == (2, f"tfrecord-fast: d.parquet: column 'd': {said}\n")


# ---- Arguments ----


@pytest.mark.parametrize(
    ("make", "good", "bad"),
    [
        (count_of, {"1": 1, "20": 20}, ["0", "-1", "x", "", "1.5"]),
        (seed_of, {"0": 0, str(2**64 - 1): 2**64 - 1}, ["-1", str(2**64), "x"]),
        (
            size_of,
            {"1": 1, "1000": 1000, "256MB": 256 * 10**6, "1.5GiB": 3 << 29, "2 kb": 2000, "1Ki": 1024, "1t": 10**12}
            | {"3Mi": 3 << 20, "1TiB": 1 << 40, "7b": 7, "1.9": 1},
            ["0", "0.5", "x", "1x", "-1", "1i", "MB", ""],
        ),
    ],
)
def test_numbers_of_arguments(make, good, bad):
    assert {text: make(text) for text in good} == good
    for text in bad:
        with pytest.raises(Exception, match="expected a number ") as error:
            make(text)
        assert repr(text) in str(error.value)


def test_fractions_are_exact():
    assert [str(fraction_of(text)) for text in ("8", "0.1", "1/3", "1e0")] == ["8", "1/10", "1/3", "1"]
    for text in ("1/0", "x", "1e999", ""):
        with pytest.raises(ValueError):
            fraction_of(text)
    assert [counted(1), counted(1000), counted(0, "part")] == ["1 record", "1,000 records", "0 parts"]


@pytest.mark.parametrize("command", ["cat", "sample"])
def test_a_number_of_records_is_one(run, command):
    line = ["cat", "a"] if command == "cat" else ["sample", "a", "b"]
    status, _, err = run(*line, "-n", "x")
    assert status == 2 and err.endswith("expected a number of records, got 'x'\n")


def test_options_of_stores_have_names_and_values(run):
    assert arguments._storage_option("part_bytes=5") == ("part_bytes", 5)
    assert arguments._storage_option("a=b=c") == ("a", "b=c") and arguments._storage_option("x=5") == ("x", "5")
    assert arguments._storage_option("part_bytes=x") == ("part_bytes", "x") and arguments._storage_option("t=TRUE") == (
        "t",
        True,
    )
    assert arguments._storage_option("f=false") == ("f", False) and arguments._storage_option("e=") == ("e", "")
    for text in ("secret", "=secret"):
        status, _, err = run("cat", "a", "--storage-option", text)
        assert status == 2 and "expected NAME=VALUE" in err and "secret" not in err


def test_a_folder_is_no_file(tmp_path):
    file = files.CoreFile(bytes(tmp_path))
    with pytest.raises(IsADirectoryError) as error:
        files.open_input(file, "auto")
    assert error.value.filename == str(tmp_path) and error.value.strerror == "Is a directory"


def test_work_on_files_ends_when_the_command_is_interrupted(monkeypatch):
    monkeypatch.setattr(files, "default_threads", lambda: 2)
    ended, begun = [], threading.Event()

    def work(file, spare_threads, checkpoint):
        if file == "a":
            begun.wait(20)
            raise KeyboardInterrupt
        begun.set()
        try:
            while True:
                checkpoint()
        except files.Cancelled:
            ended.append(file)
            raise

    with pytest.raises(KeyboardInterrupt):
        list(files.for_each_file(["a", "b"], work))
    for thread in threading.enumerate():
        if thread.name.startswith("tfrecord_fast files"):
            thread.join(20)
    assert ended == ["b"]


# ---- cat ----


def test_raw_records_are_on_lines(folder, run):
    write("words", [b"one", b"", b"two"])
    assert run("cat", "words", "--raw") == (0, "one\n\ntwo\n", "")
    assert run("cat", "words", "--as", "raw", "-n", 1) == (0, "one\n", "")
    assert run("cat", "words", "words", "-n", 4, "--raw") == (0, "one\n\ntwo\none\n", "")
    assert run("cat", "words", "gone", "-n", 3, "--raw")[1] == "one\n\ntwo\n"  # no more are looked at
    assert run("cat", "words", "-n", 0) == (0, "", "")


def test_many_messages_are_cut_short(folder):
    shower = Shower(Style(False))
    items = [{"n": i} for i in range(1000)]
    lines = list(shower._messages(items, "  "))
    assert lines[0] == "  [0] n 0" and lines[-1] == f"  … {1000 - (len(lines) - 1):,} more"
    assert len(list(shower._messages(items[: len(lines) - 1], ""))) == len(lines) - 1


# ---- schema ----


def test_images_and_bytes_are_known_to_tfds(folder, run):
    image = pytest.importorskip("PIL.Image")
    out = io.BytesIO()
    image.new("RGB", (2, 2)).save(out, "JPEG")
    features = {"i": out.getvalue(), "b": b"\xff\xff", "t": b"words", "g": b"GIF89a\1\0\1\0\xff"}
    entries = [(key.encode(), wire.feature("bytes", [value])) for key, value in features.items()]
    write("c", [wire.example(entries)])
    status, out, err = run("schema", "c", "--format", "tfds")
    assert (status, err) == (0, "") and out == (
        "features = tfds.features.FeaturesDict({\n"
        "    'b': tfds.features.Tensor(shape=(), dtype=np.object_),\n"
        "    'g': tfds.features.Tensor(shape=(), dtype=np.object_),\n"
        "    'i': tfds.features.Image(encoding_format='jpeg'),\n"
        "    't': tfds.features.Text(),\n"
        "})\n"
    )


def test_a_schema_that_needs_what_is_not_installed(folder, run, monkeypatch):
    def refuse(survey):
        raise ImportError("it needs this")

    monkeypatch.setitem(schema_formats.FORMATS, "arrow", refuse)
    assert run("schema", "a", "--format", "arrow") == (2, "", "tfrecord-fast: it needs this\n")


def test_the_later_file_says_what_the_first_does_not_know():
    one = surveys._core.FeatureSurvey()
    one.add(surveys._core.record_batch([wire.example([(b"a", b""), (b"b", wire.feature("int64", [1]))])]))
    two = surveys._core.FeatureSurvey()
    two.add(surveys._core.record_batch([wire.example([(b"a", wire.feature("float", [1])), (b"b", b""), (b"c", b"")])]))
    made = [surveys.Summary(*surveys._parts(part)) for part in one.features()]
    other = [surveys.Summary(*surveys._parts(part)) for part in two.features()]
    for pair in ((made, other), (other, made)):
        merged = surveys._merged(*pair, is_list=False)
        assert [(part.key, part.kind) for part in merged] == [(b"a", "float"), (b"b", "int64"), (b"c", "none")]


# ---- shuffle ----


@pytest.mark.parametrize(
    ("output", "temp", "expected"),
    [
        ("out", None, "HERE"),
        ("sub/out", None, "HERE/sub"),
        ("out", "/somewhere", "/somewhere"),
        ("-", "/somewhere", "/somewhere"),
        ("-", None, "TEMP"),
        ("memory://x/out", None, "TEMP"),
        ("/dev/null", None, "TEMP"),
        ("a", None, "HERE"),
    ],
)
def test_temporary_files_are_beside_the_output(folder, output, temp, expected):
    os.mkdir("sub")
    expected = expected.replace("HERE", os.path.realpath(folder)).replace("TEMP", tempfile.gettempdir())
    assert shuffle._folder(types.SimpleNamespace(output=output, temp=temp)) == expected


# ---- bench ----


class Harness:
    """Stands in for benchmarks.__main__."""

    def __init__(self, error=None):
        self.error, self.calls = error, []

    def main(self, argv, prog):
        self.calls.append((argv, prog))
        if self.error:
            raise self.error
        return 1


@pytest.fixture
def harness(monkeypatch):
    made = Harness()
    monkeypatch.setattr(bench, "importlib", types.SimpleNamespace(import_module=lambda name: {bench_main: made}[name]))
    bench_main = "benchmarks.__main__"
    monkeypatch.setattr(bench, "_importable", lambda module: True)
    monkeypatch.setattr(bench.sys, "path", ["first"])
    return made


def test_bench_runs_the_harness_that_is_there(harness, monkeypatch, tmp_path):
    monkeypatch.setattr(bench, "home", lambda package: tmp_path)
    args = types.SimpleNamespace(arguments=["--quick"])
    assert bench.run(args, Console()) == 1 and main(["bench", "x"]) == 1
    assert harness.calls == [(["--quick"], "tfrecord-fast bench"), (["x"], "tfrecord-fast bench")]
    assert bench.sys.path == [str(tmp_path), "first"]
    harness.error = BrokenPipeError()
    with pytest.raises(OutputClosed):
        bench.forward([], Console())


def test_bench_says_what_is_missing(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(bench, "home", lambda package: None)
    assert main(["bench"]) == 2
    said = "the benchmark harness is missing: install a wheel, or run this in a checkout"
    assert capsys.readouterr().err == f"tfrecord-fast: {said}\n"
    monkeypatch.setattr(bench, "home", lambda package: tmp_path)
    monkeypatch.setattr(bench, "_importable", lambda module: False)
    assert main(["bench"]) == 2
    said = "bench needs google-crc32c and protobuf: pip install 'tfrecord_fast[bench]'"
    assert capsys.readouterr().err == f"tfrecord-fast: {said}\n"


def test_the_harness_is_in_the_package_or_beside_it(tmp_path):
    package = tmp_path / "tfrecord_fast"
    assert bench.home(package) is None
    (tmp_path / "benchmarks").mkdir()
    (tmp_path / "benchmarks" / "__main__.py").touch()
    assert bench.home(package) is None  # any package's folder
    (tmp_path / "csrc").mkdir()
    assert bench.home(package) == tmp_path
    (package / "_bench" / "benchmarks").mkdir(parents=True)
    assert bench.home(package) == tmp_path
    (package / "_bench" / "benchmarks" / "__main__.py").touch()
    assert bench.home(package) == package / "_bench"
    (package / "_bench" / "benchmarks" / "__main__.py").unlink()
    (tmp_path / "benchmarks" / "__main__.py").unlink()
    assert bench.home(package) is None


def test_modules_of_packages_that_are_not_there():
    assert bench._importable("json") and bench._importable("os.path")
    assert not bench._importable("no_such_package") and not bench._importable("no_such_package.module")


# ---- Files of other formats ----


def test_a_csv_file_ends_with_a_row_of_ours():
    def ended():
        return csv_files._Ended(io.BytesIO(b"abcdef"), b"END")

    assert ended().readable() and ended().read() == b"abcdefEND" and ended().read(None) == b"abcdefEND"
    file = ended()
    assert [file.read(size) for size in (4, 0, 4, 0, 5, 5)] == [b"abcd", b"", b"efEN", b"", b"D", b""]
    assert ended().read(100) == b"abcdefEND" and ended().read(9) == b"abcdefEND" and ended().read(8) == b"abcdefEN"


def test_a_file_of_orc_keeps_its_first_fault():
    class Broken:
        calls = 0

        def write(self, data):
            self.calls += 1
            if self.calls > 1:
                raise OSError(28, f"number {self.calls}")

        def flush(self):
            self.calls += 10

    broken = Broken()
    file = orc._Patient(broken)
    assert file.write(b"abc") == 3 and not file.closed
    file.flush()
    file.check()
    assert (broken.calls, file.write(b"de"), file.write(b"f"), broken.calls) == (11, 2, 1, 12)
    file.flush()
    file.close()
    assert broken.calls == 12
    with pytest.raises(OSError, match="number 12"):
        file.check()


def test_a_file_of_arrow_knows_where_it_is():
    given = io.BytesIO()
    file = parquet._Counted(given)
    assert file.writable() and file.tell() == 0
    assert (file.write(b"abc"), file.write(memoryview(b"de")), file.tell()) == (3, 2, 5)
    assert given.getvalue() == b"abcde"


def test_row_groups_are_written_when_they_are_large_enough(folder, run, monkeypatch):
    module = pytest.importorskip("pyarrow.parquet")
    write("many", tf.encode_examples({"n": np.arange(10_000)}))
    assert run("convert", "many", "one.parquet")[0] == 0
    with monkeypatch.context() as patched:
        patched.setattr(parquet, "_GROUP_ROWS", 1)
        assert run("convert", "many", "rows.parquet")[0] == 0
    monkeypatch.setattr(parquet, "_GROUP_BYTES", 1)
    assert run("convert", "many", "bytes.parquet")[0] == 0
    groups = [module.ParquetFile(f"{name}.parquet").num_row_groups for name in ("one", "rows", "bytes")]
    assert groups[0] == 1 and groups[1] == groups[2]
    for name in ("one", "rows", "bytes"):
        assert module.read_table(f"{name}.parquet").column("n").to_pylist() == list(range(10_000))


def test_formats_say_themselves_how_they_are_read_and_written():
    source, sink = base.Source([]), base.RowSink("out", "", None)
    for call in (
        lambda: source.batches_of("in"),
        lambda: sink.writing("out").__enter__(),
        lambda: sink.write_rows(None, {}),
        lambda: parquet.ArrowSink("out", "", None).write_arrow(None),
    ):
        with pytest.raises(NotImplementedError):
            call()
    with pytest.raises(base.Unsuitable, match="out: this format does not support ZSTD"):
        base.RowSink("out", "ZSTD", None)


def test_integers_that_a_float32_holds():
    held = [0, 1, -5, 2**24, -(2**24), 2**24 + 2, 3 * 2**50, 2**127, -(2**127), (2**24 - 1) << 104]
    lost = [2**24 + 1, -(2**24) - 1, 2**25 + 2, 2**128, 2**53 + 1, -(2**128)]
    assert all(map(base.is_float32, held)) and not any(map(base.is_float32, lost))
    assert all(float(np.float32(one)) == one for one in held)


def test_json_of_standard_output(folder, run):
    assert run("convert", "b", "-", "--to", "jsonl")[0] == 0
    assert json.loads(run("cat", "b", "--json")[1])["features"] == {"n": [4]}


def test_sides_whose_files_have_one_name_are_refused(folder, run):
    line = ["split", "a", "--ratio", "1:1", "--names", "x,x1", "--shards", "12", "-o", "{name}{shard:d}"]
    said = "{name}{shard:d}: several files would get the same name"
    assert run(*line) == (2, "", f"tfrecord-fast: {said}\n") and sorted(os.listdir()) == ["a", "b", "s.parquet"]


class Changing:
    """Records that are more each time they are read."""

    def __init__(self):
        self.calls = 0

    def batches(self):
        self.calls += 1
        yield base._core.record_batch([b"x"] * 3 * self.calls)


def test_files_that_change_between_two_readings_are_told(folder, run, monkeypatch):
    write("z", [b"x"] * 3, "GZIP")
    source = Changing()
    monkeypatch.setattr(sample, "source_of", lambda files, args: source)
    said = "the files changed while being read: 3 records first, then 6"
    assert run("sample", "z", "out", "-n", 2) == (2, "", f"tfrecord-fast: {said}\n")
    source = Changing()
    monkeypatch.setattr(split, "source_of", lambda files, args: source)
    said = "the files changed while being read: they have 6 records now"
    assert run("split", "z", "--into", 2, "-o", "out") == (2, "", f"tfrecord-fast: {said}\n")
    assert sorted(os.listdir()) == ["a", "b", "s.parquet", "z"]


def test_what_is_not_there_shows_when_it_is_opened(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    regular = [
        base._is_regular(os.fsencode(path)) for path in (__file__, tmp_path / "gone", tmp_path / "fifo", tmp_path)
    ]
    assert regular == [True, True, False, False]


def test_a_level_that_no_compression_has(folder, run):
    for level in ("99999999999999999999", "-99999999999999999999"):
        status, _, err = run("merge", "a", "out", "--compression", "gzip", f"--level={level}")
        assert status == 2 and err == f"tfrecord-fast: compression_level is out of range: {level}\n"
