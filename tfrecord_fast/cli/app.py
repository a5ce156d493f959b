"""Parses the command line, runs the subcommand, and ends the process the way shells expect."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from ..base.optional import optional
from .commands import (
    bench,
    cat,
    convert,
    dedup,
    index,
    info,
    merge,
    port,
    repair,
    sample,
    schema,
    shuffle,
    split,
    stats,
    verify,
    view,
)
from .console import Console, OutputClosed, OutputFailed
from .parsing import Command, Parser, command_line, parsed

__all__ = ["COMMANDS", "Command", "main", "run"]

COMMANDS: tuple[Command, ...] = (
    bench,
    cat,
    convert,
    dedup,
    index,
    info,
    merge,
    port,
    repair,
    sample,
    schema,
    shuffle,
    split,
    stats,
    verify,
    view,
)


def run(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status.

    Raises:
      SystemExit: usage, --help or --version.
      OutputClosed: nothing reads standard output any more.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    parser, commands = command_line(COMMANDS, given[0] if given else None)
    console = Console()
    try:
        if given[:1] == [bench.NAME]:  # has a parser of its own, which argparse can't nest
            return bench.forward(given[1:], console)
        args = parsed(parser, commands, given)
        if args.print_completion is not None:
            return _print_completion(parser, args.print_completion, console)
        status: int = args.run(args, console)
    except OutputClosed:
        raise
    except OutputFailed as error:
        console.problem(f"standard output: {error}")
        # What is still buffered would fail once more when Python exits.
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    return status


def _print_completion(parser: Parser, shell: str, console: Console) -> int:
    try:
        console.text(optional("shtab", "completion needs shtab").complete(parser, shell))
    except ImportError as error:
        console.problem(str(error))
        return 2
    return 0


def main(argv: Sequence[str] | None = None) -> int:
    """As `run`; Ctrl-C and a closed pipe end the process silently, by the signal that belongs to them."""
    _fill_closed_streams()
    try:
        return run(argv)
    except KeyboardInterrupt:
        _die_of(signal.SIGINT)
    except OutputClosed:
        _die_of(signal.SIGPIPE)


def _fill_closed_streams() -> None:
    """Takes the numbers of standard streams that are closed, so that no file gets one of them and is taken for it. They
    fail as before: each is opened the other way round."""
    for number, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # it gets the lowest number that is free
    if sys.stderr is None:  # as Python has it then, whatever its type says
        sys.stderr = open(os.devnull, "w", encoding="utf-8")


def _die_of(number: signal.Signals) -> NoReturn:
    # A shell stops a loop over commands only if the command died of the signal. No thread is waited for.
    sys.stderr.flush()
    signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    os._exit(128 + number)
