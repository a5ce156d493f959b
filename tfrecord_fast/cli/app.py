"""Parses the command line, runs the subcommand, and ends the process the way shells expect."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn, Protocol

from ..base.version import __version__
from . import bench, cat, convert, info, port, schema, verify
from .console import Console, OutputClosed, OutputFailed

__all__ = ["COMMANDS", "Command", "main", "run"]


class Command(Protocol):
    """What a subcommand's module has."""

    NAME: str
    SUMMARY: str

    def add_arguments(self, parser: argparse.ArgumentParser, /) -> None: ...
    def run(self, args: argparse.Namespace, console: Console, /) -> int: ...


COMMANDS: tuple[Command, ...] = (bench, cat, convert, info, port, schema, verify)


def run(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit status.

    Raises:
      SystemExit: usage, --help or --version.
      OutputClosed: nothing reads standard output any more.
    """
    parser = argparse.ArgumentParser(prog="tfrecord-fast", description="Looks into TFRecord files, and converts them.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for command in COMMANDS:
        subparser = subparsers.add_parser(command.NAME, help=command.SUMMARY, description=command.__doc__)
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    given = list(sys.argv[1:] if argv is None else argv)
    console = Console()
    try:
        if given[:1] == [bench.NAME]:  # has a parser of its own, which argparse can't nest
            return bench.forward(given[1:], console)
        args = parser.parse_args(given)
        status: int = args.run(args, console)
    except OutputClosed:
        raise
    except OutputFailed as error:
        console.problem(f"standard output: {error}")
        # What is still buffered would fail once more when Python exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    return status


def main(argv: Sequence[str] | None = None) -> int:
    """As `run`; Ctrl-C and a closed pipe end the process silently, by the signal that belongs to them."""
    try:
        return run(argv)
    except KeyboardInterrupt:
        _die_of(signal.SIGINT)
    except OutputClosed:
        _die_of(signal.SIGPIPE)


def _die_of(number: signal.Signals) -> NoReturn:
    # A shell stops a loop over commands only if the command died of the signal. No thread is waited for.
    sys.stderr.flush()
    signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    os._exit(128 + number)
