"""Steps of feature lists that are nearly of the usual form: what the protobuf runtime finds in them, or an error."""

import numpy as np
import pytest
from google.protobuf.message import DecodeError

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.oracle_protobuf import SequenceExample

STEPS = {
    "ids of one byte": ("int64", [], [[value] for value in (1, 2, 3, 4, 5)]),
    "ids of two bytes": ("int64", [], [[value] for value in (300, 301, 302, 303)]),
    "ids of eight bytes": ("int64", [], [[(1 << 50) + value] for value in range(4)]),
    "ids of many sizes": ("int64", [], [[7], [300], [1 << 20], [-1], [1 << 56], [8], [9]]),
    "pairs": ("int64", [2], [[1, 2], [300, 4], [5, 1 << 40], [6, 7]]),
    "runs": ("int64", [12], [list(range(12))] * 3),
    "one float": ("float", [1], [[0.5], [1.5], [2.5], [3.5]]),
    "floats": ("float", [3], [[0.5, 1, 2], [3, 4, 5], [6, 7, 8]]),
    "eight floats": ("float", [8], [[0.5] * 8] * 3),
    "many floats": ("float", [40], [[0.5] * 40] * 3),
}
OTHERS = (0, 1, 2, 8, 0x0A, 0x12, 0x1A, 0x7F, 0x80, 0xFF)


def of_steps(steps):
    return wire.field(2, wire.entry(b"a", steps))


def expected(record, kind, count):
    """The values of all steps; None for an error."""
    try:
        steps = SequenceExample.FromString(record).feature_lists.feature_list["a"].feature
    except DecodeError:
        return None
    rows = [list(getattr(step, f"{kind}_list").value) for step in steps]
    fits = all(step.WhichOneof("kind") == f"{kind}_list" for step in steps) and all(len(row) == count for row in rows)
    return [value for row in rows for value in row] if fits else None


def test_every_byte_changed_to_others(backend):
    for name in STEPS:
        kind, shape, values = STEPS[name]
        dtype, count = {"int64": tf.int64, "float": tf.float32}[kind], int(np.prod(shape))
        features = {"a": tf.FixedLenSequenceFeature(shape, dtype)}
        steps = b"".join(wire.field(1, wire.feature(kind, row)) for row in values)
        good = of_steps(steps)
        for at in range(len(steps)):
            for value in {steps[at] ^ 1 << bit for bit in range(8)} | {*OTHERS}:
                odd = of_steps(steps[:at] + bytes([value]) + steps[at + 1 :])
                try:
                    lists = tf.parse_sequence_example([good, odd], {}, features, num_threads=1)
                    found = lists[1]["a"][1][: lists[2]["a"][1]].ravel()
                except tf.errors.InvalidArgumentError:
                    found = None
                wanted = expected(odd, kind, count)
                if wanted is None or found is None:
                    assert wanted is None and found is None, (at, value)
                else:
                    wanted = np.array(wanted, found.dtype)  # Python's floats keep no bits of NaN
                    assert np.array_equal(found, wanted, equal_nan=kind == "float"), (at, value)


@pytest.mark.parametrize("sizes", [(5, 300), (300, 5), (300, 1 << 20), (1 << 56, 7)], ids=str)
def test_a_row_that_outgrows_the_last_batch_amid_two_sizes_of_varints(sizes, backend):
    """The rows of a batch get the room that the batch before needed."""
    features = {"a": tf.FixedLenSequenceFeature([], tf.int64)}

    def record(values):
        return of_steps(b"".join(wire.field(1, wire.feature("int64", [value])) for value in values))

    for first in range(10):
        for second in range(10):
            rows = [[3] * 6, [sizes[0]] * first + [sizes[1]] * second, [9] * 2]
            tf.parse_sequence_example([record([3] * 6)] * 3, {}, features, num_threads=1)
            lists, lengths = tf.parse_sequence_example([record(row) for row in rows], {}, features, num_threads=1)[1:]
            assert lengths["a"].tolist() == [len(row) for row in rows]
            assert [row[:n].tolist() for row, n in zip(lists["a"], lengths["a"], strict=True)] == rows
