"""Forked children, and threads that are busy while they are forked."""

import contextlib
import gc
import os
import signal
import threading


def status_of_child(check):
    """Forks a child that ends with 0 if `check` is true of it; returns its status. After two minutes it is killed."""
    child = os.fork()
    if child == 0:
        signal.alarm(120)  # far longer than the slowest takes on a busy machine
        gc.freeze()  # a collection would copy the memory of all that the parent has imported
        status = 1
        try:
            status = 0 if check() else 2
        finally:
            os._exit(status)
    return os.waitpid(child, 0)[1]


@contextlib.contextmanager
def repeated(work, threads):
    """That many threads of this process do `work`, over and over, as long as the context lasts."""
    stop = threading.Event()

    def run():
        while not stop.is_set():
            work()

    running = [threading.Thread(target=run) for _ in range(threads)]
    for thread in running:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in running:
            thread.join()
