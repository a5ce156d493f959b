"""The command line tool, run as a program."""

import sys

COMMAND = [sys.executable, "-m", "tfrecord_fast"]
