"""Convert between TFRecord and JSON lines, CSV, Parquet, Arrow and ORC, from images, or reshard or recompress TFRecord.

The extension selects the format: .tfrecord and similar, .jsonl .ndjson .json, .csv, .parquet .pq, .arrow .feather .ipc,
.orc. With another extension, an input is recognised by its first bytes, and an output needs --to. Inputs may have any
compression; the output is GZIP for names that end in .gz, ZSTD for .zst, SNAPPY for .snappy. From TFRecord to TFRecord,
records are copied byte by byte. Otherwise records are Examples and their features are the values of a row: integers and
booleans, floats (float32), text or bytes, or lists of one of these. A value that a format can't hold is an error.

A folder written by `save_to_disk` of Hugging Face's datasets, or by TensorFlow Datasets, means the files that it lists,
which must all exist. A column of images, sounds or videos, also in other Parquet files, becomes two features: NAME has
the bytes of the file, and NAME/path its path, if there is one.

Images (.jpg .jpeg .png .gif .bmp .webp) become a record each. image/encoded has the bytes of the file, unchanged.
image/format, image/height and image/width are read from the bytes. image/class/text is the name of the class: the
first folder below a folder that is the only input, else the folder that holds the file. image/class/label is its number
among the sorted names, from 0. image/filename has no folder. Records are in the order of the files: use
`tfrecord-fast shuffle` to mix the classes.

A feature may be absent, or an empty list. Parquet, Arrow and ORC files keep the difference, in nulls and empty lists;
CSV does not. A feature without a kind counts as absent, except in JSON. In Parquet, Arrow and ORC files, a feature is
text if all its values in all records are UTF-8, else binary; --schema FILE selects the types instead.

In JSON, bytes that are not UTF-8 are {"base64": "…"}. NaN and infinities are {"f": "NaN"}, "Infinity" and "-Infinity"
(see --nan). Features without values are {"empty": "int64"}, "float", "bytes" or "none". SequenceExamples are
{"context": {…}, "feature_lists": {"name": [[…], …]}}.

Fields that are not part of an Example would be lost in other formats. They are an error unless --drop-unknown-fields is
given, which reports how many records have them.

JSON is an object per line, or one array of objects, which is read whole.

CSV holds at most one value per feature. If the values don't determine the type of a column, its name does, as in
zip:bytes, x:float or n:int64.

The output appears under its name once it is complete; pipes and devices are written in place. The output must not be
one of the inputs, except that a single TFRecord file may be converted to itself. Most files are read twice, to learn
all features first. If a file changes in between, that is an error, and nothing is written.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator

from ... import _core
from ...base.file_stamp import FileStamp
from ...examples.infer import first_row
from ...files.streams.core_files import CoreFile, core_files
from ...files.writing.example_writer import shard_paths
from ..arguments import add_input_arguments, add_output_arguments, number_of, storage_options
from ..console import Console, counted
from ..copying import (
    STANDARD_INPUT,
    check_standard_output,
    compression_of,
    first_input_among,
    first_stream_among,
    guarded,
)
from ..files import Problem, named_files, total_bytes
from ..formats import format_of, make_sink, make_source, target_format_of
from ..formats.base import STANDARD_OUTPUT, RowSink, Source, Unsuitable, refuse
from ..formats.casts import CASTS, read_schema
from ..formats.csv_files import TYPES, CsvSource
from ..formats.images import ImageSource, images_below
from ..formats.json_lines import JsonSink
from ..formats.parquet import ArrowSink, ArrowSource
from ..formats.tfrecord import TFRecordSink, TFRecordSource
from ..records.json_values import NANS

NAME = "convert"
SUMMARY = "convert between TFRecord, CSV, JSON, Parquet, …; reshard; recompress"
EXAMPLES = """\
tfrecord-fast convert train.tfrecord train.jsonl
tfrecord-fast convert train.csv train.tfrecord.gz --level 9
tfrecord-fast convert people.csv people.tfrecord --types 'zip=string,age=int64'
tfrecord-fast convert 'old-*.tfrecord' new.tfrecord --shards 16
tfrecord-fast convert train.tfrecord - --to jsonl --limit 100 | jq .
tfrecord-fast convert folder-of-classes train.tfrecord --shards 16
tfrecord-fast convert train.parquet s3://bucket/train.tfrecord
"""

_ARROW_EXTENSIONS = (".parquet", ".pq", ".arrow", ".feather", ".ipc")
_TEXTS = {"CSV text": "csv", "JSON text": "jsonl"}  # recognised, but read only with --from
_FORMATS = ("tfrecord", "jsonl", "csv", "parquet", "arrow", "orc")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_arguments(parser)
    parser.add_argument("--from", dest="source", choices=(*_FORMATS, "images"), help="format of the input")
    parser.add_argument("--to", dest="target", choices=_FORMATS, help="format of the output")
    parser.add_argument("-n", "--limit", type=number_of, metavar="N", help="convert the first N records only")
    parser.add_argument(
        "--nan",
        choices=NANS,
        default="mark",
        help='form of NaN and infinities in JSON: {"f": "NaN"} (default), null, which reads back as no value, or text',
    )
    parser.add_argument(
        "--types", type=_types, metavar="NAME=TYPE,…", help="types of CSV columns: int64, float or string"
    )
    parser.add_argument(
        "--schema",
        metavar="FILE",
        help="the same, from the output of `tfrecord-fast schema --json`; or a Parquet or Arrow file whose columns and "
        "types the output gets",
    )
    parser.add_argument(
        "--cast", choices=CASTS, help="convert times, dates and decimals of Parquet and Arrow to text or integers"
    )
    parser.add_argument(
        "--drop-unknown-fields",
        action="store_true",
        help="when writing other formats, omit fields that are not part of an Example; otherwise they are an error",
    )
    parser.add_argument(
        "--strings", action="store_true", help="read CSV columns as text, except those in --types or --schema"
    )
    parser.add_argument(
        "--delimiter",
        metavar="CHARACTER",
        help=r"between CSV columns, as ';' or '\t'; by default a comma, or another one if the header has no comma",
    )
    parser.add_argument(
        "--allow-rounding",
        action="store_true",
        help="round floats of 64 bits even if that changes whole numbers, or times by more than a little",
    )
    add_output_arguments(parser, copies=False)


def run(args: argparse.Namespace, console: Console) -> int:
    files, status = named_files(args, console)
    return status or guarded(console, lambda: _run(args, console, files), _hint)


def _hint(problem: Problem) -> str:
    formats = [name for ending, name in _TEXTS.items() if problem.reason.endswith(f"{ending})")]
    return f"; use --from {formats[0]}" if formats else ""


def _run(args: argparse.Namespace, console: Console, files: list[CoreFile]) -> int:
    _check(args)
    files = _with_all_images(args, files)
    source, sink = _prepared(args, files)
    passes = source.passes + int(sink.wants_features) + int(sink.looks)
    if isinstance(source, TFRecordSource) and passes > 1 and (stream := first_stream_among(files)) is not None:
        name = "standard input" if stream.name == STANDARD_INPUT else f"{os.fsdecode(stream.name)}: a pipe"
        raise Unsuitable(f"{name} can be read only once, but this output format needs a first pass for its columns")
    size = total_bytes(files)
    with console.progress(None if size is None else passes * size) as progress:
        source.advance = progress.advance
        unknown = _UnknownFields(args.drop_unknown_fields)
        _convert(source, sink, args.limit, unknown, _unchanged(files) if passes > 1 else lambda: None)
    if unknown.records:
        console.problem(unknown.text())
    return 0


def _with_all_images(args: argparse.Namespace, files: list[CoreFile]) -> list[CoreFile]:
    """Return the images of a folder in place of its files, if they are to be converted."""
    if args.source not in (None, "images") or len(args.files) != 1 or not os.path.isdir(args.files[0]):
        return files
    images = images_below(args.files[0])
    kinds = {"images" if args.source else format_of(file) for file in files}
    if images and kinds != {"images"} and kinds & {"images", "tfrecord"}:
        raise Unsuitable(f"{args.files[0]} has images and other files: pass --from images to convert the images alone")
    return core_files(list(images)) if images and kinds == {"images"} else files


def _prepared(args: argparse.Namespace, files: list[CoreFile]) -> tuple[Source, RowSink | TFRecordSink]:
    kinds = {args.source or format_of(file) for file in files}
    if len(kinds) > 1:
        raise Unsuitable(f"inputs of several formats ({', '.join(sorted(kinds))}): convert each format by itself")
    source = make_source(kinds.pop(), files, args.threads)
    if isinstance(source, ImageSource) and len(args.files) == 1 and os.path.isdir(args.files[0]):
        source.root = args.files[0]
    target = args.target or target_format_of(args.output)
    compression, options = compression_of(args, args.output), storage_options(args)
    sink = make_sink(target, args.output, compression, args.level, args.shards, args.threads, options)
    _check_places(args, files, isinstance(source, TFRecordSource) and isinstance(sink, TFRecordSink))
    is_schema = bool(args.schema) and args.schema.endswith(_ARROW_EXTENSIONS)  # else it has the types of CSV columns
    if is_schema and isinstance(sink, ArrowSink):
        sink.target = read_schema(args.schema)
    elif is_schema:
        raise Unsuitable(f"--schema {args.schema} requires a Parquet or Arrow output, but the output is {target}")
    _set_types(source, args, None if is_schema else args.schema)
    if isinstance(sink, JsonSink):
        sink.nan = args.nan
    elif args.nan != "mark":
        raise Unsuitable(f"--nan requires a JSON lines output, but {args.output} will be {target}")
    return source, sink


def _check(args: argparse.Namespace) -> None:
    if args.output == STANDARD_OUTPUT and args.target is None:
        raise Unsuitable("standard output has no extension: use --to to select its format")
    if args.output == STANDARD_OUTPUT and args.shards > 1:
        raise Unsuitable("--shards cannot be used when writing to standard output")


def _check_places(args: argparse.Namespace, files: list[CoreFile], copies: bool) -> None:
    """Raise Unsuitable if the output is an input and would lose records; `copies`: records stay as they are."""
    if args.output == STANDARD_OUTPUT:
        check_standard_output(files)
        return
    paths = shard_paths(args.output, args.shards)
    same = first_input_among(paths, files)
    if same is not None and not (copies and len(files) == len(paths) == 1 and args.limit is None):
        raise Unsuitable(f"{same}: the output is also an input, which would be lost")


def _set_types(source: Source, args: argparse.Namespace, schema: str | None) -> None:
    """Apply --cast, --types, --schema and --strings to the columns of the input."""
    if args.cast is not None:
        if not isinstance(source, ArrowSource):
            raise Unsuitable("--cast requires a Parquet, Arrow or ORC input")
        source.cast = args.cast
    source.allow_rounding = args.allow_rounding
    if not (args.types or schema or args.strings or args.delimiter):
        return
    if not isinstance(source, CsvSource):
        raise Unsuitable("--types, --schema, --strings and --delimiter require a CSV input")
    source.strings = args.strings
    source.delimiter = args.delimiter and _character(args.delimiter)
    source.types = {**(_types_in(schema) if schema else {}), **(args.types or {})}


def _character(text: str) -> str:
    character = "\t" if text == "\\t" else text
    if len(character.encode()) != 1 or character in '"\r\n':
        raise Unsuitable(f"--delimiter: expected one ASCII character, not a quote or newline, got {text!r}")
    return character


def _types_in(path: str) -> dict[str, str]:
    """Read the types of columns from the output of `schema --json`."""
    try:
        with open(path, encoding="utf-8") as file:
            features = json.load(file)["features"]
        return {key: TYPES[feature["dtype"]] for key, feature in features.items() if feature["dtype"]}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Unsuitable(f"{path}: not the output of `tfrecord-fast schema --json` for Examples") from None


def _types(text: str) -> dict[str, str]:
    types = {}
    for item in text.split(","):
        name, equals, type = item.rpartition("=")
        if not equals or type not in TYPES:
            raise argparse.ArgumentTypeError(f"expected NAME=TYPE, with one of {' '.join(TYPES)}, got {item!r}")
        types[name] = TYPES[type]
    return types


def _unchanged(files: list[CoreFile]) -> Callable[[], None]:
    """Return a function that raises Unsuitable if a local file has changed since this call."""
    before = [_stamp(file) for file in files]

    def check() -> None:
        for file, stamp in zip(files, before, strict=True):
            if _stamp(file) != stamp:
                raise Unsuitable(f"{os.fsdecode(file.name)}: the file changed while being read")

    return check


def _stamp(file: CoreFile) -> FileStamp | None:
    return FileStamp.of(file.name) if file.is_local else None


class _UnknownFields:
    """Counter of records with fields that are not part of an Example; an error unless they are `dropped`."""

    def __init__(self, dropped: bool) -> None:
        self._dropped = dropped
        self._first = ""
        self.records = 0

    def look(self, batch: _core.RecordBatch) -> None:
        """Count the records of a batch that have unknown fields, or raise Unsuitable."""
        records, row, field = _core.unknown_fields(batch)
        if records and not self.records:
            why = "" if self._dropped else " and would be lost; use --drop-unknown-fields to omit it"
            try:
                refuse(batch, row, f"field {field} is unknown{why}")
            except Unsuitable as error:
                if not self._dropped:
                    raise
                self._first = str(error)
        self.records += records

    def text(self) -> str:
        return f"unknown fields of {counted(self.records)} were omitted; the first: {self._first}"


def _convert(
    source: Source,
    sink: RowSink | TFRecordSink,
    limit: int | None,
    unknown: _UnknownFields,
    check: Callable[[], None],
) -> None:
    """Write the records of the source to the sink, in order; a sink of rows scans all of them first.

    Nothing appears if `check`, which is called last, raises an exception.
    """
    scanner = _core.FeatureSurvey()
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
                scanner.add(batch)  # raises if a feature has several kinds
            sink.write(batch)
        check()


def _first(source: Source, limit: int | None) -> Iterator[_core.RecordBatch]:
    if limit is None:
        yield from source.batches()
        return
    left = limit
    for batch in source.batches() if limit else ():
        yield batch[:left]
        left -= len(batch)
        if left <= 0:
            return


def _scan(scanner: _core.FeatureSurvey, records: _core.RecordBatch, takes_lists: bool) -> None:
    scanner.add(records)
    if scanner.has_lists and not takes_lists:
        row = first_row(records, lambda scanned: scanned.has_lists)
        remedy = 'in Python, read_table(files) and ShardReader(files, "infer") read them as columns'
        refuse(records, row, f"SequenceExamples can be converted only to JSON lines and TFRecord; {remedy}")
