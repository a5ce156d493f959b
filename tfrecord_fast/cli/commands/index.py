"""Write an index beside each file, as FILE.idx: a line `offset size` for each record, the format of `tfrecord2idx`,
NVIDIA DALI and RecordIndex.

With an index, `cat --skip` and IndexedReader read records by number without scanning the file. Only the headers of
records are read to build it. A compressed file is decompressed once; its index has places from which decompression can
start, and a format that only this package reads. Compressed objects in stores can't be indexed. With --check, nothing
is written: the existing index is compared with the file.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from ...errors import DataLossError, InvalidArgumentError
from ...files.indexing.index import RecordIndex
from ...files.naming.foreign_formats import explained, foreign_format, foreign_reason, head_of
from ...files.naming.location import location_of
from ...files.streams.core_files import CoreFile
from ..arguments import add_store_arguments, storage_options
from ..console import Console, counted
from ..copying import STANDARD_INPUT
from ..files import FAULTS, Problem, named_files, problem_of, total_bytes

NAME = "index"
SUMMARY = "write an index of record offsets (FILE.idx)"
EXAMPLES = """\
tfrecord-fast index train.tfrecord
tfrecord-fast index data/ --check
tfrecord-fast index 'train-*.tfrecord' -o indexes/
"""

_EXTENSION = ".idx"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE", help="path, folder, pattern or URL")
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="for one file: the name of the index; for several: their folder"
    )
    parser.add_argument("--check", action="store_true", help="compare the existing index with its file")
    parser.add_argument("--json", action="store_true", help="print JSON, one object per line")
    add_store_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Print one line or JSON object per file. An error ends a file, not the command."""
    files, status = named_files(args, console)
    indexes = {file.name + _EXTENSION.encode() for file in files}  # a pattern may match files and their indexes
    files = [file for file in files if file.name not in indexes]
    try:
        outputs = _outputs(args, files)
    except InvalidArgumentError as error:
        console.problem(str(error))
        return 2
    with console.progress(total_bytes(files)) as progress:
        for file, output in zip(files, outputs, strict=True):
            path = os.fsdecode(file.name)
            problem_path = path
            report: dict[str, Any] = {"path": path, "index": output, "records": None}
            try:
                problem = _check(file, output, args, report) if args.check else _write(file, output, args, report)
            except FAULTS as error:
                problem = _problem(error, path)
                problem_path = os.fsdecode(getattr(error, "filename", None) or path)
            except ValueError as error:  # a compressed object, or not a regular file
                foreign = foreign_format(*head_of(path)) if file.is_local else None
                problem = Problem(foreign_reason(foreign) if foreign else str(error).removeprefix(f"{path}: "))
            if args.json:
                console.json({**report, "ok": problem is None, "error": None if problem is None else problem.as_json()})
            elif problem is None:
                fits = ", matches its file" if args.check else ""
                console.line(f"{output}: {counted(report['records'])}{fits}")
            if problem is not None:
                console.problem(f"{problem_path}: {problem.place}")
                status = max(status, problem.status)
            progress.advance(_size(path))
    return status


def _outputs(args: argparse.Namespace, files: list[CoreFile]) -> list[str]:
    """Return the name of each file's index."""
    names = [os.fsdecode(file.name) for file in files]
    if any(file.name == STANDARD_INPUT for file in files):
        raise InvalidArgumentError("cannot index standard input; pass a file")
    output = args.output
    if output is None:
        return [name + _EXTENSION for name in names]
    if len(names) <= 1 and not output.endswith("/") and not os.path.isdir(output):
        outputs = [output] * len(names)
    elif not output.endswith("/") and not os.path.isdir(output):
        raise InvalidArgumentError(f"{output}: to index several files, pass an existing folder")
    else:
        folder = output.rstrip("/") or "/"
        outputs = [f"{folder}/{os.path.basename(name)}{_EXTENSION}" for name in names]
    if len(set(outputs)) < len(outputs):
        raise InvalidArgumentError(f"{output}: several files have the same name; their indexes would collide")
    for name in names:
        if any(
            path == name or (os.path.exists(path) and os.path.exists(name) and os.path.samefile(path, name))
            for path in outputs
        ):
            raise InvalidArgumentError(f"{name}: the index would replace this file")
    return outputs


def _write(file: CoreFile, output: str, args: argparse.Namespace, report: dict[str, Any]) -> Problem | None:
    index = _index_of(file, args)
    index.save(output, storage_options=storage_options(args))
    report["records"] = len(index)
    return None


def _check(file: CoreFile, output: str, args: argparse.Namespace, report: dict[str, Any]) -> Problem | None:
    try:
        there = RecordIndex.load(output, storage_options=storage_options(args))
    except FileNotFoundError:
        return Problem(f"missing index {output}")
    except InvalidArgumentError as error:
        return Problem(f"cannot read the index: {error}", damage=True)
    index = _index_of(file, args)
    report["records"] = len(index)
    if there == index:
        return None
    if len(there) != len(index):
        return Problem(f"{output} has {counted(len(there))}, but the file has {len(index):,}", damage=True)
    places = zip(there.offsets, there.sizes, index.offsets, index.sizes, strict=True)
    first = next(row for row, (at, size, real, bytes) in enumerate(places) if (at, size) != (real, bytes))
    return Problem(
        f"{output} has record {first} at byte {there.offsets[first]}, with {there.sizes[first]} bytes; in the file it "
        f"is at byte {index.offsets[first]}, with {index.sizes[first]}",
        damage=True,
    )


def _index_of(file: CoreFile, args: argparse.Namespace) -> RecordIndex:
    return RecordIndex.build(os.fsdecode(file.name), storage_options=storage_options(args))


def _problem(error: BaseException, path: str) -> Problem:
    if isinstance(error, DataLossError) and not location_of(path).is_url:
        error = explained(error)
    return problem_of(error)


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except (OSError, ValueError):
        return 0
