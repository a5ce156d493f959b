"""Bytes as a source of choices: an input of the fuzzer that tells how to make something."""

import numpy as np

__all__ = ["Program"]


class Program:
    """Reads choices from bytes; after the last byte, all are the first one."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def __bool__(self):
        return self.at < len(self.data)

    def byte(self):
        self.at += 1
        return self.data[self.at - 1] if self.at <= len(self.data) else 0

    def below(self, count):
        return self.byte() % count

    def choice(self, values):
        return values[self.below(len(values))]

    def take(self, count):
        taken = self.data[self.at : self.at + count]
        self.at += count
        return taken + bytes(count - len(taken))

    def array(self, dtype, count):
        return np.frombuffer(self.take(np.dtype(dtype).itemsize * count), dtype).copy()

    def number(self):
        """Mostly small, now and then anything of 64 bits."""
        return int(self.array(np.int64, 1)[0]) if self.byte() > 250 else self.byte()
