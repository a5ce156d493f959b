"""What the tests of refusals share."""

import pytest

from tests.support.mounts import mounted, unmount


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if mounted(folder, "size=1m") is None:
        pytest.skip("mounting a tmpfs takes root")
    yield folder
    unmount(folder)
