"""Columns and Arrow structures made from an input of the fuzzer."""

import numpy as np

import tfrecord_fast as tf
from tests.support.arrow_structs import node

__all__ = ["make_arrow", "make_columns"]

DTYPES = ["int64", "int8", "int32", "uint64", "uint16", "bool", "float32", "float64", "float16"]


def make_columns(program):
    rows = program.choice([0, 1, 2, 3, 7, 40])
    columns = {}
    for _ in range(1 + program.below(4)):
        key = "abcd"[program.below(4)] * program.choice([1, 1, 8, 9, 130])
        columns[key] = program.choice(_COLUMNS)(program, rows)
    return columns


def _dense(program, rows):
    count = program.choice([1, 0, 2, 9, 17, 33])
    return program.array(program.choice(DTYPES[:5]), rows * count).reshape((rows,) if count == 1 else (rows, count))


def _floats(program, rows):
    return program.array(program.choice(DTYPES[5:]).replace("bool", "uint8"), rows)


def _strings(program, rows):
    return [
        None if program.byte() > 240 else program.take(program.choice([0, 1, 3, 127, 128, 200])) for _ in range(rows)
    ]


def _lists(program, rows):
    return [None if program.byte() > 240 else [program.number() for _ in range(program.below(5))] for _ in range(rows)]


def _ragged(program, rows):
    splits = np.array([program.number() for _ in range(rows + 1)], np.int64)
    if program.byte() < 200:
        splits = np.cumsum(splits % 5)
        splits -= splits[0]
    count = int(splits[-1]) if 0 <= splits[-1] < 1000 else 10
    values = program.array(program.choice(DTYPES[:4]), count)
    return tf.RaggedTensor.from_row_splits(values, splits, validate=False)


def _mixed(program, rows):
    pieces = [1, 2.5, b"x", "y", None, [1], [], [b"z", "w"], np.int8(3), 2**63, np.ma.masked, np.array([1, 2])]
    return [program.choice(pieces) for _ in range(rows)]


_COLUMNS = [_dense, _dense, _floats, _strings, _lists, _ragged, _mixed]

# ---- Arrow ----

FORMATS = [
    b"l",
    b"b",
    b"z",
    b"U",
    b"vz",
    b"w:2",
    b"+l",
    b"+L",
    b"+w:2",
    b"c",
    b"i",
    b"e",
    b"g",
    b"n",
    b"+s",
    b"L",
    b"tdD",
]
WIDTHS = {b"l": 8, b"L": 8, b"g": 8, b"i": 4, b"e": 2, b"c": 1, b"w:2": 2, b"vz": 16}


def make_arrow(program, depth=0):
    """An array whose structures are sound, and whose offsets, views and indices may be anything."""
    format = program.choice(FORMATS)
    if depth > 3 and format.startswith(b"+"):
        format = b"l"
    length, offset = program.choice([0, 1, 2, 5, 9]), program.choice([0, 0, 0, 1, 3])
    count = length + offset
    count_of_children = {b"+l": 1, b"+L": 1, b"+w:2": 1, b"+s": 2}.get(format, 0)
    children = [make_arrow(program, depth + 1) for _ in range(count_of_children)]
    dictionary = make_arrow(program, depth + 1) if format in (b"c", b"i", b"l", b"e") and program.byte() > 180 else None
    buffers = _buffers_of(format, count, program)
    return node(format, length, buffers, children, dictionary, program.choice([0, -1]), offset)


def _buffers_of(format, count, program):
    bits = program.choice([None, program.take(count // 8 + 1)])
    if format in (b"z", b"U", b"+l", b"+L"):
        wide = np.int64 if format in (b"U", b"+L") else np.int32
        steps = np.frombuffer(program.take(count + 1), np.uint8) % program.choice([1, 2, 3, 4])
        offsets = np.cumsum(steps).astype(wide)
        if program.byte() > 200:
            offsets[program.below(count + 1)] = program.choice([-1, -(2**31), 0, 1])
        data = [b"x" * 64] if format in (b"z", b"U") else []  # steps of at most 3, 12 of them, and one that is lower
        return [bits, offsets, *data]
    if format == b"vz":
        views = [
            (program.choice([0, 1, 12, 13, 20, -1]), 0, program.choice([0, 0, 1, -1]), program.below(9))
            for _ in range(count)
        ]
        return [bits, np.array(views, np.int32).reshape(-1), b"y" * 25, np.array([25], np.int64)]
    if format in (b"+w:2", b"+s"):
        return [bits]
    if format in (b"n", b"tdD"):
        return []
    return [bits, program.take(count // 8 + 1 if format == b"b" else count * WIDTHS[format])]
