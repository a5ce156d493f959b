"""Writes the records of all inputs to one output, in order: those of the first input, then those of the next.

Any records pass as they are, byte by byte. Inputs may be compressed in different ways; the output is GZIP for names
that end in .gz, ZSTD for .zst, SNAPPY for .snappy. With --shards N, record i of all goes to file i mod N.

The output appears under its name when it is complete. If an input is damaged, nothing does: `repair` it first.
"""

from __future__ import annotations

import argparse

from ...files.streams.core_files import CoreFile
from ..console import Console
from ..copying import add_input_arguments, add_output_arguments, copied, counted, guarded, shown_output, told
from ..files import named_files

__all__ = ["EXAMPLES", "NAME", "SUMMARY", "add_arguments", "run"]

NAME = "merge"
SUMMARY = "write the records of several files to one, in order"
EXAMPLES = """\
tfrecord-fast merge 'part-*.tfrecord' all.tfrecord
tfrecord-fast merge monday.tfrecord tuesday.tfrecord.gz week.tfrecord.zst
tfrecord-fast merge data/ 'train-{shard}-of-{num_shards}.tfrecord' --shards 16
tfrecord-fast merge 'part-*.tfrecord' - | gzip > all.tfrecord.gz
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """IN… OUT and the options of outputs."""
    add_input_arguments(parser)
    add_output_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Writes the output, or says what is wrong and writes nothing."""
    files, status = named_files(args, console)
    return status or guarded(console, lambda: _merge(args, console, files))


def _merge(args: argparse.Namespace, console: Console, files: list[CoreFile]) -> int:
    done = copied(files, args, console, lambda batches: batches)
    text = f"{shown_output(args)}: {counted(done.records)} of {counted(len(files), 'file')}"
    told(args, console, [text], done.as_json())
    return 0
