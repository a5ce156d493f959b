"""Workers and nodes that are killed in the middle of a read or a write cost no record, and repeat none."""

import pytest

from tools.kills.ray import TwoNodes, kill_once

MIDDLE = 1
WAYS = ["worker, reading", "node, writing"]  # tools.kills.ray has the others, too


@pytest.fixture(scope="module")
def nodes():
    made = TwoNodes()
    yield made
    made.close()


@pytest.mark.alone
@pytest.mark.parametrize("way", WAYS)
def test_every_record_is_there_once_and_nothing_is_left(nodes, way, tmp_path):
    assert kill_once(nodes, way, MIDDLE, tmp_path) == "middle"
