"""A signal whose handler raises once."""

import contextlib
import gc
import signal

__all__ = ["Alarm", "alarmed"]


class Alarm(Exception):
    """What the handler raises."""


@contextlib.contextmanager
def alarmed(seconds=None, error=Alarm):
    """A handler that raises the error: after that time, or when the function that comes with it is called."""

    def ring(*_):
        raise error

    collects = gc.isenabled()
    gc.disable()  # Python drops what is raised in a callback of the collector
    before = signal.signal(signal.SIGALRM, ring)
    try:
        if seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, seconds)
        yield lambda: signal.raise_signal(signal.SIGALRM)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if collects:
            gc.enable()
