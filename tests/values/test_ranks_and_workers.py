"""What this process is among others, threads that are waited for at exit, seeds, names that come late."""

import sys
import threading
import time
import types

import pytest

from tests.support.forks import status_of_child
from tfrecord_fast.base import ranks, seeds, threads, workers
from tfrecord_fast.base.lazy import lazy_names
from tfrecord_fast.base.ranks import Rank


def module(**names):
    return types.SimpleNamespace(**names)


@pytest.fixture
def alone(monkeypatch):
    """Nothing says that this process is one of several."""
    for name in ("torch.distributed", "jax._src.distributed", "torch.utils.data", "multiprocessing.process"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for names in ranks._LAUNCHERS:
        for name in names:
            monkeypatch.delenv(name, raising=False)
    return monkeypatch


def torch(number=2, total=5, is_available=True, is_initialized=True):
    return module(
        is_available=lambda: is_available,
        is_initialized=lambda: is_initialized,
        get_rank=lambda: number,
        get_world_size=lambda: total,
    )


def jax(number=1, total=3, client=True):
    return module(global_state=module(client=client, process_id=number, num_processes=total))


def test_the_rank_is_that_of_torch_or_jax_or_the_environment(alone):
    assert ranks.rank_of_process() == Rank(0, 1)
    alone.setenv("RANK", "3")
    alone.setenv("WORLD_SIZE", "4")
    assert ranks.rank_of_process() == Rank(3, 4)
    alone.setitem(sys.modules, "jax._src.distributed", jax())
    assert ranks.rank_of_process() == Rank(1, 3)
    alone.setitem(sys.modules, "torch.distributed", torch())
    assert ranks.rank_of_process() == Rank(2, 5)
    for theirs in (torch(is_available=False), torch(is_initialized=False), None):
        alone.setitem(sys.modules, "torch.distributed", theirs)
        assert ranks.rank_of_process() == Rank(1, 3)
    for theirs in (jax(client=None), module(global_state=None), module(), None):
        alone.setitem(sys.modules, "jax._src.distributed", theirs)
        assert ranks.rank_of_process() == Rank(3, 4)


def test_the_process_that_started_this_one(alone):
    assert ranks.parent_process() is None
    alone.setitem(sys.modules, "multiprocessing.process", module(parent_process=lambda: None))
    assert ranks.parent_process() is None
    alone.setitem(sys.modules, "multiprocessing.process", module(parent_process=lambda: module(pid=77)))
    assert ranks.parent_process() == 77


def test_workers_of_torch_and_what_divides_twice(alone):
    assert ranks.worker_info() is None
    with ranks.dividing():
        ranks.refuse_to_divide_again("it")  # no worker of a DataLoader
    alone.setitem(sys.modules, "torch.utils.data", module(get_worker_info=lambda: "info"))
    assert ranks.worker_info() == "info" and not ranks.is_dividing()
    ranks.refuse_to_divide_again("it")
    with ranks.dividing():
        assert ranks.is_dividing()
        with ranks.dividing(False):
            ranks.refuse_to_divide_again("it")
        with pytest.raises(
            RuntimeError, match=r"^it already divides records among the DataLoader's workers, and so does"
        ):
            ranks.refuse_to_divide_again("it")
    assert not ranks.is_dividing()


def test_seeds_can_be_repeated():
    try:
        seeds.set_seed(7)
        first = [seeds.next_seed() for _ in range(3)]
        seeds.set_seed(7)
        assert [seeds.next_seed() for _ in range(3)] == first
        seeds.set_seed(8)
        assert seeds.next_seed() != first[0]
        seeds.set_seed("9")
        again = seeds.next_seed()
        seeds.set_seed(9)
        assert seeds.next_seed() == again and max(first).bit_length() > 56
    finally:
        seeds.set_seed(None)
    drawn = [seeds.next_seed() for _ in range(50)]
    assert len(set(drawn)) == 50 and 60 < max(drawn).bit_length() <= 64


def test_names_that_come_late():
    made = lazy_names("json", {".decoder": "JSONDecoder scanstring", ".": "tool"})
    assert made.names == ["JSONDecoder", "scanstring", "tool"]
    assert made.getattr("scanstring") is sys.modules["json.decoder"].scanstring
    assert made.getattr("tool") is sys.modules["json.tool"]
    assert {"loads", "tool", "JSONDecoder"} <= set(made.dir()) and made.dir() == sorted(made.dir())
    with pytest.raises(AttributeError) as error:
        made.getattr("gone")
    assert str(error.value) == "module 'json' has no attribute 'gone'"
    vars(sys.modules["json"]).pop("scanstring")


# ---- Threads ----


@pytest.fixture
def own(monkeypatch):
    """Threads that end at exit: those of the test alone."""
    monkeypatch.setattr(workers, "_running", {})
    monkeypatch.setattr(workers, "_ending", False)


@pytest.mark.usefixtures("own")
def test_threads_are_stopped_and_waited_for_at_exit():
    pool = workers.Workers(1, "test_at_exit")
    began, go = threading.Event(), threading.Event()
    running = pool.submit(lambda: (began.set(), go.wait(20), "done")[-1])
    waiting = pool.submit(lambda: "never")
    began.wait(20)
    threading.Timer(0.1, go.set).start()
    assert not workers.is_ending()
    workers._stop_all()
    assert not pool._threads[0].is_alive() and running.result() == "done" and workers.is_ending()
    assert waiting.cancelled() and not workers._running


@pytest.mark.usefixtures("own")
def test_a_thread_that_does_not_end_is_stopped_after_a_while():
    def spin():
        while True:
            time.sleep(0.01)

    thread = workers.start_thread(spin, name="test_spin", patience=0.1)
    began = time.monotonic()
    workers._stop_all()
    thread.join(20)
    assert not thread.is_alive() and 0.1 <= time.monotonic() - began < 20


@pytest.mark.usefixtures("own")
def test_a_thread_that_hangs_is_left(monkeypatch):
    monkeypatch.setattr(workers, "_AFTER_STOPPED", 0.1)
    gate = threading.Event()
    thread = workers.start_thread(gate.wait, name="test_hangs", patience=0.1)
    workers._stop_all()
    assert thread.is_alive()
    gate.set()


def test_a_forked_process_stops_no_threads_of_its_parent():
    gate = threading.Event()
    workers.start_thread(gate.wait, name="test_parent", stop=gate.set)
    assert status_of_child(lambda: not workers._running) == 0
    gate.set()


def test_a_thread_that_can_not_start_is_told(monkeypatch):
    def refuse(*those):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        pool = workers.Workers(2, "test_none")
        with pytest.raises(workers.NoThreadError, match="can't start new thread"):
            pool.submit(int)
        assert list(pool.map(int, "12")) == [1, 2]
        assert not any(thread.name.startswith("test_none") for thread in workers._running)
    pool = workers.Workers(2, "test_one")
    assert pool.submit(int).result() == 0
    with monkeypatch.context() as patched:  # one has to do
        patched.setattr(threading.Thread, "start", refuse)
        assert pool.submit(int, "5").result() == 5
    assert list(pool.map(str, [1, 2])) == ["1", "2"]
    pool.end()
    pool.join()
    assert not any(thread.is_alive() for thread in pool._threads)


class KeptError(Exception):
    pass


def fail():
    raise KeptError


def test_a_thread_whose_start_was_interrupted_ends_with_the_others(monkeypatch):
    start = threading.Thread.start

    def interrupted(thread):
        start(thread)
        raise KeyboardInterrupt

    pool = workers.Workers(3, "test_interrupted")
    pool.submit(int)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", interrupted)
        with pytest.raises(KeyboardInterrupt):
            pool.submit(int)
    started = [thread for thread in threading.enumerate() if thread.name.startswith("test_interrupted")]
    assert len(started) == 2
    pool.end()
    for thread in started:
        thread.join(60)
    assert not any(thread.is_alive() for thread in started)


def test_a_call_that_raises_raises_where_its_result_is_taken():
    pool = workers.Workers(1, "test_raises")
    with pytest.raises(KeptError):
        pool.submit(fail).result()
    assert list(pool.map(int, "12")) == [1, 2]
    pool.end()
    pool.join()


# ---- Control groups ----


def host(tmp_path, groups, mounts, quotas):
    (tmp_path / "proc/self").mkdir(parents=True)
    (tmp_path / "proc/self/cgroup").write_text(groups)
    (tmp_path / "proc/self/mountinfo").write_text(mounts)
    for name, text in quotas.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return threads.cpu_quota(str(tmp_path))


V2 = "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"


@pytest.mark.parametrize(
    ("mounts", "expected"),
    [
        (V2, 2),
        ("30 23 0:26 /\n" + V2, 2),  # too short to say anything, and not the last line
        ("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2\n" + V2, 2),
        ("30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2\n", None),
        ("30 23 0:26 /\n", None),
        ("", None),
    ],
)
def test_mounts_that_say_too_little_are_passed_over(tmp_path, mounts, expected):
    assert host(tmp_path, "0::/a\n", mounts, {"sys/fs/cgroup/a/cpu.max": "150000 100000\n"}) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max 100000", None), ("50000 100000", 1), ("100001 100000", 2), ("200000", 2), ("", None), ("x y", None),
        ("100000 0", None), ("0 100000", None), ("-1 100000", None), ("30000 10000", 3),
    ],
)  # fmt: skip
def test_quotas_are_rounded_up(tmp_path, text, expected):
    assert host(tmp_path, "0::/a\n", V2, {"sys/fs/cgroup/a/cpu.max": text}) == expected
