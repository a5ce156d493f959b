"""The lists of tests that run over S3 name what there is."""

from tests.support.paths import ROOT
from tools.remote.over_s3_files import FILES, LEFT_OUT


def test_each_file_exists_and_is_run_once():
    assert [name for name in FILES if not (ROOT / name).exists()] == []
    assert len(FILES) == len(set(FILES))


def test_tests_that_are_left_out_exist_in_a_file_that_is_run():
    left_out = [(name, test) for tests in LEFT_OUT.values() for name in tests for test in tests[name]]
    assert [name for name, _ in left_out if name not in FILES] == []
    assert [test for name, test in left_out if f"\ndef {test}(" not in (ROOT / name).read_text()] == []
