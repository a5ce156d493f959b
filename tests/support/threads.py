"""The threads of this process, as the system counts them, and waiting for what they do."""

import os
import time

PATIENCE = 20  # seconds


def thread_count():
    return len(os.listdir("/proc/self/task"))


def settled(most):
    """Whether there are at most so many threads, soon: one that has been joined is counted until the system has cleared
    it away."""
    end = time.monotonic() + PATIENCE
    while thread_count() > most and time.monotonic() < end:
        time.sleep(0.001)
    return thread_count() <= most


def wait_until(condition, seconds=60):
    """Until the condition holds. A collection alone takes seconds where TensorFlow and others are loaded."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)
