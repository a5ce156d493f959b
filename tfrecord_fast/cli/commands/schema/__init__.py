"""Print the features of Examples or SequenceExamples as code to paste, with the number of records that have each, and
an example value.

All files get one schema if their records are alike. Different kinds of records, and files without a common feature, get
separate schemas. Every record is read, unless --limit is given.
"""

from __future__ import annotations

import argparse
import os

from .... import _core
from ....errors import InvalidArgumentError
from ....files.streams.core_files import CoreFile
from ...arguments import add_file_arguments, number_of
from ...console import Console, counted
from ...files import FAULTS, batches, named_files, open_input, problem_of
from .formats import FORMATS, NotExpressible
from .surveys import Survey, conflicts, group

NAME = "schema"
SUMMARY = "print the features of Examples, as code or as a schema"
EXAMPLES = """\
tfrecord-fast schema train.tfrecord
tfrecord-fast schema 'train-*.tfrecord' -n 10000
tfrecord-fast schema train.tfrecord --format tfmd > schema.pbtxt
tfrecord-fast schema train.tfrecord --json | jq .features.label
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_arguments(parser)
    parser.add_argument("-n", "--limit", type=number_of, metavar="N", help="read at most N records")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        help="code (default), json (same as --json), an Arrow schema, a TFDS FeaturesDict, or a TFMD Schema as text",
    )


def run(args: argparse.Namespace, console: Console) -> int:
    """Print the schemas. A conflict between records or files is damage (status 1)."""
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
    return max(status, _print(group([survey for survey in surveys if survey.records]), args, console))


def _survey(survey: Survey, file: CoreFile, compression: str, limit: int | None) -> None:
    scanner = _core.FeatureSurvey()
    if limit == 0:
        return
    try:
        for batch in batches(open_input(file, compression), num_threads=1):
            records = batch if limit is None else batch[: limit - scanner.records]
            scanner.add(records)
            survey.find_values(scanner, records)
            if scanner.records == limit:
                break
    finally:
        survey.take(scanner)


def _print(groups: list[Survey], args: argparse.Namespace, console: Console) -> int:
    name = args.format or ("json" if args.json else "code")
    status = 0
    for survey in groups:
        if len(groups) > 1:
            if name != "json":
                more = ", …" if len(survey.files) > 1 else ""
                console.line(f"# {counted(len(survey.files), 'file')} of {survey.kind}s: {survey.files[0]}{more}")
        try:
            console.text(FORMATS[name](survey))
        except NotExpressible as error:
            console.problem(f"{survey.files[0]}: {error}")
            status = 2
        except ImportError as error:
            console.problem(str(error))
            return 2
    if len(groups) > 1:
        console.problem(f"the files hold {len(groups)} groups of unrelated records: each has its own schema")
    return status
