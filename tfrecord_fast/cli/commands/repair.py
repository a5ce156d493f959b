"""Write the intact records of a damaged file to another file, and report each loss: its offset, bytes and reason.

After a damaged record, reading continues with the next intact one. A compressed file can be repaired if it consists of
independent members (SNAPPY, and GZIP and ZSTD as written by this package): reading continues with the next member, and
offsets are those in the uncompressed data. The output has the compression of the input, unless its extension or
--compression selects another one.

The exit status is 0 if the output has all intact records, however much was lost; --json and --report have the losses.
It is 1 if no record is intact: then nothing is written. --in-place replaces the input if anything was lost.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
from collections.abc import Iterator
from typing import Any

from ...base.record_format import FRAME_BYTES
from ...files.naming.addresses import names_several
from ...files.naming.compression import COMPRESSION_OF
from ...files.rewriting.repairing import IntactRecords
from ...files.streams.core_files import CoreFile
from ...files.system.drafts import complete_file
from ..arguments import COMPRESSIONS, add_output_arguments
from ..console import Console, counted
from ..copying import STANDARD_INPUT, Copied, first_input_among, guarded, print_summary, shown_output, sink_of
from ..files import named_files, open_input, total_bytes
from ..formats.base import STANDARD_OUTPUT, Unsuitable

NAME = "repair"
SUMMARY = "write the intact records of a damaged file and report losses"
EXAMPLES = """\
tfrecord-fast repair damaged.tfrecord intact.tfrecord
tfrecord-fast repair damaged.tfrecord.gz intact.tfrecord.gz --report lost.json
tfrecord-fast repair train.tfrecord --in-place
"""

_SHOWN = 10  # losses that are printed; --report has all


class _Unchanged(Exception):
    """Signals that the output must not be written."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("input", metavar="IN", help="path, URL, or - for standard input")
    parser.add_argument("output", nargs="?", metavar="OUT", help="path or URL, or - for standard output")
    parser.add_argument("--report", metavar="FILE", help="write the losses as JSON")
    parser.add_argument(
        "--input-compression",
        choices=COMPRESSIONS,
        default="auto",
        type=str.lower,
        help="compression of the input, if its first bytes are too damaged to detect it",
    )
    add_output_arguments(parser, shards=False)


def run(args: argparse.Namespace, console: Console) -> int:
    args.files, args.shards = [args.input], 1
    files, status = named_files(args, console)
    return status or guarded(console, lambda: _repair(args, console, files))


def _repair(args: argparse.Namespace, console: Console, files: list[CoreFile]) -> int:
    if len(files) != 1:
        raise Unsuitable(f"{args.input}: expected one file, got {len(files)}; repair them one by one")
    (file,) = files
    if file.is_local or names_several(args.input):  # a folder or a pattern can't be written to
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
    return 1 if intact.lost and not intact.records else 0


def _set_output(args: argparse.Namespace, file: CoreFile) -> None:
    if args.output is None and not args.in_place:
        raise Unsuitable("missing output: pass OUT, or --in-place to replace the input")
    if args.output is None:
        if file.name == STANDARD_INPUT:
            raise Unsuitable("--in-place cannot replace standard input: pass OUT")
        args.output = args.input
    if args.report == STANDARD_OUTPUT:
        raise Unsuitable("--report requires a file name; use --json to print to standard output")
    outputs = [] if args.output == STANDARD_OUTPUT else [args.output]
    args.is_same = first_input_among(outputs, [file]) is not None
    if args.report is not None and first_input_among([args.report], [file]) is not None:
        raise Unsuitable(f"{args.report}: the report would replace the input")
    if args.report is not None and outputs and os.path.realpath(args.report) == os.path.realpath(args.output):
        raise Unsuitable(f"{args.report}: the report and the output have the same name")


@contextlib.contextmanager
def _reporting(args: argparse.Namespace) -> Iterator[Any]:
    """Yield a function that writes the report; its file appears at the end, after the output."""
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
        except _Unchanged:  # the report appears nevertheless
            unchanged = True
    if unchanged:
        raise _Unchanged


def _report(args: argparse.Namespace, intact: IntactRecords) -> dict[str, Any]:
    lost = [{"offset": stretch.offset, "bytes": stretch.bytes, "reason": stretch.reason} for stretch in intact.lost]
    known = [stretch.bytes for stretch in intact.lost]
    bytes = None if None in known else sum(known)
    return {"path": args.input, "output": args.output, "records": intact.records, "lost_bytes": bytes, "lost": lost}


def _tell(args: argparse.Namespace, console: Console, intact: IntactRecords, done: Copied) -> None:
    name = "standard input" if args.input == "-" else args.input
    for stretch in intact.lost[:_SHOWN]:
        size = "an unknown number of bytes" if stretch.bytes is None else counted(stretch.bytes, "byte")
        console.problem(f"{name}: lost {size} at byte {stretch.offset:,}: {stretch.reason}")
    if len(intact.lost) > _SHOWN:
        console.problem(f"{name}: {len(intact.lost) - _SHOWN:,} more losses; use --report FILE to see all")
    report = _report(args, intact)
    if not intact.lost:
        text = f"{name}: no damage, {counted(intact.records)}"
        text += "" if args.is_same else f" in {shown_output(args)}"
    elif not intact.records:
        text = f"{name}: no intact record, nothing was written"
    else:
        text = f"{shown_output(args)}: {counted(intact.records)}; {counted(len(intact.lost), 'gap')}"
    print_summary(args, console, [text], {**report, "files": done.as_json()["files"]})
