"""Converts between TFRecord files and JSON lines, CSV and Parquet, and from TFRecord to TFRecord: other shards, another
compression.

The extension decides the format: .jsonl .ndjson .json, .csv, .parquet .pq. Of an input, anything else is TFRecord; of
an output, .tfrecord and its like, or no extension. Input may be compressed in any way; output is GZIP for names that
end in .gz, ZSTD for .zst, SNAPPY for .snappy. From TFRecord to TFRecord any records pass as they are. Otherwise they
are Examples, whose features are a row's values: integers and booleans, floats (float32), and text or bytes, or lists of
one kind. A list without values, and a feature without a kind, are left out. What a format can't hold is an error.

In JSON, bytes that are not UTF-8 are {"base64": "…"}, and floats that are no numbers {"float": "NaN"}, "Infinity" and
"-Infinity". CSV holds at most one value per feature. Where the values don't show what a column holds, its name does, as
in zip:bytes, x:float or n:int64. The output appears under its name when it is complete; a pipe or a device is written
to as it is.
"""

from __future__ import annotations

import argparse
import os

from .. import _core
from ..errors import InvalidArgumentError
from ..examples.infer import first_row
from ..files.options import TFRecordOptions
from .console import Console
from .files import FAULTS, add_store_arguments, named_files, problem_of, storage_options, total_bytes
from .formats import (
    COMPRESSION_OF,
    COMPRESSIONS,
    Malformed,
    RowSink,
    Source,
    TFRecordSink,
    Unsuitable,
    format_of,
    make_sink,
    make_source,
    refuse,
    target_format_of,
)

__all__ = ["NAME", "SUMMARY", "add_arguments", "run"]

NAME = "convert"
SUMMARY = "convert to and from JSON lines, CSV, Parquet; reshard; recompress"

_FORMATS = ("tfrecord", "jsonl", "csv", "parquet")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """IN… OUT, --from, --to, --shards, --compression, --level, --threads, --storage-option."""
    parser.add_argument("files", nargs="+", metavar="IN", help="path, glob pattern, URL, or - for standard input")
    parser.add_argument("output", metavar="OUT", help="path; for several shards a pattern: x-{shard}-of-{num_shards}")
    parser.add_argument("--from", dest="source", choices=_FORMATS, help="the format of the input")
    parser.add_argument("--to", dest="target", choices=_FORMATS, help="the format of the output")
    parser.add_argument("--shards", type=int, default=1, metavar="N", help="TFRecord files; record i goes to i mod N")
    parser.add_argument("--compression", choices=["auto", "none", *COMPRESSIONS], default="auto", type=str.lower)
    parser.add_argument("--level", type=int, metavar="L", help="level of compression")
    parser.add_argument("--threads", type=int, metavar="N", help="threads that read, encode and compress")
    add_store_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Writes the output, or says what is wrong and writes nothing."""
    files, status = named_files(args, console)
    if status:
        return status
    names = [os.fsdecode(file.name) for file in files]
    try:
        _check(args)
        kinds = {args.source or format_of(name) for name in names}
        if len(kinds) > 1:
            raise Unsuitable(f"input of several formats ({', '.join(sorted(kinds))}): convert one after the other")
        source = make_source(kinds.pop(), files, args.threads)
        target = args.target or target_format_of(args.output)
        options = storage_options(args)
        sink = make_sink(target, args.output, _compression(args), args.level, args.shards, args.threads, options)
        passes = source.passes + int(sink.wants_features) + int(sink.looks)
        if passes > 1 and any(name == "<stdin>" for name in names):
            raise Unsuitable(f"standard input can be read once, and {target} needs to know all features first")
        size = total_bytes(files)
        with console.progress(None if size is None else passes * size) as progress:
            source.advance = progress.advance
            _convert(source, sink)
    except (InvalidArgumentError, Malformed) as error:
        console.problem(str(error))
        return 1
    except (Unsuitable, ValueError) as error:
        console.problem(str(error))
        return 2
    except FAULTS as error:
        problem = problem_of(error)
        path = getattr(error, "path", None) or getattr(error, "filename", None)
        console.problem(f"{os.fsdecode(path)}: {problem.place}" if path else problem.place)
        return problem.status
    return 0


def _check(args: argparse.Namespace) -> None:
    if args.shards < 1:
        raise Unsuitable(f"--shards must be at least 1, got {args.shards}")
    if args.threads is not None and args.threads < 1:
        raise Unsuitable(f"--threads must be at least 1, got {args.threads}")
    if args.output == "-":
        raise Unsuitable("the output is a file: it appears when it is complete")


def _compression(args: argparse.Namespace) -> str:
    if args.compression == "auto":
        return COMPRESSION_OF.get(os.path.splitext(args.output)[1].lower(), "")
    return "" if args.compression == "none" else TFRecordOptions.get_compression_type_string(args.compression.upper())


def _convert(source: Source, sink: RowSink | TFRecordSink) -> None:
    """Writes all records of the source to the sink, in order; a sink of rows looks at all of them before."""
    scanner = _core.FeatureScanner()
    if isinstance(sink, RowSink):
        for batch in source.batches():
            _scan(scanner, batch)
            sink.check(scanner, batch)
        sink.begin(scanner)
        if sink.looks:
            sink.look(source.batches())
    with sink.opened():
        for batch in source.batches():
            if source.typed and not sink.wants_features:
                scanner.add(batch)  # every feature has one kind in all rows, whatever reads them
            sink.write(batch)


def _scan(scanner: _core.FeatureScanner, records: _core.RecordBatch) -> None:
    scanner.add(records)
    if scanner.has_lists:
        row = first_row(records, lambda one: one.has_lists)
        refuse(records, row, "SequenceExamples can't be written as rows: they convert to TFRecord only")
