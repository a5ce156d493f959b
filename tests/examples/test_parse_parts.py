"""Rows that several threads parse, steps in a row, and what a parser keeps from one batch to the next."""

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import peak_memory
from tests.support import wire_writer as wire
from tests.support.forks import status_of_child
from tests.support.guarded import before_a_hole

IDS = {"id": tf.FixedLenFeature([], tf.int64)}


def record(**features):
    return wire.example([(key.encode(), wire.feature(*value)) for key, value in features.items()])


def steps(*values):
    return wire.sequence_example([], [(b"s", list(values))])


@pytest.mark.parametrize("threads", [1, 2, 4, 7])
@pytest.mark.parametrize("row", [0, 1, 999, 1000, 1500, 1999])
def test_the_row_of_an_error_is_the_one_in_the_batch_whatever_thread_finds_it(threads, row):
    room = ("bytes", [bytes(2000)])
    records = [record(id=("int64", [1]), room=room)] * 2000
    records[row] = record(id=("int64", [1, 2]), room=room)
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"\(record {row}\)"):
        tf.parse_example(records, IDS, num_threads=threads)


def test_entries_of_a_sequence_example_give_the_key_first():
    """As in TensorFlow; in an Example they may give the value first."""
    feature = wire.feature("int64", [1])
    example = wire.field(1, wire.entry(b"id", feature, value_first=True))
    assert tf.parse_example([example], IDS)["id"].tolist() == [1]
    with pytest.raises(tf.errors.InvalidArgumentError, match="malformed"):
        tf.parse_sequence_example([example], IDS)
    lists = wire.field(2, wire.entry(b"s", wire.field(1, feature), value_first=True))
    with pytest.raises(tf.errors.InvalidArgumentError, match="malformed"):
        tf.parse_sequence_example([lists], {}, {"s": tf.VarLenFeature(tf.int64)})


def test_a_step_of_part_of_a_float_is_malformed():
    for feature in [tf.VarLenFeature(tf.float32), tf.RaggedFeature(tf.float32)]:
        for size in [1, 2, 3, 5, 6, 7]:
            for before in [0, 1, 4]:
                good = wire.feature("float", [1.5])
                part = wire.field(2, wire.field(1, bytes(size)))
                with pytest.raises(tf.errors.InvalidArgumentError, match="malformed"):
                    tf.parse_sequence_example([steps(*[good] * before, part, *[good] * 9)], {}, {"s": feature})


@pytest.mark.parametrize(("kind", "other"), [("int64", "float"), ("float", "int64")])
@pytest.mark.parametrize("before", [0, 1, 5, 300])
def test_the_number_of_a_bad_step_counts_those_before_it(kind, other, before):
    good, bad = wire.feature(kind, [1]), wire.feature(other, [1])
    wanted = {"s": tf.VarLenFeature(tf.int64 if kind == "int64" else tf.float32)}
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"\(step {before}\)"):
        tf.parse_sequence_example([steps(*[good] * before, bad, *[good] * 9)], {}, wanted)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 8, 13])
def test_no_byte_after_the_last_step_is_read(count):
    wanted = {"s": tf.VarLenFeature(tf.float32)}
    values = [float(n) for n in range(count)]
    one = steps(wire.feature("float", values), wire.feature("float", values))

    def child():
        found = tf.parse_sequence_example([before_a_hole(one)], {}, wanted)[1]["s"]
        return found.values.tolist() == values * 2

    assert status_of_child(child) == 0


@pytest.mark.parametrize("threads", [2, 4])
def test_batches_of_changing_sizes_are_those_of_one_thread(threads):
    """What was placed for one batch is not taken for the next one's, however many values its parts have."""
    rng = np.random.default_rng(5)
    wanted = {"v": tf.VarLenFeature(tf.int64), "w": tf.RaggedFeature(tf.float32), **IDS}
    for round in range(40):
        rows = int(rng.choice([600, 1200, 2400]))
        most = int(rng.choice([0, 3, 30, 60]))
        fewer = int(rng.integers(0, rows))  # from here on
        records = []
        for row in range(rows):
            count = int(rng.integers(most // 2, most + 1)) if row < fewer else int(rng.integers(0, 2))
            v = rng.integers(0, 1 << 30, count).tolist()
            records.append(record(id=("int64", [row]), v=("int64", v), w=("float", [float(x) for x in v])))
        found = tf.parse_example(records, wanted, num_threads=threads)
        alone = tf.parse_example(records, {**wanted, f"x{round}": tf.FixedLenFeature([], tf.int64, 0)}, num_threads=1)
        assert found["id"].tolist() == alone["id"].tolist() == list(range(rows))
        for key, splits in (("v", found["v"].row_splits), ("w", found["w"].row_splits)):
            mine = found[key].values if key == "v" else found[key].flat_values
            other = alone[key].values if key == "v" else alone[key].flat_values
            np.testing.assert_array_equal(mine, other)
            np.testing.assert_array_equal(splits, alone[key].row_splits)


@pytest.mark.parametrize("feature", [tf.VarLenFeature(tf.int64), tf.RaggedFeature(tf.int64)])
@pytest.mark.parametrize("row", [0, 700, 1999])
def test_a_list_that_a_record_has_twice_counts_once(feature, row):
    """Room is made for both, where the last batch had long lists; the last one is the value."""
    values = [1 << 40] * 60
    records, wanted = [record(v=("int64", values))] * 2000, {"v": feature}
    tf.parse_example(records, wanted, num_threads=2)
    records[row] = wire.example([(b"v", wire.feature("int64", values)), (b"v", wire.feature("int64", [row, 7]))])
    found = tf.parse_example(records, wanted, num_threads=2)["v"]
    expected = values * row + [row, 7] + values * (1999 - row)
    assert found.values.tolist() == expected
    assert found.row_splits[-1] == len(expected)


@pytest.mark.parametrize("rows", [1, 3, 7, 100])
def test_columns_of_fixed_shapes_start_on_cache_lines(rows):
    wanted = {f"f{n}": tf.FixedLenFeature([n], tf.float32, [0.5] * n) for n in range(1, 6)}
    found = tf.parse_example([b""] * rows, wanted)
    assert {column.ctypes.data % 64 for column in found.values()} == {0}
    assert all(column.shape == (rows, n) and (column == 0.5).all() for n, column in enumerate(found.values(), 1))


def test_a_default_lives_as_long_as_its_column():
    def column(n):
        text = bytes([n]) * (4 << 20)  # other bytes in each, since they may come to lie where one was that is gone
        features = {"a": tf.FixedLenFeature([], tf.string, text), f"b{n}": tf.VarLenFeature(tf.int64)}
        return tf.parse_example([b""], features)["a"]

    def child():
        columns = [column(n) for n in range(200)][:3]
        return all(column[0] == bytes([n]) * (4 << 20) for n, column in enumerate(columns))

    assert status_of_child(child) == 0


@pytest.mark.parametrize("rows", [1, 2, 4, 8, 16, 32])
def test_a_shape_whose_bytes_no_number_counts_is_no_memory(rows):
    wanted = {"a": tf.FixedLenFeature([1 << 60], tf.int64)}
    with pytest.raises((MemoryError, tf.errors.InvalidArgumentError)) as caught:
        tf.parse_example([record(a=("int64", [1]))] * rows, wanted)
    assert rows == 1 or isinstance(caught.value, MemoryError), caught.value


LONG_KEYS = """
from tests.support import wire_writer as wire

features = {"id": tf.FixedLenFeature([], tf.int64)}
for n in range(600):
    key = b"%09d" % n + bytes([65 + n % 26]) * 200_000
    one = wire.example([(key, wire.feature("int64", [1])), (b"id", wire.feature("int64", [n]))])
    assert tf.parse_example([one], features)["id"][0] == n
    if n == 50:
        start = peak()
print(peak() - start)
"""


def test_long_keys_that_nobody_asked_for_are_not_all_kept():
    printed, _ = peak_memory.run(LONG_KEYS)
    assert int(printed) < 20 << 20
