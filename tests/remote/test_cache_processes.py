"""Copies on a local disk, when processes share them or are killed."""

import fcntl
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from tests.support.forks import status_of_child
from tests.support.processes import environment, run_code
from tfrecord_fast.files.stores import cache, cache_folder
from tfrecord_fast.files.stores.cache import PIECE, ObjectCache

from .fake_store import FakeStore
from .test_cache import LARGE, SMALL, content, copies, is_tidy

# What changes the folder. Each is a step before which a process may be killed, and after which, too: before the next.
STEPS = ["open", "ftruncate", "pwrite", "fsync", "rename", "unlink", "utime", "makedirs"]


def killed_at(step, work):
    """Runs it in a child that kills itself before so many steps are done; whether it was killed."""
    left = [step]

    def before(call):
        def counted(*args, **kwargs):
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return call(*args, **kwargs)

        return counted

    def child():
        for name in STEPS:
            setattr(os, name, before(getattr(os, name)))
        cache_folder.fcntl.flock = before(fcntl.flock)
        return work()

    status = status_of_child(child)
    assert status in (0, signal.SIGKILL), status
    return status != 0


@pytest.fixture
def small_pieces(monkeypatch):
    """Steps are counted here, not bytes."""
    monkeypatch.setattr(cache, "PIECE", 2000)


@pytest.fixture
def memory_path():
    """A folder in memory: it is written to hundreds of times."""
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        yield pathlib.Path(folder)


MANY = SMALL * 2  # several pieces


def first_use(folder, store):
    return content(ObjectCache(folder), store, "a") == MANY


def use_with_a_bound(folder, store):
    """The first copies make room for the others."""
    kept = ObjectCache(folder, max_bytes=len(MANY) + 5000)
    return all(content(kept, store, key) == store.objects[key][0] for key in "bcda")


def repair(folder, store):
    kept = ObjectCache(folder)
    path = kept.local_path(store, "a")
    os.truncate(path, 10)
    return content(kept, store, "a") == MANY


@pytest.mark.parametrize("work", [first_use, use_with_a_bound, repair])
def test_a_process_may_be_killed_before_every_step(memory_path, work, small_pieces):
    store = FakeStore(a=MANY, b=SMALL, c=SMALL[::-1], d=SMALL * 2)
    step = 0
    while killed_at(step, lambda at=step: work(memory_path / str(at), store)):
        folder = memory_path / str(step)
        bound = len(MANY) + 5000
        for most in (bound, None):
            for key, (data, _) in store.objects.items():
                assert content(ObjectCache(folder, max_bytes=most), store, key) == data, (step, key)
        assert is_tidy(folder), (step, os.listdir(folder))
        store.put("e", SMALL + SMALL)  # has to make room
        assert content(ObjectCache(folder, max_bytes=bound), store, "e") == SMALL + SMALL
        assert sum(os.path.getsize(path) for path in copies(folder)) <= bound
        del store.objects["e"]
        step += 1
    assert step > 15


PROCESS = """
    from tfrecord_fast.files.stores import StoreSettings, cache_of, find_store
    import hashlib, json
    url, folder, options = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    settings = StoreSettings(options, cache_dir=folder)
    store, key = find_store(url, settings)
    print("ready", flush=True)
    sys.stdin.readline()
    with open(cache_of(settings).open(store, key, settings=settings), "rb") as file:
        print(hashlib.sha256(file.read()).hexdigest(), flush=True)
"""


class Processes:
    """Several processes that want an object at once."""

    def __init__(self, count, url, folder, options):
        import json
        import textwrap

        code = "import sys\n" + textwrap.dedent(PROCESS)
        command = [sys.executable, "-c", code, url, str(folder), json.dumps(options)]
        self.all = [
            subprocess.Popen(command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            for _ in range(count)
        ]
        for one in self.all:
            assert one.stdout.readline() == "ready\n"

    def start(self):
        for one in self.all:
            one.stdin.write("\n")
            one.stdin.flush()

    def answers(self):
        found = [one.communicate(timeout=60)[0].strip() for one in self.all]
        return found, [one.returncode for one in self.all]


def digest(data):
    import hashlib

    return hashlib.sha256(data).hexdigest()


def test_eight_processes_fetch_an_object_once(tmp_path, proxied_s3, s3_proxy):
    url = proxied_s3.put("a", LARGE)
    s3_proxy.configure(latency=0.05)
    processes = Processes(8, url, tmp_path, proxied_s3.options)
    processes.start()
    assert processes.answers() == ([digest(LARGE)] * 8, [0] * 8)
    assert len(s3_proxy.requests("GET")) == 3
    assert is_tidy(tmp_path)


def test_others_go_on_when_the_one_that_fetches_is_killed(tmp_path, proxied_s3, s3_proxy):
    url = proxied_s3.put("a", LARGE)
    s3_proxy.configure(rate=2_000_000)  # some seconds
    processes = Processes(4, url, tmp_path, proxied_s3.options)
    processes.start()
    while not s3_proxy.requests("GET"):
        time.sleep(0.02)
    fetching = {int(line.split()[4]) for line in open("/proc/locks") if "FLOCK" in line and "->" not in line}
    (killed,) = [one for one in processes.all if one.pid in fetching]
    killed.kill()
    s3_proxy.configure()
    found, statuses = processes.answers()
    assert sorted(statuses) == [-signal.SIGKILL, 0, 0, 0]
    assert sorted(found) == ["", *[digest(LARGE)] * 3]
    assert is_tidy(tmp_path)


def test_a_child_that_is_forked_meanwhile_does_not_keep_the_lock(tmp_path):
    store = FakeStore(a=SMALL)
    kept = ObjectCache(tmp_path)
    read, children = store.read, []

    def forking(*args, **kwargs):
        child = os.fork()
        if child == 0:
            time.sleep(20)
            os._exit(0)
        children.append(child)
        return read(*args, **kwargs)

    store.read = forking
    try:
        assert content(kept, store, "a") == SMALL
        store.put("a", SMALL[::-1])
        store.read = read
        os.unlink(kept.local_path(store, "a"))
        assert content(kept, store, "a") == SMALL[::-1]
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def test_a_forked_child_uses_the_cache(tmp_path):
    store = FakeStore(a=LARGE, b=random.Random(5).randbytes(PIECE + 1))
    kept = ObjectCache(tmp_path)
    assert content(kept, store, "a") == LARGE
    assert status_of_child(lambda: content(kept, store, "b") == store.objects["b"][0]) == 0
    assert content(kept, store, "b") == store.objects["b"][0]


def test_an_interrupt_leaves_nothing(tmp_path):
    code = """
    import faulthandler; faulthandler.dump_traceback_later(20, exit=True)
    sys.path.insert(0, sys.argv[2])
    from tests.remote.fake_store import FakeStore
    from tfrecord_fast.files.stores.cache import ObjectCache
    store = FakeStore(a=bytes(40 << 20))
    store.delay = 0.5
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    try:
        ObjectCache(sys.argv[1]).open(store, "a")
    except KeyboardInterrupt:
        print("interrupted", set(os.listdir(sys.argv[1])) - {"cache.lock"})
    """
    from tests.support.paths import ROOT

    done = run_code(code, tmp_path, ROOT)
    assert done.stdout == "interrupted set()\n", done.stderr
