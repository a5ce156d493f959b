"""Prints records as JSON lines: `index` in the file, `size` in bytes, `encoding` and `data`.

`data` is the record itself if it is UTF-8 text (`encoding` is "utf-8"), else base64 (`encoding` is "base64"). With
several files each line has the `path` too.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
from collections.abc import Callable
from typing import Any

from .console import Console
from .files import FAULTS, add_file_arguments, batches, named_files, open_input, problem_of

__all__ = ["NAME", "SUMMARY", "add_arguments", "run"]

NAME = "cat"
SUMMARY = "print records as JSON lines"

# What a record becomes in its line, besides index and size.
Render = Callable[[bytes], dict[str, Any]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE…, --compression, --json, --storage-option, --limit, --raw, --base64."""
    add_file_arguments(parser)
    parser.add_argument("-n", "--limit", type=_count, metavar="N", help="print at most N records in all")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--base64", action="store_true", help="base64 for every record, text or not")
    form.add_argument("--raw", action="store_true", help="no JSON: each record's bytes, then a newline")


def run(args: argparse.Namespace, console: Console) -> int:
    """Prints one line per record; damage ends a file, not the command."""
    files, status = named_files(args, console)
    render = as_base64 if args.base64 else as_text_or_base64
    left = args.limit
    for file in files:
        path = os.fsdecode(file[0])
        labels = {"path": path} if len(files) > 1 else {}
        if left == 0:
            break
        try:
            index = 0
            for batch in batches(open_input(file, args.compression), num_threads=1):
                records = (batch if left is None else batch[:left]).tolist()
                if args.raw:
                    console.write(b"".join(record + b"\n" for record in records))
                else:
                    console.write(_lines(records, index, labels, render))
                index += len(records)
                if left is not None:
                    left -= len(records)
                    if left == 0:
                        break
        except FAULTS as error:
            problem = problem_of(error)
            console.problem(f"{path}: {problem.place}")
            status = max(status, problem.status)
    return status


def as_base64(record: bytes) -> dict[str, Any]:
    """A record as base64."""
    return {"encoding": "base64", "data": base64.b64encode(record).decode()}


def as_text_or_base64(record: bytes) -> dict[str, Any]:
    """A record as text if it is UTF-8, else as base64."""
    try:
        return {"encoding": "utf-8", "data": record.decode()}
    except UnicodeDecodeError:
        return as_base64(record)


def _lines(records: list[bytes], first: int, labels: dict[str, str], render: Render) -> bytes:
    lines = (
        json.dumps({**labels, "index": index, "size": len(record), **render(record)})
        for index, record in enumerate(records, first)
    )
    return "".join(line + "\n" for line in lines).encode()


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number of records, got {text!r}")
    return int(text)
