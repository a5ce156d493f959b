"""The table of subcommands; runs the one that the command line names, and ends the process as shells expect."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from ..base.handlers import catch_interrupts
from ..base.optional import optional
from .commands import (
    bench,
    cat,
    convert,
    count,
    dedup,
    filter,
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
from .commands.cat import head
from .console import Console, OutputClosed, OutputFailed
from .parsing import Command, Parser, command_line, parsed

GROUPS: dict[str, tuple[Command, ...]] = {
    "look at files": (head, cat, count, info, schema, stats, view),
    "check and repair": (verify, repair),
    "write files": (filter, convert, merge, split, shuffle, sample, dedup),
    "other": (index, port, bench),
}
COMMANDS = tuple(sorted((command for group in GROUPS.values() for command in group), key=lambda command: command.NAME))


def run(argv: Sequence[str] | None = None) -> int:
    arguments = list(sys.argv[1:] if argv is None else argv)
    parser, commands = command_line(COMMANDS, arguments[0] if arguments else None)
    parser.groups = GROUPS
    console = Console()
    try:
        if arguments[:1] == [bench.NAME]:  # its parser can't be nested in this one
            return bench.forward(arguments[1:], console)
        args = parsed(parser, commands, arguments)
        if args.print_completion is not None:
            return _print_completion(parser, args.print_completion, console)
        status: int = args.run(args, console)
    except OutputClosed:
        raise
    except OutputFailed as error:
        console.problem(f"standard output: {error}")
        # The buffered rest would fail once more when Python exits.
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
    """Run one command line as `run` does; on Ctrl-C or a closed pipe, die of SIGINT or SIGPIPE without a message."""
    try:
        catch_interrupts()
        _fill_closed_streams()
        return run(argv)
    except KeyboardInterrupt:
        _die_of(signal.SIGINT)
    except OutputClosed:
        _die_of(signal.SIGPIPE)


def _fill_closed_streams() -> None:
    """Occupy closed descriptors 0–2, so that no opened file is mistaken for a standard stream.

    Using one still fails: input is opened for writing, and output for reading.
    """
    for number, mode in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, mode)  # takes the lowest free number
    if sys.stderr is None:  # despite its type
        sys.stderr = open(os.devnull, "w", encoding="utf-8")


def _die_of(number: signal.Signals) -> NoReturn:
    # A shell stops a loop over commands only if the command died of the signal. Threads are not joined.
    sys.stderr.flush()
    signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    os.kill(os.getpid(), number)
    os._exit(128 + number)
