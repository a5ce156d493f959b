"""Prints the features of the Examples or SequenceExamples in files, as code that can be pasted.

One answer for all files together. Every record is looked at, unless --limit says otherwise.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import Any, cast

from .. import _core
from ..dtypes import as_dtype
from ..errors import InvalidArgumentError
from ..examples.features import VarLenFeature
from ..examples.infer import InferredFeature, InferredList, describe_features, features_of, lists_of
from .console import Console
from .files import FAULTS, add_file_arguments, batches, named_files, open_input, problem_of

__all__ = ["NAME", "SUMMARY", "add_arguments", "run"]

Inferred = Mapping[str, InferredFeature | InferredList]

NAME = "schema"
SUMMARY = "print the features of Examples as code"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """FILE…, --compression, --json, --storage-option, --limit."""
    add_file_arguments(parser)
    parser.add_argument("-n", "--limit", type=int, metavar="N", help="look at no more than N records")


def run(args: argparse.Namespace, console: Console) -> int:
    """Prints a dict of features, two for SequenceExamples; a conflict between records is damage (status 1)."""
    files, status = named_files(args, console)
    scanner = _core.FeatureScanner()
    for file in files:
        path = os.fsdecode(file[0])
        try:
            for batch in batches(open_input(file, args.compression), num_threads=1):
                left = len(batch) if args.limit is None else args.limit - scanner.records
                scanner.add(batch[: max(left, 0)])
                if left <= len(batch) and args.limit is not None:
                    break
        except InvalidArgumentError as error:
            text = str(error)
            console.problem(text if path in text else f"{path}: {text}")
            return 1
        except FAULTS as error:
            problem = problem_of(error)
            console.problem(f"{path}: {problem.place}")
            status = max(status, problem.status)
    features, lists = features_of(scanner), lists_of(scanner)
    if args.json:
        console.json(_as_json(features, lists, scanner.has_lists))
    elif scanner.records:
        _print(features, lists, scanner.has_lists, console)
    return status


def _print(features: Inferred, lists: Inferred, sequences: bool, console: Console) -> None:
    if sequences:
        console.line(f"context_features = {describe_features(features)}")
        console.line(f"sequence_features = {describe_features(lists)}")
    else:
        console.line(f"features = {describe_features(features)}")


def _as_json(features: Inferred, lists: Inferred, sequences: bool) -> dict[str, Any]:
    def plain(some: Inferred) -> dict[str, Any]:
        return {
            key: {
                "feature": type(feature).__name__,
                "dtype": as_dtype(feature.dtype).name,
                **({} if isinstance(feature, VarLenFeature) else {"shape": list(cast(list[int], feature.shape))}),
            }
            for key, feature in some.items()
        }

    if sequences:
        return {"context_features": plain(features), "sequence_features": plain(lists)}
    return {"features": plain(features)}
