"""Copying records unchanged, for several commands: sources, sinks, refused outputs, and the report at the end."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from .. import _core
from ..base.record_format import FRAME_BYTES
from ..errors import InvalidArgumentError
from ..files.naming.addresses import public_url
from ..files.naming.compression import COMPRESSION_OF, TFRecordOptions
from ..files.naming.location import location_of
from ..files.streams.core_files import CoreFile
from ..files.writing.example_writer import shard_paths
from ..files.writing.output_files import WrittenFile
from .arguments import storage_options
from .console import Console
from .files import FAULTS, Problem, named_files, problem_of, total_bytes
from .formats import target_format_of
from .formats.base import STANDARD_OUTPUT, Malformed, Unsuitable
from .formats.tfrecord import TFRecordSink, TFRecordSource

STANDARD_INPUT = b"<stdin>"  # the name of the file that "-" means


def guarded(console: Console, work: Callable[[], int], hint: Callable[[Problem], str] = lambda problem: "") -> int:
    """Return the result of `work`; print an error and return 1 or 2 instead. `hint` is added to the error of a file."""
    try:
        return work()
    except (InvalidArgumentError, Malformed) as error:  # an unsuitable record
        console.problem(str(error))
        return 1
    except (Unsuitable, ValueError) as error:
        console.problem(str(error))
        return 2
    except FAULTS as error:
        problem = problem_of(error)
        path = getattr(error, "path", None) or getattr(error, "filename", None)
        console.problem((f"{os.fsdecode(path)}: {problem.place}" if path else problem.place) + hint(problem))
        return problem.status


def on_files(
    work: Callable[[argparse.Namespace, Console, list[CoreFile]], int],
) -> Callable[[argparse.Namespace, Console], int]:
    """Return the `run` of a command whose `work` takes the files that IN arguments name."""

    def run(args: argparse.Namespace, console: Console) -> int:
        files, status = named_files(args, console)
        return status or guarded(console, lambda: work(args, console, files))

    return run


def first_stream_among(files: Sequence[CoreFile]) -> CoreFile | None:
    """Return the first file that is standard input, a pipe or a device, which can be read only once."""
    for file in files:
        if file.name == STANDARD_INPUT or (file.is_local and not stat.S_ISREG(os.stat(file.name).st_mode)):
            return file
    return None


def source_of(files: list[CoreFile], args: argparse.Namespace) -> TFRecordSource:
    source = TFRecordSource(files)
    source.num_threads = args.threads
    return source


def options_of(args: argparse.Namespace, path: str) -> TFRecordOptions:
    return TFRecordOptions(compression_of(args, path), compression_level=args.level)


def compression_of(args: argparse.Namespace, path: str) -> str:
    """Return the compression of an output: that of --compression, or that of its extension."""
    if args.compression == "auto":
        return COMPRESSION_OF.get(os.path.splitext(path)[1].lower(), "")
    return "" if args.compression == "none" else str(args.compression).upper()


def sink_of(args: argparse.Namespace, files: list[CoreFile]) -> TFRecordSink:
    if args.output == STANDARD_OUTPUT and args.shards > 1:
        raise Unsuitable("--shards cannot be used when writing to standard output")
    if args.output == STANDARD_OUTPUT and args.json:
        raise Unsuitable("--json cannot be combined with records on standard output")
    if args.output != STANDARD_OUTPUT:
        check_outputs(shard_paths(args.output, args.shards), files, args.in_place)
    else:
        check_standard_output(files)
    return TFRecordSink(args.output, options_of(args, args.output), args.shards, args.threads, storage_options(args))


def check_outputs(paths: Sequence[str], files: Sequence[CoreFile], in_place: bool) -> None:
    """Raise Unsuitable for an output that is a folder, an input, or has the extension of another format."""
    for path in paths:
        if _format_of(path) != "tfrecord":
            raise Unsuitable(f"{path}: this command writes only TFRecord; `tfrecord-fast convert` writes others")
    if not in_place:
        same = first_input_among(paths, files)
        if same is not None:
            raise Unsuitable(f"{same}: the output is also an input; use --in-place to replace it")


def first_input_among(paths: Sequence[str], files: Sequence[CoreFile]) -> str | None:
    """Return the first output that is also an input, or None."""
    known = {(status.st_dev, status.st_ino) for file in files if (status := _stat_of(file)) is not None}
    objects = {os.fsdecode(file.name) for file in files if file.object is not None}
    for path in paths:
        name, is_url = location_of(path)
        if is_url:
            if public_url(name) in objects:
                return public_url(name)
            continue
        if "\0" in name:
            raise Unsuitable(f"{name!r}: a file name cannot contain a NUL")
        if not name:
            raise Unsuitable("the output has no name")
        if os.path.isdir(name) or not os.path.basename(name):
            raise Unsuitable(f"{name}: the output is a folder; pass the name of a file")
        try:
            status = os.stat(name)
        except OSError:  # reported when the file is opened
            continue
        if (status.st_dev, status.st_ino) in known:
            return name
    return None


def _format_of(path: str) -> str:
    try:
        return target_format_of(path)
    except Unsuitable:
        return "tfrecord"


def _stat_of(file: CoreFile) -> os.stat_result | None:
    """Return the status of an input that could also be written to."""
    try:
        if file.name == STANDARD_INPUT:
            status = os.fstat(0)
            return status if stat.S_ISREG(status.st_mode) else None
        if not file.is_local:
            return None
        status = os.stat(file.name)
    except OSError:
        return None
    return status if stat.S_ISREG(status.st_mode) or stat.S_ISFIFO(status.st_mode) else None


def check_standard_output(files: Sequence[CoreFile]) -> None:
    """Raise Unsuitable if standard output is one of the inputs, as in `>> input`."""
    out = os.fstat(1)
    for file in files:
        status = _stat_of(file)
        if status is not None and stat.S_ISREG(out.st_mode) and os.path.samestat(status, out):
            raise Unsuitable(f"{os.fsdecode(file.name)}: standard output is also an input")


class Copied:
    """Counts of records read and written, and of bytes; and the files that were written."""

    def __init__(self) -> None:
        self.records_read = 0
        self.records = 0
        self.payload_bytes = 0
        self.files: list[WrittenFile] = []

    def reading(self, batches: Iterable[_core.RecordBatch]) -> Iterator[_core.RecordBatch]:
        """Yield the batches and count their records as read."""
        for batch in batches:
            self.records_read += len(batch)
            yield batch

    def as_json(self) -> dict[str, Any]:
        files = [{"path": file.path, "records": file.records, "bytes": file.bytes} for file in self.files]
        return {
            "records_read": self.records_read,
            "records": self.records,
            "payload_bytes": self.payload_bytes,
            "files": files,
        }


def copied(
    files: list[CoreFile],
    args: argparse.Namespace,
    console: Console,
    change: Callable[[Iterator[_core.RecordBatch]], Iterable[_core.RecordBatch]],
    passes: int = 1,
) -> Copied:
    """Write the result of `change` to OUT; nothing appears if there is an exception.

    Args:
      passes: the number of passes, for the progress bar; if more than 1, writing is one of them.
    """
    done = Copied()
    sink = sink_of(args, files)
    source = source_of(files, args)
    size = total_bytes(files)
    with console.progress(None if size is None else passes * size) as progress:
        source.advance = progress.advance
        with sink.opened():
            for batch in change(done.reading(source.batches())):
                sink.write(batch)
                done.records += len(batch)
                done.payload_bytes += batch.nbytes
                if passes > 1:
                    progress.advance(batch.nbytes + FRAME_BYTES * len(batch))
    done.files = sink.written
    return done


def shown_output(args: argparse.Namespace) -> str:
    return "standard output" if args.output == STANDARD_OUTPUT else str(args.output)


def print_summary(args: argparse.Namespace, console: Console, lines: Sequence[str], value: dict[str, Any]) -> None:
    if args.json:
        console.json(value)
        return
    for line in lines:
        if getattr(args, "output", None) == STANDARD_OUTPUT:
            console.problem(line)
        else:
            console.line(line)
