"""Workers and nodes that are killed in the middle of a read or a write cost no record, and repeat none."""

import subprocess
import sys

import pytest

from tests.support.paths import ROOT

WAYS = ["worker, reading", "node, writing"]  # tools.kills.ray has the others, too


@pytest.mark.alone
def test_every_record_is_there_once_and_nothing_is_left():
    pytest.importorskip("ray")
    # In a process of its own: Ray goes on looking for a killed node, and a process that is forked meanwhile can hang.
    command = [sys.executable, "-m", "tools.kills.ray", "--rounds", "1"]
    for way in WAYS:
        command += ["--only", way]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == ", ".join(f"{way}: 1 of 1" for way in WAYS)
    assert all(f"1: {way}, middle: right" in done.stdout for way in WAYS)
