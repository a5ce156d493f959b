"""Converts between TFRecord files and JSON lines, CSV, Parquet and Arrow, and from TFRecord to TFRecord: other shards,
another compression.

The extension decides the format: .tfrecord and its like, .jsonl .ndjson .json, .csv, .parquet .pq, .arrow .feather
.ipc, .orc. Where it says nothing, an input is known by its first bytes, and an output needs --to. Input may be
compressed in any way; output is GZIP for names that end in .gz, ZSTD for .zst, SNAPPY for .snappy. From TFRecord to
TFRecord any records pass as they are. Otherwise they are Examples, whose features are a row's values: integers and
booleans, floats (float32), and text or bytes, or lists of one kind. What a format can't hold is an error.

A folder that `save_to_disk` of Hugging Face's datasets wrote, or that TensorFlow Datasets prepared, is taken as the
files that it lists; they must all be there. Its columns of images, sounds and videos, in Parquet files too, become two
features: NAME has the bytes of the file, and NAME/path its path, where there is one.

A feature may be absent, there without a kind, or a list without values. Parquet and Arrow files keep which it is, in
nulls, empty lists and the metadata of their columns; ORC refuses those without a kind; CSV leaves all three out.

In JSON, bytes that are not UTF-8 are {"base64": "…"}, floats that are no numbers {"f": "NaN"}, "Infinity" and
"-Infinity" (see --nan), and features without values {"empty": "int64"}, "float", "bytes" or "none". SequenceExamples
are {"context": {…}, "feature_lists": {"name": [[…], …]}}.

Fields of records that Examples don't have would be lost in other formats: they are an error, unless
--drop-unknown-fields is given; then it is said how many records have them.

CSV holds at most one value per feature. Where the values don't show what a column holds, its name does, as in
zip:bytes, x:float or n:int64.

The output appears under its name when it is complete; a pipe or a device is written to as it is. It must not be one of
the inputs, which would be lost, also by a link; only one TFRecord file may be converted to itself, as a whole. Most
files are read twice, to know all features first; one that changes in between is an error, and nothing is written.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator

from ... import _core
from ...base.file_stamp import FileStamp
from ...errors import InvalidArgumentError
from ...examples.infer import first_row
from ...files.naming.compression import TFRecordOptions
from ...files.streams.core_files import CoreFile
from ...files.writing.example_writer import shard_paths
from ..console import Console
from ..copying import STANDARD_INPUT, check_standard_output, first_input_among, first_stream_among
from ..files import FAULTS, add_store_arguments, named_files, problem_of, storage_options, total_bytes
from ..formats import (
    CASTS,
    COMPRESSION_OF,
    COMPRESSIONS,
    STANDARD_OUTPUT,
    TYPES,
    ArrowSink,
    ArrowSource,
    CsvSource,
    JsonSink,
    Malformed,
    RowSink,
    Source,
    TFRecordSink,
    TFRecordSource,
    Unsuitable,
    format_of,
    make_sink,
    make_source,
    read_schema,
    refuse,
    target_format_of,
)
from ..records.json_values import NANS

__all__ = ["EXAMPLES", "NAME", "SUMMARY", "add_arguments", "run"]

NAME = "convert"
SUMMARY = "convert to and from JSON lines, CSV, Parquet, Arrow, ORC; reshard; recompress"
EXAMPLES = """\
tfrecord-fast convert train.tfrecord train.jsonl
tfrecord-fast convert train.csv train.tfrecord.gz --level 9
tfrecord-fast convert people.csv people.tfrecord --types 'zip=string,age=int64'
tfrecord-fast convert 'old-*.tfrecord' new.tfrecord --shards 16
tfrecord-fast convert train.tfrecord - --to jsonl --limit 100 | jq .
tfrecord-fast convert train.parquet s3://bucket/train.tfrecord
"""

_OF_ARROW = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
_TEXTS = {" is CSV text": "csv", " is JSON text": "jsonl"}  # that are known, but not taken without being asked
_FORMATS = ("tfrecord", "jsonl", "csv", "parquet", "arrow", "orc")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """IN… OUT, --from, --to, --shards, --compression, --level, --threads, --storage-option."""
    parser.add_argument("files", nargs="+", metavar="IN", help="path, folder, pattern, URL, or - for standard input")
    parser.add_argument(
        "output",
        metavar="OUT",
        help="path, or - for standard output; for several shards a pattern: x-{shard}-of-{num_shards}",
    )
    parser.add_argument("--from", dest="source", choices=_FORMATS, help="the format of the input")
    parser.add_argument("--to", dest="target", choices=_FORMATS, help="the format of the output")
    parser.add_argument("--shards", type=int, default=1, metavar="N", help="TFRecord files; record i goes to i mod N")
    parser.add_argument("--compression", choices=["auto", "none", *COMPRESSIONS], default="auto", type=str.lower)
    parser.add_argument("-n", "--limit", type=int, metavar="N", help="convert the first N records only")
    parser.add_argument("--level", type=int, metavar="L", help="level of compression")
    parser.add_argument(
        "--nan",
        choices=NANS,
        default="mark",
        help='what NaN and infinities are in JSON: {"f": "NaN"} (default), null, which reads back as no value, or text',
    )
    parser.add_argument(
        "--types", type=_types, metavar="NAME=TYPE,…", help="what columns of CSV hold: int64, float or string"
    )
    parser.add_argument(
        "--schema",
        metavar="FILE",
        help="the same, from what `tfrecord-fast schema --json` printed; or a Parquet or Arrow file whose columns and "
        "types the output is to have",
    )
    parser.add_argument(
        "--cast", choices=CASTS, help="times, dates and decimals of Parquet and Arrow become text or integers"
    )
    parser.add_argument(
        "--drop-unknown-fields",
        action="store_true",
        help="leave out what Examples have no place for, where other formats are written; else it is an error",
    )
    parser.add_argument("--strings", action="store_true", help="columns of CSV hold text, unless said otherwise")
    parser.add_argument("--threads", type=int, metavar="N", help="threads that read, encode and compress")
    add_store_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Writes the output, or says what is wrong and writes nothing."""
    files, status = named_files(args, console)
    if status:
        return status
    try:
        _check(args)
        source, sink = _prepared(args, files)
        passes = source.passes + int(sink.wants_features) + int(sink.looks)
        if isinstance(source, TFRecordSource) and passes > 1 and (stream := first_stream_among(files)) is not None:
            name = "standard input" if stream.name == STANDARD_INPUT else f"{os.fsdecode(stream.name)}: a pipe"
            raise Unsuitable(f"{name} can be read once, and this output needs to know all features first")
        size = total_bytes(files)
        with console.progress(None if size is None else passes * size) as progress:
            source.advance = progress.advance
            unknown = _UnknownFields(args.drop_unknown_fields)
            _convert(source, sink, args.limit, unknown, _unchanged(files) if passes > 1 else lambda: None)
        if unknown.records:
            console.problem(unknown.text())
    except (InvalidArgumentError, Malformed) as error:
        console.problem(str(error))
        return 1
    except (Unsuitable, ValueError) as error:
        console.problem(str(error))
        return 2
    except FAULTS as error:
        problem = problem_of(error)
        path = getattr(error, "path", None) or getattr(error, "filename", None)
        hint = next((f"; --from {name} reads it" for kind, name in _TEXTS.items() if problem.reason.endswith(kind)), "")
        console.problem((f"{os.fsdecode(path)}: {problem.place}" if path else problem.place) + hint)
        return problem.status
    return 0


def _prepared(args: argparse.Namespace, files: list[CoreFile]) -> tuple[Source, RowSink | TFRecordSink]:
    """What is read and what is written, with their options."""
    kinds = {args.source or format_of(file) for file in files}
    if len(kinds) > 1:
        raise Unsuitable(f"input of several formats ({', '.join(sorted(kinds))}): convert one after the other")
    source = make_source(kinds.pop(), files, args.threads)
    target = args.target or target_format_of(args.output)
    compression, options = _compression(args), storage_options(args)
    sink = make_sink(target, args.output, compression, args.level, args.shards, args.threads, options)
    _check_places(args, files, isinstance(source, TFRecordSource) and isinstance(sink, TFRecordSink))
    is_schema = bool(args.schema) and args.schema.endswith(_OF_ARROW)  # else it says what CSV holds
    if is_schema and isinstance(sink, ArrowSink):
        sink.target = read_schema(args.schema)
    elif is_schema:
        raise Unsuitable(f"{args.schema} has the schema of a Parquet or Arrow file, and the output is {target}")
    _set_types(source, args, None if is_schema else args.schema)
    if isinstance(sink, JsonSink):
        sink.nan = args.nan
    elif args.nan != "mark":
        raise Unsuitable(f"--nan is for JSON lines, and {args.output} will be {target}")
    return source, sink


def _check(args: argparse.Namespace) -> None:
    if args.shards < 1:
        raise Unsuitable(f"--shards must be at least 1, got {args.shards}")
    if args.threads is not None and args.threads < 1:
        raise Unsuitable(f"--threads must be at least 1, got {args.threads}")
    if args.limit is not None and args.limit < 0:
        raise Unsuitable(f"--limit must be at least 0, got {args.limit}")
    if args.output == STANDARD_OUTPUT and (args.target is None or args.shards > 1):
        raise Unsuitable("standard output is one file, and no extension says its format: give --to")


def _check_places(args: argparse.Namespace, files: list[CoreFile], copies: bool) -> None:
    """Refuses an output that is an input, unless all of it is in the output: `copies` says that records stay."""
    if args.output == STANDARD_OUTPUT:
        check_standard_output(files)
        return
    paths = shard_paths(args.output, args.shards)
    same = first_input_among(paths, files)
    if same is not None and not (copies and len(files) == len(paths) == 1 and args.limit is None):
        raise Unsuitable(f"{same}: it is one of the inputs, and would be lost")


def _set_types(source: Source, args: argparse.Namespace, schema: str | None) -> None:
    """What --cast, --types, --schema and --strings say of the input's columns."""
    if args.cast is not None:
        if not isinstance(source, ArrowSource):
            raise Unsuitable("--cast is for columns of Parquet, Arrow and ORC, and the input is none of them")
        source.cast = args.cast
    if not (args.types or schema or args.strings):
        return
    if not isinstance(source, CsvSource):
        raise Unsuitable("--types, --schema and --strings say what columns of CSV hold, and the input is none")
    source.strings = args.strings
    source.types = {**(_types_in(schema) if schema else {}), **(args.types or {})}


def _types_in(path: str) -> dict[str, str]:
    """Of a file that `schema --json` has written."""
    try:
        with open(path, encoding="utf-8") as file:
            features = json.load(file)["features"]
        return {key: TYPES[feature["dtype"]] for key, feature in features.items() if feature["dtype"]}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Unsuitable(f"{path}: it is not what `tfrecord-fast schema --json` prints of Examples") from None


def _types(text: str) -> dict[str, str]:
    made = {}
    for part in text.split(","):
        name, equals, type = part.rpartition("=")
        if not equals or type not in TYPES:
            raise argparse.ArgumentTypeError(f"expected NAME=TYPE, with one of {' '.join(TYPES)}, got {part!r}")
        made[name] = TYPES[type]
    return made


def _compression(args: argparse.Namespace) -> str:
    if args.compression == "auto":
        return COMPRESSION_OF.get(os.path.splitext(args.output)[1].lower(), "")
    return "" if args.compression == "none" else TFRecordOptions.get_compression_type_string(args.compression.upper())


def _unchanged(files: list[CoreFile]) -> Callable[[], None]:
    """Raises Unsuitable if a local file is not as it is now: what was seen of it first may not hold any more."""
    before = [_stamp(file) for file in files]

    def check() -> None:
        for file, stamp in zip(files, before, strict=True):
            if _stamp(file) != stamp:
                raise Unsuitable(f"{os.fsdecode(file.name)}: it has changed while it was read")

    return check


def _stamp(file: CoreFile) -> FileStamp | None:
    return FileStamp.of(file.name) if file.is_local else None


class _UnknownFields:
    """Fields that no Example has, in records that become rows.

    Args:
      dropped: they are counted, and left out; else they are an error.
    """

    def __init__(self, dropped: bool) -> None:
        self._dropped = dropped
        self._first = ""
        self.records = 0

    def look(self, batch: _core.RecordBatch) -> None:
        """Raises Unsuitable if they are an error, and records of the batch have some."""
        records, row, field = _core.unknown_fields(batch)
        if records and not self.records:
            why = "" if self._dropped else ", and would be lost: --drop-unknown-fields allows it"
            try:
                refuse(batch, row, f"field {field} is unknown{why}")
            except Unsuitable as error:
                if not self._dropped:
                    raise
                self._first = str(error)
        self.records += records

    def text(self) -> str:
        """What is said of them in the end."""
        has = "record has" if self.records == 1 else "records have"
        return f"{self.records:,} {has} fields that were left out; the first: {self._first}"


def _convert(
    source: Source,
    sink: RowSink | TFRecordSink,
    limit: int | None,
    unknown: _UnknownFields,
    check: Callable[[], None],
) -> None:
    """Writes the records of the source to the sink, in order; a sink of rows looks at all of them before.

    Nothing appears if `check` raises an exception in the end.
    """
    scanner = _core.FeatureScanner()
    if isinstance(sink, RowSink):
        for batch in _first(source, limit):
            _scan(scanner, batch, sink.takes_lists)
            if not source.typed:
                unknown.look(batch)
            sink.check(scanner, batch)
        sink.begin(scanner)
        if sink.looks:
            sink.look(_first(source, limit))
    with sink.opened():
        for batch in _first(source, limit):
            if source.typed and not sink.wants_features:
                scanner.add(batch)  # every feature has one kind in all rows, whatever reads them
            sink.write(batch)
        check()


def _first(source: Source, limit: int | None) -> Iterator[_core.RecordBatch]:
    """The batches, or what they have of the first records."""
    if limit is None:
        yield from source.batches()
        return
    left = limit
    for batch in source.batches() if limit else ():
        yield batch[:left]
        left -= len(batch)
        if left <= 0:
            return


def _scan(scanner: _core.FeatureScanner, records: _core.RecordBatch, takes_lists: bool) -> None:
    scanner.add(records)
    if scanner.has_lists and not takes_lists:
        row = first_row(records, lambda one: one.has_lists)
        refuse(records, row, "SequenceExamples are no rows of this format: they convert to JSON lines and TFRecord")
