"""The adapters of places: one of each kind, with the methods of tests/contracts/places.py."""

import pytest

from tests.contracts.places import LocalFolder, MemoryFolder
from tests.integrations.conftest import written
from tests.remote.conftest import http_folder, moto_port, s3

__all__ = ["http_folder", "local", "memory", "moto_port", "place", "s3", "written"]


@pytest.fixture
def local(tmp_path):
    folder = tmp_path / "local"
    folder.mkdir()
    return LocalFolder(folder)


@pytest.fixture
def memory():
    folder = MemoryFolder("contracts")
    yield folder
    folder.close()


@pytest.fixture(params=["local", "memory", "s3", "http_folder"])
def place(request):
    """Each place in turn; a test that lists names leaves out HTTP, which has no listings."""
    return request.getfixturevalue(request.param)
