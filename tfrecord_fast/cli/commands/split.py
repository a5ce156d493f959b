"""Divide the records of all inputs among files: in order, or at random in a ratio.

In order: --into N writes N files whose numbers of records differ by at most one; --records N or --size SIZE writes as
many files as needed. Concatenated, they equal the input. -o names them, as out-{shard}-of-{num_shards}.tfrecord; in a
name without {shard}, it is inserted before the extension. --size is the size of the uncompressed records.

In a ratio: --ratio 8:1:1 writes one file per split. A hash of a record's bytes and the seed determines its split, so
equal records stay together. With --group KEY, the hash is that of a feature's values: records of the same user, say,
are in the same split, in this and any other input. If the feature has few different values, splits can be far from the
ratio, or empty. With --by KEY, the records of each value of the feature, such as a label, are divided in the ratio, to
within a few records. -o contains {name} for the split; in a name without it, it is inserted before the extension.
--shards N writes N files per split.

Records are copied byte by byte. Files appear under their names once all are complete.
"""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator, Sequence
from fractions import Fraction

from ... import _core
from ...errors import InvalidArgumentError
from ...files.indexing.index import RecordIndex
from ...files.naming.location import location_of
from ...files.rewriting.dividing import SplitFunction, by_hash, files_by_bytes, files_by_records, stratified
from ...files.rewriting.multi_file_writer import MultiFileWriter
from ...files.rewriting.row_keys import features_key, whole_records
from ...files.streams.core_files import CoreFile
from ...files.writing.example_writer import shard_paths
from ..arguments import (
    add_input_arguments,
    add_output_arguments,
    count_of,
    fraction_of,
    seed_of,
    size_of,
    storage_options,
)
from ..console import Console, counted
from ..copying import Copied, check_outputs, first_stream_among, on_files, options_of, print_summary, source_of
from ..files import open_input, total_bytes
from ..formats.base import STANDARD_OUTPUT, Unsuitable

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
    add_input_arguments(parser)
    parser.add_argument(
        "-o", "--output", required=True, metavar="PATTERN", help="pattern of the names or URLs of the files"
    )
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--into", type=count_of, metavar="N", help="write N files of about equal numbers of records")
    how.add_argument("--records", type=count_of, metavar="N", help="write files of N records; the last may have fewer")
    how.add_argument("--size", type=size_of, metavar="SIZE", help="write files of at most SIZE: 256MB, 1GiB")
    how.add_argument("--ratio", type=_ratio, metavar="A:B:…", help="write splits in this ratio")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--by", metavar="KEY", help="divide the records of each value of this feature separately")
    which.add_argument("--group", metavar="KEY", help="keep records with the same value of this feature together")
    parser.add_argument("--names", type=_names, metavar="A,B,…", help="names of the splits (default: train,[val,]test)")
    parser.add_argument("--seed", type=seed_of, metavar="S", help="seed of the splits (default: 0)")
    parser.add_argument(
        "--shards", type=count_of, metavar="N", help="files per split; its record i goes to file i mod N"
    )
    add_output_arguments(parser, shards=False)


@on_files
def run(args: argparse.Namespace, console: Console, files: list[CoreFile]) -> int:
    if args.output == STANDARD_OUTPUT:
        raise Unsuitable("-o cannot be standard output: this command writes several files")
    if not args.output:
        raise Unsuitable("the output has no name")
    plan = Plan(args, console, files)
    if args.ratio is None:
        for option in ("by", "group", "names", "seed", "shards"):
            if getattr(args, option) is not None:
                raise Unsuitable(f"--{option} requires --ratio")
        done, sides = into_parts(plan), None
    else:
        names = args.names or _NAMES.get(len(args.ratio)) or [f"part{i}" for i in range(len(args.ratio))]
        if len(names) != len(args.ratio):
            raise Unsuitable(f"--ratio has {len(args.ratio)} splits, but --names has {len(names)}")
        done, sides = into_sides(plan, names)
    lines = [f"{file.path}: {counted(file.records)}" for file in done.files[:_SHOWN]]
    if len(done.files) > _SHOWN:
        lines.append(f"and {len(done.files) - _SHOWN:,} more")
    lines.append(f"{counted(done.records)} in {counted(len(done.files), 'file')}")
    print_summary(args, console, lines, done.as_json() if sides is None else {**done.as_json(), "sides": sides})
    return 0


def _ratio(text: str) -> list[Fraction]:
    try:
        sides = [fraction_of(side) for side in text.split(":")]
    except ValueError:
        sides = []
    if len(sides) < 2 or min(sides) <= 0:
        raise argparse.ArgumentTypeError(f"expected positive numbers, as in 8:1:1, got {text!r}")
    return sides


def _names(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if not name or any(sign in name for sign in "/{}\0") or names.count(name) > 1:
            raise argparse.ArgumentTypeError(f"expected different names without any of / {{ }}, got {text!r}")
    return names


class Plan:
    def __init__(self, args: argparse.Namespace, console: Console, files: list[CoreFile]) -> None:
        self.args = args
        self.console = console
        self.files = files
        self.source = source_of(files, args)

    def check(self, paths: Sequence[str]) -> None:
        check_outputs(paths, self.files, self.args.in_place)

    def writer(self) -> MultiFileWriter:
        args = self.args
        options = options_of(args, args.output)
        return MultiFileWriter(options, num_threads=args.threads, storage_options=storage_options(args))

    def count(self) -> int:
        """Count the records, by their headers or by reading all."""
        if first_stream_among(self.files) is not None:
            raise Unsuitable("this needs to count the records first, which is impossible for standard input and pipes")
        return sum(map(self._count_of, self.files))

    def _count_of(self, file: CoreFile) -> int:
        if file.is_local and open_input(file, "auto").compression == "":
            try:
                return len(RecordIndex.build(os.fsdecode(file.name)))
            except InvalidArgumentError:
                pass
        return sum(len(batch) for batch in source_of([file], self.args).batches())


@contextlib.contextmanager
def _usage() -> Iterator[None]:
    """Convert ValueError to Unsuitable: no record is at fault."""
    try:
        yield
    except ValueError as error:
        raise Unsuitable(str(error)) from None


def into_parts(plan: Plan) -> Copied:
    """Write one file after the other: --into, --records and --size."""
    args, done = plan.args, Copied()
    total = None if args.into is None else plan.count()
    paths: list[str] = []  # only of objects, whose names must be known first; files are named at the end
    if location_of(args.output).is_url:
        paths = shard_paths(args.output, args.into or max(1, _parts_needed(plan)))
    plan.check(paths or shard_paths(args.output, args.into or 2)[: args.into or 1])
    with plan.console.progress(total_bytes(plan.files)) as progress, plan.writer() as writer:
        plan.source.advance = progress.advance

        def open_up_to(number: int) -> None:
            while len(writer) <= number:
                if len(writer):
                    writer.complete(len(writer) - 1)
                with _usage():
                    if paths:
                        writer.open(paths[len(writer) : len(writer) + 1])
                    else:
                        writer.open_next(args.output)

        for number, batch in _parts(plan, done, total):
            open_up_to(number)
            writer.write(number, batch)
            done.records += len(batch)
            done.payload_bytes += batch.nbytes
        if (total is not None and done.records != total) or len(writer) > len(paths) > 0:
            raise Unsuitable(f"the files changed while being read: they have {done.records:,} records now")
        open_up_to((args.into or len(paths) or 1) - 1)  # the last files may be empty
        if not paths:
            plan.check(shard_paths(args.output, len(writer)))
            with _usage():
                writer.name_all(args.output)
        done.files = writer.close()
    return done


def _parts(plan: Plan, done: Copied, total: int | None) -> Iterator[tuple[int, _core.RecordBatch]]:
    args, batches = plan.args, done.reading(plan.source.batches())
    if args.into is not None and total is not None:
        records = total
        return files_by_records(
            batches, lambda number: (number + 1) * records // args.into - number * records // args.into
        )
    if args.records is not None:
        return files_by_records(batches, lambda number: int(args.records))
    return files_by_bytes(batches, args.size)


def _parts_needed(plan: Plan) -> int:
    total = plan.count()  # raises for inputs that can be read only once
    if plan.args.records is not None:
        return -(-total // int(plan.args.records))
    pieces = files_by_bytes(source_of(plan.files, plan.args).batches(), plan.args.size)
    return 1 + max((number for number, _ in pieces), default=-1)


def into_sides(plan: Plan, names: Sequence[str]) -> tuple[Copied, dict[str, int]]:
    """Write all files at once: --ratio. Also return the number of records in each split."""
    args, done = plan.args, Copied()
    shards = args.shards or 1
    paths = [path for name in names for path in shard_paths(_of_side(args.output, name), shards)]
    if len(set(paths)) < len(paths):
        raise Unsuitable(f"{args.output}: several files would get the same name")
    plan.check(paths)
    side_of, counts = _side_of(plan), [0] * len(names)
    size = total_bytes(plan.files)
    with plan.console.progress(size) as progress, plan.writer() as writer:
        plan.source.advance = progress.advance
        with _usage():
            writer.open(paths)
        for batch in done.reading(plan.source.batches()):
            sides = side_of(batch)
            for side in range(len(names)):
                rows = (sides == side).nonzero()[0]
                for shard in range(shards):
                    chosen = rows[(shard - counts[side]) % shards :: shards]
                    if len(chosen):
                        writer.write(side * shards + shard, _core.take_rows(batch, chosen))
                counts[side] += len(rows)
            done.records += len(batch)
            done.payload_bytes += batch.nbytes
        done.files = writer.close()
    return done, dict(zip(names, counts, strict=True))


def _side_of(plan: Plan) -> SplitFunction:
    args = plan.args
    seed = args.seed or 0
    if args.by is not None:
        with _usage():
            return stratified(args.ratio, features_key([args.by], needs_all=True), seed)
    key_of = whole_records if args.group is None else features_key([args.group], needs_all=True)
    return by_hash(args.ratio, key_of, seed)


def _of_side(pattern: str, name: str) -> str:
    if "{name}" in pattern:
        return pattern.replace("{name}", name)
    folder, slash, base = pattern.rpartition("/")
    stem, dot, extension = base.partition(".")
    return f"{folder}{slash}{stem}-{name}{dot}{extension}"
