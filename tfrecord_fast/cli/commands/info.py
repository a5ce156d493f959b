"""Print the number, sizes, kinds and compression of the records of each file. Every CRC is checked.

SIZE is the size of the file, and MEAN that of a record. A name that is too long for its row is on the line before.
--json has exact sizes, those of the smallest and largest record, and all kinds.
"""

from __future__ import annotations

import argparse
import shutil

from ...examples.record_kinds import Kinds
from ..arguments import add_file_arguments
from ..console import Console
from ..files import named_files
from ..tally import Tally, tallies
from .stats.texts import bytes_of

NAME = "info"
SUMMARY = "print the number, sizes, compression and kinds of records"
EXAMPLES = """\
tfrecord-fast info train.tfrecord
tfrecord-fast info 's3://bucket/train-*.tfrecord' --storage-option region=eu-central-1
tfrecord-fast info --json data/ | jq .records
"""

_ROW = "{:>9}  {:>7}  {:>7}  {:6}  {:7}  {}"
_HEADER = _ROW.format("RECORDS", "SIZE", "MEAN", "CODEC", "KIND", "FILE")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    files, status = named_files(args, console)
    if files and not args.json:
        console.line(_HEADER)
    done: list[Tally] = []
    for tally in tallies(files, args, console):
        if args.json:
            console.json(tally.as_json())
        elif tally.compression is not None:
            _print(tally, console)
        if tally.problem is not None:
            console.problem(f"{tally.path}: {tally.problem.place}")
        status = max(status, tally.status)
        done.append(tally)
    if len(files) > 1 and not args.json:
        _print(_total(done), console)
    return status


def _total(tallies: list[Tally]) -> Tally:
    total = Tally(f"{len(tallies)} files", compression="")
    total.records = sum(tally.records for tally in tallies)
    total.payload_bytes = sum(tally.payload_bytes for tally in tallies)
    if all(tally.stored_bytes is not None for tally in tallies):
        total.stored_bytes = sum(tally.stored_bytes or 0 for tally in tallies)
    total.min_size = min((tally.min_size for tally in tallies if tally.min_size is not None), default=None)
    total.max_size = max((tally.max_size for tally in tallies if tally.max_size is not None), default=None)
    total.kinds = Kinds.of(tally.kinds for tally in tallies)
    kinds = {tally.compression for tally in tallies if tally.compression is not None}
    total.compression = kinds.pop() if len(kinds) == 1 else "mixed"
    return total


def _print(tally: Tally, console: Console) -> None:
    sizes = bytes_of(tally.stored_bytes), bytes_of(tally.mean_size)
    row = _ROW.format(f"{tally.records:,}", *sizes, tally.compression or "none", _kind(tally), "")
    if len(row) + len(tally.path) > max(80, shutil.get_terminal_size().columns):
        console.line(tally.path)
        console.line(row.rstrip())
    else:
        console.line(row + tally.path)


def _kind(tally: Tally) -> str:
    """Return the most frequent kind and the number of others."""
    others = len(tally.kinds.names) - 1
    return f"{tally.kinds.names[0]} +{others}" if others > 0 else tally.kind
