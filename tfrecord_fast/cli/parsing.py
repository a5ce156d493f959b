"""The command line's grammar: all commands with their options and examples, and what was probably meant by others."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable, Sequence
from typing import NoReturn, Protocol

from ..base.version import __version__
from .console import Console, printable

__all__ = ["PROGRAM", "Command", "Parser", "command_line", "parsed"]

PROGRAM = "tfrecord-fast"
_CHOICE = re.compile(r"invalid choice: '?([^' ]+)'? \(choose from (.*)\)")


class Command(Protocol):
    """What a subcommand's module has."""

    NAME: str
    SUMMARY: str
    EXAMPLES: str

    def add_arguments(self, parser: argparse.ArgumentParser, /) -> None: ...
    def run(self, args: argparse.Namespace, console: Console, /) -> int: ...


class Parser(argparse.ArgumentParser):
    """Suggests what was meant where a name is not known."""

    def error(self, message: str) -> NoReturn:
        """Ends the process with status 2."""
        found = _CHOICE.search(message)
        if found is not None:
            message = f"{message[: found.start()]}no such choice: {found[1]}"
            known = re.findall(r"[\w-]+", found[2])
            message += _meant([found[1]], known) or f" (choose from {', '.join(known)})"
        super().error(printable(message))


def _meant(given: Iterable[str], known: Sequence[str]) -> str:
    close = [name for one in given for name in difflib.get_close_matches(one.partition("=")[0], known, 1, 0.5)]
    return f" (did you mean {' '.join(close)}?)" if close else ""


def command_line(commands: Sequence[Command], only: str | None = None) -> tuple[Parser, dict[str, Parser]]:
    """The parser of all, and that of each command by its name; if `only` is one, the others have no options."""
    known = only in {command.NAME for command in commands}
    parser = Parser(
        prog=PROGRAM,
        description="Looks into TFRecord files, and converts them.",
        epilog=f"{PROGRAM} COMMAND --help says more of a command, with examples.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument(
        "--print-completion",
        choices=("bash", "zsh", "tcsh"),
        metavar="SHELL",
        help="print what makes bash, zsh or tcsh complete commands and options (needs the extra completion)",
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    made: dict[str, Parser] = {}
    for command in commands:
        if known and command.NAME != only:
            subparsers.add_parser(command.NAME, help=command.SUMMARY)
            continue
        made[command.NAME] = subparsers.add_parser(
            command.NAME,
            help=command.SUMMARY,
            description=command.__doc__,
            epilog="examples:\n" + "".join(f"  {line}\n" for line in command.EXAMPLES.splitlines()),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(made[command.NAME])
        made[command.NAME].set_defaults(run=command.run)
    return parser, made


def parsed(parser: Parser, commands: dict[str, Parser], given: Sequence[str]) -> argparse.Namespace:
    """What a command line says.

    Raises:
      SystemExit: it can't be parsed, or asks for help.
    """
    args, unknown = parser.parse_known_args(given)
    one = commands.get(args.command)
    if unknown:
        options = re.findall(r"--[\w-]+", (one or parser).format_help())
        (one or parser).error(f"unrecognized arguments: {' '.join(unknown)}{_meant(unknown, options)}")
    if one is None and args.print_completion is None:
        parser.error("the following arguments are required: COMMAND")
    return args
