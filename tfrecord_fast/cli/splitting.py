"""How `split` reads and writes."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator, Sequence

from .. import _core
from ..errors import InvalidArgumentError
from ..files.indexing.index import RecordIndex
from ..files.naming.location import location_of
from ..files.rewriting.dividing import SideOf, by_hash, parts_by_bytes, parts_by_records, stratified
from ..files.rewriting.parts_writer import PartsWriter
from ..files.rewriting.row_keys import features_key, whole_records
from ..files.streams.core_files import CoreFile
from ..files.writing.example_writer import shard_paths
from .console import Console
from .copying import Copied, check_outputs, options_of, reads_stream, source_of
from .files import open_input, storage_options, total_bytes
from .formats import Unsuitable

__all__ = ["Plan", "into_parts", "into_sides"]


class Plan:
    """What is divided, and how."""

    def __init__(self, args: argparse.Namespace, console: Console, files: list[CoreFile]) -> None:
        self.args = args
        self.console = console
        self.files = files
        self.source = source_of(files, args)

    def check(self, paths: Sequence[str]) -> None:
        """Refuses outputs that can't be written to."""
        check_outputs(paths, self.files, self.args.in_place)

    def writer(self) -> PartsWriter:
        """What writes the files."""
        args = self.args
        options = options_of(args, args.output)
        return PartsWriter(options, num_threads=args.threads, storage_options=storage_options(args))

    def count(self) -> int:
        """How many records there are: by their headers, or by reading all."""
        if reads_stream(self.files):
            raise Unsuitable(
                "the number of files or of their records has to be known first, and standard input is read once"
            )
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
    """What is wrong is not a record's fault."""
    try:
        yield
    except ValueError as error:
        raise Unsuitable(str(error)) from None


def into_parts(plan: Plan) -> Copied:
    """--into, --records and --size: one file after the other."""
    args, done = plan.args, Copied()
    total = None if args.into is None else plan.count()
    paths: list[
        str
    ] = []  # of objects, whose names have to be known before the first; of files, they are found in the end
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

        for part, batch in _parts(plan, done, total):
            open_up_to(part)
            writer.write(part, batch)
            done.records += len(batch)
            done.payload_bytes += batch.nbytes
        if (total is not None and done.records != total) or len(writer) > len(paths) > 0:
            raise Unsuitable(f"the files have changed while they were read: they have {done.records:,} records now")
        open_up_to((args.into or len(paths) or 1) - 1)  # the last may have no records
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
        return parts_by_records(batches, lambda part: (part + 1) * records // args.into - part * records // args.into)
    if args.records is not None:
        return parts_by_records(batches, lambda part: int(args.records))
    return parts_by_bytes(batches, args.size)


def _parts_needed(plan: Plan) -> int:
    total = plan.count()  # which refuses what can be read only once
    if plan.args.records is not None:
        return -(-total // int(plan.args.records))
    parts = parts_by_bytes(source_of(plan.files, plan.args).batches(), plan.args.size)
    return 1 + max((part for part, _ in parts), default=-1)


def into_sides(plan: Plan, names: Sequence[str]) -> tuple[Copied, dict[str, int]]:
    """--ratio: all files side by side; also how many records each side has."""
    args, done = plan.args, Copied()
    shards = args.shards or 1
    paths = [path for name in names for path in shard_paths(_of_side(args.output, name), shards)]
    if len(set(paths)) < len(paths):
        raise Unsuitable(f"{args.output}: it gives the same name to several files")
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
                    part = rows[(shard - counts[side]) % shards :: shards]
                    if len(part):
                        writer.write(side * shards + shard, _core.take_rows(batch, part))
                counts[side] += len(rows)
            done.records += len(batch)
            done.payload_bytes += batch.nbytes
        done.files = writer.close()
    return done, dict(zip(names, counts, strict=True))


def _side_of(plan: Plan) -> SideOf:
    args = plan.args
    seed = args.seed or 0
    if args.by is not None:
        with _usage():
            return stratified(args.ratio, features_key([args.by], needs_all=True), seed)
    key_of = whole_records if args.group is None else features_key([args.group], needs_all=True)
    return by_hash(args.ratio, key_of, seed)


def _of_side(pattern: str, name: str) -> str:
    """The pattern for one side."""
    if "{name}" in pattern:
        return pattern.replace("{name}", name)
    folder, slash, base = pattern.rpartition("/")
    stem, dot, extension = base.partition(".")
    return f"{folder}{slash}{stem}-{name}{dot}{extension}"
