"""Files that several engines read, Ray, Spark, and a DataLoader's workers without processes."""

import contextlib
import functools
from types import SimpleNamespace

import pytest

import tfrecord_fast as tf
from tests.support.engine_rows import columns_of


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """A function from a compression to files with it: a large one, and some small ones."""

    @functools.cache
    def files(compression=""):
        folder = tmp_path_factory.mktemp("written")
        for seed in range(4):
            with tf.ExampleWriter(folder / f"{seed}.tfrecord", options=compression) as writer:
                for batch in range(8 if seed == 0 else 1):
                    writer.write(columns_of(seed * 10 + batch))
        return str(folder)

    return files


@pytest.fixture
def worker(monkeypatch):
    """worker(id, workers): the code inside takes itself for that worker of a DataLoader."""

    @contextlib.contextmanager
    def within(number, workers):
        info = SimpleNamespace(id=number, seed=1000 + number, num_workers=workers)
        with monkeypatch.context() as patch:
            patch.setattr("torch.utils.data.get_worker_info", lambda: info)
            yield

    return within


@pytest.fixture(scope="module")
def cluster():
    from tests.integrations.ray_kit import local_ray

    with local_ray():
        yield


@pytest.fixture(scope="module")
def spark():
    from tests.integrations.spark_kit import local_spark

    with local_spark() as session:
        yield session
