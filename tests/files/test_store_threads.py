"""The threads that requests run on, where there are none and when the interpreter ends; obstore after a fork."""

import errno
import os
import sys
import tempfile
import threading
import time
from concurrent.futures import Future

import pytest

from tests.support.forks import status_of_child
from tfrecord_fast.base.workers import NoThreadError
from tfrecord_fast.files.stores import finding, threads
from tfrecord_fast.files.stores.finding import obstore_or_none


@pytest.fixture
def no_threads(monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)


def ends():
    return True


def test_a_request_runs_on_a_thread_of_its_own():
    thread = threads.start(threading.current_thread).result(20)
    assert (thread.name, thread.daemon) == ("tfrecord_fast request", True)


def test_when_the_interpreter_ends_requests_run_where_they_are_asked_for(monkeypatch):
    monkeypatch.setattr(threads, "is_ending", ends)
    assert threads.start(threading.current_thread).result() is threading.current_thread()


def test_an_answer_is_not_waited_for_when_the_interpreter_ends(monkeypatch):
    monkeypatch.setattr(threads, "_TURN", 0.01)
    gate = threading.Event()
    threading.Timer(0.05, lambda: monkeypatch.setattr(threads, "is_ending", ends)).start()
    with pytest.raises(OSError, match="the interpreter ends") as caught:
        threads.answered(lambda: gate.wait(20))
    assert caught.value.errno == errno.ECANCELED
    gate.set()


def test_a_request_within_a_request_runs_on_its_thread():
    outer, nested = threads.answered(lambda: (threading.current_thread(), threads.answered(threading.current_thread)))
    assert outer is nested is not threading.current_thread()


def test_an_answer_that_takes_several_turns_comes(monkeypatch):
    monkeypatch.setattr(threads, "_TURN", 0.01)
    assert threads.answered(lambda: time.sleep(0.1) or 7) == 7


def test_without_a_thread_a_request_is_an_error_and_an_answer_comes_from_here(no_threads):
    with pytest.raises(NoThreadError, match="can't start new thread"):
        threads.start(lambda: None)
    assert threads.answered(threading.current_thread) is threading.current_thread()


def test_a_forked_process_has_threads():
    assert threads.answered(lambda: 7) == 7
    assert status_of_child(lambda: threads.answered(lambda: 7) == 7) == 0


def test_a_range_is_not_waited_for_when_the_interpreter_ends(monkeypatch):
    monkeypatch.setattr(threads, "is_ending", ends)
    monkeypatch.setattr(threads, "_TURN", 0.01)
    failed, waiting = Future(), Future()
    failed.set_exception(ValueError())
    with pytest.raises(OSError, match="the interpreter ends") as caught:
        threads.has_answer([failed, waiting], time.monotonic() + 20)
    assert caught.value.errno == errno.ECANCELED
    assert not threads.has_answer([waiting], time.monotonic() - 1)
    assert threads.has_answer([failed], time.monotonic() + 20)
    waiting.set_result(7)
    assert threads.has_answer([failed, waiting])


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


def test_a_system_without_files_in_memory_loads_the_copy_from_a_temporary_file(monkeypatch, tmp_path):
    obstore_or_none()
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    second = finding._second_copy()
    assert works(second) and sys.modules["obstore"] is not second
    assert os.listdir(tmp_path) == []


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
