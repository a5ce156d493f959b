"""What of the benchmarks' tests the suite leaves to `.ci/contenders`."""

import pytest

__all__ = ["more_contenders"]


def more_contenders(*cases):
    """Parameters of tests that are run by `.ci/contenders` alone.

    They do once more what another case does in the suite, on other data or for another task, with contenders that take
    long to start.
    """
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.contenders) for case in cases
    ]
