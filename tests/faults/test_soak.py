"""The short form of `python -m tools.faults.soak`: everything over and over, and nothing grows."""

import subprocess
import sys

import pytest

import tfrecord_fast as tf
from tests.support.paths import ROOT

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks /proc"),
    pytest.mark.skipif(bool(tf.build_info()["sanitizers"]), reason="sanitizers keep memory of their own"),
]


def test_nothing_grows_in_a_short_soak():
    command = [sys.executable, "-m", "tools.faults.soak", "--minutes", "0.2"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert (done.returncode, done.stdout.split()[-2:]) == (0, ["0", "wrong"]), done.stdout + done.stderr
