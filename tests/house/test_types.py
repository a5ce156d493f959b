"""The types of the package, as mypy sees them from outside."""

import subprocess
import sys

import numpy as np
import pytest

from tests.support.paths import ROOT


def test_typical_uses_pass_mypy_strictly():
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent", "tests/support/typical_uses.py"]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout


@pytest.fixture
def uses():
    pytest.importorskip("google.protobuf")
    from tests.support import typical_uses

    return typical_uses


@pytest.fixture
def path(uses, tmp_path):
    uses.write(tmp_path / "a.tfrecord")
    return tmp_path / "a.tfrecord"


def test_what_typical_uses_write_they_read(uses, path):
    assert len(uses.read_records(path)) == 8
    assert uses.count(str(path)) == 4
    assert uses.damaged(str(path)) == (None, None)


def test_typical_uses_save(uses, tmp_path):
    assert uses.save(str(tmp_path), np.ones(3, np.float32))


def test_typical_uses_encode(uses):
    assert len(uses.encoded(["a", "b"])) == 2
