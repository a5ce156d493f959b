"""Write the records of all inputs to one output, in order: those of the first input, then those of the next.

Records are copied byte by byte. Inputs may be compressed in different ways; the output is GZIP for names that end in
.gz, ZSTD for .zst, SNAPPY for .snappy. With --shards N, record i goes to file i mod N.

The output appears under its name once it is complete. If an input is damaged, nothing is written: `repair` it first.
"""

from __future__ import annotations

import argparse

from ...files.streams.core_files import CoreFile
from ..arguments import add_input_arguments, add_output_arguments
from ..console import Console, counted
from ..copying import copied, on_files, print_summary, shown_output

NAME = "merge"
SUMMARY = "concatenate the records of several files"
EXAMPLES = """\
tfrecord-fast merge 'part-*.tfrecord' all.tfrecord
tfrecord-fast merge monday.tfrecord tuesday.tfrecord.gz week.tfrecord.zst
tfrecord-fast merge data/ 'train-{shard}-of-{num_shards}.tfrecord' --shards 16
tfrecord-fast merge 'part-*.tfrecord' - | gzip > all.tfrecord.gz
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_arguments(parser)
    add_output_arguments(parser)


@on_files
def run(args: argparse.Namespace, console: Console, files: list[CoreFile]) -> int:
    done = copied(files, args, console, lambda batches: batches)
    text = f"{shown_output(args)}: {counted(done.records)} of {counted(len(files), 'file')}"
    print_summary(args, console, [text], done.as_json())
    return 0
