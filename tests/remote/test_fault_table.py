"""A short form of the table of faults: `python -m tools.remote.faults` is the whole one."""

import pytest

from tools.remote.fault_workloads import WORKLOADS
from tools.remote.faults import Table, spread

from .proxy import FAULTS


@pytest.fixture
def table(moto_port, s3_proxy):
    return Table(moto_port, s3_proxy)


@pytest.mark.parametrize("name", sorted(WORKLOADS))
def test_a_fault_gives_the_right_answer_or_an_error(table, name):
    workload = WORKLOADS[name]
    table.run(workload, workload.few or None, most=2, endless=False)
    assert table.wrong == []
    assert table.faults >= len(workload.few or FAULTS.keys() - workload.harmless)


@pytest.mark.parametrize("kind", ["503", "reset", "stall"])
@pytest.mark.parametrize("name", ["range", "put"])
def test_a_fault_that_stays_is_an_error_in_time(table, name, kind):
    table.run(WORKLOADS[name], [kind], most=0)
    assert table.wrong == []
    assert table.outcomes == {"right": 0, "error": 1}


def test_a_table_notices_a_wrong_answer(table):
    workload = WORKLOADS["range"]._replace(undetected=frozenset())
    table.run(workload, ["corrupt"], most=None, endless=False)
    assert table.wrong and all("the answer is wrong" in one for one in table.wrong)


def test_places_are_spread_from_the_first_to_the_last():
    assert [spread(count, 3) for count in (0, 2, 3, 9)] == [[], [0, 1], [0, 1, 2], [0, 4, 8]]
    assert spread(5, None) == [0, 1, 2, 3, 4]
    assert spread(5, 0) == []
