"""Python code in a process of its own, for what ends, hangs or interrupts one."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import tfrecord_fast

PRELUDE = "import io, os, signal, sys, threading, time\nimport numpy as np\nimport tfrecord_fast as tf\n"


def environment():
    """Return the environment of a process that imports the same package as this one.

    pytest puts the checkout first; a build with sanitizers, or a mutated copy, must stand before it.
    """
    package = str(Path(tfrecord_fast.__file__).parents[1])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([package, *filter(None, sys.path)])}


def run_code(code, *args, cwd=None, timeout=30):
    """Runs the code, which finds the usual modules imported; returns the finished process, with its output as text."""
    return subprocess.run(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(code), *map(str, args)],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def printed(code, *args, cwd=None, timeout=30):
    """What the code prints, without the last newline; it has to end well and complain of nothing."""
    done = run_code(code, *args, cwd=cwd, timeout=timeout)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.rstrip("\n")
