"""Counts the records of files and says what they are, how they are compressed and how large. Every CRC is checked."""

from __future__ import annotations

import argparse
from typing import Any

from ...examples.record_kinds import Kinds
from ..console import Console
from ..files import add_file_arguments, named_files
from ..tally import Tally, tallies

__all__ = ["EXAMPLES", "NAME", "SUMMARY", "add_arguments", "run"]

NAME = "info"
SUMMARY = "count, size, compression and kind of records of each file"
EXAMPLES = """\
tfrecord-fast info train.tfrecord
tfrecord-fast info 's3://bucket/train-*.tfrecord' --storage-option region=eu-central-1
tfrecord-fast info --json data/ | jq .records
"""

_ROW = "{:>12}  {:>15}  {:>15}  {:11}  {:>10}  {:>10}  {:>10}  {:17}  {}"
_HEADER = _ROW.format("RECORDS", "BYTES", "PAYLOAD BYTES", "COMPRESSION", "SMALLEST", "MEAN", "LARGEST", "KIND", "FILE")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE…, --compression, --json, --storage-option."""
    add_file_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Prints one row or JSON object per file."""
    files, status = named_files(args, console)
    if files and not args.json:
        console.line(_HEADER)
    done: list[Tally] = []
    for tally in tallies(files, args, console):
        if args.json:
            console.json(as_json(tally))
        elif tally.compression is not None:
            console.line(_row(tally))
        if tally.problem is not None:
            console.problem(f"{tally.path}: {tally.problem.place}")
        status = max(status, tally.status)
        done.append(tally)
    if len(files) > 1 and not args.json:
        console.line(_row(_total(done)))
    return status


def as_json(tally: Tally) -> dict[str, Any]:
    """The object that --json prints; `error` is null, or what is wrong after the records counted."""
    return {
        "path": tally.path,
        "compression": tally.compression,
        "bytes": tally.stored_bytes,
        "records": tally.records,
        "payload_bytes": tally.payload_bytes,
        "min_size": tally.min_size,
        "mean_size": tally.mean_size,
        "max_size": tally.max_size,
        "kinds": tally.kinds.names,
        "error": None if tally.problem is None else tally.problem.as_json(),
    }


def _total(parts: list[Tally]) -> Tally:
    total = Tally(f"{len(parts)} files", compression="")
    total.records = sum(part.records for part in parts)
    total.payload_bytes = sum(part.payload_bytes for part in parts)
    if all(part.stored_bytes is not None for part in parts):
        total.stored_bytes = sum(part.stored_bytes or 0 for part in parts)
    total.min_size = min((part.min_size for part in parts if part.min_size is not None), default=None)
    total.max_size = max((part.max_size for part in parts if part.max_size is not None), default=None)
    total.kinds = Kinds.of(part.kinds for part in parts)
    kinds = {part.compression for part in parts if part.compression is not None}
    total.compression = kinds.pop() if len(kinds) == 1 else "mixed"
    return total


def _row(tally: Tally) -> str:
    mean = "-" if tally.mean_size is None else f"{tally.mean_size:,.1f}"
    return _ROW.format(
        f"{tally.records:,}",
        _number(tally.stored_bytes),
        f"{tally.payload_bytes:,}",
        tally.compression or "none",
        _number(tally.min_size),
        mean,
        _number(tally.max_size),
        _kind(tally),
        tally.path,
    )


def _kind(tally: Tally) -> str:
    """The most frequent kind, and how many others there are."""
    others = len(tally.kinds.names) - 1
    return f"{tally.kinds.names[0]} +{others}" if others > 0 else tally.kind


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
