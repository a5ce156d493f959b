"""TFRecordPyDataset in Keras' fit, evaluate and predict: the facts in keras_cases.py hold on each of its backends."""

import ast
import functools
import json
import os
import subprocess
import sys

import pytest

from tests.support.paths import ROOT

BACKENDS = ["jax", "torch", "tensorflow"]
WITHOUT_TENSORFLOW = "import runpy, sys; sys.modules['tensorflow'] = None; runpy.run_module({!r}, run_name='__main__')"
CASES = [
    node.name
    for name in ("keras_cases.py", "keras_column_cases.py", "keras_end_cases.py", "keras_number_cases.py")
    for node in ast.parse((ROOT / "tests" / "integrations" / name).read_text()).body
    if isinstance(node, ast.FunctionDef) and node.name.startswith("case_")
]


@functools.cache
def results(backend):
    """What each case says, in one process: importing Keras takes longer than most of them."""
    module = "tests.integrations.keras_cases"
    script = ["-m", module] if backend == "tensorflow" else ["-c", WITHOUT_TENSORFLOW.format(module)]
    done = subprocess.run(
        [sys.executable, *script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("backend", BACKENDS)
def test_on_each_backend(backend, case):
    assert results(backend)[case] is None, results(backend)[case]


def test_the_extra_on_the_page_exists():
    page = (ROOT / "docs" / "integrations" / "keras.md").read_text()
    assert "pip install '.[keras]'" in page and "\nkeras = [" in (ROOT / "pyproject.toml").read_text()
