"""Check every CRC of every file. Report damage with file, record and offset, and continue with the next file."""

from __future__ import annotations

import argparse

from ..arguments import add_file_arguments
from ..console import Console, counted
from ..files import named_files
from ..tally import Tally, tallies

NAME = "verify"
SUMMARY = "check every CRC and report damage"
EXAMPLES = """\
tfrecord-fast verify data/
tfrecord-fast verify 'train-*.tfrecord.gz' || echo damaged
curl -s https://example.com/a.tfrecord | tfrecord-fast verify -
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    files, status = named_files(args, console)
    for tally in tallies(files, args, console):
        status = max(status, tally.status)
        if args.json:
            error = None if tally.problem is None else tally.problem.as_json()
            kinds = tally.kinds.names
            console.json(
                {"path": tally.path, "ok": error is None, "records": tally.records, "kinds": kinds, "error": error}
            )
        elif tally.problem is None or tally.problem.damage:
            console.line(f"{tally.path}: {_verdict(tally)}")
        else:
            console.problem(f"{tally.path}: {tally.problem.reason}")
    return status


def _verdict(tally: Tally) -> str:
    records = counted(tally.records)
    if tally.problem is None:
        return f"ok, {records} ({tally.kind})"
    return f"DAMAGED after {records}: {tally.problem.place}"
