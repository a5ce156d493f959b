"""The command line tool, run as a program, or in the process of the tests."""

import signal
import sys

from tfrecord_fast.cli import main

__all__ = ["COMMAND", "interruptible", "run_here"]

COMMAND = [sys.executable, "-m", "tfrecord_fast"]


def run_here(capture, *argv):
    """Runs a command line in this process; returns (status, what it printed, what it complained about).

    Args:
      capture: a fixture of pytest's that has the output: `capfd`, `capsys`, `capsysbinary`.
    """
    try:
        status = main([str(one) for one in argv])
    except SystemExit as end:
        status = end.code
    printed = capture.readouterr()
    return status, *(text if isinstance(text, str) else text.decode() for text in printed)


def interruptible() -> None:
    """Let a new process (`preexec_fn`) die of Ctrl-C and SIGHUP, which it ignores if the tests run in the background
    or under nohup."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
