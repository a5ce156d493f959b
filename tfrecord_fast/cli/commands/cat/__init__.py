"""Print records: the features of Examples and SequenceExamples, TensorBoard events, tensors, text, and the fields of
other protobuf messages. Images are shown as their format and size.

Long lists, texts and bytes are truncated unless --full is given. With --json, each record is an object on a line: its
index in the file, its size and kind, and its content in full. The content is in `features`, or in `context` and
`feature_lists`. If it can't be decoded, it is in `data`, and `encoding` is "utf-8" or "base64". With several files,
each object also has the path. Fields that are not part of an Example are shown by --as proto only; `unknown_field` is
the number of the first one.

--where compares features with values. A name that no record has is an error. With --limit, where the rest is not read,
it is only a warning. A name without a comparison is true if the record has values under that name. The same holds for
the names of --columns.

Records are numbered from 0. With an index beside the file (FILE.idx, written by `tfrecord-fast index`,
RecordIndex.save or tfrecord2idx), skipped records are not read.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import json
import os
from collections.abc import Iterator
from typing import Any

from .... import _core
from ....errors import DataLossError, InvalidArgumentError
from ....examples.record_kinds import EMPTY, EXAMPLE, SEQUENCE_EXAMPLE, kind_of
from ....files.indexing.index import RecordIndex, core_of
from ....files.indexing.indexed_reader import IndexedReader
from ....files.streams.core_files import CoreFile
from ...arguments import add_file_arguments, add_where_argument, number_of
from ...console import Console, Style
from ...files import FAULTS, Input, batches, index_beside, is_whole, named_files, open_input, problem_of
from ...records.decoding import FORMS, Decoded, Undecodable, decode, left_out
from ...records.json_values import marked
from ...records.selecting import NamesSeen, features_of_rows
from ...records.showing import Shower
from ...records.where import Condition, WhereError, parse_where

NAME = "cat"
SUMMARY = "print records, decoded"
EXAMPLES = """\
tfrecord-fast cat train.tfrecord -n 5
tfrecord-fast cat 'train-*.tfrecord' --where 'label == 3 and split == "test"'
tfrecord-fast cat train.tfrecord --columns id,label
tfrecord-fast cat train.tfrecord --skip 100000 -n 1 --full
tfrecord-fast cat train.tfrecord --json | jq .features.label
tfrecord-fast cat messages.tfrecord --as proto
"""

_AT_ONCE = 256  # records read by number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_arguments(parser)
    parser.add_argument(
        "--as",
        dest="form",
        choices=FORMS,
        default="auto",
        help="how to decode (default: auto, detected for each record); raw: the bytes and a newline; "
        "base64: one record per line",
    )
    parser.add_argument("--raw", dest="form", action="store_const", const="raw", help="same as --as raw")
    parser.add_argument("--base64", dest="form", action="store_const", const="base64", help="same as --as base64")
    parser.add_argument("-n", "--limit", type=number_of, metavar="N", help="print at most N records in all")
    parser.add_argument("--skip", type=number_of, default=0, metavar="N", help="skip the first N records")
    parser.add_argument(
        "--columns",
        type=lambda text: text.split(","),
        action="extend",
        metavar="NAME,…",
        help="print only these features, in this order",
    )
    add_where_argument(parser, "print only records that match")
    parser.add_argument("--full", action="store_true", help="print long values in full")


def run(args: argparse.Namespace, console: Console) -> int:
    """Print the records. Damage ends a file, not the command."""
    if args.columns is not None and args.form not in ("auto", "example"):
        console.problem(f"--columns requires decoded Examples, but --as {args.form} prints other fields")
        return 2
    try:
        condition = None if args.where is None else parse_where(args.where)
    except WhereError as error:
        console.problem(str(error))
        return 2
    files, status = named_files(args, console)
    printer = _Printer(args, condition, named=len(files) > 1)
    for file in files:
        path = os.fsdecode(file.name)
        if printer.left == 0:
            break
        try:
            for first, records in printer.chosen(file, args.compression):
                console.write(printer.text(path, first, records))
        except (Undecodable, WhereError) as error:
            console.write(printer.rest())
            console.problem(f"{path}: {error} (record {printer.index})")
            status = max(status, 1)
        except FAULTS as error:
            problem = problem_of(error)
            console.problem(f"{path}: {problem.place}")
            status = max(status, problem.status)
    for option, seen in (("--where", printer.seen), ("--columns", printer.columns_seen)):
        for problem_text in seen.problems():
            console.problem(f"{option}: {problem_text}")
            status = status if printer.left == 0 else max(status, 2)  # more records may have it
    return status


class _Printer:
    """Selects the records to print, and formats them."""

    def __init__(self, args: argparse.Namespace, condition: Condition | None, named: bool) -> None:
        self._form: str = args.form
        self._json: bool = args.json
        self._named = named
        self._condition = condition
        self.seen = NamesSeen(() if condition is None else condition.compared)
        self._columns: list[str] | None = args.columns
        self.columns_seen = NamesSeen(args.columns or ())
        self._shower = Shower(Style(), args.full)
        self._skip: int = args.skip
        self.left: int | None = args.limit
        self.index = 0  # of the current record
        self._lines: list[bytes] = []

    def chosen(self, file: CoreFile, compression: str) -> Iterator[tuple[int, _core.RecordBatch]]:
        """Yield (index of the first record, records) of a file: those after --skip, until --limit."""
        source = open_input(file, compression)
        reader = _reader_by_number(source) if self._skip else None
        if reader is not None:
            yield from self._by_number(reader)
            return
        first = 0
        for batch in batches(source, num_threads=1):
            skipped = min(self._skip, len(batch))
            self._skip -= skipped
            records = batch[skipped:]
            if self._condition is None and self.left is not None:
                records = records[: self.left]
            yield first + skipped, records
            first += len(batch)
            if self.left == 0:
                return

    def _by_number(self, reader: IndexedReader[Any, Any]) -> Iterator[tuple[int, _core.RecordBatch]]:
        first = min(self._skip, len(reader))
        self._skip -= first
        at_once = _AT_ONCE
        while first < len(reader) and self.left != 0:
            most = at_once if self.left is None or self._condition is not None else min(at_once, self.left)
            try:
                records = reader[first : first + most]
            except DataLossError:
                if most == 1:
                    raise
                at_once = 1  # read the records before the damage
                continue
            yield first, records
            first += len(records)

    def text(self, path: str, first: int, records: _core.RecordBatch) -> bytes:
        """Return the lines of those records that match."""
        features = None if self._condition is None else features_of_rows(records, self._condition.names, self.seen)
        for row, record in enumerate(records):
            self.index = first + row
            if self.left == 0:
                break
            if self._condition is not None and features is not None and not self._condition.holds(features(row)):
                continue
            self._lines.append(self._one(path if self._named else None, self.index, record))
            if self.left is not None:
                self.left -= 1
        return self.rest()

    def rest(self) -> bytes:
        """Return the lines that have not been printed."""
        lines, self._lines = self._lines, []
        return b"".join(lines)

    def _one(self, path: str | None, index: int, record: bytes) -> bytes:
        if self._form == "raw":
            return record + b"\n"
        if self._form == "base64" and not self._json:
            return base64.b64encode(record) + b"\n"
        if self._json:
            labels = {} if path is None else {"path": path}
            content = _undecoded(record) if self._form == "base64" else _as_json(record, self._decoded(record))
            fields = {**labels, "index": index, "size": len(record), **content}
            return json.dumps(fields, allow_nan=False).encode() + b"\n"
        lines = self._shower.lines(index, record, self._decoded(record), path)
        return ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")

    def _decoded(self, record: bytes) -> Decoded:
        """Decode a record; with --columns, keep only these features."""
        decoded = decode(record, self._form)
        columns = self._columns
        if columns is None:
            return decoded
        if decoded.kind not in (EXAMPLE, SEQUENCE_EXAMPLE, EMPTY):
            raise Undecodable(f"--columns requires Examples, but the record looks like {decoded.kind}")
        features = decoded.tree or {}
        self.columns_seen.add(1, [name for names in features.values() for name in names], ())
        kept = {group: {name: values[name] for name in columns if name in values} for group, values in features.items()}
        return Decoded(decoded.kind, decoded.tree and kept)


def _as_json(record: bytes, decoded: Decoded) -> dict[str, Any]:
    if decoded.tree is not None:
        unknown = left_out(record, decoded)
        return {"kind": decoded.kind, **marked(decoded.tree), **({"unknown_field": unknown} if unknown else {})}
    try:
        return {"kind": decoded.kind, "encoding": "utf-8", "data": record.decode()}
    except UnicodeDecodeError:
        return _undecoded(record)


def _undecoded(record: bytes) -> dict[str, Any]:
    return {"kind": kind_of(record), "encoding": "base64", "data": base64.b64encode(record).decode()}


def _reader_by_number(source: Input) -> IndexedReader[Any, Any] | None:
    """Return a reader by index, if the file has an index beside it that is not older and covers it."""
    path = os.fsdecode(source.core_file.name)
    if source.stored_bytes is None or not source.core_file.is_local:
        return None
    beside = index_beside(path)
    if beside is None:
        return None
    with contextlib.suppress(OSError, DataLossError, InvalidArgumentError):  # no index, or one of another form
        index = RecordIndex.load(beside)
        compressed_bytes = core_of(index).file_bytes() if core_of(index).checkpoints() else None
        if source.stored_bytes == compressed_bytes or is_whole(index.offsets, index.sizes, source.stored_bytes):
            return IndexedReader([path], indexes=[index])
    return None
