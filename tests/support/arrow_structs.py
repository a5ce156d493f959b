"""The structures of Arrow's C data interface, made by hand: whatever a producer could hand over."""

import ctypes
from ctypes import POINTER, c_char_p, c_int64, c_void_p

import numpy as np

__all__ = ["ArrowArray", "ArrowSchema", "Made", "node"]


class ArrowSchema(ctypes.Structure):
    pass


class ArrowArray(ctypes.Structure):
    pass


RELEASE_SCHEMA = ctypes.CFUNCTYPE(None, POINTER(ArrowSchema))
RELEASE_ARRAY = ctypes.CFUNCTYPE(None, POINTER(ArrowArray))

ArrowSchema._fields_ = [
    ("format", c_char_p),
    ("name", c_char_p),
    ("metadata", c_char_p),
    ("flags", c_int64),
    ("n_children", c_int64),
    ("children", POINTER(POINTER(ArrowSchema))),
    ("dictionary", POINTER(ArrowSchema)),
    ("release", RELEASE_SCHEMA),
    ("private_data", c_void_p),
]
ArrowArray._fields_ = [
    ("length", c_int64),
    ("null_count", c_int64),
    ("offset", c_int64),
    ("n_buffers", c_int64),
    ("n_children", c_int64),
    ("buffers", POINTER(c_void_p)),
    ("children", POINTER(POINTER(ArrowArray))),
    ("dictionary", POINTER(ArrowArray)),
    ("release", RELEASE_ARRAY),
    ("private_data", c_void_p),
]

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [c_void_p, c_char_p, c_void_p]


@RELEASE_SCHEMA
def _release_schema(schema):
    schema.contents.release = RELEASE_SCHEMA()


@RELEASE_ARRAY
def _release_array(array):
    array.contents.release = RELEASE_ARRAY()


def _pointers(kind, structures):
    return (POINTER(kind) * max(1, len(structures)))(*map(ctypes.pointer, structures))


class Made:
    """One array with its schema, and the memory of both. `schema` and `array` may be changed before they are used."""

    def __init__(self, format, length, buffers, children, dictionary, nulls, offset, name):
        self.children, self.dictionary = children, dictionary
        self.memory = [
            None if buffer is None else np.frombuffer(bytes(buffer) + bytes(8), np.uint8) for buffer in buffers
        ]
        places = [None if memory is None else memory.ctypes.data for memory in self.memory]
        self.buffers = (c_void_p * max(1, len(buffers)))(*places)
        schemas, arrays = [c.schema for c in children], [c.array for c in children]
        self.pointers = _pointers(ArrowSchema, schemas), _pointers(ArrowArray, arrays)
        self.schema = ArrowSchema(format, name, None, 2, len(children), self.pointers[0], None, _release_schema, None)
        self.array = ArrowArray(
            length,
            nulls,
            offset,
            len(buffers),
            len(children),
            self.buffers,
            self.pointers[1],
            None,
            _release_array,
            None,
        )
        if dictionary is not None:
            self.schema.dictionary = ctypes.pointer(dictionary.schema)
            self.array.dictionary = ctypes.pointer(dictionary.array)

    def __arrow_c_array__(self, requested_schema=None):
        """The very structures, each time."""
        return (
            new_capsule(ctypes.addressof(self.schema), b"arrow_schema", None),
            new_capsule(ctypes.addressof(self.array), b"arrow_array", None),
        )


def node(format, length=0, buffers=(), children=(), dictionary=None, nulls=0, offset=0, name=b"f"):
    """`format` as bytes; each buffer as bytes, an ndarray, or None. No memory is freed before the result is."""
    return Made(format, length, [*buffers], [*children], dictionary, nulls, offset, name)
