"""tfrecord-fast merge, and what all commands share that copy records: outputs, refusals, damage."""

import json
import os
import signal
import stat
import subprocess
import tempfile
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support.command import COMMAND, interruptible
from tests.support.copying import COMPRESSIONS, names, quiet, read, records, run_fixture, run_json_fixture, write  # noqa: F401
from tests.support.other_files import LFS
from tests.support.paths import REAL_FILES, ROOT
from tests.support.real_files import manifest

COPYING = {  # command lines that copy all records, or some
    "merge": [],
    "shuffle": ["--seed", "1"],
    "sample": ["--fraction", "0.5"],
    "dedup": [],
}


@pytest.fixture(params=COPYING)
def copying(request):
    """A function of inputs and an output that gives a command line."""
    return lambda *paths: [request.param, *paths, *COPYING[request.param]]


# ---- merge ----


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(records, st.sampled_from(COMPRESSIONS)), min_size=1, max_size=4), st.sampled_from(COMPRESSIONS)
)
def test_all_records_come_in_the_order_of_the_inputs(parts, compression):
    with tempfile.TemporaryDirectory() as folder:
        paths = [write(f"{folder}/{i}", part, kind) for i, (part, kind) in enumerate(parts)]
        assert quiet("merge", *paths, f"{folder}/out", "--compression", compression.lower() or "none") == 0
        with open(f"{folder}/out", "rb") as file:
            assert tf._core.detect_compression(file.read(128)) == compression or not read(f"{folder}/out")
        assert read(f"{folder}/out") == [record for part, _ in parts for record in part]


def test_an_input_may_come_twice(tmp_path, run):
    path = write(tmp_path / "a", [b"x", b"y"])
    assert run("merge", path, path, tmp_path / "out.tfrecord")[0] == 0
    assert read(tmp_path / "out.tfrecord") == [b"x", b"y"] * 2


def test_shards_hold_record_i_mod_n(tmp_path, run_json):
    write(tmp_path / "a", [b"%d" % i for i in range(10)])
    [done] = run_json("merge", tmp_path / "a", tmp_path / "x-{shard}.tfrecord", "--shards", 3)
    assert [file["records"] for file in done["files"]] == [4, 3, 3]
    assert read(tmp_path / "x-00001.tfrecord") == [b"1", b"4", b"7"]


def test_counts_are_printed(tmp_path, run):
    write(tmp_path / "a", [b"x", b"y"])
    assert run("merge", tmp_path / "a", tmp_path / "out") == (0, f"{tmp_path}/out: 2 records of 1 file\n", "")


# ---- All of them ----


@pytest.mark.parametrize("kind", COMPRESSIONS)
@pytest.mark.parametrize("extension", ["", ".gz", ".zst", ".snappy"])
def test_any_compression_in_and_out(tmp_path, run, copying, kind, extension):
    given = [b"%d" % i for i in range(100)]
    write(tmp_path / "in", given, kind)
    out = tmp_path / f"out.tfrecord{extension}"
    assert run(*copying(tmp_path / "in", out))[0] == 0
    assert set(read(out)) <= set(given) and len(read(out)) in (50, 100)
    detected = tf._core.detect_compression(out.read_bytes()[:128])
    assert detected == {"": "", ".gz": "GZIP", ".zst": "ZSTD", ".snappy": "SNAPPY"}[extension]


def test_an_empty_input_gives_an_empty_output(tmp_path, run, copying):
    (tmp_path / "in").touch()
    assert run(*copying(tmp_path / "in", tmp_path / "out"))[0] == 0
    assert read(tmp_path / "out") == []


def test_records_of_no_bytes_are_records(tmp_path, run):
    write(tmp_path / "in", [b""] * 5)
    assert run("merge", tmp_path / "in", tmp_path / "out")[0] == 0
    assert run("shuffle", tmp_path / "in", tmp_path / "out2")[0] == 0
    assert read(tmp_path / "out") == read(tmp_path / "out2") == [b""] * 5


@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_damage_is_an_error_and_nothing_is_written(tmp_path, run, copying, kind):
    path = write(tmp_path / "in", [os.urandom(100) for i in range(1000)], kind)
    with open(path, "r+b") as file:
        file.seek(0, 2)
        file.seek(file.tell() // 2 - 8)
        file.write(b"\xff" * 16)
    status, out, err = run(*copying(path, tmp_path / "out"))
    assert (status, out) == (1, "") and path in err
    assert names(tmp_path) == ["in"]


def test_a_cut_file_is_an_error(tmp_path, run, copying):
    path = write(tmp_path / "in", [b"x" * 100] * 10)
    os.truncate(path, 1000)
    assert run(*copying(path, tmp_path / "out"))[0] == 1
    assert names(tmp_path) == ["in"]


def test_what_is_no_tfrecord_file_is_named(tmp_path, run, copying):
    (tmp_path / "in").write_text(LFS)
    status, _, err = run(*copying(tmp_path / "in", tmp_path / "out"))
    assert status == 2 and "Git LFS pointer" in err and names(tmp_path) == ["in"]


def test_a_missing_input_is_usage(tmp_path, run, copying):
    status, _, err = run(*copying(tmp_path / "none", tmp_path / "out"))
    assert status == 2 and "none: No such file" in err and names(tmp_path) == []


def test_a_missing_folder_is_named(tmp_path, run, copying):
    write(tmp_path / "in", [b"x"])
    status, _, err = run(*copying(tmp_path / "in", tmp_path / "no" / "out"))
    assert status == 2 and f"{tmp_path}/no/out: no folder" in err


@pytest.mark.parametrize("how", ["same", "link", "hard", "dots"])
def test_an_output_among_the_inputs_is_refused(tmp_path, run, copying, how):
    path = write(tmp_path / "in", [b"x"])
    other = tmp_path / "other"
    if how == "link":
        other.symlink_to("in")
    elif how == "hard":
        os.link(path, other)
    out = {"same": path, "dots": f"{tmp_path}/./in"}.get(how, other)
    before = names(tmp_path)
    status, _, err = run(*copying(path, out))
    assert status == 2 and "an input" in err and names(tmp_path) == before and read(path) == [b"x"]


def test_in_place_replaces_an_input(tmp_path, run):
    path = write(tmp_path / "in", [b"x", b"x", b"y"])
    assert run("dedup", path, path, "--in-place")[0] == 0
    assert read(path) == [b"x", b"y"] and names(tmp_path) == ["in"]


def test_a_folder_is_no_output(tmp_path, run, copying):
    path = write(tmp_path / "in", [b"x"])
    (tmp_path / "folder").mkdir()
    for out in (tmp_path / "folder", f"{tmp_path}/folder/"):
        status, _, err = run(*copying(path, out))
        assert status == 2 and "is a folder" in err
    assert "has no name" in run(*copying(path, ""))[2]


@pytest.mark.parametrize("name", ["out.csv", "out.parquet", "out.jsonl.gz"])
def test_names_of_other_formats_are_refused(tmp_path, run, copying, name):
    path = write(tmp_path / "in", [b"x"])
    status, _, err = run(*copying(path, tmp_path / name))
    assert status == 2 and "convert" in err and names(tmp_path) == ["in"]


def test_a_nul_in_a_name_is_an_error(tmp_path, run, copying):
    path = write(tmp_path / "in", [b"x"])
    status, _, err = run(*copying(path, f"{tmp_path}/o\0ut"))
    assert status == 2 and "NUL" in err
    assert run(*copying(f"{tmp_path}/i\0n", tmp_path / "out"))[0] == 2


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path, run):
    write(tmp_path / "in", [b"x"])
    write(tmp_path / "real", [b"old"])
    (tmp_path / "link").symlink_to("real")
    assert run("merge", tmp_path / "in", tmp_path / "link")[0] == 0
    assert (tmp_path / "link").is_symlink() and read(tmp_path / "real") == [b"x"]


def test_a_pipe_is_written_to_and_stays(tmp_path, run, copying):
    write(tmp_path / "in", [b"%d" % i for i in range(10)])
    os.mkfifo(tmp_path / "pipe")
    got = []
    thread = threading.Thread(target=lambda: got.append((tmp_path / "pipe").read_bytes()))
    thread.start()
    assert run(*copying(tmp_path / "in", tmp_path / "pipe"))[0] == 0
    thread.join()
    assert stat.S_ISFIFO(os.stat(tmp_path / "pipe").st_mode)
    (tmp_path / "got").write_bytes(got[0])
    assert len(read(tmp_path / "got")) in (5, 10)


def test_a_device_is_no_file_to_replace(tmp_path, run, copying):
    write(tmp_path / "in", [b"x"])
    assert run(*copying(tmp_path / "in", "/dev/null"))[0] == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_standard_input_to_standard_output(tmp_path, copying):
    given = [b"%d" % i for i in range(100)]
    path = write(tmp_path / "in", given)
    line = copying("-", "-")
    if line[0] == "sample":
        line = ["sample", "-", "-", "-n", "50"]
    done = subprocess.run([*COMMAND, *line], stdin=open(path, "rb"), capture_output=True, check=True)
    (tmp_path / "out").write_bytes(done.stdout)
    assert set(read(tmp_path / "out")) <= set(given) and len(read(tmp_path / "out")) in (50, 100)
    assert b"records" in done.stderr


def test_json_has_no_place_on_a_taken_standard_output(tmp_path, run, copying):
    status, out, err = run(*copying(write(tmp_path / "in", [b"x"]), "-"), "--json")
    assert (status, out) == (2, "") and "--json" in err


@pytest.mark.parametrize(
    ("shell", "status", "said"),
    [
        ("merge in out >&-", 2, "standard output: it is closed"),
        ("merge in - >&-", 2, "standard output: Bad file descriptor"),
        ("merge - out <&-", 2, "Bad file descriptor"),
        ("merge in out 2>&-", 0, ""),
        ("merge in none/out 2>&-", 2, ""),
        ("merge in - > /dev/full", 2, "standard output: No space left on device"),
        ("merge in out > /dev/full", 2, "standard output: No space left on device"),
        ("merge in /dev/full", 2, "/dev/full: write: No space left on device"),
        ("merge - - < in >> in", 2, "standard output is also an input"),
        ("dedup - in < in", 2, "an input"),
    ],
)
def test_streams_that_are_closed_or_full(tmp_path, shell, status, said):
    given_records = [b"x" * 1000] * 1000
    path = write(tmp_path / "in", given_records)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    line = f"{' '.join(COMMAND)} {shell}"
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True)
    assert done.returncode == status and said in done.stderr and "Traceback" not in done.stderr
    assert read(path) == given_records and names(tmp_path) in (["in"], ["in", "out"])
    assert names(tmp_path) == ["in"] or read(tmp_path / "out") == given_records


def test_what_nobody_reads_ends_silently(tmp_path):
    path = write(tmp_path / "in", [b"x" * 10_000] * 1000)
    command = " ".join([*COMMAND, "merge", path, "-"])
    done = subprocess.run(["bash", "-c", f"{command} | head -c 1; exit ${{PIPESTATUS[0]}}"], capture_output=True)
    assert done.returncode == 128 + signal.SIGPIPE and done.stderr == b""


@pytest.mark.parametrize("name", [*COPYING, "split", "repair"])
def test_a_full_disk_leaves_nothing(tmp_path, name):
    path = write(tmp_path / "in", [os.urandom(1000) for _ in range(4000)])
    line = {"split": ["split", path, "--records", "3500", "-o", "out"], "repair": ["repair", path, "out"]}.get(name)
    line = line or [name, path, "out", *COPYING[name]]
    code = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20));"
        "from tfrecord_fast.cli import main; sys.exit(main(sys.argv[1:]))"
    )
    (tmp_path / "here").mkdir()
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(
        [COMMAND[0], "-c", code, *line], cwd=tmp_path / "here", capture_output=True, text=True, env=environment
    )
    assert done.returncode == 2 and "out" in done.stderr and "File too large" in done.stderr
    assert names(tmp_path / "here") == []


@pytest.mark.parametrize("name", COPYING)
def test_ctrl_c_leaves_nothing(tmp_path, name):
    """Its input is a pipe that never ends."""
    os.mkfifo(tmp_path / "pipe")
    how = ["-n", "5"] if name == "sample" else []
    command = [*COMMAND, name, str(tmp_path / "pipe"), str(tmp_path / "out"), *how]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, preexec_fn=interruptible)
    with open(tmp_path / "pipe", "wb") as pipe:
        pipe.write(open(write(tmp_path / "in", [b"x" * 1000] * 1000), "rb").read())
        pipe.flush()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == -signal.SIGINT
    assert names(tmp_path) == ["in", "pipe"] and process.stderr.read() == b""


def test_unseen_options_are_usage(run, copying):
    for wrong in (["--shards", "0"], ["--threads", "0"], ["--compression", "lzma"], ["--shards", "1e3"]):
        assert run(*copying("a", "b"), *wrong)[0] == 2


def test_snappy_has_no_level(tmp_path, run, copying):
    status, _, err = run(*copying(write(tmp_path / "in", [b"x"]), tmp_path / "out.snappy"), "--level", 5)
    assert status == 2 and "SNAPPY" in err and names(tmp_path) == ["in"]


def test_what_a_killed_command_left_is_removed_by_the_next(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    process = subprocess.Popen([*COMMAND, "merge", str(tmp_path / "pipe"), str(tmp_path / "out")])
    with open(tmp_path / "pipe", "wb") as pipe:
        pipe.write(open(write(tmp_path / "in", [b"x" * 1000] * 1000), "rb").read())
        pipe.flush()
        while not any(name.endswith(".tmp") for name in names(tmp_path)):
            time.sleep(0.01)
        process.kill()
        process.wait()
    assert quiet("merge", tmp_path / "in", tmp_path / "out") == 0
    assert names(tmp_path) == ["in", "out", "pipe"]


REAL = [row["file"] for row in manifest()][::12]


@pytest.mark.parametrize("path", REAL)
def test_real_files_pass_or_are_named(tmp_path, run, copying, path):
    path = REAL_FILES / path
    verified = run("verify", path)[0]
    status, _, err = run(*copying(path, tmp_path / "out"))
    assert status == verified
    if status == 0:
        got, given = read(tmp_path / "out"), read(path)
        assert sorted(set(got) - set(given)) == []
        assert len(got) <= len(given)
    else:
        assert str(path) in err and names(tmp_path) == []


def test_a_folder_is_its_files_without_their_indexes(tmp_path, run):
    write(tmp_path / "a.tfrecord", [b"x"])
    write(tmp_path / "b.tfrecord", [b"y"])
    assert run("index", tmp_path)[0] == 0
    assert names(tmp_path) == ["a.tfrecord", "a.tfrecord.idx", "b.tfrecord", "b.tfrecord.idx"]
    assert run("merge", tmp_path, tmp_path / "out")[0] == 0
    assert read(tmp_path / "out") == [b"x", b"y"]
    assert run("verify", tmp_path)[0] == 0


def test_urls_are_read_and_written(tmp_path, run):
    pytest.importorskip("fsspec")
    given_records = [b"%d" % i for i in range(100)]
    here, there = write(tmp_path / "in", given_records), f"memory://copying{os.getpid()}"
    for line in (
        ["merge", here, f"{there}/all"],
        ["shuffle", f"{there}/all", f"{there}/mixed.gz"],
        ["dedup", f"{there}/all", f"{there}/mixed.gz", f"{there}/once"],
        ["sample", f"{there}/once", f"{there}/some", "-n", 10],
        ["split", f"{there}/all", "--size", 200, "-o", f"{there}/cut"],
        ["split", f"{there}/all", "--records", 30, "-o", f"{there}/count-{{shard:d}}"],
        ["split", f"{there}/all", "--ratio", "1:1", "-o", f"{there}/side"],
        ["repair", f"{there}/all", f"{there}/intact"],
        ["index", f"{there}/all"],
        ["index", f"{there}/all", "--check"],
    ):
        assert run(*line)[0] == 0
    assert read(f"{there}/all") == read(f"{there}/once") == read(f"{there}/cut-*") == given_records
    assert sorted(read(f"{there}/mixed.gz")) == sorted(read(f"{there}/side-*")) == sorted(given_records)
    assert len(read(f"{there}/some")) == 10 and read(f"{there}/count-3") == given_records[90:]
    assert read(f"{there}/intact") == given_records
    status, _, err = run("merge", f"{there}/all", f"{there}/all")
    assert status == 2 and "an input" in err


def test_the_summary_is_json(tmp_path, run_json, copying):
    path = write(tmp_path / "in", [b"x", b"y", b"y", b"z"])
    [done] = run_json(*copying(path, tmp_path / "out"))
    assert done["records_read"] == 4 and done["records"] == len(read(tmp_path / "out"))
    assert done["files"][0]["bytes"] == os.path.getsize(tmp_path / "out") and json.dumps(done)
