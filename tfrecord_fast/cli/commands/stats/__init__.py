"""Summarise all values of Examples and SequenceExamples in one pass. For each feature: the records that have it, its
minimum, median, maximum, mean and standard deviation, zeros and NaN, the number of distinct values, the most frequent
values, the number of values per record, and a histogram. For the files: duplicate records, and records per file.

Prints a table, or with --json an object. --html FILE writes a self-contained page with histograms, frequent values,
sample records and images. --against compares with another set of files, feature by feature.

If a feature has up to a thousand distinct values, all are counted and all figures are exact. With more, counts,
minimum, maximum, mean, standard deviation and zeros stay exact. The number of distinct values is estimated
(HyperLogLog, standard error 1.1 %). Quantiles and histograms come from a sketch (KLL, of the first thousands of values
and then of one in eight to 32): the rank of a quantile is nearly always off by less than 1 % of all values. Frequent
values are found with the algorithm of Misra and Gries. The figures do not depend on the number of threads.
"""

from __future__ import annotations

import argparse
import os

from ....examples.record_kinds import kind_named
from ....files.streams.core_files import CoreFile
from ....files.system.drafts import complete_file
from ...arguments import add_file_arguments, number_of
from ...console import Console, Style
from ...files import named_files
from .as_json import as_json, drift_as_json
from .collecting import Collected, collect
from .drift import drifts
from .figures import shown_key
from .page import page
from .table import drift_lines, lines_of

NAME = "stats"
SUMMARY = "summarise every feature: table, JSON or HTML report"
EXAMPLES = """\
tfrecord-fast stats 'train-*.tfrecord'
tfrecord-fast stats train.tfrecord --html train.html
tfrecord-fast stats 'train-*' --against 'eval-*' --html drift.html
tfrecord-fast stats train.tfrecord --columns label,age -n 100000
tfrecord-fast stats train.tfrecord --json | jq .features.label.top
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_arguments(parser)
    parser.add_argument("-n", "--limit", type=number_of, metavar="N", help="read at most N records of each set")
    parser.add_argument("--columns", type=_names, metavar="NAME,…", help="summarise only these features")
    parser.add_argument("--against", nargs="+", default=[], metavar="FILE", help="another set of files to compare with")
    parser.add_argument("--html", metavar="FILE", help="write a self-contained HTML page")


def run(args: argparse.Namespace, console: Console) -> int:
    """Print the figures, or write the page. Damage is reported; records before it are included."""
    if args.html == "-":
        console.problem("--html requires a file name")
        return 2
    status = 0
    named: list[list[CoreFile]] = []
    for names in filter(None, (args.files, args.against)):
        files, bad = named_files(argparse.Namespace(**{**vars(args), "files": names}), console)
        status = max(status, bad)
        named.append(files)
    if args.html is not None and _is_among(args.html, named):
        console.problem(f"{args.html}: the page would replace an input")
        return 2
    sets = [collect(files, args, console) for files in named if files]
    if len(sets) < 1 + bool(args.against):
        return status or 2
    for collected in sets:
        status = max(status, collected.status, _problems(collected, console))
    features = [[feature for group in collected.features for feature in group] for collected in sets]
    for name in args.columns or ():
        if not any(feature.name == name for group in features for feature in group):
            console.problem(f"no record has a feature {shown_key(name)!r}")
            status = max(status, 2)
    differences = list(drifts(*features).values()) if len(sets) == 2 else []
    if args.html is not None:
        try:
            with complete_file(args.html) as draft, open(draft, "wb") as out:
                out.write(page(sets, differences).encode("utf-8", "backslashreplace"))
        except OSError as error:
            console.problem(f"{args.html}: {error.strerror}")
            return 2
    if args.json:
        report = as_json(sets[0])
        if len(sets) == 2:
            report |= {"against": as_json(sets[1]), "drift": drift_as_json(differences)}
        console.json(report)
    elif args.html is None:
        _print(sets, console)
        if differences:
            console.line("")
            for line in drift_lines(differences, Style()):
                console.text(line)
    return status


def _is_among(path: str, sets: list[list[CoreFile]]) -> bool:
    return os.path.exists(path) and any(
        file.is_local and os.path.exists(file.name) and os.path.samefile(file.name, path)
        for files in sets
        for file in files
    )


def _print(sets: list[Collected], console: Console) -> None:
    style = Style()
    for number, collected in enumerate(sets):
        if number:
            console.line("")
            console.text(style("head", "against:"))
        for line in lines_of(collected, style):
            console.text(line)


def _problems(collected: Collected, console: Console) -> int:
    """Report problems of files, records and features; return the exit status for the last two."""
    status = 0
    for shard in collected.shards:
        if shard.problem is not None:
            console.problem(f"{shard.path}: {shard.problem.place}")
    others = collected.collector.others()
    if collected.collector.examples > collected.collector.empty:
        for form, records, file, record in others:
            where = f"the first is record {record} of {collected.shards[file].path}"
            total = f"{records:,} of {collected.records:,} records"
            console.problem(f"{total} are not Examples (they look like {kind_named(form)}): {where}")
            status = 1
    for group in collected.features:
        for feature in group:
            if feature.conflicts:
                kinds = ", ".join(f"{name} {records:,} times" for name, records in feature.kinds.items())
                console.problem(f"conflicting kinds: feature {shown_key(feature.name)!r} has {kinds}")
                status = 1
    return status


def _names(text: str) -> list[str]:
    names = [name for name in text.split(",") if name]
    if not names:
        raise argparse.ArgumentTypeError("expected feature names, as label,age")
    return names
