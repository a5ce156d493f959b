"""Exceptions at any place, as the handlers of signals raise them."""

import sys

__all__ = ["BOOM_ON_ALARM", "is_interrupted"]

# Code of a process: while `armed`, an alarm raises Boom.
BOOM_ON_ALARM = """
class Boom(Exception): pass
armed = False
def handler(*_):
    if armed: raise Boom
signal.signal(signal.SIGALRM, handler)
interrupted = 0
"""


def is_interrupted(call, function, line):
    """Calls, and raises before the given line, counted from 0, that runs in `function`; False if there are fewer."""
    left = line

    def trace(frame, event, _):
        nonlocal left
        if frame.f_code is not function.__code__:
            return None
        if event == "line":
            left -= 1
            if left < 0:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False
