"""Records of objects in any order are fetched in ranges, side by side, and nothing else is asked for."""

import threading

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.frames import frames, offsets
from tfrecord_fast.files.stores import objects as remote_names

from .fake_store import FakeStore

LARGE = [b"%06d" % i * 5000 for i in range(1000)]


@pytest.fixture
def store(monkeypatch):
    store = FakeStore()
    store.put("large", frames(LARGE))
    monkeypatch.setattr(remote_names, "find_object", lambda url, settings: (store, url.removeprefix("fake://bucket/")))
    return store


@pytest.fixture
def indexed(store):
    sizes = np.array([len(record) + 16 for record in LARGE])
    index = tf.RecordIndex(np.array(offsets(LARGE)[:-1]), sizes)
    reader = tf.IndexedReader("fake://bucket/large", indexes=[index])
    assert len(reader) == len(LARGE) and store.reads == []
    return reader


def test_close_records_are_fetched_together(store, indexed):
    assert indexed.take([10, 11, 12, 14]).tolist() == [LARGE[i] for i in (10, 11, 12, 14)]
    assert len(store.reads) == 1


def test_distant_records_are_fetched_side_by_side_and_nothing_else(store, indexed):
    store.delay = 0.05
    wanted = list(range(0, 1000, 20))
    assert indexed.take(wanted).tolist() == LARGE[::20]
    assert store.most > 8 and sum(end - start for _, start, end in store.reads) == 50 * (30_000 + 16)


def test_one_record_is_one_request(store, indexed):
    assert indexed[500] == LARGE[500]
    assert len(store.reads) == 1


def test_the_index_is_made_of_blocks_and_not_of_headers(store):
    assert len(tf.RecordIndex.build("fake://bucket/large")) == len(LARGE)
    assert len(store.reads) < 40 and sum(end - start for _, start, end in store.reads) <= len(frames(LARGE))


def test_an_object_that_has_changed_is_an_error(store, indexed):
    store.put("large", frames(LARGE))
    with pytest.raises(OSError, match="changed"):
        indexed.take([1, 2])


@pytest.fixture
def threads_before():
    """The threads that ran before `indexed` was made: some may be those of readers that nobody has dropped yet."""
    return set(threading.enumerate())


def test_a_reader_that_is_dropped_ends_its_threads(store, threads_before, indexed):
    assert indexed[1] == LARGE[1]
    begun = set(threading.enumerate()) - threads_before
    fetchers = [thread for thread in begun if thread.name.startswith("tfrecord_fast fetch")]
    assert fetchers
    indexed.__dict__.clear()
    for thread in fetchers:
        thread.join(5)
    assert not any(thread.is_alive() for thread in fetchers)
