"""Looks at all values of Examples and SequenceExamples, in one pass: how often each feature is there, its smallest,
largest and middle value, mean and standard deviation, zeros and NaN, how many different values, the most frequent ones,
how many values a record has, how they are distributed; which records are copies of others, and how many each file has.

Prints a table, or with --json an object. --html FILE writes a page that needs nothing else: histograms, frequent
values, sample records, images. --against compares with another set of files, feature by feature.

Up to a thousand different values of a feature are all counted, and all figures are exact. With more, counts, min, max,
mean, standard deviation and zeros stay exact. The number of different values is estimated (HyperLogLog, standard error
1.1 %). Quantiles and bars come from a sketch (KLL, of the first thousands of values and then of one of eight to 32):
the rank of a quantile is nearly always off by less than 1 % of all values. Frequent values are found as Misra and Gries
do. The same files give the same figures, whatever the number of threads.
"""

from __future__ import annotations

import argparse
import copy
import os

from ....examples.record_kinds import kind_named
from ....files.streams.core_files import CoreFile
from ...console import Console, Style
from ...files import add_file_arguments, named_files
from .as_json import as_json, drift_as_json
from .collecting import Collected, collect
from .drift import drifts
from .figures import Feature, shown_key
from .page import page
from .table import drift_lines, lines_of

__all__ = ["EXAMPLES", "NAME", "SUMMARY", "add_arguments", "run"]

NAME = "stats"
SUMMARY = "figures of all features, as a table, as JSON, or as a page to look at"
EXAMPLES = """\
tfrecord-fast stats 'train-*.tfrecord'
tfrecord-fast stats train.tfrecord --html train.html
tfrecord-fast stats 'train-*' --against 'eval-*' --html drift.html
tfrecord-fast stats train.tfrecord --columns label,age -n 100000
tfrecord-fast stats train.tfrecord --json | jq .features.label.top
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE…, --compression, --json, --storage-option, --limit, --columns, --against, --html."""
    add_file_arguments(parser)
    parser.add_argument("-n", "--limit", type=_count, metavar="N", help="look at no more than N records of each set")
    parser.add_argument("--columns", type=_names, metavar="NAME,…", help="look at these features only")
    parser.add_argument(
        "--against", nargs="+", default=[], metavar="FILE", help="another set of files, to compare the first one with"
    )
    parser.add_argument("--html", metavar="FILE", help="write a page, which needs no other file")


def run(args: argparse.Namespace, console: Console) -> int:
    """Prints the figures, or writes the page; damage is told, and what precedes it is in the figures."""
    if args.html == "-":
        console.problem("--html takes the name of a file; standard output is for the table, or --json")
        return 2
    status = 0
    named: list[list[CoreFile]] = []
    for names in filter(None, (args.files, args.against)):
        files, bad = _named(names, args, console)
        status = max(status, bad)
        named.append(files)
    if args.html is not None and _is_among(args.html, named):
        console.problem(f"{args.html}: it is one of the files, and the page would replace it")
        return 2
    sets = [collect(files, args, console) for files in named if files]
    if len(sets) < 1 + bool(args.against):
        return status or 2
    for one in sets:
        status = max(status, one.status, _problems(one, console))
    features = [[feature for part in one.features for feature in part] for one in sets]
    for name in args.columns or ():
        if not any(feature.name == name for part in features for feature in part):
            console.problem(f"no record has a feature {shown_key(name)!r}")
            status = max(status, 2)
    found = list(drifts(*features).values()) if len(sets) == 2 else []
    if args.html is not None:
        try:
            _write(args.html, page(sets, found))
        except OSError as error:
            console.problem(f"{args.html}: {error.strerror}")
            return 2
    if args.json:
        made = as_json(sets[0])
        if len(sets) == 2:
            made |= {"against": as_json(sets[1]), "drift": drift_as_json(found)}
        console.json(made)
    elif args.html is None:
        _print(sets, console)
        if found:
            console.line("")
            for line in drift_lines(found, Style()):
                console.text(line)
    return status


def _named(names: list[str], args: argparse.Namespace, console: Console) -> tuple[list[CoreFile], int]:
    one = copy.copy(args)
    one.files = names
    return named_files(one, console)


def _is_among(path: str, sets: list[list[CoreFile]]) -> bool:
    return os.path.exists(path) and any(
        file.is_local and os.path.exists(file.name) and os.path.samefile(file.name, path)
        for files in sets
        for file in files
    )


def _print(sets: list[Collected], console: Console) -> None:
    style = Style()
    for number, one in enumerate(sets):
        if number:
            console.line("")
            console.text(style("head", "against:"))
        for line in lines_of(one, style):
            console.text(line)


def _problems(one: Collected, console: Console) -> int:
    """Tells what is wrong with files, records and features; the status that the latter two call for."""
    status = 0
    for shard in one.shards:
        if shard.problem is not None:
            console.problem(f"{shard.path}: {shard.problem.place}")
    others = one.collector.others()
    if one.collector.examples > one.collector.empty:
        for said, records, file, record in others:
            where = f"the first is record {record} of {one.shards[file].path}"
            console.problem(f"{records:,} of {one.records:,} records are no Examples, but {kind_named(said)}: {where}")
            status = 1
    for part in one.features:
        for feature in part:
            if feature.conflicts:
                console.problem(f"conflicting kinds: feature {shown_key(feature.name)!r} has {_kinds(feature)}")
                status = 1
    return status


def _kinds(feature: Feature) -> str:
    core = feature.core
    counts = (("int64", core.int64_features), ("float", core.float_features), ("bytes", core.bytes_features))
    return ", ".join(f"{name} {number:,} times" for name, number in counts if number)


def _write(path: str, text: str) -> None:
    """Whole, or not at all; what is no regular file is written to as it is."""
    data = text.encode("utf-8", "backslashreplace")
    if os.path.exists(path) and not os.path.isfile(path):
        with open(path, "wb") as file:
            file.write(data)
        return
    draft = f"{os.path.realpath(path)}.{os.getpid()}.part"
    try:
        with open(draft, "wb") as file:
            file.write(data)
        os.replace(draft, os.path.realpath(path))
    except BaseException:
        if os.path.exists(draft):
            os.unlink(draft)
        raise


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number of records, got {text!r}")
    return int(text)


def _names(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    if not names:
        raise argparse.ArgumentTypeError("expected names of features, as label,age")
    return names
