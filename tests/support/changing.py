"""Memory that someone changes all the time, while the library reads it."""

import contextlib
import threading

import numpy as np

__all__ = ["changing", "shared"]


@contextlib.contextmanager
def changing(array, values):
    """Sets all of the array to one of the values after the other, on a thread of its own."""
    stop = threading.Event()

    def change():
        while not stop.is_set():
            for value in values:
                array[...] = value  # NumPy releases the GIL for this

    thread = threading.Thread(target=change)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def shared(folder, shape, dtype):
    """An array over a file that is mapped into memory."""
    return np.memmap(folder / "memory", dtype, "w+", shape=shape)
