"""The column of memory: what a row needs in its round, in all of its processes."""

import subprocess
import sys

import pytest

from benchmarks import contenders
from benchmarks.contenders import Contender, Counting
from benchmarks.running.memory import forget_peaks, peaks
from benchmarks.running.worker import Worker

MB = 1 << 20
HOLDING = """
import sys
held = b"x" * (200 << 20)
del held
print("had", flush=True)
sys.stdin.read()
"""

pytestmark = pytest.mark.skipif(contenders.peak_memory() == 0, reason="the system does not tell")


@pytest.fixture
def child():
    with subprocess.Popen([sys.executable, "-c", HOLDING], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"had\n"
        yield process
        process.stdin.close()


def test_the_memory_of_living_children_counts(child):
    assert peaks() - contenders.peak_memory() > 200 * MB


def test_a_new_round_forgets_what_children_had(child):
    assert contenders.peak_memory(child.pid) > 200 * MB
    forget_peaks()
    assert contenders.peak_memory(child.pid) < 100 * MB  # other tests may have children of their own


class Circle:
    """Garbage that only the collector finds."""

    def __init__(self):
        self.held = [bytes(8192) for _ in range(200 * MB // 8192)]  # from the heap, not mapped one by one
        self.own = self


def a_circle():
    Circle()
    return {}


def test_garbage_of_an_answer_is_not_in_the_peak():
    worker = Worker(Contender("own", "Own", tasks={"raw": lambda job: [Counting("a circle", a_circle)]}))
    worker.prepare("raw", None, "")
    worker.forget_peak()
    before = worker.peak(0)["peak"]
    worker.answer(0)
    assert worker.peak(0)["peak"] > before + 150 * MB
    worker.forget_peak()
    assert worker.peak(0)["peak"] < before + 100 * MB
