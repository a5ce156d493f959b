"""What readers ask a store for: which ranges, how many at a time, and what becomes of the threads that ask."""

import errno
import gc
import gzip
import itertools
import queue
import random
import threading
import time
from types import SimpleNamespace

import pytest

import tfrecord_fast as tf
from tests.support.alarms import Alarm, alarmed
from tests.support.forks import status_of_child
from tests.support.frames import frames
from tests.support.threads import wait_until
from tfrecord_fast.base import workers
from tfrecord_fast.files.stores import StoreSettings
from tfrecord_fast.files.stores.objects import StoredObject
from tfrecord_fast.files.streams import fetching as remote
from tfrecord_fast.files.streams.core_files import CoreFile, CoreObject
from tfrecord_fast.files.streams.fetching import Fetching, open_stream

from .fake_store import FakeStore

RECORDS = [b"%06d" % i * 200 for i in range(30_000)]
DATA = frames(RECORDS)


@pytest.fixture(scope="module")
def large():
    store = FakeStore()
    store.put("large", DATA)
    return store


@pytest.fixture
def store(large):
    large.reads.clear()
    large.infos = large.most = 0
    large.delay = 0.0
    return large


def listed(store, key):
    """The object as a listing would give it."""
    data, version = store.objects[key]
    return StoredObject(store.url(key), store, key, len(data), version)


def unlisted(store, key):
    return StoredObject(store.url(key), store, key)


def stream(*objects, requests=16, cache_dir=None, **options):
    files = [CoreFile(one.url.encode(), object=one) for one in objects]
    options = {"compression_type": "", "batch_size": 1000, **options}
    return open_stream(files, StoreSettings(max_requests=requests, cache_dir=cache_dir), **options)


def records(opened):
    return [record for batch in opened.batches() for record in batch.tolist()]


def fetchers():
    return [thread for thread in threading.enumerate() if thread.name.startswith("tfrecord_fast fetch")]


def bytes_of(reads):
    """Each read's range, in order; they may not overlap."""
    ranges = sorted((start, end) for _, start, end in reads)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(ranges)), ranges
    return sum(end - start for start, end in ranges)


@pytest.mark.parametrize("find", [listed, unlisted])
@pytest.mark.parametrize("threads", [0, 1, 4])
@pytest.mark.parametrize("prefetch", [1 << 20, 32 << 20])
def test_every_byte_is_fetched_once(store, find, threads, prefetch):
    assert records(stream(find(store, "large"), num_threads=threads, prefetch_bytes=prefetch)) == RECORDS
    assert bytes_of(store.reads) == len(DATA)


def test_what_a_listing_said_is_not_asked_again(store):
    assert records(stream(listed(store, "large"))) == RECORDS
    assert store.infos == 0


def test_a_size_takes_no_request_of_its_own(store):
    assert records(stream(unlisted(store, "large"), num_epochs=2)) == RECORDS * 2
    assert store.infos == 0
    assert sum(end - start for _, start, end in store.reads) == 2 * len(DATA)


def test_an_object_that_changes_between_two_looks_is_an_error():
    """Two epochs may ask for their first bytes, and with them for the size, before an answer has come."""
    store = FakeStore(short=frames(RECORDS[:500]))
    fetching = Fetching([unlisted(store, "short")], StoreSettings(), 1 << 20)
    before = store.info("short")
    assert fetching._opened(0, before) == fetching._opened(0, before)
    store.put("short", frames(RECORDS[:500]))
    with pytest.raises(OSError, match="changed while it was read") as raised:
        fetching._opened(0, store.info("short"))
    assert raised.value.errno == errno.ESTALE
    fetching.close()


def test_no_more_requests_are_under_way_than_allowed(store):
    store.delay = 0.01
    assert records(stream(listed(store, "large"), requests=3, prefetch_bytes=4 << 20)) == RECORDS
    assert store.most == 3


def test_small_objects_are_fetched_side_by_side():
    store = FakeStore()
    for number in range(64):
        store.put(f"{number}", frames([b"%d" % number] * 10))
    store.delay = 0.05
    opened = stream(*(listed(store, f"{number}") for number in range(64)), requests=16, num_threads=1)
    assert records(opened) == [b"%d" % number for number in range(64) for _ in range(10)]
    assert store.most == 16 and len(store.reads) == 64


def test_what_is_read_ahead_is_bounded(store):
    batches = stream(listed(store, "large"), prefetch_bytes=8 << 20).batches()
    next(batches)
    time.sleep(0.3)
    assert sum(end - start for _, start, end in store.reads) <= 12 << 20
    assert len([record for batch in batches for record in batch.tolist()]) == len(RECORDS) - 1000


def test_reading_ahead_goes_on_to_the_end(store):
    store.delay = 0.01
    batches = stream(listed(store, "large"), prefetch_bytes=8 << 20).batches()
    for _ in range(20):  # of 30: more than may be read ahead
        next(batches)
    store.most = 0
    assert len([record for batch in batches for record in batch.tolist()]) == len(RECORDS) - 20_000
    assert store.most > 1


def test_a_state_goes_on_at_its_byte(store):
    opened = stream(listed(store, "large"))
    batches = opened.batches()
    for _ in range(20):
        next(batches)
    state = opened.state()
    del opened, batches
    wait_until(lambda: not fetchers())
    store.reads.clear()
    assert records(stream(listed(store, "large"), state=state)) == RECORDS[20_000:]
    place = state["slots"][0][1]
    assert place > 1_000_000 and min(start for _, start, _ in store.reads) == place
    assert bytes_of(store.reads) == len(DATA) - place


@pytest.mark.parametrize("said", ["GZIP", None])
def test_a_state_of_a_compressed_object_reads_it_from_its_start_in_blocks(said):
    """Wherever it goes on: its first bytes say that it is compressed, if nobody has."""
    noise = random.Random(1)
    expected = [noise.randbytes(500) for _ in range(10_000)]
    store = FakeStore(a=gzip.compress(frames(expected), 1))
    options = {"compression_type": said, "prefetch_bytes": 1 << 20}
    opened = stream(listed(store, "a"), **options)
    batches = opened.batches()
    head = [record for _ in range(4) for record in next(batches).tolist()]
    state = opened.state()
    del opened, batches
    wait_until(lambda: not fetchers())
    store.reads.clear()
    assert head + records(stream(listed(store, "a"), state=state, **options)) == expected
    blocks = [read for read in store.reads if read != ("a", 0, 128)]
    at_once = sorted(end - start for _, start, end in blocks)[len(blocks) // 2]
    assert bytes_of(blocks) == len(store.objects["a"][0])
    assert ("a", 0, at_once) in blocks and len(store.reads) - len(blocks) == (said is None)


@pytest.mark.parametrize(("size", "reads"), [(1.0, 1), (1.2, 1), (1.3, 2), (2.2, 2), (2.3, 3)])
def test_what_is_left_of_an_object_is_no_request_of_its_own_if_it_is_short(monkeypatch, size, reads):
    block = 1 << 20
    monkeypatch.setattr(remote, "_LEAST_BLOCK", block)
    monkeypatch.setattr(remote, "_LARGEST_BLOCK", block)
    data = frames([bytes(984)] * int(size * block / 1000))
    store = FakeStore(a=data)
    opened = stream(listed(store, "a"))
    assert sum(len(batch) for batch in opened.batches()) == len(data) // 1000
    assert bytes_of(store.reads) == len(data) and len(store.reads) == reads


def test_a_state_reads_no_object_again_that_was_passed():
    store = FakeStore()
    for number in range(20):
        store.put(f"{number:02}", frames([b"%d" % number] * 100))
    objects = [listed(store, f"{number:02}") for number in range(20)]
    options = {"batch_size": 150, "cycle_length": 2, "block_length": 10, "compression_type": None}
    opened = stream(*objects, **options)
    batches = opened.batches()
    head = [record for _ in range(6) for record in next(batches).tolist()]
    state = opened.state()
    del opened, batches
    wait_until(lambda: not fetchers())
    passed = {f"{number:02}" for number in range(state["next_file"])} - {f"{slot[0]:02}" for slot in state["slots"]}
    assert passed
    store.reads.clear()
    rest = records(stream(*objects, state=state, **options))
    assert head + rest == records(stream(*objects, **options))
    resumed = store.reads[: len(store.reads) - 20]
    assert passed.isdisjoint(key for key, _, _ in resumed)


def test_records_of_a_shuffle_buffer_are_fetched_side_by_side(store):
    options = {"shuffle_buffer": 2000, "seed": 1, "prefetch_bytes": 64 << 20}
    opened = stream(listed(store, "large"), **options)
    batches = opened.batches()
    for _ in range(10):
        next(batches)
    state = opened.state()
    rest = [record for batch in batches for record in batch.tolist()]
    store.reads.clear()
    store.most, store.delay = 0, 0.005
    assert records(stream(listed(store, "large"), state=state, **options)) == rest
    assert store.most > 4 and len(store.reads) < 3000


@pytest.mark.parametrize("find", [listed, unlisted])
def test_an_object_that_changes_meanwhile_is_an_error(find):
    store = FakeStore()
    store.put("x", DATA)
    batches = stream(find(store, "x"), prefetch_bytes=4 << 20).batches()
    next(batches)
    store.put("x", DATA)
    with pytest.raises(OSError) as caught:
        for _ in batches:
            pass
    assert caught.value.errno == errno.ESTALE and caught.value.filename == "fake://bucket/x"


def test_an_object_that_is_shorter_than_was_said_is_an_error():
    store = FakeStore()
    store.put("x", frames([b"x"]))
    with pytest.raises(OSError, match="were requested"):
        records(stream(listed(store, "x")._replace(size=100)))


def test_an_error_of_a_store_of_any_kind_comes_out():
    class Broken(FakeStore):
        def read(self, *args, **kwargs):
            raise ZeroDivisionError("secret")

    store = Broken()
    store.put("x", frames([b"x"]))
    with pytest.raises(OSError, match="ZeroDivisionError while fetching") as caught:
        records(stream(listed(store, "x")))
    assert "secret" not in str(caught.value)


def test_at_the_end_the_threads_end(store):
    opened = stream(listed(store, "large"))
    assert len(records(opened)) == len(RECORDS)
    wait_until(lambda: not fetchers())


@pytest.mark.parametrize("begun", [False, True])
def test_a_stream_that_is_dropped_ends_its_threads(store, begun):
    opened = stream(listed(store, "large"), prefetch_bytes=2 << 20)
    batches = opened.batches()
    if begun:
        next(batches)
    del opened, batches
    gc.collect()
    wait_until(lambda: not fetchers())


def test_after_an_error_the_threads_end(store):
    with pytest.raises(FileNotFoundError):
        records(stream(unlisted(store, "missing")))
    wait_until(lambda: not fetchers())


class Waiting(FakeStore):
    """A store that answers for "slow" only when it is told to, and for "missing" only after "slow" was asked for."""

    def __init__(self, **objects):
        super().__init__(**objects)
        self.asked, self.go_on = threading.Event(), threading.Event()

    def read(self, key, start, end, **options):
        if key == "slow":
            self.asked.set()
            self.go_on.wait(30)
        return super().read(key, start, end, **options)

    def read_head(self, key, most, **options):
        # Else the error may come first, and what would be waited for is never asked for.
        if key == "missing":
            assert self.asked.wait(10)
        return super().read_head(key, most, **options)


def test_after_an_error_nobody_waits_for_another_object():
    store = Waiting(slow=DATA)
    opened = stream(unlisted(store, "missing"), listed(store, "slow"), num_threads=2)
    began = time.monotonic()
    with pytest.raises(FileNotFoundError):
        records(opened)
    del opened
    gc.collect()
    assert time.monotonic() - began < 10
    store.go_on.set()
    wait_until(lambda: not fetchers())


def test_what_is_wanted_while_all_threads_are_busy_does_not_wait_for_them():
    """A stream asks for its objects one after the other: when the first was taken, nothing more may be wanted yet."""
    store, wanted, answers = Waiting(slow=DATA, quick=DATA), queue.Queue(), queue.Queue()
    fetching = Fetching([listed(store, "slow"), listed(store, "quick")], StoreSettings(), 1 << 20)
    deliver = lambda number, data, size: answers.put(number)  # noqa: E731
    fetching.queue = SimpleNamespace(take=wanted.get, deliver=deliver, close=lambda: None)
    fetching.start()
    for number in range(2):
        wanted.put(SimpleNamespace(number=number, object=number, start=0, end=10, opens=False, more=False))
        assert store.asked.wait(10)
    assert answers.get(timeout=10) == 1
    store.go_on.set()
    assert answers.get(timeout=10) == 0
    for number in range(2, 12):  # one after the other: those that are there are enough
        wanted.put(SimpleNamespace(number=number, object=1, start=0, end=10, opens=False, more=False))
        assert answers.get(timeout=10) == number
    assert len(fetchers()) <= 4
    for _ in fetchers():
        wanted.put(None)
    wait_until(lambda: not fetchers())


def test_who_waits_for_an_object_when_the_fetchers_end_gets_an_error():
    """They end at the exit of the interpreter, when a thread may still read."""
    store, found = Waiting(slow=DATA), []
    before = set(workers._running)
    batches = stream(listed(store, "slow")).batches()

    def read():
        with pytest.raises((OSError, tf.errors.TFRecordError)) as raised:
            next(batches)
        found.append(raised.value)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    assert store.asked.wait(10)
    for fetcher in set(workers._running) - before:
        stop, _ = workers._running[fetcher]
        stop()
    thread.join(10)
    store.go_on.set()
    assert len(found) == 1


@pytest.mark.alone
def test_a_signal_is_noticed_while_a_request_takes_long(store):
    store.delay = 3.0
    batches = stream(listed(store, "large")).batches()
    started = time.monotonic()
    with pytest.raises(Alarm), alarmed(0.2):
        next(batches)
    assert time.monotonic() - started < 2
    store.delay = 0.0


def test_a_forked_process_leaves_the_streams_of_its_parent_alone(store):
    opened = stream(listed(store, "large"))
    batches = opened.batches()
    next(batches)

    def check():
        with pytest.raises(ValueError, match="another process"):
            next(batches)
        gc.collect()
        return records(stream(listed(store, "large"))) == RECORDS

    assert status_of_child(check) == 0
    assert len([record for batch in batches for record in batch.tolist()]) == len(RECORDS) - 1000


def test_a_second_epoch_comes_from_the_cache(store, tmp_path):
    folder = str(tmp_path)
    assert records(stream(listed(store, "large"), cache_dir=folder)) == RECORDS
    store.reads.clear()
    assert records(stream(listed(store, "large"), cache_dir=folder)) == RECORDS
    assert store.reads == []


def test_objects_need_a_queue():
    with pytest.raises(TypeError, match="fetches"):
        tf._core.RecordStream([CoreFile(b"x", object=CoreObject(0, 0))])
