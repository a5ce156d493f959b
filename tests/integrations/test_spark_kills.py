"""Executors and Python workers that are killed in the middle of a read or a write cost no record, and repeat none."""

import subprocess
import sys

import pytest

pytest.importorskip("pyspark")

from tests.support.paths import ROOT

WAYS = ["executor, writing", "Python worker, reading"]  # tools.kills.spark has the others, too


@pytest.fixture(scope="module")
def said():
    """What one round says, in a process whose Spark is its own: how it starts depends on the environment."""
    command = [sys.executable, "-m", "tools.kills.spark", "--rounds", "1"]
    command += [word for way in WAYS for word in ("--only", way)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.stdout + done.stderr[-5000:]


@pytest.mark.alone
@pytest.mark.parametrize("way", WAYS)
def test_every_record_is_there_once_and_nothing_is_left(said, way):
    assert f"1: {way}, middle: right" in said, said
