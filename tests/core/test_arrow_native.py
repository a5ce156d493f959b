"""The Arrow C data interface works without Python."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.paths import ROOT

MUTATED = Path(os.environ.get("MUTATED_CORE", "nowhere"))  # tools/mutation/native.py
BASE = ["block", "buffer", "element_type", "process", "status"]


def test_columns_come_back_from_arrow(tmp_path):
    compiler = os.environ.get("CXX", "g++").split()
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    names = [*(f"base/{name}.cc" for name in BASE), *(f"arrow/{name}.cc" for name in ("export", "import", "type"))]
    core = [next(path for path in (MUTATED / name, ROOT / "csrc" / name) if path.exists()) for name in names]
    program = tmp_path / "rounds"
    options = ["-std=c++20", "-O1", "-pthread", f"-I{MUTATED}", f"-I{ROOT / 'csrc'}", "-o", str(program)]
    sources = [str(ROOT / "tests/support/native/arrow_rounds.cc"), *map(str, core)]
    subprocess.run([*compiler, *options, *sources], check=True)
    done = subprocess.run([program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
