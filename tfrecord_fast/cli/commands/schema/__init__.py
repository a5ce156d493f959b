"""Prints the features of the Examples or SequenceExamples in files, as code that can be pasted: what each holds, in how
many records it is, and a value.

One answer for all files together, if they hold the same kind of thing; a schema each for kinds of records that differ,
and for files that have no feature in common. Every record is looked at, unless --limit says otherwise.
"""

from __future__ import annotations

import argparse
import os

from .... import _core
from ....errors import InvalidArgumentError
from ....files.streams.core_files import CoreFile
from ...console import Console
from ...files import FAULTS, add_file_arguments, batches, named_files, open_input, problem_of
from .formats import FORMATS, NotExpressible
from .surveys import Survey, conflicts, group

__all__ = ["EXAMPLES", "NAME", "SUMMARY", "add_arguments", "run"]

NAME = "schema"
SUMMARY = "print the features of Examples as code, or as a schema of others"
EXAMPLES = """\
tfrecord-fast schema train.tfrecord
tfrecord-fast schema 'train-*.tfrecord' -n 10000
tfrecord-fast schema train.tfrecord --format tfmd > schema.pbtxt
tfrecord-fast schema train.tfrecord --json | jq .features.label
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE…, --compression, --json, --storage-option, --limit, --format."""
    add_file_arguments(parser)
    parser.add_argument("-n", "--limit", type=_count, metavar="N", help="look at no more than N records")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="code (default), json (as --json), an Arrow schema, FeaturesDict of TFDS, or Schema of TFMD as text",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    """Prints the schemas; a conflict between records or files is damage (status 1)."""
    files, status = named_files(args, console)
    surveys: list[Survey] = []
    left: int | None = args.limit
    for file in files:
        path = os.fsdecode(file.name)
        survey = Survey([path])
        try:
            _survey(survey, file, args.compression, left)
            surveys.append(survey)
        except InvalidArgumentError as error:
            text = str(error)
            console.problem(text if path in text else f"{path}: {text}")
            status = max(status, 1)
        except FAULTS as error:
            problem = problem_of(error)
            console.problem(f"{path}: {problem.place}")
            status = max(status, problem.status)
            if survey.records:
                surveys.append(survey)
        if left is not None:
            left = max(0, left - survey.records)
    for conflict in conflicts(surveys):
        console.problem(f"conflicting kinds: {conflict}")
        status = max(status, 1)
    return max(status, _print(group([one for one in surveys if one.records]), args, console))


def _survey(survey: Survey, file: CoreFile, compression: str, limit: int | None) -> None:
    scanner = _core.FeatureScanner()
    if limit == 0:
        return
    try:
        for batch in batches(open_input(file, compression), num_threads=1):
            part = batch if limit is None else batch[: limit - scanner.records]
            scanner.add(part)
            survey.find_values(scanner, part)
            if scanner.records == limit:
                break
    finally:
        survey.take(scanner)


def _print(groups: list[Survey], args: argparse.Namespace, console: Console) -> int:
    name = args.format or ("json" if args.json else "code")
    status = 0
    for one in groups:
        if len(groups) > 1:
            said = f"{len(one.files)} file{'s' * (len(one.files) > 1)} of {one.kind}s: {one.files[0]}"
            if name != "json":
                console.line(f"# {said}{', …' if len(one.files) > 1 else ''}")
        try:
            console.text(FORMATS[name](one))
        except NotExpressible as error:
            console.problem(f"{one.files[0]}: {error}")
            status = 2
        except ImportError as error:
            console.problem(str(error))
            return 2
    if len(groups) > 1:
        console.problem(f"the files hold {len(groups)} kinds of things: there is a schema for each")
    return status


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number of records, got {text!r}")
    return int(text)
