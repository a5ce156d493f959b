"""The command line tool, run as a program."""

import signal
import sys

__all__ = ["COMMAND", "interruptible"]

COMMAND = [sys.executable, "-m", "tfrecord_fast"]


def interruptible() -> None:
    """What a process runs before it begins (`preexec_fn`), to take Ctrl-C: one that a shell has put into the background
    ignores it, and so do those that it starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
