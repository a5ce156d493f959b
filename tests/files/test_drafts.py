"""Files that appear when they are complete: what they replace, what is written to as it is, what is cleaned up."""

import glob
import os
import re
import signal
import stat
import subprocess
import sys
import threading

import pytest

import tfrecord_fast as tf
from tests.support.paths import ROOT
from tfrecord_fast import _core
from tfrecord_fast.cli import main

DRAFT = re.compile(r"\.(.*)\.(\d+)-(\d+)-([0-9a-f]{16})-\d+\.tmp")
INDEX = tf.RecordIndex([0, 19], [19, 20])


def by_example_writer(path, sync=False):
    with tf.ExampleWriter(path, sync=sync) as writer:
        writer.write({"i": range(10)})


def by_copy(path):
    tf.io.gfile.copy(__file__, path, overwrite=True)


def by_convert(path):
    source = os.path.join(os.path.dirname(path), ".source")
    by_example_writer(source)
    kind = {".jsonl": "jsonl", ".csv": "csv", ".parquet": "parquet"}.get(os.path.splitext(path)[1], "tfrecord")
    status = main(["convert", source, str(path), "--to", kind])
    os.unlink(source)
    assert status == 0


def by_save(path):
    INDEX.save(path)


# How to write a file, and the extension of its name.
WRITES = {
    "ExampleWriter": (by_example_writer, ""),
    "index": (by_save, ".idx"),
    "copy": (by_copy, ".py"),
    "convert": (by_convert, ".tfrecord"),
    "convert jsonl": (by_convert, ".jsonl"),
    "convert csv": (by_convert, ".csv"),
    "convert parquet": (by_convert, ".parquet"),
}


@pytest.fixture(params=WRITES)
def write(request):
    if "csv" in request.param or "parquet" in request.param:
        pytest.importorskip("pyarrow")
    return WRITES[request.param]


@pytest.fixture
def plain(tmp_path, write):
    """What is written to a name that does not exist."""
    by, extension = write
    path = tmp_path / f"plain{extension}"
    by(str(path))
    content = path.read_bytes()
    path.unlink()
    return content


def entries(folder):
    return sorted(os.listdir(folder))


# ---- What is there already ----


def test_a_pipe_is_written_to_and_stays_one(tmp_path, write, plain):
    by, extension = write
    path = str(tmp_path / f"pipe{extension}")
    os.mkfifo(path)
    got = []
    thread = threading.Thread(target=lambda: got.append(open(path, "rb").read()))
    thread.start()
    by(path)
    thread.join(20)
    assert got == [plain] and stat.S_ISFIFO(os.lstat(path).st_mode) and entries(tmp_path) == [f"pipe{extension}"]


def test_a_device_is_written_to_and_stays_one(tmp_path, write):
    by, extension = write
    path = str(tmp_path / f"null{extension}")
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("making a device takes root")
    by(path)
    assert stat.S_ISCHR(os.lstat(path).st_mode) and entries(tmp_path) == [f"null{extension}"]


@pytest.mark.parametrize("relative", [False, True])
@pytest.mark.parametrize("exists", [False, True])
def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path, write, plain, relative, exists):
    by, extension = write
    (tmp_path / "far").mkdir()
    real, link = tmp_path / "far" / f"real{extension}", tmp_path / f"link{extension}"
    if exists:
        real.write_bytes(b"before")
    os.symlink(os.path.relpath(real, tmp_path) if relative else real, tmp_path / "middle")
    os.symlink("middle", link)
    by(str(link))
    assert os.readlink(link) == "middle" and real.read_bytes() == plain
    assert entries(tmp_path / "far") == [real.name]


def test_links_in_a_circle_are_refused(tmp_path, write):
    by, extension = write
    name = str(tmp_path / f"a{extension}")
    os.symlink(name, tmp_path / "b")
    os.symlink("b", name)
    with pytest.raises((OSError, AssertionError)):  # of a command: its status
        by(name)
    assert {entry for entry in entries(tmp_path) if not entry.startswith(".source")} == {f"a{extension}", "b"}


def test_a_link_of_several_steps_to_a_pipe_is_written_to(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    os.symlink("pipe", tmp_path / "link")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    INDEX.save(tmp_path / "link")
    assert os.read(reader, 100) == b"0 19\n19 20\n" and os.path.islink(tmp_path / "link")
    os.close(reader)


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"])
@pytest.mark.parametrize("to", ["pipe", "file"])
def test_standard_output_can_be_named(tmp_path, name, to):
    code = f"import tfrecord_fast as tf; tf.RecordIndex([0, 19], [19, 20]).save({name!r})"
    with open(tmp_path / "out", "w+b") as file:
        done = subprocess.run(
            [sys.executable, "-c", code], stdout=file if to == "file" else subprocess.PIPE, cwd=ROOT, check=True
        )
        assert (file.read() if to == "file" else done.stdout) == b"0 19\n19 20\n"
    assert entries(tmp_path) == ["out"]


def test_two_shards_that_are_one_file_are_refused(tmp_path):
    os.symlink("00001", tmp_path / "00000")
    with pytest.raises(tf.errors.InvalidArgumentError, match="same file"):
        tf.ExampleWriter(tmp_path / "{shard}", num_shards=2)
    assert entries(tmp_path) == ["00000"]


def test_a_file_is_copied_onto_itself(tmp_path):
    tf.io.write_file(tmp_path / "x", b"kept")
    tf.io.gfile.copy(tmp_path / "x", tmp_path / "x", overwrite=True)
    assert tf.io.read_file(tmp_path / "x") == b"kept"


def test_what_can_not_be_copied_leaves_nothing(tmp_path):
    with pytest.raises(FileNotFoundError):
        tf.io.gfile.copy(tmp_path / "none", tmp_path / "x")
    assert entries(tmp_path) == []


# ---- Names ----


def test_a_draft_is_hidden_and_says_whose_it_is(tmp_path):
    writer = tf.ExampleWriter(tmp_path / "x.tfrecord")
    (name,) = entries(tmp_path)
    stem, pid, _, host = DRAFT.fullmatch(name).groups()
    assert (stem, int(pid)) == ("x.tfrecord", os.getpid()) and host != "0" * 16
    writer.abort()


def test_both_languages_give_drafts_the_same_names(tmp_path):
    path = os.fsencode(tmp_path / "x")
    names = [_core.find_target(path).draft for _ in range(2)]
    assert names[0] != names[1]
    assert all(DRAFT.fullmatch(os.path.basename(os.fsdecode(name))) for name in names)


@pytest.mark.parametrize("name", ["x" * 255, "ü" * 127, "x" * 254 + "~"])
def test_a_name_as_long_as_names_can_be_has_a_draft(tmp_path, name):
    by_save(tmp_path / name)
    assert entries(tmp_path) == [name]


def test_no_pattern_of_a_reader_matches_a_draft(tmp_path):
    writer = tf.ExampleWriter(tmp_path / "x-{shard}", num_shards=3)
    for pattern in ("*", "x-*", "x*.tmp", "**", "**/*", "?x*"):
        assert tf.io.gfile.glob(str(tmp_path / pattern)) == glob.glob(str(tmp_path / pattern)), pattern
        with pytest.raises((FileNotFoundError, IsADirectoryError)):
            list(tf.ShardReader(str(tmp_path / pattern)))
    writer.abort()


# ---- What killed processes leave ----

LEAVE = """
import os, signal, sys
from tfrecord_fast import _core
open(_core.find_target(os.fsencode(sys.argv[1])).draft, "wb").close()
if sys.argv[2] == "wait":
    print("there", flush=True)
    sys.stdin.read()
os.kill(os.getpid(), signal.SIGKILL)
"""


def leave(path):
    """The draft of a process that was killed."""
    done = subprocess.run([sys.executable, "-c", LEAVE, str(path), "die"], cwd=ROOT)
    assert done.returncode == -signal.SIGKILL
    (name,) = [name for name in entries(os.path.dirname(path)) if DRAFT.fullmatch(name)]
    return name


def test_the_next_writer_removes_what_a_killed_one_left(tmp_path, write):
    by, extension = write
    path = tmp_path / f"x{extension}"
    leave(path)
    by(str(path))
    assert entries(tmp_path) == [f"x{extension}"]


def test_the_next_writer_through_a_link_removes_what_a_killed_one_left(tmp_path):
    (tmp_path / "far").mkdir()
    os.symlink("far/x", tmp_path / "x")
    leave(tmp_path / "far" / "x")
    by_save(tmp_path / "x")
    assert entries(tmp_path / "far") == ["x"]


def test_each_shard_removes_its_own(tmp_path):
    left = leave(tmp_path / "x-00001")
    with tf.ExampleWriter(tmp_path / "x-{shard}", num_shards=2):
        assert left not in entries(tmp_path)


@pytest.mark.parametrize("other", ["y", "x.y", "xx", "x."])
def test_drafts_of_other_files_stay(tmp_path, other):
    left = leave(tmp_path / other)
    by_save(tmp_path / "x")
    assert left in entries(tmp_path)


def test_the_draft_of_a_living_process_stays(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", LEAVE, str(tmp_path / "x"), "wait"], cwd=ROOT, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:  # fmt: skip
        process.stdout.readline()
        by_save(tmp_path / "x")
        assert len(entries(tmp_path)) == 2
        process.stdin.close()
    by_save(tmp_path / "x")
    assert entries(tmp_path) == ["x"]


def test_a_draft_of_ones_own_process_stays(tmp_path):
    writer = tf.ExampleWriter(tmp_path / "x")
    writer.write({"i": [1]})
    by_save(tmp_path / "x")
    writer.close()
    assert len(list(tf.data.TFRecordDataset(tmp_path / "x"))) == 1


def marked(name, **parts):
    """The name with other parts in its mark."""
    stem, pid, start, host = DRAFT.fullmatch(name).groups()
    given = {"pid": pid, "start": start, "host": host, **parts}
    return f".{stem}.{given['pid']}-{given['start']}-{given['host']}-1.tmp"


def test_a_process_that_has_the_number_of_a_dead_one_is_another(tmp_path):
    left = leave(tmp_path / "x")
    (tmp_path / left).rename(tmp_path / marked(left, pid=os.getpid()))
    by_save(tmp_path / "x")
    assert entries(tmp_path) == ["x"]


@pytest.mark.parametrize("lives", [False, True])
def test_a_process_whose_start_is_unknown_is_dead_if_its_number_is_free(tmp_path, lives):
    draft = leave(tmp_path / "x")
    renamed = marked(draft, start="0", **({"pid": os.getpid()} if lives else {}))
    (tmp_path / draft).rename(tmp_path / renamed)
    by_save(tmp_path / "x")
    assert entries(tmp_path) == ([renamed, "x"] if lives else ["x"])


@pytest.mark.parametrize("parts", [{"host": "0123456789abcdef"}, {"host": "0"}, {"pid": "99999999999999"}, {"pid": ""}])
def test_what_is_not_known_to_be_dead_stays(tmp_path, parts):
    left = leave(tmp_path / "x")
    doubtful = marked(left, **parts)
    (tmp_path / left).rename(tmp_path / doubtful)
    by_save(tmp_path / "x")
    assert entries(tmp_path) == sorted([doubtful, "x"])


@pytest.mark.parametrize("name", [".x.tmp", ".x.1-2.tmp", ".x..tmp", ".x.backup.tmp", ".x.1-2-3-4-5.tmp", ".x.swp"])
def test_files_that_only_look_like_drafts_stay(tmp_path, name):
    (tmp_path / name).write_bytes(b"mine")
    by_save(tmp_path / "x")
    assert (tmp_path / name).read_bytes() == b"mine"
