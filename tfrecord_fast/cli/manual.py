"""The man page, made of what --help says: `python -m tfrecord_fast.cli.manual > docs/tfrecord-fast.1`."""

from __future__ import annotations

import argparse
import re
import sys

from .app import COMMANDS
from .parsing import PROGRAM, command_line

__all__ = ["manual"]

_STATUS = (
    "0 if all is fine, 1 if something is wrong with the data (damage, rows that don't fit, conflicting kinds), "
    "2 if a file can't be read or is no TFRecord file, or usage is bad."
)


def manual() -> str:
    """The page in roff."""
    parser, commands = command_line(COMMANDS)
    lines = [
        f'.TH {PROGRAM.upper()} 1 "" "{PROGRAM}" "User Commands"',
        ".SH NAME",
        rf"{_roff(PROGRAM)} \- looks into TFRecord files, and converts them",
        ".SH SYNOPSIS",
        rf".B {_roff(PROGRAM)}",
        r"\fICOMMAND\fR [\fIOPTION\fR]... \fIFILE\fR...",
        ".SH COMMANDS",
    ]
    for command in COMMANDS:
        lines += [f'.SS "{command.NAME}"', _roff(command.SUMMARY[0].upper() + command.SUMMARY[1:] + ".")]
        for paragraph in (command.__doc__ or "").strip().split("\n\n"):
            lines += [".PP", _roff(" ".join(paragraph.split()))]
        lines += _options(commands[command.NAME])
        lines += [".PP", "Examples:", ".PP", ".nf", ".RS", *map(_roff, command.EXAMPLES.splitlines()), ".RE", ".fi"]
    lines += [".SH OPTIONS", *_options(parser), ".SH EXIT STATUS", _roff(_STATUS)]
    lines += [".SH ENVIRONMENT", ".TP", "NO_COLOR", "No colours on a terminal, if it is set."]
    return "\n".join(lines) + "\n"


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """What --help lists, as items: of its text, since argparse has no other public form of it."""
    text = parser.format_help()
    lines: list[str] = []
    for section in re.findall(r"^(?:positional arguments|options):\n((?:  .*\n|\n)*)", text, re.MULTILINE):
        for item in re.findall(r"^  (\S.*(?:\n {6,}.*)*)", section, re.MULTILINE):
            head, _, rest = item.replace("\n", "  ").partition("  ")
            head = re.sub(r"(-\w) \w+, (--)", r"\1, \2", head)  # as Python 3.13 has it
            if "COMMAND" not in head:
                lines += [".TP", rf"\fB{_roff(head)}\fR", _roff(" ".join(rest.split()))]
    return lines


def _roff(text: str) -> str:
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("…", "...").replace("–", r"\(en")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    sys.stdout.write(manual())
