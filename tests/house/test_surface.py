"""What users rely on: no public name, argument, default or documented example is removed by accident."""

import pytest

from tests.support import surface
from tests.support.paths import ROOT

KEPT = ROOT / "tests" / "house" / "surface.txt"


def test_no_public_name_argument_or_example_is_lost():
    pytest.importorskip("google.protobuf")
    lost = set(KEPT.read_text().splitlines()) - set(surface.lines())
    assert not lost, (
        "if it is meant: python -m tests.support.surface > tests/house/surface.txt, and a line in CHANGELOG"
    )


def test_what_is_new_is_written_down():
    pytest.importorskip("google.protobuf")
    new = set(surface.lines()) - set(KEPT.read_text().splitlines())
    assert not new, "python -m tests.support.surface > tests/house/surface.txt"
