"""Converts between TFRecord files and JSON lines, CSV and Parquet, and from TFRecord to TFRecord: other shards, another
compression.

The extension decides the format: .jsonl .ndjson .json, .csv, .parquet .pq; anything else is TFRecord. Input may be
compressed in any way; output is GZIP for names that end in .gz, ZSTD for .zst, SNAPPY for .snappy. From TFRecord to
TFRecord any records pass as they are. Otherwise they are Examples, whose features are a row's values: integers and
booleans, floats, and text or bytes, or lists of one kind. What is not UTF-8 is {"base64": "…"} in JSON. A list without
values is left out. CSV holds at most one value per feature. The output appears under its name when it is complete.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from .. import _core
from ..errors import InvalidArgumentError
from ..files.options import TFRecordOptions
from .console import Console
from .files import FAULTS, named_files, problem_of, total_bytes
from .formats import COMPRESSION_OF, COMPRESSIONS, Malformed, Unsuitable, format_of, make_sink, make_source

__all__ = ["NAME", "SUMMARY", "add_arguments", "run"]

NAME = "convert"
SUMMARY = "convert to and from JSON lines, CSV, Parquet; reshard; recompress"

_FORMATS = ("tfrecord", "jsonl", "csv", "parquet")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """IN… OUT, --from, --to, --shards, --compression, --level, --threads."""
    parser.add_argument("files", nargs="+", metavar="IN", help="path, glob pattern, URL, or - for standard input")
    parser.add_argument("output", metavar="OUT", help="path; for several shards a pattern: x-{shard}-of-{num_shards}")
    parser.add_argument("--from", dest="source", choices=_FORMATS, help="the format of the input")
    parser.add_argument("--to", dest="target", choices=_FORMATS, help="the format of the output")
    parser.add_argument("--shards", type=int, default=1, metavar="N", help="TFRecord files; record i goes to i mod N")
    parser.add_argument("--compression", choices=["auto", "none", *COMPRESSIONS], default="auto", type=str.lower)
    parser.add_argument("--level", type=int, metavar="L", help="level of compression")
    parser.add_argument("--threads", type=int, metavar="N", help="threads that read, encode and compress")


def run(args: argparse.Namespace, console: Console) -> int:
    """Writes the output, or says what is wrong and writes nothing."""
    files, status = named_files(args.files, console)
    if status:
        return status
    names = [os.fsdecode(name) for name, _ in files]
    try:
        _check(args)
        kinds = {args.source or format_of(name) for name in names}
        if len(kinds) > 1:
            raise Unsuitable(f"input of several formats ({', '.join(sorted(kinds))}): convert one after the other")
        source = make_source(kinds.pop(), files, args.threads)
        target = args.target or format_of(args.output)
        sink = make_sink(target, args.output, _compression(args), args.level, args.shards, args.threads)
        passes = source.passes + int(sink.wants_features)
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


def _convert(source: Any, sink: Any) -> None:
    """Writes all records of the source to the sink, in order; a sink that wants the features gets them beforehand."""
    scanner = _core.FeatureScanner()
    typed = sink.wants_features or source.typed  # every feature has one kind in all rows, whatever reads them
    if sink.wants_features:
        for batch in source.batches():
            scanner.add(batch)
        if scanner.has_lists:
            raise Unsuitable("SequenceExamples can't be written as rows: they convert from TFRecord to TFRecord only")
    with sink.opened(scanner):
        for batch in source.batches():
            if typed and not sink.wants_features:
                scanner.add(batch)
            sink.write(batch)
