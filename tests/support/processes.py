"""Python code in a process of its own, for what ends, hangs or interrupts one."""

import os
import subprocess
import sys
import textwrap

PRELUDE = "import io, os, signal, sys, threading, time\nimport numpy as np\nimport tfrecord_fast as tf\n"


def run_code(code, *args, cwd=None, timeout=30):
    """Runs the code, which finds the usual modules imported; returns the finished process, with its output as text."""
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(path for path in sys.path if path))
    return subprocess.run(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(code), *map(str, args)],
        cwd=cwd,
        env=environment,
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
