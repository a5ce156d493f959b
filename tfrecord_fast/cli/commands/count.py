"""Print the number of records of each file, and of all files together.

All records are read, and every CRC is checked, as by `info`. Damage is reported after the records before it. With
--json, each file is an object on a line, without a total.
"""

from __future__ import annotations

import argparse

from ..arguments import add_file_arguments
from ..console import Console
from ..files import named_files
from ..tally import tallies

NAME = "count"
SUMMARY = "print the number of records"
EXAMPLES = """\
tfrecord-fast count train.tfrecord
tfrecord-fast count data/ | tail -n 1
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    files, status = named_files(args, console)
    total = 0
    for tally in tallies(files, args, console):
        if args.json:
            value = tally.as_json()
            console.json({name: value[name] for name in ("path", "records", "error")})
        elif tally.compression is not None:
            console.line(f"{tally.records} {tally.path}")
        if tally.problem is not None:
            console.problem(f"{tally.path}: {tally.problem.place}")
        total += tally.records
        status = max(status, tally.status)
    if len(files) > 1 and not args.json:
        console.line(f"{total} total")
    return status
