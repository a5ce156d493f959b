"""What is not run over S3 still exists, and nothing is named that is not run at all."""

import importlib

import pytest

from tests.support.paths import ROOT
from tools.remote.over_s3_left_out import LEFT_OUT, SLOW

SOURCES = [importlib.import_module(f"tests.remote.{path.stem}") for path in ROOT.glob("tests/remote/test_over_s3_*.py")]
FILES = [name for source in SOURCES if source.__name__ != __name__ for name in source.FILES]
NAMED = sorted({(name, test) for tests in [*LEFT_OUT.values(), SLOW] for name in tests for test in tests[name]})


@pytest.mark.parametrize("name, test", NAMED)
def test_what_is_left_out_is_there(name, test):
    assert name in FILES
    assert test == "*" or f"\ndef {test}(" in (ROOT / name).read_text()


def test_each_file_is_run_once():
    assert len(FILES) == len(set(FILES))
