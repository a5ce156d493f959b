"""The arguments that subcommands share, and the values that they take."""

from __future__ import annotations

import argparse
import math
import re
from fractions import Fraction

from ..files.naming.compression import CODECS

COMPRESSIONS = ("auto", "none", *(name.lower() for name in CODECS))

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_UNITS = {"ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?i?)b?", re.IGNORECASE)


def add_file_arguments(parser: argparse.ArgumentParser) -> None:
    """Add FILE…, --compression, --json and --storage-option."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="path, folder, pattern, URL, or - for standard input")
    parser.add_argument(
        "--compression",
        default="auto",
        choices=COMPRESSIONS,
        type=str.lower,
        help="compression of the files (default: auto, detected from the first bytes of each file)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, one object per line")
    add_store_arguments(parser)


def add_input_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="IN", help="path, folder, pattern, URL, or - for standard input")


def add_where_argument(parser: argparse.ArgumentParser, purpose: str, required: bool = False) -> None:
    example = "label == 3 and not (`a name` == 'x')"
    parser.add_argument("--where", metavar="CONDITION", required=required, help=f"{purpose}, as: {example}")


def add_output_arguments(
    parser: argparse.ArgumentParser, shards: bool = True, copies: bool = True, option: bool = False
) -> None:
    """Add --compression, --level, --threads and --storage-option; if `shards`, OUT and --shards.

    If the command `copies` records, also add --in-place and --json. OUT is the value of -o if `option`.
    """
    if shards:
        output = parser.add_argument(
            *(["-o", "--output"] if option else ["output"]),
            metavar="OUT",
            help="path or URL, or - for standard output; for several shards a pattern: x-{shard}-of-{num_shards}",
        )
        output.required = True
        parser.add_argument(
            "--shards", type=count_of, default=1, metavar="N", help="number of files; record i goes to file i mod N"
        )
    parser.add_argument(
        "--compression",
        choices=COMPRESSIONS,
        default="auto",
        type=str.lower,
        help="compression of the output (default: auto, from the extension: .gz, .zst, .snappy)",
    )
    parser.add_argument("--level", type=int, metavar="L", help="compression level")
    parser.add_argument("--threads", type=count_of, metavar="N", help="number of threads that read and compress")
    if copies:
        parser.add_argument("--in-place", action="store_true", help="allow the output to replace one of the inputs")
        parser.add_argument("--json", action="store_true", help="print a summary as a JSON object")
    add_store_arguments(parser)


def add_store_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--storage-option",
        action="append",
        default=[],
        dest="storage_options",
        metavar="NAME=VALUE",
        type=_storage_option,
        help="option of the store behind a URL, as region=eu-central-1; may be repeated (command lines are visible to "
        "other users: pass credentials through the environment)",
    )


def _storage_option(text: str) -> tuple[str, str | int | bool]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError("expected NAME=VALUE")  # without the text, which may be a credential
    if name == "part_bytes" and value.isdecimal():
        return name, int(value)
    return name, {"true": True, "false": False}.get(value.lower(), value)


def storage_options(args: argparse.Namespace) -> dict[str, str | int | bool] | None:
    return dict(args.storage_options) or None


def number_of(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number of records, got {text!r}")
    return int(text)


def count_of(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number of at least 1, got {text!r}")
    return int(text)


def seed_of(text: str) -> int:
    if not text.isdecimal() or int(text) >= 1 << 64:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 2**64 - 1, got {text!r}")
    return int(text)


def size_of(text: str) -> int:
    """Parse a number of bytes, such as 1000, 256MB or 1.5GiB."""
    match = _SIZE.fullmatch(text.strip())
    factor = {**_UNITS, **_BINARY_UNITS}.get(match[2].lower()) if match else None
    size = math.floor(fraction_of(match[1]) * factor) if match and factor else 0
    if size < 1:
        raise argparse.ArgumentTypeError(f"expected a number of bytes, such as 256MB or 1GiB, got {text!r}")
    return size


def fraction_of(text: str) -> Fraction:
    """Parse a number written as 8, 0.5 or 1/3 exactly, and one such as 1e-3 to the nearest float."""
    try:
        return Fraction(float(text)) if "e" in text.lower() else Fraction(text)
    except (ZeroDivisionError, OverflowError):
        raise ValueError(text) from None
