"""A signal whose handler raises once, at any moment of a loop."""

import contextlib
import gc
import signal

__all__ = ["Alarm", "taken_with_an_alarm"]


class Alarm(Exception):
    """What the handler raises."""


class _Armed:
    now = False


def _ring(*_):
    if _Armed.now:
        _Armed.now = False
        raise Alarm


@contextlib.contextmanager
def _alarm_after(seconds):
    collects = gc.isenabled()
    gc.disable()  # Python drops what is raised in a callback of the collector
    before = signal.signal(signal.SIGALRM, _ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if collects:
            gc.enable()


def taken_with_an_alarm(elements, seconds, on_alarm=lambda taken: None, goes_on=True):
    """All elements of an iterator; the handler raises once, in a `next()` after that time; the loop goes on if told.

    In between, `on_alarm` is called with those that were taken before.
    """
    taken = []
    with _alarm_after(seconds):
        try:
            _Armed.now = True
            for element in elements:  # no call comes before it is safe: no element gets lost here
                _Armed.now = False
                taken.append(element)
                _Armed.now = True
        except Alarm:
            on_alarm(taken)
        _Armed.now = False
        if goes_on:
            taken.extend(elements)
    return taken
