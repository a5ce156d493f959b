"""Writes a random sample of the records of all inputs, without replacement, in their order: of all sets of N records,
each is as likely as any other.

The seed decides the sample, whatever the threads and the compression; that of fewer records is part of that of more. Of
uncompressed files on a disk, only the headers and the sample are read; others are read twice, to count them first. Of
standard input and pipes, the sample is kept in memory.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from ... import _core
from ...base.record_format import FRAME_BYTES
from ...errors import InvalidArgumentError
from ...files.indexing.indexed_reader import IndexedReader
from ...files.rewriting.sampling import chosen, chosen_rows, sampled
from ...files.streams.core_files import CoreFile
from ..console import Console
from ..copying import (
    Copied,
    add_input_arguments,
    add_output_arguments,
    counted,
    fraction_of,
    guarded,
    reads_stream,
    seed_of,
    shown_output,
    sink_of,
    source_of,
    told,
)
from ..files import named_files, open_input, total_bytes
from ..formats import Unsuitable

__all__ = ["EXAMPLES", "NAME", "SUMMARY", "add_arguments", "run"]

NAME = "sample"
SUMMARY = "write some of the records, chosen at random"
EXAMPLES = """\
tfrecord-fast sample train.tfrecord small.tfrecord -n 1000 --seed 1
tfrecord-fast sample 'train-*.tfrecord' small.tfrecord.gz --fraction 0.01
tfrecord-fast sample train.tfrecord - -n 20 > few.tfrecord
"""

_AT_ONCE = 1 << 16  # records that are read by their numbers together
_BYTES_AT_ONCE = 64 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """IN… OUT, --count, --fraction, --seed and the options of outputs."""
    add_input_arguments(parser)
    add_output_arguments(parser)
    how_many = parser.add_mutually_exclusive_group(required=True)
    how_many.add_argument(
        "-n", "--count", type=_count, metavar="N", help="how many records; an error if there are fewer"
    )
    how_many.add_argument(
        "--fraction", type=_fraction, metavar="F", help="which part of them, from 0 to 1, rounded to whole records"
    )
    parser.add_argument("--seed", type=seed_of, default=0, metavar="S", help="decides which (default: 0)")


def run(args: argparse.Namespace, console: Console) -> int:
    """Writes the output, or says what is wrong and writes nothing."""
    files, status = named_files(args, console)
    return status or guarded(console, lambda: _sample(args, console, files))


def _sample(args: argparse.Namespace, console: Console, files: list[CoreFile]) -> int:
    sink, done = sink_of(args, files), Copied()
    with sink.opened():
        for batch in _sampled(args, console, files, done):
            sink.write(batch)
            done.records += len(batch)
            done.payload_bytes += batch.nbytes
    done.files = sink.written
    text = f"{shown_output(args)}: {counted(done.records)} of {done.records_read:,} (seed {args.seed})"
    told(args, console, [text], {**done.as_json(), "seed": args.seed})
    return 0


def _sampled(
    args: argparse.Namespace, console: Console, files: list[CoreFile], done: Copied
) -> Iterator[_core.RecordBatch]:
    """The sample; sets how many records there are."""
    is_stream = reads_stream(files)
    if is_stream and args.count is None:
        raise Unsuitable(
            "--fraction needs to know how many records there are, and standard input is read once: give -n"
        )
    reader = None if is_stream else _reader_by_number(files)
    if reader is not None:
        done.records_read = len(reader)
        places = chosen(len(reader), _number(args, len(reader)), args.seed)
        mean_bytes = max(1, (total_bytes(files) or 0) // max(1, len(reader)))
        rows = max(1, min(_AT_ONCE, _BYTES_AT_ONCE // mean_bytes))
        with console.progress(mean_bytes * len(places)) as progress:
            for first in range(0, len(places), rows):
                batch = reader.take(places[first : first + rows])
                yield batch
                progress.advance(batch.nbytes + FRAME_BYTES * len(batch))
        return
    size = total_bytes(files)
    source = source_of(files, args)
    with console.progress(None if size is None else size * (1 if is_stream else 2)) as progress:
        source.advance = progress.advance
        if is_stream:
            batch, done.records_read = sampled(source.batches(), args.count, args.seed)
            _number(args, done.records_read)
            yield batch
            return
        total = sum(len(batch) for batch in source.batches())
        places = chosen(total, _number(args, total), args.seed)
        yield from chosen_rows(done.reading(source.batches()), places)
        if done.records_read != total:
            raise Unsuitable(f"the files have changed: {total:,} records at first, then {done.records_read:,}")


def _reader_by_number(files: list[CoreFile]) -> IndexedReader[bytes, _core.RecordBatch] | None:
    """All files by their indexes, which their headers tell; None if one is compressed or not a local file."""
    if not files or not all(file.is_local and open_input(file, "auto").compression == "" for file in files):
        return None
    reader = IndexedReader([os.fsdecode(file.name) for file in files])
    try:
        len(reader)
    except InvalidArgumentError:
        return None
    return reader


def _number(args: argparse.Namespace, total: int) -> int:
    """How many records the sample has."""
    if args.count is None:
        return int(np.floor(args.fraction * total + Fraction(1, 2)))
    if args.count > total:
        raise Unsuitable(f"-n {args.count:,}: there are only {counted(total)}")
    return int(args.count)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number of records, got {text!r}")
    return int(text)


def _fraction(text: str) -> Fraction:
    try:
        made = fraction_of(text)
    except ValueError:
        made = Fraction(-1)
    if not 0 <= made <= 1:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, got {text!r}")
    return made
