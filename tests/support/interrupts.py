"""Exceptions at any place, as the handlers of signals raise them."""

import sys

__all__ = ["is_interrupted"]


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
