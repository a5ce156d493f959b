"""What commands share that copy records as they are: inputs, outputs, what is refused, what is said at the end."""

from __future__ import annotations

import argparse
import math
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from .. import _core
from ..base.record_format import FRAME_BYTES
from ..errors import InvalidArgumentError
from ..files.naming.addresses import public_url
from ..files.naming.compression import CODECS, TFRecordOptions
from ..files.naming.location import location_of
from ..files.streams.core_files import CoreFile
from ..files.writing.example_writer import WrittenFile, shard_paths
from .console import Console
from .files import FAULTS, add_store_arguments, problem_of, storage_options, total_bytes
from .formats import COMPRESSION_OF, STANDARD_OUTPUT, TFRecordSink, Unsuitable, target_format_of
from .formats.tfrecord import TFRecordSource

__all__ = [
    "STANDARD_INPUT",
    "Copied",
    "add_input_arguments",
    "add_output_arguments",
    "check_outputs",
    "check_standard_output",
    "compression_of",
    "copied",
    "count_of",
    "counted",
    "first_input_among",
    "first_stream_among",
    "fraction_of",
    "guarded",
    "options_of",
    "reads_stream",
    "seed_of",
    "shown_output",
    "sink_of",
    "size_of",
    "source_of",
    "told",
]

STANDARD_INPUT = b"<stdin>"  # the name of the file that "-" means

_COMPRESSIONS = ("auto", "none", *(name.lower() for name in CODECS))
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_UNITS = {"ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?", re.IGNORECASE)


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    """IN…."""
    parser.add_argument("files", nargs="+", metavar="IN", help="path, folder, pattern, URL, or - for standard input")


def add_output_arguments(parser: argparse.ArgumentParser, shards: bool = True) -> None:
    """OUT (unless there is one), --shards, --compression, --level, --in-place, --threads, --json, --storage-option."""
    if shards:
        parser.add_argument(
            "output",
            metavar="OUT",
            help="path or URL, or - for standard output; for several shards a pattern: x-{shard}-of-{num_shards}",
        )
        parser.add_argument(
            "--shards", type=count_of, default=1, metavar="N", help="how many files; record i goes to i mod N"
        )
    parser.add_argument(
        "--compression",
        choices=_COMPRESSIONS,
        default="auto",
        type=str.lower,
        help="of the output (default: auto, by the extension: .gz, .zst, .snappy)",
    )
    parser.add_argument("--level", type=int, metavar="L", help="level of compression")
    parser.add_argument("--in-place", action="store_true", help="the output may be one of the inputs, and replaces it")
    parser.add_argument("--threads", type=count_of, metavar="N", help="threads that read and compress")
    parser.add_argument("--json", action="store_true", help="print what was done as a JSON object")
    add_store_arguments(parser)


def count_of(text: str) -> int:
    """A number from 1 on, as an argument."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1 on, got {text!r}")
    return int(text)


def seed_of(text: str) -> int:
    """A seed, as an argument."""
    if not text.isdecimal() or int(text) >= 1 << 64:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 2**64 - 1, got {text!r}")
    return int(text)


def size_of(text: str) -> int:
    """A number of bytes, as an argument: 1000, 256MB, 1.5GiB."""
    found = _SIZE.fullmatch(text.strip())
    unit = found[2].lower() if found else ""
    factor = {**_UNITS, **_BINARY_UNITS}.get(unit)
    size = math.floor(fraction_of(found[1]) * factor) if found and factor else 0
    if size < 1:
        raise argparse.ArgumentTypeError(f"expected a number of bytes, such as 256MB or 1GiB, got {text!r}")
    return size


def fraction_of(text: str) -> Fraction:
    """An exact number that is written as 8, 0.5 or 1/3; of one such as 1e-3, the nearest.

    Raises:
      ValueError: it is none.
    """
    try:
        return Fraction(float(text)) if "e" in text.lower() else Fraction(text)
    except (ZeroDivisionError, OverflowError):
        raise ValueError(text) from None


def guarded(console: Console, work: Callable[[], int]) -> int:
    """What `work` returns; what is wrong is printed, and 1 or 2 returned."""
    try:
        return work()
    except InvalidArgumentError as error:  # a record that does not fit
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


def reads_stream(files: Sequence[CoreFile]) -> bool:
    """Whether one of them is standard input, a pipe or a device, which can be read only once."""
    return first_stream_among(files) is not None


def first_stream_among(files: Sequence[CoreFile]) -> CoreFile | None:
    """Standard input, a pipe or a device, which can be read only once."""
    for file in files:
        if file.name == STANDARD_INPUT or (file.is_local and not stat.S_ISREG(os.stat(file.name).st_mode)):
            return file
    return None


def source_of(files: list[CoreFile], args: argparse.Namespace) -> TFRecordSource:
    """The records of the inputs."""
    source = TFRecordSource(files)
    source.num_threads = args.threads
    return source


def options_of(args: argparse.Namespace, path: str) -> TFRecordOptions:
    """How an output is compressed."""
    return TFRecordOptions(compression_of(args, path), compression_level=args.level)


def compression_of(args: argparse.Namespace, path: str) -> str:
    """What --compression says of an output, or its extension."""
    if args.compression == "auto":
        return COMPRESSION_OF.get(os.path.splitext(path)[1].lower(), "")
    return "" if args.compression == "none" else str(args.compression).upper()


def sink_of(args: argparse.Namespace, files: list[CoreFile]) -> TFRecordSink:
    """What writes OUT, which is checked first."""
    if args.output == STANDARD_OUTPUT and args.shards > 1:
        raise Unsuitable("standard output is one file: --shards is for others")
    if args.output == STANDARD_OUTPUT and args.json:
        raise Unsuitable("standard output takes the records: --json has no place there")
    if args.output != STANDARD_OUTPUT:
        check_outputs(shard_paths(args.output, args.shards), files, args.in_place)
    else:
        check_standard_output(files)
    return TFRecordSink(args.output, options_of(args, args.output), args.shards, args.threads, storage_options(args))


def check_outputs(paths: Sequence[str], files: Sequence[CoreFile], in_place: bool) -> None:
    """Refuses outputs that are folders, files of other formats by their names, or among the inputs.

    Raises:
      Unsuitable: it says which.
    """
    for path in paths:
        if _format_of(path) != "tfrecord":
            raise Unsuitable(f"{path}: this writes TFRecord files; `tfrecord-fast convert` writes other formats")
    if not in_place:
        same = first_input_among(paths, files)
        if same is not None:
            raise Unsuitable(f"{same}: it is one of the inputs; --in-place replaces it")


def first_input_among(paths: Sequence[str], files: Sequence[CoreFile]) -> str | None:
    """The first output that is one of the inputs.

    Raises:
      Unsuitable: one of the outputs can't be a file.
    """
    known = {(found.st_dev, found.st_ino) for file in files if (found := _stat_of(file)) is not None}
    objects = {os.fsdecode(file.name) for file in files if file.object is not None}
    for path in paths:
        name, is_url = location_of(path)
        if is_url:
            if public_url(name) in objects:
                return public_url(name)
            continue
        if "\0" in name:
            raise Unsuitable(f"{name!r}: no file's name has a NUL")
        if not name:
            raise Unsuitable("the output has no name")
        if os.path.isdir(name) or not os.path.basename(name):
            raise Unsuitable(f"{name}: it is a folder, and the output is a file")
        try:
            found = os.stat(name)
        except OSError:  # what is wrong shows when it is opened
            continue
        if (found.st_dev, found.st_ino) in known:
            return name
    return None


def _format_of(path: str) -> str:
    try:
        return target_format_of(path)
    except Unsuitable:
        return "tfrecord"


def _stat_of(file: CoreFile) -> os.stat_result | None:
    """Of a local file that is read, which could be written to."""
    try:
        if file.name == STANDARD_INPUT:
            found = os.fstat(0)
            return found if stat.S_ISREG(found.st_mode) else None
        if not file.is_local:
            return None
        found = os.stat(file.name)
    except OSError:
        return None
    return found if stat.S_ISREG(found.st_mode) or stat.S_ISFIFO(found.st_mode) else None


def check_standard_output(files: Sequence[CoreFile]) -> None:
    """Refuses a standard output that is one of the inputs: `>> input`.

    Raises:
      Unsuitable: it says which.
    """
    out = os.fstat(1)
    for file in files:
        found = _stat_of(file)
        if found is not None and stat.S_ISREG(out.st_mode) and os.path.samestat(found, out):
            raise Unsuitable(f"{os.fsdecode(file.name)}: it is where standard output goes, too")


class Copied:
    """How many records were read and written, and their bytes; `files` are those that were written."""

    def __init__(self) -> None:
        self.records_read = 0
        self.records = 0
        self.payload_bytes = 0
        self.files: list[WrittenFile] = []

    def reading(self, batches: Iterable[_core.RecordBatch]) -> Iterator[_core.RecordBatch]:
        """Counts what is read."""
        for batch in batches:
            self.records_read += len(batch)
            yield batch

    def as_json(self) -> dict[str, Any]:
        """`records_read`, `records`, `payload_bytes`, `files`."""
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
    """Writes to OUT what `change` makes of all records; nothing appears if there is an exception.

    Args:
      passes: how often everything is gone through, for the progress bar: what is written counts as one, if more than 1.
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
    """What OUT is called."""
    return "standard output" if args.output == STANDARD_OUTPUT else str(args.output)


def told(args: argparse.Namespace, console: Console, lines: Sequence[str], value: dict[str, Any]) -> None:
    """Prints what was done: as lines or, with --json, an object."""
    if args.json:
        console.json(value)
        return
    for line in lines:
        if getattr(args, "output", None) == STANDARD_OUTPUT:
            console.problem(line)
        else:
            console.line(line)


def counted(number: int, noun: str = "record") -> str:
    """`1 record`, `1,000 records`."""
    return f"{number:,} {noun}" + ("" if number == 1 else "s")
