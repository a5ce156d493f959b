"""Writes the index of each file beside it, as FILE.idx: a line `offset size` for each record, as `tfrecord2idx`, NVIDIA
DALI and RecordIndex write and read it.

`cat --skip` uses it, and IndexedReader takes it, to read records by number at once. It is made from the headers alone,
of files that are not compressed. With --check, nothing is written: the index that is there is compared with the file.
"""

from __future__ import annotations

import argparse
import os
from typing import Any

from ...errors import DataLossError, InvalidArgumentError
from ...files.indexing.index import RecordIndex
from ...files.naming.formats import NO_TFRECORD, explained, foreign_kind, head_of
from ...files.naming.location import location_of
from ...files.streams.core_files import CoreFile
from ..console import Console
from ..copying import STANDARD_INPUT, counted
from ..files import FAULTS, Problem, add_store_arguments, named_files, problem_of, storage_options, total_bytes

__all__ = ["EXAMPLES", "NAME", "SUMMARY", "add_arguments", "run"]

NAME = "index"
SUMMARY = "write where each record is, as FILE.idx"
EXAMPLES = """\
tfrecord-fast index train.tfrecord
tfrecord-fast index data/ --check
tfrecord-fast index 'train-*.tfrecord' -o indexes/
"""

_EXTENSION = ".idx"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE…, --output, --check, --json, --storage-option."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="path, folder, pattern or URL")
    parser.add_argument(
        "-o", "--output", metavar="PATH", help="of one file: the name of the index; of several: a folder for them"
    )
    parser.add_argument("--check", action="store_true", help="compare the index that is there with its file")
    parser.add_argument("--json", action="store_true", help="print JSON, one object per line")
    add_store_arguments(parser)


def run(args: argparse.Namespace, console: Console) -> int:
    """Prints one line or JSON object per file; what is wrong with one ends that file, not the command."""
    files, status = named_files(args, console)
    names = {file.name for file in files}
    files = [file for file in files if not _is_index_of(file.name, names)]
    try:
        outputs = _outputs(args, files)
    except InvalidArgumentError as error:
        console.problem(str(error))
        return 2
    with console.progress(total_bytes(files)) as progress:
        for file, output in zip(files, outputs, strict=True):
            path = os.fsdecode(file.name)
            problem_path = path
            made: dict[str, Any] = {"path": path, "index": output, "records": None}
            try:
                problem = _check(file, output, args, made) if args.check else _write(file, output, args, made)
            except FAULTS as error:
                problem = _problem(error, path)
                problem_path = os.fsdecode(getattr(error, "filename", None) or path)
            except ValueError as error:  # compressed, or no regular file
                kind = foreign_kind(*head_of(path)) if file.is_local else None
                problem = Problem(NO_TFRECORD + kind if kind else str(error).removeprefix(f"{path}: "))
            if args.json:
                console.json({**made, "ok": problem is None, "error": None if problem is None else problem.as_json()})
            elif problem is None:
                fits = ", fits its file" if args.check else ""
                console.line(f"{output}: {counted(made['records'])}{fits}")
            if problem is not None:
                console.problem(f"{problem_path}: {problem.place}")
                status = max(status, problem.status)
            progress.advance(_size(path))
    return status


def _is_index_of(name: bytes, names: set[bytes]) -> bool:
    """Whether it is the index of another of the files: a pattern may match it, too."""
    return name.endswith(_EXTENSION.encode()) and name[: -len(_EXTENSION)] in names


def _outputs(args: argparse.Namespace, files: list[CoreFile]) -> list[str]:
    """The name of each file's index."""
    names = [os.fsdecode(file.name) for file in files]
    if any(file.name == STANDARD_INPUT for file in files):
        raise InvalidArgumentError("standard input is no file, which an index is for")
    output = args.output
    if output is None:
        return [name + _EXTENSION for name in names]
    if len(names) <= 1 and not output.endswith("/") and not os.path.isdir(output):
        made = [output] * len(names)
    elif not output.endswith("/") and not os.path.isdir(output):
        raise InvalidArgumentError(f"{output}: of several files, the indexes need a folder that exists")
    else:
        folder = output.rstrip("/") or "/"
        made = [f"{folder}/{os.path.basename(name)}{_EXTENSION}" for name in names]
    if len(set(made)) < len(made):
        raise InvalidArgumentError(f"{output}: several of the files have the same name, and so would their indexes")
    for name in names:
        if any(
            one == name or (os.path.exists(one) and os.path.exists(name) and os.path.samefile(one, name))
            for one in made
        ):
            raise InvalidArgumentError(f"{name}: it is one of the files, and an index would replace it")
    return made


def _write(file: CoreFile, output: str, args: argparse.Namespace, made: dict[str, Any]) -> Problem | None:
    index = _index_of(file, args)
    index.save(output, storage_options=storage_options(args))
    made["records"] = len(index)
    return None


def _check(file: CoreFile, output: str, args: argparse.Namespace, made: dict[str, Any]) -> Problem | None:
    try:
        there = RecordIndex.load(output, storage_options=storage_options(args))
    except FileNotFoundError:
        return Problem(f"there is no index {output}")
    except InvalidArgumentError as error:
        return Problem(f"the index can't be read: {error}", damage=True)
    index = _index_of(file, args)
    made["records"] = len(index)
    if there == index:
        return None
    if len(there) != len(index):
        return Problem(f"{output} has {counted(len(there))}, and the file {len(index):,}", damage=True)
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
