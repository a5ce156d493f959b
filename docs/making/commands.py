"""The page of the command line, generated from its parsers, like the man page."""

from __future__ import annotations

import argparse
import re

from tfrecord_fast.cli.app import COMMANDS, GROUPS
from tfrecord_fast.cli.parsing import PROGRAM, command_line

__all__ = ["page"]


def page() -> str:
    parser, commands = command_line(COMMANDS)
    lines = ["# Command line", "", f"`{PROGRAM} COMMAND [OPTION]… FILE…`", ""]
    lines += ["[On the command line](guide/looking.md) shows common uses. This page, `COMMAND --help` and the man "]
    lines[-1] += "page have the same contents."
    for title, group in GROUPS.items():
        lines += ["", f"| {title} | |", "| --- | --- |"]
        lines += [f"| [`{command.NAME}`](#{command.NAME}) | {_cell(command.SUMMARY)} |" for command in group]
    for command in COMMANDS:
        lines += ["", f"## {command.NAME} {{ #{command.NAME} }}", ""]
        lines += ["```text", _usage(commands[command.NAME]), "```", ""]
        for paragraph in (command.__doc__ or "").strip().split("\n\n"):
            lines += [_text(" ".join(paragraph.split())), ""]
        lines += _options(commands[command.NAME])
        lines += ["", "Examples:", "", "```sh", command.EXAMPLES.strip("\n"), "```"]
    lines += ["", "## Options of the program", "", *_options(parser)]
    lines += ["", "## Exit status", "", "| status | means |", "| --- | --- |", "| 0 | success |"]
    lines += ["| 1 | something is wrong with the data: damage, rows that don't fit, conflicting kinds |"]
    lines += ["| 2 | a file can't be read or is not a TFRecord file, or the usage is wrong |"]
    lines += ["", "## Environment", "", "`NO_COLOR` turns colours off. Object stores read "]
    lines[-1] += "[their own variables](object_stores.md#credentials-and-other-options)."
    return "\n".join(lines) + "\n"


def _usage(parser: argparse.ArgumentParser) -> str:
    return parser.format_usage().removeprefix("usage: ").rstrip().replace("\n" + " " * 7, "\n")


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """Return the options that --help lists, parsed from its text, since argparse has no other public form."""
    lines = []
    for section in re.findall(r"^(?:positional arguments|options):\n((?:  .*\n|\n)*)", parser.format_help(), re.M):
        for item in re.findall(r"^  (\S.*(?:\n {6,}.*)*)", section, re.M):
            head, _, rest = item.replace("\n", "  ").partition("  ")
            head = re.sub(r"(-\w) \w+, (--)", r"\1, \2", head)  # as Python 3.13 has it
            if "COMMAND" not in head:
                lines.append(f"| `{head}` | {_cell(' '.join(rest.split()))} |".replace("`|", "`\\|"))
    return ["| option | |", "| --- | --- |", *lines]


def _text(text: str) -> str:
    """Return the text escaped for Markdown, except for code between backticks."""
    pieces = text.split("`")
    pieces[::2] = [re.sub(r"([<>*_])", r"\\\1", piece) for piece in pieces[::2]]
    return "`".join(pieces)


def _cell(text: str) -> str:
    return _text(text).replace("|", "\\|")
