"""The types of the package, as mypy sees them from outside."""

import subprocess
import sys

import pytest

from tests.support.paths import ROOT


def test_typical_uses_pass_mypy_strictly():
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "tests/support/typical_uses.py"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


def test_typical_uses_run(tmp_path):
    pytest.importorskip("google.protobuf")
    import numpy as np

    from tests.support import typical_uses

    path = tmp_path / "a.tfrecord"
    typical_uses.write(path)
    assert len(typical_uses.read_records(path)) == 8
    assert typical_uses.count(str(path)) == 4
    assert typical_uses.save(str(tmp_path), np.ones(3, np.float32))
    assert typical_uses.damaged(str(path)) == (None, None)
    assert len(typical_uses.encoded(["a", "b"])) == 2
