"""Print the first records: the same as `cat -n 10`, with all options of `cat`.

-n prints another number of records, in all files together. The rest of the files is not read.
"""

from __future__ import annotations

import argparse

from . import add_arguments as add_cat_arguments
from . import run

__all__ = ["EXAMPLES", "NAME", "SUMMARY", "add_arguments", "run"]

NAME = "head"
SUMMARY = "print the first 10 records, decoded"
EXAMPLES = """\
tfrecord-fast head train.tfrecord
tfrecord-fast head -n 3 --columns id,label train.tfrecord
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_cat_arguments(parser)
    parser.set_defaults(limit=10)
