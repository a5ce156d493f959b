"""Measure this package, its rivals and the machine on the same data: generated from a seed, or your own files.

The harness is the folder benchmarks/ of a checkout; wheels bundle it. All arguments are passed to it, so that
`tfrecord-fast bench` equals `python -m benchmarks`.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path

from ..console import Console, OutputClosed

NAME = "bench"
SUMMARY = "measure this package and its rivals (see bench --help)"
EXAMPLES = """\
tfrecord-fast bench raw parse --files 'train-*.tfrecord' --rivals tensorflow --quick
tfrecord-fast bench --files 'train-*.tfrecord'
tfrecord-fast bench --help
"""

_PACKAGE = Path(__file__).parents[2]
_NEEDS = {"google_crc32c": "google-crc32c", "google.protobuf": "protobuf"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of `python -m benchmarks`")


def run(args: argparse.Namespace, console: Console) -> int:
    return forward(args.arguments, console)


def forward(argv: Sequence[str], console: Console) -> int:
    """Run the harness with its own arguments.

    Exit status: 0 success; 1 a contender failed or was wrong; 2 wrong usage, unsuitable files, or a missing dependency.
    """
    folder = home(_PACKAGE)
    if folder is None:
        console.problem("the benchmark harness is missing: install a wheel, or run this in a checkout")
        return 2
    missing = [package for module, package in _NEEDS.items() if not _importable(module)]
    if missing:
        console.problem(f"bench needs {' and '.join(missing)}: pip install 'tfrecord_fast[bench]'")
        return 2
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    harness = importlib.import_module("benchmarks.__main__")
    try:
        status: int = harness.main(list(argv), prog=f"tfrecord-fast {NAME}")
        sys.stdout.flush()
    except BrokenPipeError:
        raise OutputClosed from None
    return status


def home(package: Path) -> Path | None:
    """Return the folder that contains `benchmarks`: that of the wheel, or the checkout around the package."""
    if (package / "_bench" / "benchmarks" / "__main__.py").is_file():
        return package / "_bench"
    checkout = package.parent
    has_harness = (checkout / "csrc").is_dir() and (checkout / "benchmarks" / "__main__.py").is_file()
    return checkout if has_harness else None


def _importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # its parent package is missing
        return False
