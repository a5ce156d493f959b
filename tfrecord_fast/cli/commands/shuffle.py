"""Write the records of all inputs in random order. All orders are equally likely.

The seed alone determines the order, for any --memory, number of threads and compression. If the records exceed
--memory, they are first divided at random among temporary files in --temp, each of which is then shuffled in memory.
All data is then written and read twice, and --temp needs as much space as the records. The temporary files have no
names; they disappear with the process, even after a crash.

The output appears under its name once it is complete.
"""

from __future__ import annotations

import argparse
import os
import tempfile

from ...files.naming.location import location_of
from ...files.rewriting.shuffling import shuffled
from ...files.streams.core_files import CoreFile
from ..arguments import add_input_arguments, add_output_arguments, seed_of, size_of
from ..console import Console, counted
from ..copying import copied, on_files, print_summary, shown_output
from ..formats.base import STANDARD_OUTPUT

NAME = "shuffle"
SUMMARY = "write all records in random order, in bounded memory"
EXAMPLES = """\
tfrecord-fast shuffle train.tfrecord shuffled.tfrecord --seed 1
tfrecord-fast shuffle 'train-*.tfrecord.gz' 'mixed-{shard}-of-{num_shards}.tfrecord' --shards 64
tfrecord-fast shuffle data/ mixed.tfrecord --memory 8GB --temp /scratch
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_arguments(parser)
    add_output_arguments(parser)
    parser.add_argument("--seed", type=seed_of, default=0, metavar="S", help="seed of the order (default: 0)")
    parser.add_argument(
        "--memory", type=size_of, default=10**9, metavar="SIZE", help="approximate memory limit (default: 1GB)"
    )
    parser.add_argument("--temp", metavar="FOLDER", help="folder for temporary files (default: that of OUT)")


@on_files
def run(args: argparse.Namespace, console: Console, files: list[CoreFile]) -> int:
    done = copied(
        files,
        args,
        console,
        lambda batches: shuffled(batches, args.seed, memory_bytes=args.memory, folder=_folder(args)),
        passes=2,
    )
    text = f"{shown_output(args)}: {counted(done.records)}, in random order (seed {args.seed})"
    print_summary(args, console, [text], {**done.as_json(), "seed": args.seed})
    return 0


def _folder(args: argparse.Namespace) -> str:
    """Return the folder for temporary files: that of the output, if the output is a local file."""
    location = location_of(args.output)
    if args.temp is not None:
        return str(args.temp)
    if (
        args.output == STANDARD_OUTPUT
        or location.is_url
        or (os.path.exists(location.name) and not os.path.isfile(location.name))
    ):
        return tempfile.gettempdir()
    return os.path.dirname(os.path.realpath(location.name)) or "."
