"""Write the records that match a condition, in their order. They are copied byte by byte.

Conditions compare features of Examples, and of the context of SequenceExamples, with values: ==, !=, <, <=, >, >=,
combined by and, or, not and parentheses. Text is in quotes; names with blanks or signs are in `backticks`. A comparison
with a feature that the record lacks is false. A name alone is true if the record has values under that name.

A name that no record has is an error, and so is a comparison of several values, or of text with a number. Then nothing
is written. The output appears under its name once it is complete. `cat --where` prints the same records.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator

from ... import _core
from ...files.streams.core_files import CoreFile
from ..arguments import add_input_arguments, add_output_arguments, add_where_argument
from ..console import Console, counted
from ..copying import copied, on_files, print_summary, shown_output
from ..formats.base import Unsuitable
from ..records.selecting import NamesSeen, matching_rows
from ..records.where import Condition, parse_where

NAME = "filter"
SUMMARY = "write the records that match a condition"
EXAMPLES = """\
tfrecord-fast filter train.tfrecord --where 'label == 3' -o threes.tfrecord
tfrecord-fast filter 'train-*.tfrecord' --where 'score>=0.5 and not split == "test"' -o good.tfrecord.zst
tfrecord-fast filter data/ --where 'tags' -o 'tagged-{shard}-of-{num_shards}.tfrecord' --shards 8
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_input_arguments(parser)
    add_where_argument(parser, "write only records that match", required=True)
    add_output_arguments(parser, option=True)


@on_files
def run(args: argparse.Namespace, console: Console, files: list[CoreFile]) -> int:
    condition = parse_where(args.where)
    done = copied(files, args, console, lambda batches: _matching(batches, condition))
    text = f"{shown_output(args)}: {counted(done.records)} of {done.records_read:,}"
    print_summary(args, console, [text], done.as_json())
    return 0


def _matching(batches: Iterable[_core.RecordBatch], condition: Condition) -> Iterator[_core.RecordBatch]:
    seen = NamesSeen(condition.compared)
    for batch in batches:
        yield _core.take_rows(batch, matching_rows(batch, condition, seen))
    for problem in seen.problems():
        raise Unsuitable(f"--where: {problem}")
