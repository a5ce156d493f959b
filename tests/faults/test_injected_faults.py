"""System calls and allocations that fail, one at a time: the short form of `python -m tools.faults.inject`."""

import subprocess
import sys

import pytest

import tfrecord_fast as tf
from tests.faults import preload
from tests.support.paths import ROOT

pytestmark = [
    pytest.mark.skipif(not preload.available(), reason="preloads a library that g++ compiles, on Linux"),
    pytest.mark.skipif(bool(tf.build_info()["sanitizers"]), reason="sanitizers have the same calls in their hands"),
]


def run(module, *arguments):
    """(lines about what was wrong, the last line)."""
    command = [sys.executable, "-m", f"tools.faults.{module}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=preload.environment())
    assert done.returncode in (0, 1), done.stderr
    *wrong, last = done.stdout.splitlines()
    return wrong, last


@pytest.fixture(scope="module")
def faults():
    return run("inject", "--short")


def test_many_calls_failed(faults):
    assert int(faults[1].split()[0]) > 400


@pytest.mark.parametrize(
    "kinds",
    [
        "read pread preadv readv",
        "write writev pwrite",
        "open close",
        "rename unlink fsync ftruncate",
        "thread",
        "reads",
        "stat",
        "fstat",
        "mmap malloc",
        "new",
    ],
)
def test_a_call_that_fails_is_reported_and_leaves_nothing_wrong(faults, kinds):
    wrong, _ = faults
    assert [line for line in wrong if line.split()[1] in kinds.split()] == []


@pytest.mark.parametrize(
    "workloads", ["read-plain,read-several", "parse-lists", "index-reads,index-save-link", "write-plain"]
)
def test_each_allocation_may_fail(workloads):
    """All of them: some are pybind11's own, of an object that is half made, and some come just after a file opened."""
    wrong, last = run("inject", "--workloads", workloads, "--kinds", "new")
    assert wrong == []
    assert int(last.split()[0]) > 30


@pytest.fixture(scope="module")
def crashes():
    return run("crash", "--short")


def test_a_writer_that_is_killed_leaves_no_torn_file_and_the_next_one_removes_what_it_left(crashes):
    wrong, last = crashes
    assert wrong == []
    assert int(last.split()[0]) > 50


@pytest.fixture(scope="module")
def synced_calls():
    """What ExampleWriter with sync=True does to its three files, in order: (call, name or names)."""
    lines, last = run("crash", "--log", "shards-plain-sync")
    return [tuple(line.split()) for line in [*lines, last]]


def places(calls, *wanted):
    return [place for place, call in enumerate(calls) if call[: len(wanted)] == wanted]


def test_a_synced_file_is_written_then_synced_then_named(synced_calls):
    renames = [call for call in synced_calls if call[0] == "rename"]
    assert len(renames) == 3
    for rename in renames:
        _, temporary, final = rename
        written = [place for call in ("write", "writev") for place in places(synced_calls, call, temporary)]
        synced = places(synced_calls, "fsync", temporary)
        assert max(written) < max(synced) < synced_calls.index(rename)
        assert not places(synced_calls, "open", final)


def test_the_folder_is_synced_after_the_last_name_is_given(synced_calls):
    assert max(places(synced_calls, "rename")) < max(places(synced_calls, "fsync", "."))


CLOSING = """
import errno, os, sys
import tfrecord_fast as tf
from tests.faults import preload

writer = tf.io.TFRecordWriter(sys.argv[1])
writer.write(b"abc")
faults = preload.Faults()
faults.arm(["close"], 1, preload.FAIL, getattr(errno, sys.argv[2]))
try:
    writer.close()
    print("closed")
except OSError as error:
    print(errno.errorcode[error.errno], error.filename == sys.argv[1])
"""


@pytest.mark.parametrize(("error", "told"), [("EIO", "EIO True\n"), ("EINTR", "closed\n")])
def test_a_file_system_that_refuses_when_a_file_is_closed_is_heard(tmp_path, error, told):
    """As one over the network may: what was written is lost. After EINTR, a file of Linux is closed all the same."""
    command = [sys.executable, "-c", CLOSING, str(tmp_path / "out"), error]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=preload.environment())
    assert done.stdout == told, done.stderr
