"""Writes the records of all inputs in random order: every order is as likely as any other.

The seed decides the order, whatever the memory, the threads and the compression. Records that don't fit into --memory
are first divided at random among temporary files, each of which is then shuffled in memory: so all is written and read
twice, in large pieces, and the disk needs as much space again, in --temp. The temporary files have no names, and are
gone when the command ends, however it ends.

The output appears under its name when it is complete.
"""

from __future__ import annotations

import argparse
import os
import tempfile

from ...files.naming.location import location_of
from ...files.rewriting.shuffling import shuffled
from ...files.streams.core_files import CoreFile
from ..console import Console
from ..copying import (
    add_input_arguments,
    add_output_arguments,
    copied,
    counted,
    guarded,
    seed_of,
    shown_output,
    size_of,
    told,
)
from ..files import named_files
from ..formats import STANDARD_OUTPUT

__all__ = ["EXAMPLES", "NAME", "SUMMARY", "add_arguments", "run"]

NAME = "shuffle"
SUMMARY = "write all records in random order, in bounded memory"
EXAMPLES = """\
tfrecord-fast shuffle train.tfrecord shuffled.tfrecord --seed 1
tfrecord-fast shuffle 'train-*.tfrecord.gz' 'mixed-{shard}-of-{num_shards}.tfrecord' --shards 64
tfrecord-fast shuffle data/ mixed.tfrecord --memory 8GB --temp /scratch
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """IN… OUT, --seed, --memory, --temp and the options of outputs."""
    add_input_arguments(parser)
    add_output_arguments(parser)
    parser.add_argument("--seed", type=seed_of, default=0, metavar="S", help="decides the order (default: 0)")
    parser.add_argument(
        "--memory", type=size_of, default=10**9, metavar="SIZE", help="about how much may be used (default: 1GB)"
    )
    parser.add_argument("--temp", metavar="FOLDER", help="for temporary files (default: where OUT is)")


def run(args: argparse.Namespace, console: Console) -> int:
    """Writes the output, or says what is wrong and writes nothing."""
    files, status = named_files(args, console)
    return status or guarded(console, lambda: _shuffle(args, console, files))


def _shuffle(args: argparse.Namespace, console: Console, files: list[CoreFile]) -> int:
    done = copied(
        files,
        args,
        console,
        lambda batches: shuffled(batches, args.seed, memory_bytes=args.memory, folder=_folder(args)),
        passes=2,
    )
    text = f"{shown_output(args)}: {counted(done.records)}, in random order (seed {args.seed})"
    told(args, console, [text], {**done.as_json(), "seed": args.seed})
    return 0


def _folder(args: argparse.Namespace) -> str:
    """Where temporary files go: beside the output, if that is a file on a disk."""
    place = location_of(args.output)
    if args.temp is not None:
        return str(args.temp)
    if (
        args.output == STANDARD_OUTPUT
        or place.is_url
        or (os.path.exists(place.name) and not os.path.isfile(place.name))
    ):
        return tempfile.gettempdir()
    return os.path.dirname(os.path.realpath(place.name)) or "."
