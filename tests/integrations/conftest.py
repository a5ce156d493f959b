"""Files that several engines read, and a DataLoader's workers without processes."""

import contextlib
from types import SimpleNamespace

import pytest

import tfrecord_fast as tf
from tests.support.engine_rows import columns_of
from tfrecord_fast.base import ranks
from tfrecord_fast.files.reading import epochs


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """A function from a compression to files with it: a large one, and some small ones."""
    made = {}

    def files(kind=""):
        if kind not in made:
            folder = tmp_path_factory.mktemp("written")
            for seed in range(4):
                with tf.ExampleWriter(folder / f"{seed}.tfrecord", options=kind) as writer:
                    for part in range(8 if seed == 0 else 1):
                        writer.write(columns_of(seed * 10 + part))
            made[kind] = str(folder)
        return made[kind]

    return files


@pytest.fixture
def worker(monkeypatch):
    """worker(id, workers, parent): what runs meanwhile is taken to run in that worker of the process `parent`."""

    from tfrecord_fast.integrations.torch import elements

    @contextlib.contextmanager
    def within(number, workers, parent=-1):
        info = SimpleNamespace(id=number, seed=1000 + number, num_workers=workers)
        with monkeypatch.context() as patch:
            for module in (ranks, epochs, elements):
                patch.setattr(module, "worker_info", lambda: info)
            patch.setattr(epochs, "parent_process", lambda: parent)
            yield

    return within
