"""tfrecord-fast info, cat, verify: what they print, and the status they end with."""

import base64
import functools
import json
import os
import pty
import signal
import subprocess
import sys
import threading

import pytest

import tfrecord_fast as tf
from tests.support.command import COMMAND, interruptible, run_here
from tests.support.paths import ROOT
from tfrecord_fast.cli import files, main
from tfrecord_fast.cli.commands import bench

RECORDS = [b"one", "zwölf".encode(), b"\xff\x00", b""]
SIZES = [3, 6, 2, 0]
FINE = "ok, 4 records (text, opaque bytes)"  # what verify says of them
COMPRESSIONS = ["", "GZIP", "ZLIB", "ZSTD", "SNAPPY"]


def write(path, records=RECORDS, compression=""):
    with tf.io.TFRecordWriter(path, compression) as writer:
        writer.write_batch(records)
    return str(path)


@pytest.fixture
def good(tmp_path):
    return write(tmp_path / "good.tfrecord")


@pytest.fixture
def damaged(tmp_path):
    """A bit of the second record's data is flipped: record 1, at byte 16 + 3."""
    path = write(tmp_path / "damaged.tfrecord")
    data = bytearray(open(path, "rb").read())
    data[19 + 12] ^= 1
    open(path, "wb").write(data)
    return path


@pytest.fixture
def run(capsysbinary):
    return functools.partial(run_here, capsysbinary)


@pytest.fixture
def run_json(run):
    def call(*argv):
        status, out, _ = run(*argv)
        return status, [json.loads(line) for line in out.splitlines()]

    return call


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_info_prints_counts_sizes_and_compression(tmp_path, run_json, compression):
    path = write(tmp_path / "a", compression=compression)
    expected = {
        "path": path,
        "compression": compression,
        "bytes": os.path.getsize(path),
        "records": 4,
        "payload_bytes": sum(SIZES),
        "min_size": 0,
        "mean_size": sum(SIZES) / 4,
        "max_size": 6,
        "kinds": ["text", "opaque bytes"],
        "error": None,
    }
    assert run_json("info", "--json", path) == (0, [expected])


def test_info_of_an_empty_file_has_no_sizes(tmp_path, run_json):
    status, [info] = run_json("info", "--json", write(tmp_path / "a", []))
    assert (status, info["records"], info["min_size"], info["mean_size"], info["max_size"]) == (0, 0, None, None, None)


def test_info_counts_over_many_batches(tmp_path, run_json):
    records = [b"x" * (i % 1000) for i in range(30_000)]
    status, [info] = run_json("info", "--json", write(tmp_path / "a", records))
    assert (status, info["records"], info["payload_bytes"]) == (0, 30_000, sum(map(len, records)))
    assert (info["min_size"], info["max_size"]) == (0, 999)


@pytest.fixture
def table(tmp_path, run, good, monkeypatch):
    """The lines that `info` prints of two files; the second file's path."""
    zipped = write(tmp_path / "zipped.gz", RECORDS[:1], "GZIP")
    monkeypatch.setenv("COLUMNS", "300")
    status, out, _ = run("info", good, zipped)
    assert status == 0
    return out.splitlines(), zipped


def test_info_prints_a_row_per_file_and_a_total(table, good):
    (header, first, second, total), zipped = table
    assert header.split() == ["RECORDS", "SIZE", "MEAN", "CODEC", "KIND", "FILE"]
    assert first.split() == ["4", "75", "B", "3", "B", "none", "text", "+1", good]
    assert second.split() == ["1", str(os.path.getsize(zipped)), "B", "3", "B", "GZIP", "text", zipped]
    size = 75 + os.path.getsize(zipped)
    assert total.split() == ["5", str(size), "B", "3", "B", "mixed", "text", "+1", "2", "files"]


def test_info_fits_80_columns(tmp_path, run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.chdir(tmp_path)
    long = "x" * 35
    for name in ("train-00000-of-00016.tfrecord", long):
        write(name, [b"x" * 100] * 10_000)
    status, out, _ = run("info", "train-00000-of-00016.tfrecord", long)
    _, short, name, row, _ = out.splitlines()
    assert (status, name) == (0, long) and max(map(len, out.splitlines())) <= 80
    assert short == row + "     train-00000-of-00016.tfrecord"
    assert row == "   10,000  1.16 MB    100 B  none    text"
    monkeypatch.setenv("COLUMNS", "81")
    assert run("info", long)[1].splitlines()[1] == row + "     " + long


def test_count_prints_records_per_file_and_in_all(tmp_path, run, run_json, good):
    zipped = write(tmp_path / "zipped.gz", RECORDS[:1], "GZIP")
    assert run("count", good) == (0, f"4 {good}\n", "")
    assert run("count", good, zipped) == (0, f"4 {good}\n1 {zipped}\n5 total\n", "")
    expected = [{"path": path, "records": records, "error": None} for path, records in ((good, 4), (zipped, 1))]
    assert run_json("count", "--json", good, zipped) == (0, expected)


def test_count_of_a_damaged_file_is_of_what_precedes_the_damage(run, run_json, damaged):
    status, out, err = run("count", damaged)
    assert (status, out) == (1, f"1 {damaged}\n") and "corrupted record" in err
    assert run_json("count", "--json", damaged)[1][0]["error"]["record_index"] == 1


def test_count_of_what_can_not_be_read_is_usage(tmp_path, run):
    assert run("count", tmp_path / "gone")[:2] == (2, "")


def test_info_of_a_damaged_file_counts_what_precedes_the_damage(run_json, damaged):
    status, [info] = run_json("info", "--json", damaged)
    assert (status, info["records"], info["payload_bytes"]) == (1, 1, 3)
    assert (info["error"]["record_index"], info["error"]["offset"]) == (1, 19)


def test_verify_passes_good_files(tmp_path, run, good):
    one = write(tmp_path / "one", [b"x"], "ZSTD")
    assert run("verify", good, one) == (0, f"{good}: {FINE}\n{one}: ok, 1 record (text)\n", "")


def test_verify_reports_damage_and_continues(run, good, damaged):
    status, out, _ = run("verify", damaged, good)
    first, second = out.splitlines()
    assert status == 1 and second == f"{good}: {FINE}"
    assert first.startswith(f"{damaged}: DAMAGED after 1 record: ") and first.endswith("(record 1 at byte 19)")


def test_verify_json_tells_of_a_good_file(run_json, good):
    assert run_json("verify", "--json", good) == (
        0,
        [{"path": good, "ok": True, "records": 4, "kinds": ["text", "opaque bytes"], "error": None}],
    )


def test_verify_json_gives_file_record_offset_and_reason(run_json, good, damaged):
    status, [bad, fine] = run_json("verify", "--json", damaged, good)
    assert status == 1 and fine["ok"]
    assert (bad["path"], bad["ok"], bad["records"]) == (damaged, False, 1)
    assert (bad["error"]["record_index"], bad["error"]["offset"]) == (1, 19)
    assert "CRC" in bad["error"]["reason"]


def test_verify_finds_a_cut_gzip_file(tmp_path, run_json):
    path = write(tmp_path / "a.gz", [os.urandom(1000) for _ in range(100)], "GZIP")
    os.truncate(path, os.path.getsize(path) - 1)
    status, [bad] = run_json("verify", "--json", path)
    assert status == 1 and not bad["ok"]


def test_a_missing_file_is_status_2_and_the_rest_is_checked(tmp_path, run, good):
    status, out, err = run("verify", tmp_path / "none", good)
    assert (status, out) == (2, f"{good}: {FINE}\n")
    assert err == f"tfrecord-fast: {tmp_path}/none: No such file or directory\n"


def test_a_folder_without_files_is_status_2(tmp_path, run):
    assert run("info", tmp_path)[::2] == (2, f"tfrecord-fast: {tmp_path}: no files in the folder\n")


def test_a_folder_is_taken_as_its_files(tmp_path, run_json):
    (tmp_path / "data" / "more").mkdir(parents=True)
    (tmp_path / "data" / ".hidden").mkdir()
    paths = [write(tmp_path / "data" / name) for name in ("b.tfrecord-00000-of-00001", "more/a.TFRecord.gz")]
    for other in ("dataset_info.json", "b.idx", ".c.tfrecord", ".hidden/d.tfrecord"):
        (tmp_path / "data" / other).write_text("{}")
    assert [info["path"] for info in run_json("info", "--json", tmp_path / "data")[1]] == paths


def test_a_folder_without_tfrecord_names_is_taken_whole(tmp_path, run_json):
    paths = [write(tmp_path / name) for name in ("part-0", "part-1")]
    assert [info["path"] for info in run_json("info", "--json", tmp_path)[1]] == paths


def test_a_pattern_without_a_match_is_status_2(tmp_path, run):
    assert run("cat", tmp_path / "*.none")[0] == 2


def test_patterns_are_resolved(tmp_path, run_json):
    paths = [write(tmp_path / f"{i}.x") for i in range(3)]
    assert [info["path"] for info in run_json("info", "--json", tmp_path / "?.x")[1]] == paths


@pytest.mark.parametrize("line", ["", "info", "nonsense a", "cat --limit -1 a", "cat --bad a"])
def test_usage_is_status_2(line):
    with pytest.raises(SystemExit) as end:
        main(line.split())
    assert end.value.code == 2


def test_cat_prints_text_as_text_and_bytes_as_base64(run_json, good):
    _, lines = run_json("cat", "--json", good)
    assert [line["data"] for line in lines] == ["one", "zwölf", "/wA=", ""]
    assert [line["encoding"] for line in lines] == ["utf-8", "utf-8", "base64", "utf-8"]


def test_cat_prints_index_and_size(run_json, good):
    status, lines = run_json("cat", "--json", good)
    assert status == 0 and [line["index"] for line in lines] == [0, 1, 2, 3]
    assert [line["size"] for line in lines] == SIZES


def test_cat_base64_encodes_every_record(run_json, good):
    assert [base64.b64decode(line["data"]) for line in run_json("cat", "--json", "--base64", good)[1]] == RECORDS


def test_cat_raw_prints_the_bytes(good):
    out = subprocess.run([*COMMAND, "cat", "--raw", good], capture_output=True, check=True).stdout
    assert out == b"".join(record + b"\n" for record in RECORDS)


def test_cat_limit_counts_over_all_files(run_json, good):
    assert [line["index"] for line in run_json("cat", "--json", "--limit", "6", good, good)[1]] == [0, 1, 2, 3, 0, 1]


def test_cat_names_the_file_if_there_are_several(run_json, good):
    assert [line.get("path") for line in run_json("cat", "--json", "-n", "5", good, good)[1]] == [good] * 5
    assert "path" not in run_json("cat", "--json", good)[1][0]


def test_cat_prints_what_precedes_damage(run, damaged, good):
    status, out, err = run("cat", damaged, good)
    assert status == 1 and len(out.splitlines()) == 1 + 4
    assert err.startswith(f"tfrecord-fast: {damaged}: corrupted record at 19")


def test_compression_can_be_given(tmp_path, run):
    path = write(tmp_path / "a", compression="GZIP")
    assert run("verify", "--compression", "gzip", path)[0] == 0
    assert run("verify", "--compression", "GZIP", path)[0] == 0
    assert run("verify", "--compression", "none", path)[0] == 1


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("command", ["info", "verify", "cat"])
def test_standard_input_is_read(tmp_path, command, compression):
    path = write(tmp_path / "a", compression=compression)
    with open(path, "rb") as file:
        result = subprocess.run([*COMMAND, command, "--json", "-"], stdin=file, capture_output=True, check=True)
    first = json.loads(result.stdout.splitlines()[0])
    assert first.get("records", len(result.stdout.splitlines())) == 4


def test_a_fifo_is_read_once(tmp_path):
    fifo = str(tmp_path / "fifo")
    os.mkfifo(fifo)
    with subprocess.Popen([*COMMAND, "verify", fifo], stdout=subprocess.PIPE) as process:
        write(fifo, compression="GZIP")
        assert process.stdout.read().decode() == f"{fifo}: {FINE}\n"


def test_a_closed_pipe_ends_it_silently(tmp_path):
    path = write(tmp_path / "a", [b"x" * 100] * 100_000)
    with subprocess.Popen([*COMMAND, "cat", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == -signal.SIGPIPE


@pytest.mark.parametrize("others", [0, 2])
def test_an_interrupt_ends_it_silently(tmp_path, good, others):
    fifo = str(tmp_path / "fifo")
    os.mkfifo(fifo)
    command = [*COMMAND, "verify", *[good] * others, fifo]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": interruptible}
    with subprocess.Popen(command, **how) as process:
        with open(fifo, "wb") as writer:
            # The header of a record, and then nothing more: the command waits.
            writer.write(open(good, "rb").read(12))
            writer.flush()
            for _ in range(others):
                process.stdout.readline()
            process.send_signal(signal.SIGINT)
            assert process.stderr.read() == b""
            assert process.wait(timeout=20) == -signal.SIGINT


def test_a_full_disk_under_standard_output_is_status_2(good):
    with open("/dev/full", "wb") as full:
        result = subprocess.run([*COMMAND, "cat", good], stdout=full, stderr=subprocess.PIPE)
    assert result.returncode == 2
    assert result.stderr == b"tfrecord-fast: standard output: No space left on device\n"


def in_a_terminal(command, environment):
    """(status, what it printed, what a terminal at its standard error was shown)."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs, env=environment) as process:
        os.close(theirs)
        shown = b""
        try:
            while more := os.read(ours, 65536):
                shown += more
        except OSError:  # how a terminal says that its other end is closed
            pass
        printed = process.stdout.read().decode()
        status = process.wait()
    os.close(ours)
    return status, printed, shown


@pytest.fixture(params=[True, False], ids=["rich", "plain"])
def slow_enough(request, tmp_path):
    """A command whose progress would be shown from the start on a terminal; its path; its environment."""
    if request.param:
        pytest.importorskip("rich")
    path = write(tmp_path / "a.gz", [os.urandom(1000)] * 20_000, "GZIP")
    code = "import sys\n" if request.param else "import sys; sys.modules['rich'] = None\n"
    code += "import tfrecord_fast.cli.progress as p; p._DELAY_SECONDS = -1\n"
    code += "from tfrecord_fast.cli import main; sys.exit(main(sys.argv[1:]))"
    return [sys.executable, "-c", code, "verify", path], path, {**os.environ, "TERM": "xterm"}


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_progress_counts_every_stored_byte(compression, tmp_path):
    path, seen = tmp_path / "a", []
    with tf.TFRecordWriter(path, compression) as writer:
        for i in range(1000):
            writer.write(b"x" * (i % 7))
    (file,) = files.core_files([str(path)])
    source = files.open_input(file, "auto", seen.append)
    assert sum(len(batch) for batch in files.batches(source, 1, seen.append)) == 1000
    assert sum(seen) == path.stat().st_size


def test_progress_is_shown_on_a_terminal(slow_enough):
    command, path, environment = slow_enough
    status, printed, shown = in_a_terminal(command, environment)
    assert (status, printed) == (0, f"{path}: ok, 20,000 records (opaque bytes)\n")
    assert b"MB" in shown and shown.endswith((b"\x1b[2K", b" \r"))  # the line is empty again


@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_progress_counts_the_bytes_of_an_object_that_are_known(compression):
    """Of a compressed object it is not known how many stored bytes a record took."""
    pytest.importorskip("fsspec")
    url, seen = f"memory://progress/a{compression}", []
    with tf.TFRecordWriter(url, compression) as writer:
        writer.write_batch(RECORDS)
    (file,) = files.core_files([url])
    source = files.open_input(file, "auto", seen.append)
    assert sum(len(batch) for batch in files.batches(source, 1, seen.append)) == len(RECORDS)
    assert sum(seen) == (0 if compression else source.stored_bytes)


def test_files_are_worked_on_side_by_side_and_share_the_threads(monkeypatch):
    monkeypatch.setattr(files, "default_threads", lambda: 5)
    both = threading.Barrier(2)

    def work(file, spare_threads, checkpoint):
        both.wait(20)
        return file, spare_threads

    assert list(files.for_each_file(["a", "b"], work)) == [("a", 1), ("b", 1)]


@pytest.mark.parametrize(("cpus", "names"), [(5, ["a"]), (1, ["a", "b"])])
def test_one_file_at_a_time_is_worked_on_by_the_thread_that_asks(monkeypatch, cpus, names):
    monkeypatch.setattr(files, "default_threads", lambda: cpus)
    done = files.for_each_file(names, lambda file, spare_threads, checkpoint: (threading.get_ident(), spare_threads))
    assert list(done) == [(threading.get_ident(), cpus - 1)] * len(names)


def test_no_progress_is_shown_without_a_terminal(slow_enough):
    command, _, environment = slow_enough
    result = subprocess.run(command, capture_output=True, env=environment)
    assert (result.returncode, result.stderr) == (0, b"")


def test_version_is_the_package_version(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0 and capsys.readouterr().out == f"tfrecord-fast {tf.__version__}\n"


def test_bench_hands_its_arguments_to_the_harness(monkeypatch, capsys):
    pytest.importorskip("google_crc32c")
    pytest.importorskip("google.protobuf")
    monkeypatch.setattr(bench, "home", lambda package: ROOT)
    monkeypatch.setattr(sys, "path", [*sys.path])
    with pytest.raises(SystemExit) as end:
        main(["bench", "--help"])
    assert end.value.code == 0 and capsys.readouterr().out.startswith("usage: tfrecord-fast bench")
