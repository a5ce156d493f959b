"""Write a random sample of the records of all inputs, without replacement, in their order. All sets of N records are
equally likely.

The seed alone determines the sample, for any number of threads and any compression; a smaller sample is a subset of a
larger one. For uncompressed local files, only the headers and the sample are read. Other files are read twice, to count
the records first. For standard input and pipes, the sample is held in memory.
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
from ..arguments import add_input_arguments, add_output_arguments, fraction_of, number_of, seed_of
from ..console import Console, counted
from ..copying import Copied, first_stream_among, on_files, print_summary, shown_output, sink_of, source_of
from ..files import open_input, total_bytes
from ..formats.base import Unsuitable

NAME = "sample"
SUMMARY = "write a random sample of the records"
EXAMPLES = """\
tfrecord-fast sample train.tfrecord small.tfrecord -n 1000 --seed 1
tfrecord-fast sample 'train-*.tfrecord' small.tfrecord.gz --fraction 0.01
tfrecord-fast sample train.tfrecord - -n 20 > few.tfrecord
"""

_AT_ONCE = 1 << 16  # records that are read by number together
_BYTES_AT_ONCE = 64 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_arguments(parser)
    add_output_arguments(parser)
    how_many = parser.add_mutually_exclusive_group(required=True)
    how_many.add_argument("-n", "--count", type=number_of, metavar="N", help="number of records; fewer is an error")
    how_many.add_argument(
        "--fraction", type=_fraction, metavar="F", help="fraction of the records, from 0 to 1, rounded to whole records"
    )
    parser.add_argument("--seed", type=seed_of, default=0, metavar="S", help="seed of the sample (default: 0)")


@on_files
def run(args: argparse.Namespace, console: Console, files: list[CoreFile]) -> int:
    sink, done = sink_of(args, files), Copied()
    with sink.opened():
        for batch in _sampled(args, console, files, done):
            sink.write(batch)
            done.records += len(batch)
            done.payload_bytes += batch.nbytes
    done.files = sink.written
    text = f"{shown_output(args)}: {counted(done.records)} of {done.records_read:,} (seed {args.seed})"
    print_summary(args, console, [text], {**done.as_json(), "seed": args.seed})
    return 0


def _sampled(
    args: argparse.Namespace, console: Console, files: list[CoreFile], done: Copied
) -> Iterator[_core.RecordBatch]:
    """Yield the sample; set the number of records read."""
    is_stream = first_stream_among(files) is not None
    if is_stream and args.count is None:
        raise Unsuitable(
            "--fraction needs to count the records first, which is impossible for standard input and pipes: use -n"
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
            raise Unsuitable(f"the files changed while being read: {total:,} records first, then {done.records_read:,}")


def _reader_by_number(files: list[CoreFile]) -> IndexedReader[bytes, _core.RecordBatch] | None:
    """Return a reader by index, or None if a file is compressed or not local."""
    if not files or not all(file.is_local and open_input(file, "auto").compression == "" for file in files):
        return None
    reader = IndexedReader([os.fsdecode(file.name) for file in files])
    try:
        len(reader)
    except InvalidArgumentError:
        return None
    return reader


def _number(args: argparse.Namespace, total: int) -> int:
    if args.count is None:
        return int(np.floor(args.fraction * total + Fraction(1, 2)))
    if args.count > total:
        raise Unsuitable(f"-n {args.count:,}: the input has only {counted(total)}")
    return int(args.count)


def _fraction(text: str) -> Fraction:
    try:
        fraction = fraction_of(text)
    except ValueError:
        fraction = Fraction(-1)
    if not 0 <= fraction <= 1:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, got {text!r}")
    return fraction
