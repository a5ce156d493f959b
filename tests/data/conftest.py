"""What the tests of datasets share."""

import pytest

from tests.support.lettered_files import write_files


@pytest.fixture
def folder(tmp_path):
    """Files a-0, a-1, a-2 and b-0, each with records that tell their file and number."""
    return write_files(tmp_path)
