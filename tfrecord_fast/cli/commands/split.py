"""Divides the records of all inputs among files: in order into parts, or at random in a ratio.

In order: --into N makes N files that differ by one record at most; --records N or --size SIZE makes as many as needed.
One after the other, they are the input. Their names come from -o, as out-{shard}-of-{num_shards}.tfrecord; a name
without {shard} gets it before its extension. --size counts the records uncompressed.

In a ratio: --ratio 8:1:1 makes a file for each side. A record's side is decided by a hash of its bytes and the seed, so
equal records never part. With --group KEY it is a hash of a feature's values: records with the same user, say, are on
the same side, in this and any other input. If the feature has few different values, the sides can be far from the
ratio, or empty. With --by KEY each value of the feature, such as a label, is divided in the ratio by itself, to within
a few records. -o has {name} for the side; a name without it gets it before its extension. --shards N makes N files of
each side.

Any records pass as they are, byte by byte. Files appear under their names when all are complete.
"""

from __future__ import annotations

import argparse
from fractions import Fraction

from ...files.streams.core_files import CoreFile
from ..console import Console
from ..copying import (
    add_input_arguments,
    add_output_arguments,
    count_of,
    counted,
    fraction_of,
    guarded,
    seed_of,
    size_of,
    told,
)
from ..files import named_files
from ..formats import STANDARD_OUTPUT, Unsuitable
from ..splitting import Plan, into_parts, into_sides

__all__ = ["EXAMPLES", "NAME", "SUMMARY", "add_arguments", "run"]

NAME = "split"
SUMMARY = "divide records among files: in order, or at random in a ratio"
EXAMPLES = """\
tfrecord-fast split all.tfrecord --into 16 -o 'train-{shard}-of-{num_shards}.tfrecord'
tfrecord-fast split big.tfrecord.gz --size 256MB -o parts.tfrecord.gz
tfrecord-fast split all.tfrecord --ratio 8:1:1 --by label --seed 1 -o 'out/{name}.tfrecord'
tfrecord-fast split data/ --ratio 9:1 --group user --names train,test --shards 8 -o '{name}-{shard}.tfrecord'
"""

_NAMES = {2: ("train", "test"), 3: ("train", "val", "test")}
_SHOWN = 20  # files that are printed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """IN…, --output, how to divide, and the options of outputs."""
    add_input_arguments(parser)
    parser.add_argument(
        "-o", "--output", required=True, metavar="PATTERN", help="the names of the files, or their URLs"
    )
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--into", type=count_of, metavar="N", help="N files of about as many records")
    how.add_argument("--records", type=count_of, metavar="N", help="files of N records; the last may have fewer")
    how.add_argument("--size", type=size_of, metavar="SIZE", help="files of at most SIZE: 256MB, 1GiB")
    how.add_argument("--ratio", type=_ratio, metavar="A:B:…", help="sides in this ratio")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--by", metavar="KEY", help="each value of this feature is divided in the ratio by itself")
    which.add_argument("--group", metavar="KEY", help="records with the same value of this feature stay together")
    parser.add_argument("--names", type=_names, metavar="A,B,…", help="of the sides (default: train,[val,]test)")
    parser.add_argument("--seed", type=seed_of, metavar="S", help="decides the sides (default: 0)")
    parser.add_argument("--shards", type=count_of, metavar="N", help="files of each side; its record i goes to i mod N")
    add_output_arguments(parser, shards=False)


def run(args: argparse.Namespace, console: Console) -> int:
    """Writes the files, or says what is wrong and writes nothing."""
    files, status = named_files(args, console)
    return status or guarded(console, lambda: _split(args, console, files))


def _split(args: argparse.Namespace, console: Console, files: list[CoreFile]) -> int:
    if args.output == STANDARD_OUTPUT:
        raise Unsuitable("standard output is one file: -o names several")
    if not args.output:
        raise Unsuitable("the output has no name")
    plan = Plan(args, console, files)
    if args.ratio is None:
        for option in ("by", "group", "names", "seed", "shards"):
            if getattr(args, option) is not None:
                raise Unsuitable(f"--{option} goes with --ratio")
        done, sides = into_parts(plan), None
    else:
        names = args.names or _NAMES.get(len(args.ratio)) or [f"part{i}" for i in range(len(args.ratio))]
        if len(names) != len(args.ratio):
            raise Unsuitable(f"--ratio has {len(args.ratio)} sides, and --names {len(names)}")
        done, sides = into_sides(plan, names)
    lines = [f"{file.path}: {counted(file.records)}" for file in done.files[:_SHOWN]]
    if len(done.files) > _SHOWN:
        lines.append(f"and {len(done.files) - _SHOWN:,} more")
    lines.append(f"{counted(done.records)} in {counted(len(done.files), 'file')}")
    told(args, console, lines, done.as_json() if sides is None else {**done.as_json(), "sides": sides})
    return 0


def _ratio(text: str) -> list[Fraction]:
    try:
        made = [fraction_of(part) for part in text.split(":")]
    except ValueError:
        made = []
    if len(made) < 2 or min(made) <= 0:
        raise argparse.ArgumentTypeError(f"expected numbers above 0, as in 8:1:1, got {text!r}")
    return made


def _names(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if not name or any(sign in name for sign in "/{}\0") or names.count(name) > 1:
            raise argparse.ArgumentTypeError(f"expected different names for parts of file names, got {text!r}")
    return names
