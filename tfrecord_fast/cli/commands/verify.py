"""Checks every CRC of every file. Damage is reported with file, record and offset; then the next file is checked."""

from __future__ import annotations

import argparse

from ..console import Console
from ..files import add_file_arguments, named_files
from ..tally import Tally, tallies

__all__ = ["EXAMPLES", "NAME", "SUMMARY", "add_arguments", "run"]

NAME = "verify"
SUMMARY = "check every CRC, report what is damaged"
EXAMPLES = """\
tfrecord-fast verify data/
tfrecord-fast verify 'train-*.tfrecord.gz' || echo damaged
curl -s https://example.com/a.tfrecord | tfrecord-fast verify -
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE…, --compression, --json, --storage-option."""
    add_file_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Prints one line or JSON object per file."""
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
    records = f"{tally.records:,} record" + ("" if tally.records == 1 else "s")
    if tally.problem is None:
        return f"ok, {records} ({tally.kind})"
    return f"DAMAGED after {records}: {tally.problem.place}"
