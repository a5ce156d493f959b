"""Bytes beside memory that can't be read: whoever reads beyond them is ended by the system."""

import ctypes
import mmap
import sys

__all__ = ["after_a_hole", "before_a_hole"]

_PAGE = mmap.PAGESIZE
_PROT_NONE = 0
_kept = []  # Python's part of an object is there as long as the process
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


def before_a_hole(data):
    """A memoryview of `data`, after whose last byte nothing can be read."""
    size = -(-len(data) // _PAGE) * _PAGE
    return _placed(data, size, at=size - len(data))


def after_a_hole(data):
    """A memoryview of `data`, before whose first byte nothing can be read."""
    return _placed(data, -(-len(data) // _PAGE) * _PAGE, at=0)


def _placed(data, size, at):
    """`size` bytes between two holes, `data` in them: all inside of one bytes object, so that the core needs no copy.

    Python's part of the object is at the end of a page of its own, before the first hole.
    """
    memory = mmap.mmap(-1, size + 3 * _PAGE)
    _kept.append(memory)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    memory[2 * _PAGE + at : 2 * _PAGE + at + len(data)] = data
    header = sys.getsizeof(b"") - 1  # before the bytes: count of references, type, size, hash
    own = start + _PAGE - header
    ctypes.memmove(own, id(b"a template"), header)
    ctypes.c_ssize_t.from_address(own).value = 1 << 30  # it is never freed
    ctypes.c_ssize_t.from_address(own + 2 * ctypes.sizeof(ctypes.c_ssize_t)).value = size + 2 * _PAGE
    for hole in (start + _PAGE, start + 2 * _PAGE + size):
        if _libc.mprotect(hole, _PAGE, _PROT_NONE) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
    whole = memoryview(ctypes.cast(own, ctypes.py_object).value)
    return whole[_PAGE + at : _PAGE + at + len(data)]
