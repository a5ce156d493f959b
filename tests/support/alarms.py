"""A signal whose handler raises once."""

import contextlib
import signal

__all__ = ["Alarm", "alarmed"]


class Alarm(Exception):
    """What the handler raises."""


def _ring(*_):
    raise Alarm


@contextlib.contextmanager
def alarmed(seconds=None):
    """A handler that raises Alarm: after that time, or when the function that comes with it is called."""
    before = signal.signal(signal.SIGALRM, _ring)
    try:
        if seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, seconds)
        yield lambda: signal.raise_signal(signal.SIGALRM)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
