"""The man page, generated from --help: `python -m tfrecord_fast.cli.manual > docs/tfrecord-fast.1`."""

from __future__ import annotations

import argparse
import re
import sys

from .app import COMMANDS
from .parsing import PROGRAM, command_line

_STATUS = (
    "0: success. 1: the data has faults (damage, rows that don't fit, conflicting kinds). "
    "2: wrong usage, or a file that can't be read or is not a TFRecord file."
)


def manual() -> str:
    """Return the page in roff."""
    parser, commands = command_line(COMMANDS)
    lines = [
        f'.TH {PROGRAM.upper()} 1 "" "{PROGRAM}" "User Commands"',
        ".SH NAME",
        rf"{_roff(PROGRAM)} \- inspect, check, convert and rewrite TFRecord files",
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
    lines += [".SH ENVIRONMENT", ".TP", "NO_COLOR", "If set, no colours on a terminal."]
    return "\n".join(lines) + "\n"


def _options(parser: argparse.ArgumentParser) -> list[str]:
    """Return the options as items, parsed from the text of --help: argparse has no other public form of them."""
    text = parser.format_help()
    lines: list[str] = []
    for section in re.findall(r"^(?:positional arguments|options):\n((?:  .*\n|\n)*)", text, re.MULTILINE):
        for item in re.findall(r"^  (\S.*(?:\n {6,}.*)*)", section, re.MULTILINE):
            head, _, rest = item.replace("\n", "  ").partition("  ")
            head = re.sub(r"(-\w) \w+, (--)", r"\1, \2", head)  # the form of Python 3.13
            if "COMMAND" not in head:
                lines += [".TP", rf"\fB{_roff(head)}\fR", _roff(" ".join(rest.split()))]
    return lines


def _roff(text: str) -> str:
    escaped = text.replace("\\", r"\e").replace("-", r"\-").replace("…", "...").replace("–", r"\(en")
    return rf"\&{escaped}" if escaped.startswith((".", "'")) else escaped


if __name__ == "__main__":
    sys.stdout.write(manual())
