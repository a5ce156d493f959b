"""Writes the records of all inputs without those that came before: of equal ones, the first stays.

Records are equal if all their bytes are; with --by, if the values of these features are (of Examples, and of the
context of SequenceExamples). How many were left out is printed.

They are told apart by hashes of 128 bits (BLAKE2b, under a key that is drawn anew each time): that one of a million
million records is taken for another, and lost, has a chance of 2 in 10**15. It takes 16 bytes of memory for each record
that differs from all others, and 32 while the table grows.
"""

from __future__ import annotations

import argparse

from ...files.rewriting.deduplicating import distinct
from ...files.rewriting.row_keys import features_key, whole_records
from ...files.streams.core_files import CoreFile
from ..console import Console
from ..copying import add_input_arguments, add_output_arguments, copied, counted, guarded, shown_output, told
from ..files import named_files

__all__ = ["EXAMPLES", "NAME", "SUMMARY", "add_arguments", "run"]

NAME = "dedup"
SUMMARY = "leave out records that came before"
EXAMPLES = """\
tfrecord-fast dedup train.tfrecord clean.tfrecord
tfrecord-fast dedup 'crawl-*.tfrecord.gz' clean.tfrecord.gz --by url
tfrecord-fast dedup a.tfrecord b.tfrecord clean.tfrecord --by user --by day
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """IN… OUT, --by and the options of outputs."""
    add_input_arguments(parser)
    add_output_arguments(parser)
    parser.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="KEY",
        help="records are equal if the values of this feature are; may be repeated, then all of them count. A record "
        "that has no values under any of them is an error",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    """Writes the output, or says what is wrong and writes nothing."""
    files, status = named_files(args, console)
    return status or guarded(console, lambda: _dedup(args, console, files))


def _dedup(args: argparse.Namespace, console: Console, files: list[CoreFile]) -> int:
    key_of = features_key(args.by, needs_all=False) if args.by else whole_records
    done = copied(files, args, console, lambda batches: distinct(batches, key_of))
    left_out = done.records_read - done.records
    text = f"{shown_output(args)}: {counted(done.records)} of {done.records_read:,}; {left_out:,} came before"
    told(args, console, [text], {**done.as_json(), "duplicates": left_out})
    return 0
