"""Writes the intact records of a damaged file to another, and reports what was lost: where, how many bytes, and why.

Where a record is damaged, reading goes on with the next intact one. In compressed files it goes on with the next part,
if they were written in parts (GZIP and ZSTD as this package writes them, SNAPPY); offsets are then those of the records
when they are not compressed. The output is compressed as the input, unless its extension or --compression says
otherwise.

The exit status is 1 if anything was lost, and 0 if not. Without any intact record, nothing is written. --in-place
replaces the input itself, if anything was lost.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
from collections.abc import Iterator
from typing import Any

from ...base.record_format import FRAME_BYTES
from ...files.naming.addresses import is_pattern
from ...files.naming.compression import COMPRESSION_TYPES
from ...files.rewriting.repairing import IntactRecords
from ...files.streams.core_files import CoreFile
from ...files.system.temporary import complete_file
from ..console import Console
from ..copying import (
    STANDARD_INPUT,
    Copied,
    add_output_arguments,
    counted,
    first_input_among,
    guarded,
    shown_output,
    sink_of,
    told,
)
from ..files import named_files, open_input, total_bytes
from ..formats import COMPRESSION_OF, STANDARD_OUTPUT, Unsuitable

__all__ = ["EXAMPLES", "NAME", "SUMMARY", "add_arguments", "run"]

NAME = "repair"
SUMMARY = "write the intact records of a damaged file, report what was lost"
EXAMPLES = """\
tfrecord-fast repair damaged.tfrecord intact.tfrecord
tfrecord-fast repair damaged.tfrecord.gz intact.tfrecord.gz --report lost.json
tfrecord-fast repair train.tfrecord --in-place
"""

_SHOWN = 10  # stretches that are printed; --report has all
_INPUT_COMPRESSIONS = ("auto", "none", *(name.lower() for name in COMPRESSION_TYPES if name))


class _Unchanged(Exception):
    """Nothing is to be written."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """IN OUT, --report, --input-compression and the options of outputs."""
    parser.add_argument("input", metavar="IN", help="path, URL, or - for standard input")
    parser.add_argument("output", nargs="?", metavar="OUT", help="path or URL, or - for standard output")
    parser.add_argument("--report", metavar="FILE", help="write what was lost as JSON")
    parser.add_argument(
        "--input-compression",
        choices=_INPUT_COMPRESSIONS,
        default="auto",
        type=str.lower,
        help="how the input is compressed, if its first bytes no longer say it",
    )
    add_output_arguments(parser, shards=False)


def run(args: argparse.Namespace, console: Console) -> int:
    """Writes the output and the report."""
    args.files, args.shards = [args.input], 1
    files, status = named_files(args, console)
    return status or guarded(console, lambda: _repair(args, console, files))


def _repair(args: argparse.Namespace, console: Console, files: list[CoreFile]) -> int:
    if len(files) != 1:
        raise Unsuitable(f"{args.input}: it names {len(files)} files; they are repaired one by one")
    (file,) = files
    if file.is_local or is_pattern(args.input):  # a folder or a pattern is no name to write to
        args.input = os.fsdecode(file.name)
    _set_output(args, file)
    done, size = Copied(), total_bytes(files)
    with console.progress(size) as progress:
        source = open_input(file, args.input_compression, progress.advance)
        if args.compression == "auto" and os.path.splitext(args.output)[1].lower() not in COMPRESSION_OF:
            args.compression = source.compression.lower() or "none"
        threads = 1 if args.threads is None else args.threads - 1
        intact = IntactRecords(source.core_file, source.compression, source.head, num_threads=threads)
        sink = sink_of(args, files)
        with contextlib.suppress(_Unchanged), _reporting(args) as report:
            with sink.opened():
                for batch in intact:
                    sink.write(batch)
                    done.payload_bytes += batch.nbytes
                    if not source.counts_itself:
                        progress.advance(batch.nbytes + FRAME_BYTES * len(batch))
                done.records = done.records_read = intact.records
                report(_report(args, intact))
                if args.is_same if not intact.lost else not intact.records:
                    raise _Unchanged
        done.files = sink.written
    _tell(args, console, intact, done)
    return 1 if intact.lost else 0


def _set_output(args: argparse.Namespace, file: CoreFile) -> None:
    if args.output is None and not args.in_place:
        raise Unsuitable("give the name of the output, or --in-place to replace the input")
    if args.output is None:
        if file.name == STANDARD_INPUT:
            raise Unsuitable("standard input can't be replaced: give the name of the output")
        args.output = args.input
    if args.report == STANDARD_OUTPUT:
        raise Unsuitable("--report takes the name of a file; --json prints to standard output")
    outputs = [] if args.output == STANDARD_OUTPUT else [args.output]
    args.is_same = first_input_among(outputs, [file]) is not None
    if args.report is not None and first_input_among([args.report], [file]) is not None:
        raise Unsuitable(f"{args.report}: it is the input, and can't take the report")
    if args.report is not None and outputs and os.path.realpath(args.report) == os.path.realpath(args.output):
        raise Unsuitable(f"{args.report}: it is the output, and can't take the report")


@contextlib.contextmanager
def _reporting(args: argparse.Namespace) -> Iterator[Any]:
    """What takes the report; its file appears at the end, after the output."""
    if args.report is None:
        yield lambda value: None
        return
    unchanged = False
    with complete_file(args.report) as draft, open(draft, "wb", buffering=0) as out:

        def report(value: dict[str, Any]) -> None:
            left = json.dumps(value, indent=1).encode() + b"\n"
            try:
                while left:
                    left = left[out.write(left) :]
            except OSError as error:
                error.filename = args.report
                raise

        try:
            yield report
        except _Unchanged:  # of the output; the report appears
            unchanged = True
    if unchanged:
        raise _Unchanged


def _report(args: argparse.Namespace, intact: IntactRecords) -> dict[str, Any]:
    lost = [{"offset": one.offset, "bytes": one.bytes, "reason": one.reason} for one in intact.lost]
    known = [one.bytes for one in intact.lost]
    bytes = None if None in known else sum(known)
    return {"path": args.input, "output": args.output, "records": intact.records, "lost_bytes": bytes, "lost": lost}


def _tell(args: argparse.Namespace, console: Console, intact: IntactRecords, done: Copied) -> None:
    name = "standard input" if args.input == "-" else args.input
    for one in intact.lost[:_SHOWN]:
        size = "an unknown number of bytes" if one.bytes is None else counted(one.bytes, "byte")
        console.problem(f"{name}: lost {size} at byte {one.offset:,}: {one.reason}")
    if len(intact.lost) > _SHOWN:
        console.problem(f"{name}: and {len(intact.lost) - _SHOWN:,} more parts; --report FILE has all")
    report = _report(args, intact)
    if not intact.lost:
        text = f"{name}: nothing is damaged, {counted(intact.records)}"
        text += "" if args.is_same else f" in {shown_output(args)}"
    elif not intact.records:
        text = f"{name}: no record is intact, nothing was written"
    else:
        text = f"{shown_output(args)}: {counted(intact.records)}; {counted(len(intact.lost), 'part')} lost"
    told(args, console, [text], {**report, "files": done.as_json()["files"]})
