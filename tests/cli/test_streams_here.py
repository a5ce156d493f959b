"""Standard input and output of commands that run in this process: copies, refusals, and how the process would end."""

import contextlib
import io
import json
import os
import signal
import sys
import types

import pytest

import tfrecord_fast as tf
from tests.support.copying import read, write
from tfrecord_fast.cli import app, console

RECORDS = [b"%d" % i for i in range(200)]


@contextlib.contextmanager
def streams(given=os.devnull, out=os.devnull):
    """The numbers 0 and 1 are these files; gives what is written to standard error."""
    kept = [os.dup(0), os.dup(1)]
    before = sys.stdout, sys.stderr
    said = io.StringIO()
    try:
        for number, (path, mode) in enumerate([(given, os.O_RDONLY), (out, os.O_WRONLY | os.O_CREAT)]):
            opened = path if isinstance(path, int) else os.open(path, mode)
            os.dup2(opened, number)
            os.close(opened)
        sys.stdout, sys.stderr = open(1, "w", closefd=False), said
        yield said
    finally:
        sys.stdout, sys.stderr = before
        for number, one in enumerate(kept):
            os.dup2(one, number)
            os.close(one)


def run(*argv, given=os.devnull, out=os.devnull):
    """(status, what standard error got)"""
    with streams(given, out) as said:
        status = app.run([str(one) for one in argv])
    return status, said.getvalue()


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "in", RECORDS)


@pytest.fixture
def rows(tmp_path):
    """A file of Examples."""
    return write(tmp_path / "rows", tf.encode_examples({"n": range(20_000)}).tolist())


@pytest.mark.parametrize(
    ("line", "count"),
    [
        (["merge"], 200),
        (["shuffle"], 200),
        (["dedup"], 200),
        (["repair"], 200),
        (["sample", "-n", "7", "--seed", "3"], 7),
        (["convert", "--to", "tfrecord"], 200),
    ],
)
def test_what_goes_through_is_what_a_file_would_get(tmp_path, path, line, count):
    assert run(line[0], path, tmp_path / "named", *line[1:])[0] == 0
    status, said = run(line[0], "-", "-", *line[1:], given=path, out=tmp_path / "out")
    assert status == 0 and ("standard output" in said or line[0] in ("merge", "convert"))
    assert (tmp_path / "out").read_bytes() == (tmp_path / "named").read_bytes()
    assert len(read(tmp_path / "out")) == count and set(read(tmp_path / "out")) <= set(RECORDS)


def test_a_sample_of_standard_input(tmp_path, path):
    status, said = run("sample", "-", "-", "-n", 7, given=path, out=tmp_path / "out")
    assert (status, said) == (0, "tfrecord-fast: standard output: 7 records of 200 (seed 0)\n")
    status, said = run("sample", "-", tmp_path / "more", "-n", 201, given=path)
    assert (status, said) == (2, "tfrecord-fast: -n 201: the input has only 200 records\n")
    status, said = run("sample", "-", tmp_path / "more", "--fraction", "0.5", given=path)
    why = "--fraction needs to count the records first, which is impossible for standard input and pipes: use -n"
    assert (status, said) == (2, f"tfrecord-fast: {why}\n")
    assert not (tmp_path / "more").exists()


def test_standard_input_is_not_split_by_what_has_to_be_known_first(tmp_path, path):
    status, said = run("split", "-", "-o", tmp_path / "out", "--into", 2, given=path)
    known = "this needs to count the records first, which is impossible for standard input and pipes"
    assert (status, said) == (2, f"tfrecord-fast: {known}\n")
    assert os.listdir(tmp_path) == ["in"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("merge IN - --shards 2", "--shards cannot be used when writing to standard output"),
        ("merge IN - --json", "--json cannot be combined with records on standard output"),
        ("convert IN - --to jsonl --shards 2", "--shards cannot be used when writing to standard output"),
        ("convert IN -", "standard output has no extension: use --to to select its format"),
        ("repair - --in-place", "--in-place cannot replace standard input: pass OUT"),
        ("repair IN out --report -", "--report requires a file name; use --json to print to standard output"),
        ("merge IN out --compression gzip --level 99", None),
    ],
)
def test_what_has_no_place_there_is_refused(tmp_path, path, monkeypatch, line, said):
    monkeypatch.chdir(tmp_path)
    status, got = run(*[path if word == "IN" else word for word in line.split()], given=path)
    assert status == 2 and (got == f"tfrecord-fast: {said}\n" if said else "level" in got and "99" in got)
    assert os.listdir(tmp_path) == ["in"]


@pytest.mark.parametrize("command", [["merge"], ["convert", "--to", "tfrecord"], ["sample", "-n", "3"]])
def test_an_input_is_not_where_standard_output_goes(path, command):
    """`>> in`; but what is no file may be both."""
    name, *options = command
    status, said = run(name, path, "-", *options, out=path)
    assert (status, said) == (2, f"tfrecord-fast: {path}: standard output is also an input\n")
    assert read(path) == RECORDS
    status, said = run(name, "-", "-", *options, given=path, out=path)
    assert (status, said) == (2, "tfrecord-fast: <stdin>: standard output is also an input\n")
    assert read(path) == RECORDS


def test_an_input_that_is_not_there_is_not_taken_for_standard_output(tmp_path):
    status, said = run("merge", tmp_path / "gone", "-", out=tmp_path / "out")
    assert status == 2 and said == f"tfrecord-fast: {tmp_path / 'gone'}: No such file or directory\n"


FULL = "tfrecord-fast: standard output: No space left on device\n"


@pytest.mark.parametrize(
    "line", ["merge IN -", "convert IN - --to tfrecord", "convert IN - --to jsonl", "cat IN", "cat IN --json"]
)
def test_a_full_standard_output(rows, line):
    assert run(*[rows if word == "IN" else word for word in line.split()], out="/dev/full") == (2, FULL)


def test_a_full_standard_output_is_given_up(path):
    """What is buffered can't fail once more when Python exits."""
    with streams(out="/dev/full") as said:
        assert app.run(["cat", path]) == 2
        assert os.path.samestat(os.fstat(1), os.stat(os.devnull))
        os.write(1, b"x")
    assert said.getvalue() == FULL


def test_a_closed_standard_output(path, monkeypatch):
    with streams() as said:
        monkeypatch.setattr(sys, "stdout", None)
        assert app.run(["cat", path]) == 2
    assert said.getvalue() == "tfrecord-fast: standard output: it is closed\n"


@pytest.mark.parametrize("line", ["cat IN", "convert IN - --to jsonl"])
def test_a_pipe_that_nobody_reads(rows, line):
    reader, writer = os.pipe()
    os.close(reader)
    with streams(out=writer) as said, pytest.raises(console.OutputClosed):
        app.run([rows if word == "IN" else word for word in line.split()])
    assert said.getvalue() == ""


def test_an_error_of_the_system_without_words_is_told_by_its_own(monkeypatch):
    class Broken:
        buffer = types.SimpleNamespace(write=lambda data: (_ for _ in ()).throw(OSError("words")))

    monkeypatch.setattr(sys, "stdout", Broken)
    with pytest.raises(console.OutputFailed, match=r"^words$"):
        console.Console().write(b"x")


# ---- How the process ends ----


class Died(BaseException):
    pass


@pytest.fixture
def ends(monkeypatch):
    """What is done to end the process, which goes on."""
    done = []

    def exit_with(status):
        done.append(("exit", status))
        raise Died

    monkeypatch.setattr(app.os, "kill", lambda *those: done.append(("kill", *those)))
    monkeypatch.setattr(app.os, "_exit", exit_with)
    monkeypatch.setattr(app.signal, "signal", lambda *those: done.append(("signal", *those)))
    monkeypatch.setattr(app.signal, "pthread_sigmask", lambda *those: done.append(("mask", *those)))
    return done


@pytest.mark.parametrize(
    ("error", "number"),
    [(KeyboardInterrupt(), signal.SIGINT), (console.OutputClosed(), signal.SIGPIPE)],
)
def test_an_interrupt_and_a_closed_pipe_end_the_process_by_their_signals(monkeypatch, ends, error, number):
    flushed = []
    monkeypatch.setattr(app, "run", lambda argv: (_ for _ in ()).throw(error))
    monkeypatch.setattr(sys, "stderr", types.SimpleNamespace(flush=lambda: flushed.append(list(ends))))
    with pytest.raises(Died):
        app.main(["cat"])
    monkeypatch.undo()
    assert ends == [
        ("signal", number, signal.SIG_DFL),
        ("mask", signal.SIG_UNBLOCK, [number]),
        ("kill", os.getpid(), number),
        ("exit", 128 + number),
    ]
    assert flushed == [[]]


def test_streams_that_are_closed_are_opened_the_other_way_round(monkeypatch):
    """So that no file that is opened later is taken for one of them."""
    opened = []
    fstat = os.fstat

    def closed(number):
        if number < 3:
            raise OSError
        return fstat(number)

    monkeypatch.setattr(app.os, "fstat", closed)
    monkeypatch.setattr(app.os, "open", lambda *those: opened.append(those))
    monkeypatch.setattr(sys, "stderr", None)
    app._fill_closed_streams()
    null = sys.stderr
    monkeypatch.undo()
    assert opened == [(os.devnull, os.O_WRONLY), (os.devnull, os.O_RDONLY), (os.devnull, os.O_RDONLY)]
    assert (null.name, null.mode, null.encoding) == (os.devnull, "w", "utf-8")
    null.close()


def test_streams_that_are_open_stay(monkeypatch):
    opened = []
    monkeypatch.setattr(app.os, "open", lambda *those: opened.append(those))
    before = sys.stderr
    app._fill_closed_streams()
    assert opened == [] and sys.stderr is before


def test_a_page_may_go_to_what_is_no_file(tmp_path):
    """Which can't be replaced."""
    path = write(tmp_path / "in", tf.encode_examples({"n": [1, 2]}).tolist())
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    import fcntl

    fcntl.fcntl(reader, 1031, 1 << 20)  # F_SETPIPE_SZ: so that it takes the page
    assert run("stats", path, "--html", tmp_path / "fifo") == (0, "")
    page = os.read(reader, 1 << 20)
    os.close(reader)
    assert page.startswith(b"<!doctype html>") and page.rstrip().endswith(b"</html>")
    assert sorted(os.listdir(tmp_path)) == ["fifo", "in"]


def test_a_page_that_can_not_be_put_in_its_place_leaves_nothing(tmp_path, monkeypatch):
    path = write(tmp_path / "in", tf.encode_examples({"n": [1, 2]}).tolist())

    def refuse(*those):
        raise OSError(5, "no such luck")

    monkeypatch.setattr(os, "replace", refuse)
    status, said = run("stats", path, "--html", tmp_path / "page")
    monkeypatch.undo()
    assert (status, said) == (2, f"tfrecord-fast: {tmp_path / 'page'}: no such luck\n") and os.listdir(tmp_path) == [
        "in"
    ]


def test_json_of_a_copy_is_one_object(tmp_path, path):
    assert run("merge", path, tmp_path / "copy", "--json", out=tmp_path / "said") == (0, "")
    made = json.loads((tmp_path / "said").read_text())
    size = os.path.getsize(tmp_path / "copy")
    assert made == {
        "records_read": 200,
        "records": 200,
        "payload_bytes": sum(map(len, RECORDS)),
        "files": [{"path": str(tmp_path / "copy"), "records": 200, "bytes": size}],
    }
