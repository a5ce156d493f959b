"""Little of each workload."""

from types import SimpleNamespace

import pytest

from benchmarks.__main__ import dataset_for
from benchmarks.data.tasks import TASKS


@pytest.fixture(scope="module")
def data(request, tmp_path_factory):
    """data(task, workload): as much of it as the module's SMALL says."""
    folder = tmp_path_factory.mktemp("data")

    def dataset(task, name):
        options = SimpleNamespace(seed=0, scale=request.module.SMALL[name], data=folder)
        return dataset_for(TASKS[task], name, options)

    return dataset
