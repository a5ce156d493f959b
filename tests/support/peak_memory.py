"""How much memory a process takes at most, as the kernel tells it."""

import subprocess
import sys

import pytest

import tfrecord_fast

MIB = 1 << 20

PEAK_IS_TOLD = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc for the peak"),
    pytest.mark.skipif(bool(tfrecord_fast.build_info()["sanitizers"]), reason="sanitizers keep memory of their own"),
]

# VmHWM and not ru_maxrss: that of a fresh process starts with its parent's.
PROLOGUE = """
import io, re, resource, subprocess, sys, tfrecord_fast as tf
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1]) * 1024
"""


def run(code, *args):
    """Runs Python code in a process of its own: (what it printed, its peak in bytes)."""
    script = PROLOGUE + code + "\nprint(peak())"
    done = subprocess.run([sys.executable, "-c", script, *map(str, args)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    *printed, peak = done.stdout.split("\n")[:-1]
    return "\n".join(printed), int(peak)
