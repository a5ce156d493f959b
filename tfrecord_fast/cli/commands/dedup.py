"""Write the records of all inputs without duplicates: the first of equal records is kept.

Records are equal if their bytes are equal. With --by, they are equal if the values of these features are, in Examples
and in the context of SequenceExamples. The number of removed records is printed.

Records are compared by 128-bit hashes (BLAKE2b, with a new random key each time). With 10**12 records, the probability
that a record is mistaken for another and lost is 2 in 10**15. Each distinct record takes 16 bytes of memory, and 32
while the table grows.
"""

from __future__ import annotations

import argparse

from ...files.rewriting.deduplicating import distinct
from ...files.rewriting.row_keys import features_key, whole_records
from ...files.streams.core_files import CoreFile
from ..arguments import add_input_arguments, add_output_arguments
from ..console import Console, counted
from ..copying import copied, on_files, print_summary, shown_output

NAME = "dedup"
SUMMARY = "remove duplicate records"
EXAMPLES = """\
tfrecord-fast dedup train.tfrecord clean.tfrecord
tfrecord-fast dedup 'crawl-*.tfrecord.gz' clean.tfrecord.gz --by url
tfrecord-fast dedup a.tfrecord b.tfrecord clean.tfrecord --by user --by day
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_arguments(parser)
    add_output_arguments(parser)
    parser.add_argument(
        "--by",
        action="append",
        default=[],
        metavar="KEY",
        help="compare the values of this feature instead of the whole record; may be repeated to compare several. A "
        "record without a value for any of them is an error",
    )


@on_files
def run(args: argparse.Namespace, console: Console, files: list[CoreFile]) -> int:
    key_of = features_key(args.by, needs_all=False) if args.by else whole_records
    done = copied(files, args, console, lambda batches: distinct(batches, key_of))
    left_out = done.records_read - done.records
    text = f"{shown_output(args)}: {counted(done.records)} of {done.records_read:,}; {left_out:,} duplicates removed"
    print_summary(args, console, [text], {**done.as_json(), "duplicates": left_out})
    return 0
