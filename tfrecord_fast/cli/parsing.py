"""The grammar of the command line, and suggestions for misspelt names."""

from __future__ import annotations

import argparse
import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn, Protocol

from ..base.version import __version__
from .console import Console, printable

PROGRAM = "tfrecord-fast"
_CHOICE = re.compile(r"invalid choice: '?([^' ]+)'? \(choose from (.*)\)")


class Command(Protocol):
    """The names that a subcommand's module defines."""

    NAME: str
    SUMMARY: str
    EXAMPLES: str

    def add_arguments(self, parser: argparse.ArgumentParser, /) -> None: ...
    def run(self, args: argparse.Namespace, console: Console, /) -> int: ...


class Parser(argparse.ArgumentParser):
    """Parser that suggests a known name for an unknown one, and lists subcommands in `groups`."""

    groups: Mapping[str, Sequence[Command]] = {}

    def format_help(self) -> str:
        text = super().format_help()
        if not self.groups:
            return text
        start, end = text.index("positional arguments:"), text.index("options:\n")
        groups = ""
        for title, commands in self.groups.items():
            groups += f"{title}:\n" + "".join(f"  {each.NAME:8}  {each.SUMMARY}\n" for each in commands) + "\n"
        return text[:start] + groups + text[end:]

    def error(self, message: str) -> NoReturn:
        match = _CHOICE.search(message)
        if match is not None:
            message = f"{message[: match.start()]}no such choice: {match[1]}"
            known = re.findall(r"[\w-]+", match[2])
            message += _meant([match[1]], known) or f" (choose from {', '.join(known)})"
        super().error(printable(message))


def _meant(names: Iterable[str], known: Sequence[str]) -> str:
    close = [match for name in names for match in difflib.get_close_matches(name.partition("=")[0], known, 1, 0.5)]
    return f" (did you mean {' '.join(close)}?)" if close else ""


def command_line(commands: Sequence[Command], only: str | None = None) -> tuple[Parser, dict[str, Parser]]:
    """Return the main parser, and the parsers of commands by name.

    Args:
      only: if this names a command, the other commands get no options.
    """
    known = only in {command.NAME for command in commands}
    parser = Parser(
        prog=PROGRAM,
        description="Inspect, check, convert and rewrite TFRecord files.",
        epilog=f"Run `{PROGRAM} COMMAND --help` for options and examples.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.add_argument(
        "--print-completion",
        choices=("bash", "zsh", "tcsh"),
        metavar="SHELL",
        help="print a completion script for bash, zsh or tcsh (needs the extra completion)",
    )
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    parsers: dict[str, Parser] = {}
    for command in commands:
        if known and command.NAME != only:
            subparsers.add_parser(command.NAME, help=command.SUMMARY)
            continue
        parsers[command.NAME] = subparsers.add_parser(
            command.NAME,
            help=command.SUMMARY,
            description=command.__doc__,
            epilog="examples:\n" + "".join(f"  {line}\n" for line in command.EXAMPLES.splitlines()),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_arguments(parsers[command.NAME])
        parsers[command.NAME].set_defaults(run=command.run)
    return parser, parsers


def parsed(parser: Parser, commands: dict[str, Parser], arguments: Sequence[str]) -> argparse.Namespace:
    args, unknown = parser.parse_known_args(arguments)
    command_parser = commands.get(args.command)
    if unknown:
        options = re.findall(r"--[\w-]+", (command_parser or parser).format_help())
        (command_parser or parser).error(f"unrecognized arguments: {' '.join(unknown)}{_meant(unknown, options)}")
    if command_parser is None and args.print_completion is None:
        parser.error("the following arguments are required: COMMAND")
    return args
