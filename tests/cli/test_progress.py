"""Progress bars in this process: when they appear, what they say, and that they are gone when anything is printed."""

import io
import sys
import threading

import pytest

from tfrecord_fast.cli import progress
from tfrecord_fast.cli.console import Console


class Terminal(io.StringIO):
    def isatty(self):
        return True


class Clock:
    """Stands in for the module `time`."""

    now = 100.0

    def monotonic(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(progress, "time", made)
    monkeypatch.setattr(progress, "_PLAIN_INTERVAL_SECONDS", 0.25)
    return made


@pytest.fixture
def plugged(monkeypatch):
    """What a test calls first, since pytest has standard error replaced for each test once more."""

    def plug(stream):
        monkeypatch.setattr(sys, "stderr", stream)
        return stream

    return plug


@pytest.fixture
def without_rich(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.progress", None)


def shown(terminal):
    """What has been shown since the last call."""
    text = terminal.getvalue()
    terminal.seek(0)
    terminal.truncate()
    return text


def test_a_plain_line_appears_after_a_while_and_not_too_often(clock, plugged, without_rich):
    terminal = plugged(Terminal())
    bar = progress.Progress(4_000_000, threading.Lock())
    assert bar.visible
    clock.now = 100.5  # the delay exactly
    bar.advance(1_000_000)
    assert shown(terminal) == ""
    clock.now = 100.75
    bar.advance(1_000_000)
    assert shown(terminal) == "\r2 MB of 4 (50%)"
    clock.now = 100.875
    bar.advance(1_000_000)
    assert shown(terminal) == ""
    clock.now = 101.0
    bar.advance(0)
    assert shown(terminal) == "\r3 MB of 4 (75%)"
    clock.now = 102.0
    bar.advance(5_000_000)
    assert shown(terminal) == "\r8 MB of 4 (100%)"
    clock.now = 102.125
    bar.advance(1)
    assert shown(terminal) == ""


def test_a_plain_line_is_flushed_and_covers_what_was_there(clock, plugged, without_rich, monkeypatch):
    terminal = plugged(Terminal())
    flushed = []
    monkeypatch.setattr(terminal, "flush", lambda: flushed.append(terminal.getvalue()))
    line = progress._display(None)
    line.hide()
    assert (terminal.getvalue(), flushed) == ("", [])  # nothing was there
    for done, text in ((1_234_000_000, "\r1,234 MB"), (5_000_000, "\r5 MB    "), (6_000_000, "\r6 MB")):
        clock.now += 1
        line.show(done)
        assert shown(terminal) == text and flushed.pop() == text
    line.hide()
    assert shown(terminal) == "\r    \r" and flushed.pop() == "\r    \r"
    line.hide()
    assert (shown(terminal), flushed) == ("", [])
    clock.now += 1
    line.show(7_000_000)
    assert shown(terminal) == "\r7 MB"


def test_a_problem_is_printed_where_the_line_was(clock, plugged, without_rich):
    terminal = plugged(Terminal())
    console = Console()
    with console.progress(None) as bar:
        clock.now += 1
        console.problem("before the line")
        assert shown(terminal) == "tfrecord-fast: before the line\n"
        bar.advance(9_000_000)
        assert shown(terminal) == "\r9 MB"
        console.problem("beside it")
        assert shown(terminal) == "\r    \rtfrecord-fast: beside it\n"
        clock.now += 1
        bar.advance(1_000_000)
        assert shown(terminal) == "\r10 MB" and bar.visible
    assert shown(terminal) == "\r     \r" and not bar.visible
    clock.now += 1
    bar.advance(1_000_000)
    console.problem("after it")
    assert shown(terminal) == "tfrecord-fast: after it\n"


def test_results_are_printed_where_the_line_was(clock, plugged, without_rich, capsysbinary):
    terminal = plugged(Terminal())
    console = Console()
    with console.progress(None) as bar:
        clock.now += 1
        bar.advance(9_000_000)
        console.line("result")
        assert shown(terminal) == "\r9 MB\r    \r"
    assert capsysbinary.readouterr().out == b"result\n"


def test_the_lock_is_held_while_a_line_is_shown(clock, plugged, without_rich, monkeypatch):
    terminal = plugged(Terminal())
    lock, held = threading.Lock(), []
    bar = progress.Progress(None, lock)
    monkeypatch.setattr(terminal, "write", lambda text: held.append(lock.locked()))
    with bar:
        clock.now += 1
        bar.advance(1)
    assert held == [True, True] and not lock.locked()


def test_nothing_is_shown_or_counted_without_a_terminal(clock, plugged):
    stream = plugged(io.StringIO())
    with Console().progress(10) as bar:
        clock.now += 1
        bar.advance(10)
        assert not bar.visible and bar._done == 0
    assert stream.getvalue() == ""


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("TERM", "xterm")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)


def test_the_bar_of_rich_is_on_standard_error_and_taken_away(clock, plugged, wide, capsys):
    terminal = plugged(Terminal())
    pytest.importorskip("rich")
    printed = sys.stdout
    bar = progress.Progress(4_000_000, threading.Lock())
    clock.now += 1
    bar.advance(1_000_000)
    bar.advance(2_000_000)
    assert sys.stdout is printed  # what is printed meanwhile goes there as it is
    with bar.hidden():
        hidden = shown(terminal)
        assert "3.0/4.0 MB" in hidden and hidden.endswith("\x1b[2K")
        print("result")
        bar._display.hide()  # once more
        assert shown(terminal) == ""
    bar.advance(1_000_000)
    with bar:
        pass
    again = shown(terminal)
    assert "4.0/4.0 MB" in again and again.endswith("\x1b[2K")
    assert capsys.readouterr().out == "result\n"


def test_the_bar_of_rich_without_a_total(clock, plugged, wide):
    terminal = plugged(Terminal())
    pytest.importorskip("rich")
    bar = progress.Progress(None, threading.Lock())
    with bar:
        clock.now += 1
        bar.advance(1_500_000)
    assert "1.5/? MB" in terminal.getvalue()
