"""What the tests of parsing share."""

import pytest

from tfrecord_fast import _core


@pytest.fixture(params=_core.varint_backends())
def backend(request):
    """Each way to decode varints that this processor has, one after the other."""
    before = _core.varint_backend()
    _core.set_varint_backend(request.param)
    yield request.param
    _core.set_varint_backend(before)
