"""How much is read ahead of a stream of records."""

import pytest

from tfrecord_fast import _core
from tfrecord_fast.files.streams import records as streams

MIB = 1 << 20


@pytest.fixture
def options(monkeypatch):
    """What `record_stream` asks of the core."""
    given = {}
    monkeypatch.setattr(_core, "RecordStream", lambda files, **options: given.update(options))
    return given


def test_8_mib_are_read_ahead(options):
    streams.record_stream(["a"])
    assert options["prefetch_bytes"] == 8 * MIB


@pytest.mark.parametrize(("asked", "given"), [(1, 8 * MIB), (64 * MIB, 64 * MIB)])
def test_a_larger_buffer_that_is_asked_for_is_used(options, asked, given):
    streams.record_stream(["a"], buffer_bytes=asked)
    assert options["prefetch_bytes"] == given


def test_the_compression_that_is_asked_for_is_used(options):
    streams.record_stream(["a"], compression_type="GZIP")
    assert options["compression_type"] == "GZIP"
