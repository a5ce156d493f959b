"""The threads that requests run on, where there are none and when the interpreter ends; obstore after a fork."""

import errno
import sys
import threading
import time

import pytest

from tests.support.forks import status_of_child
from tfrecord_fast.base.workers import NoThreadError
from tfrecord_fast.files.stores import finding, requests, threads
from tfrecord_fast.files.stores.finding import obstore_or_none


@pytest.fixture
def own(monkeypatch):
    """Threads of this test alone, in the place of the process's."""
    made = threads._Threads()
    monkeypatch.setattr(threads, "_threads", made)
    yield made
    made.stop()


def working(made):
    return list(made._all)


def test_a_thread_that_has_nothing_to_do_takes_the_next_request(own):
    seen, there = [], threading.Event()
    for _ in range(3):
        there.clear()
        own.run(lambda: (seen.append(threading.current_thread()), there.set()))
        assert there.wait(20)
        while own._idle != 1:
            time.sleep(0.001)
    assert len(set(seen)) == 1 and working(own) == [seen[0]]
    assert (seen[0].name, seen[0].daemon) == ("tfrecord-fast-request", True)


def test_there_are_as_many_threads_as_requests_at_a_time(own):
    gate, arrived = threading.Event(), threading.Semaphore(0)
    for _ in range(4):
        own.run(lambda: (arrived.release(), gate.wait(20)))
    for _ in range(4):
        assert arrived.acquire(timeout=20)
    assert len(working(own)) == 4
    gate.set()


def test_idle_threads_end(own, monkeypatch):
    monkeypatch.setattr(threads, "_IDLE", 0.05)
    own.run(lambda: None)
    (thread,) = working(own) or [None]
    if thread is not None:
        thread.join(20)
    assert working(own) == [] and own._idle == 0


def test_when_it_ends_idle_threads_end_and_requests_run_where_they_are_asked_for(own):
    there = threading.Event()
    own.run(there.set)
    assert there.wait(20)
    (thread,) = working(own)
    assert not own.stopped and not threads.ends()
    began = time.monotonic()
    own.stop()
    assert time.monotonic() - began < 1.5 and not thread.is_alive() and own.stopped and threads.ends()
    seen = []
    own.run(lambda: seen.append(threading.current_thread()))
    assert seen == [threading.current_thread()] and working(own) == []


def test_a_thread_that_hangs_in_a_request_is_left_after_a_while(own, monkeypatch):
    monkeypatch.setattr(threads, "_AT_EXIT", 0.2)
    gate = threading.Event()
    for _ in range(2):
        own.run(lambda: gate.wait(20))
    began = time.monotonic()
    own.stop()
    assert 0.15 < time.monotonic() - began < 5 and any(thread.is_alive() for thread in working(own))
    gate.set()


def test_a_request_that_waits_when_it_ends_is_left(own):
    own._stopped = True
    own._waiting.append(lambda: None)
    assert own._next() is None and len(own._waiting) == 1 and own._idle == 0


def test_an_answer_is_not_waited_for_when_it_ends(own, monkeypatch):
    monkeypatch.setattr(threads, "TURN", 0.01)
    gate = threading.Event()
    threading.Timer(0.05, lambda: setattr(own, "_stopped", True)).start()
    with pytest.raises(OSError, match="the interpreter ends") as caught:
        threads.answered(lambda: gate.wait(20))
    assert caught.value.errno == errno.ECANCELED
    gate.set()


def test_a_request_within_a_request_runs_on_its_thread(own):
    def inner():
        return threading.current_thread()

    outer, nested = threads.answered(lambda: (threading.current_thread(), threads.answered(inner)))
    assert outer is nested is not threading.current_thread() and len(working(own)) <= 1


def test_an_answer_that_takes_several_turns_comes(own, monkeypatch):
    monkeypatch.setattr(threads, "TURN", 0.01)
    assert threads.answered(lambda: time.sleep(0.1) or 7) == 7


def no_thread(thread):
    return False


def test_without_a_thread_a_request_is_an_error_and_an_answer_comes_from_here(own, monkeypatch):
    monkeypatch.setattr(threads, "has_started", no_thread)
    with pytest.raises(NoThreadError, match="can't start new thread"):
        own.run(lambda: None)
    assert working(own) == [] and not own._waiting
    assert threads.answered(threading.current_thread) is threading.current_thread()


def test_a_request_that_another_thread_has_taken_needs_none(own, monkeypatch):
    seen = []

    def taken_meanwhile(thread):
        seen.append(own._waiting.popleft())
        return False

    monkeypatch.setattr(threads, "has_started", taken_meanwhile)

    def request():
        raise AssertionError

    own.run(request)
    assert seen == [request] and working(own) == []


def test_a_forked_process_has_threads_of_its_own(own):
    def answers():
        return not threads.ends() and threads.answered(lambda: 7) == 7 and threads._threads is not own

    own._stopped = True
    with own._state:  # as if a thread held it that is not in the child
        assert status_of_child(answers) == 0
    own.origin._process = -1
    assert answers()
    threads._threads.stop()


def test_at_the_end_only_threads_of_this_process_are_stopped(own):
    process = own.origin._process
    own.origin._process = -1
    threads._stop()
    assert not own.stopped
    own.origin._process = process
    threads._stop()
    assert own.stopped


def test_a_range_is_not_waited_for_when_it_ends(own, monkeypatch):
    own._stopped = True
    monkeypatch.setattr(requests, "TURN", 0.01)
    waiting = requests._Race()
    with pytest.raises(OSError, match="the interpreter ends") as caught:
        waiting.ended(time.monotonic() + 20, 1)
    assert caught.value.errno == errno.ECANCELED
    assert not waiting.ended(time.monotonic() - 1, 1)
    waiting._errors.append(ValueError())
    assert waiting.ended(time.monotonic() + 20, 1)


# ---- obstore ----


def works(module):
    store = module.store.MemoryStore()
    module.put(store, "a/b", b"0123")
    with pytest.raises(FileNotFoundError, match="missing"):
        module.get(store, "missing")
    return bytes(module.get(store, "a/b").bytes()) == b"0123"


def names():
    return {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "obstore"}


def test_a_second_copy_of_the_library_is_another_one_and_the_first_stays():
    first, before = obstore_or_none(), names()
    second = finding._second_copy()
    assert names() == before and sys.modules["obstore"] is first
    assert second is not first and second.store is not first.store and second.exceptions is not first.exceptions
    assert works(second) and works(first)
    assert second.store.MemoryStore is not first.store.MemoryStore
    with pytest.raises(ValueError, match="the same library"):
        second.put(first.store.MemoryStore(), "a", b"")  # the classes of its library are its own


def test_a_library_that_is_no_file_has_no_second_copy(monkeypatch):
    obstore_or_none()
    monkeypatch.setattr(sys.modules["obstore._obstore"], "__file__", None)
    before = names()
    assert finding._second_copy() is None and names() == before


def test_the_first_stays_where_the_second_can_not_be_loaded(monkeypatch):
    obstore_or_none()
    before = names()

    def fail(file):
        raise OSError(file)

    monkeypatch.setattr(finding, "_load_copy", fail)
    with pytest.raises(OSError, match="_obstore"):
        finding._second_copy()
    assert names() == before


def test_a_forked_process_loads_it_once_and_keeps_what_its_parent_had(monkeypatch):
    first = obstore_or_none()
    assert obstore_or_none() is first

    def is_another():
        second = obstore_or_none()
        return second is not first and obstore_or_none() is second and works(second)

    assert status_of_child(is_another) == 0
    loaded = finding._Loaded()
    loaded.module, loaded.origin = first, type(loaded.origin)()
    loaded.origin._process = -1
    monkeypatch.setattr(finding, "_loaded", loaded)
    assert is_another() and loaded.before == [first] and loaded.origin.is_here()
