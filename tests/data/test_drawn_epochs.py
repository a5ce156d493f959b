"""Files in an order that is drawn: a repeat draws it anew for each epoch, in batches too, as TensorFlow does."""

import copy
import itertools

import numpy as np
import pytest

import tfrecord_fast as tf
from tfrecord_fast.data.handle import node_of
from tfrecord_fast.data.nodes.base.node import Run
from tfrecord_fast.values.elements.nests import leaves

RECORDS = 22
EPOCHS = 5


@pytest.fixture(scope="module")
def pattern(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    for number, size in enumerate((7, 0, 11, 1, 3)):
        with tf.io.TFRecordWriter(folder / f"{number}.tfrecord", "GZIP" if number == 2 else None) as writer:
            writer.write_batch([b"%d.%d" % (number, i) for i in range(size)])
    return str(folder / "*.tfrecord")


DRAWN = {
    "list_files": lambda pattern: tf.data.Dataset.list_files(pattern, seed=5),
    "list_files, shuffled": lambda pattern: tf.data.Dataset.list_files(pattern, shuffle=True, seed=5),
    "shuffle": lambda pattern: tf.data.Dataset.list_files(pattern, shuffle=False).shuffle(9, seed=5),
    "cache.shuffle": lambda pattern: tf.data.Dataset.list_files(pattern, seed=5).cache().shuffle(9, seed=6),
}
KEPT = {
    "sorted": lambda pattern: tf.data.Dataset.list_files(pattern, shuffle=False),
    "cache": lambda pattern: tf.data.Dataset.list_files(pattern, seed=5).cache(),
    "cache.skip": lambda pattern: tf.data.Dataset.list_files(pattern, seed=5).cache().skip(0),
    "the same each time": lambda pattern: tf.data.Dataset.list_files(pattern, shuffle=False).shuffle(9, 5, False),
}
READ = {
    "interleave": lambda names: names.interleave(tf.data.TFRecordDataset, cycle_length=2),
    "flat_map": lambda names: names.flat_map(tf.data.TFRecordDataset),
    "TFRecordDataset": tf.data.TFRecordDataset,
    "shuffle": lambda names: names.interleave(tf.data.TFRecordDataset, cycle_length=2).shuffle(4, seed=2),
    "same shuffle": lambda names: tf.data.TFRecordDataset(names).shuffle(4, 2, reshuffle_each_iteration=False),
}


def flat(batches):
    return [record for batch in batches for record in batch.tolist()]


def in_epochs(records):
    return [records[i : i + RECORDS] for i in range(0, len(records), RECORDS)]


def orders(records):
    return len({tuple(epoch) for epoch in in_epochs(records)})


@pytest.fixture(params=list(itertools.product(DRAWN, READ)), ids=".".join)
def drawn(request, pattern):
    """Makes one epoch of the dataset."""
    names, read = request.param
    return lambda: READ[read](DRAWN[names](pattern))


def test_each_epoch_of_a_repeat_is_an_iteration_of_what_is_repeated(drawn):
    one = drawn()
    expected = list(itertools.chain(*(one for _ in range(EPOCHS))))
    assert orders(expected) == EPOCHS and all(len(set(epoch)) == RECORDS for epoch in in_epochs(expected))
    again = drawn().repeat(EPOCHS)
    assert list(again) == expected
    assert list(again) != expected  # the second iteration goes on
    for size in (1, 4, RECORDS, 50):
        batches = list(drawn().repeat(EPOCHS).batch(size))
        assert flat(batches) == expected
        assert {len(batch) for batch in batches[:-1]} <= {size}
        count = len(expected) // size
        assert flat(drawn().repeat().batch(size).take(count)) == expected[: count * size]
    assert flat(drawn().repeat(EPOCHS).batch(4, drop_remainder=True)) == expected[: len(expected) // 4 * 4]


def test_what_is_cut_out_of_drawn_epochs_is_what_python_cuts(drawn):
    expected = list(drawn().repeat(EPOCHS))
    for cut, part in (
        (lambda data: data.skip(30), slice(30, None)),
        (lambda data: data.skip(3).take(60), slice(3, 63)),
        (lambda data: data.shard(3, 1), slice(1, None, 3)),
    ):
        assert list(cut(drawn().repeat(EPOCHS))) == expected[part]
        assert flat(cut(drawn().repeat(EPOCHS)).batch(5)) == expected[part]
    assert list(drawn().repeat().take(90)) == expected[:90]


def test_the_first_epoch_has_the_order_that_it_has_alone(drawn):
    assert flat(drawn().repeat(3).batch(4))[:RECORDS] == list(drawn()) == flat(drawn().repeat(1).batch(4))


def test_the_native_reader_makes_batches_over_drawn_epochs(pattern):
    for read in READ.values():
        assert repr(read(DRAWN["list_files"](pattern)).repeat(3).batch(4)).endswith(".repeat(3).batch(4)]>")


def test_a_shuffle_after_a_repeat_gets_drawn_epochs(pattern):
    data = READ["interleave"](DRAWN["list_files"](pattern)).repeat(EPOCHS).shuffle(1).batch(4)
    assert flat(data) == flat(READ["interleave"](DRAWN["list_files"](pattern)).repeat(EPOCHS).batch(4))


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("read", ["interleave", "flat_map", "TFRecordDataset"])
def test_an_order_that_is_kept_is_that_of_all_epochs(pattern, kept, read):
    expected = list(READ[read](KEPT[kept](pattern))) * 3
    assert list(READ[read](KEPT[kept](pattern)).repeat(3)) == expected
    assert flat(READ[read](KEPT[kept](pattern)).repeat(3).batch(4)) == expected


def test_a_cache_of_which_a_part_is_taken_keeps_nothing(pattern):
    def make():
        return READ["interleave"](tf.data.Dataset.list_files(pattern, seed=5).cache().take(4))

    one = make()
    epochs = [list(one) for _ in range(EPOCHS)]
    assert len(set(map(tuple, epochs))) == EPOCHS
    assert list(make().repeat(EPOCHS)) == flat(make().repeat(EPOCHS).batch(4)) == list(itertools.chain(*epochs))


def test_without_a_seed_each_epoch_has_an_order_of_its_own(pattern):
    for read in ("interleave", "TFRecordDataset"):
        data = READ[read](tf.data.Dataset.list_files(pattern)).repeat(8).batch(4)
        assert orders(flat(data)) > 4 and orders(flat(data)) > 4


class Unplanned(Run):
    """An iteration in Python, in which the native reader only reads records."""

    def __call__(self, node):
        return node.iterate(self)


@pytest.mark.parametrize("read", ["interleave", "flat_map", "TFRecordDataset"])
def test_drawn_epochs_are_those_of_python(pattern, read):
    def make():
        return READ[read](DRAWN["list_files"](pattern)).repeat(EPOCHS)

    assert flat(make().batch(4)) == list(Unplanned()(node_of(make())))


def test_an_endless_repeat_of_nothing_ends(tmp_path):
    for number in range(3):
        tf.io.TFRecordWriter(tmp_path / str(number)).close()
    names = tf.data.Dataset.list_files(str(tmp_path / "*"))
    for data in (tf.data.TFRecordDataset(names), names.interleave(tf.data.TFRecordDataset)):
        assert list(data.repeat()) == list(data.repeat().batch(2)) == list(data.repeat(3).batch(2)) == []


def test_records_before_damage_come_in_a_later_epoch_too(tmp_path):
    path = tmp_path / "one"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch([b"%02d" % i for i in range(10)])
    names = tf.data.Dataset.list_files([str(path)])
    batches = iter(names.interleave(tf.data.TFRecordDataset).repeat(3).batch(4))
    given = [next(batches).tolist() for _ in range(2)]
    data = bytearray(path.read_bytes())
    data[7 * 18 + 12] ^= 1
    path.write_bytes(data)
    given += [next(batches).tolist() for _ in range(2)]
    with pytest.raises(tf.errors.DataLossError, match="one"):
        next(batches)
    assert [int(record) for batch in given for record in batch] == [*range(10), *range(6)]


def test_a_function_that_gives_other_datasets_in_a_later_epoch_is_followed(pattern):
    opened = []

    def open_file(path):
        opened.append(path)
        data = tf.data.TFRecordDataset(path)
        return data if len(opened) <= 5 else data.map(bytes.upper)

    for give in (list, lambda data: flat(data.batch(4))):
        opened.clear()
        data = tf.data.Dataset.list_files(pattern, seed=5).interleave(open_file, cycle_length=2).repeat(2)
        assert sorted(give(data)) == sorted([*give(data.take(RECORDS))] * 2)


Dataset = tf.data.Dataset


def numbers(dataset):
    return [np.asarray(one).tolist() for one in dataset]


COPIED = {
    "map": lambda data: data.map(lambda x: x),
    "repeat": lambda data: data.repeat(2),
    "batch": lambda data: data.batch(2).unbatch(),
    "zip": lambda data: Dataset.zip({"a": data, "b": (data, data)}).map(lambda both: both["a"]),
    "concatenate": lambda data: data.concatenate(data),
    "interleave": lambda data: data.interleave(lambda x: Dataset.from_tensors(x), cycle_length=2),
    "choose": lambda data: Dataset.choose_from_datasets([data, Dataset.range(9)], Dataset.range(2).repeat()),
    "cache": lambda data: data.cache().map(lambda x: x),
}


@pytest.mark.parametrize("around", COPIED.values(), ids=COPIED)
def test_a_copy_counts_its_iterations_for_itself(around):
    def made():
        return around(Dataset.range(9).shuffle(4, seed=1))

    alone = made()
    orders = [numbers(alone) for _ in range(3)]
    original = made()
    copied = copy.copy(original)
    assert [numbers(one) for one in (copied, original, original, copied, copied, original)] == [
        orders[i] for i in (0, 0, 1, 1, 2, 2)
    ]


def test_a_copied_zip_names_the_copies():
    shuffled = Dataset.range(9).shuffle(4)
    node = copy.copy(Dataset.zip({"a": shuffled, "b": (shuffled, shuffled.batch(2))}))._node
    assert leaves(node._structure) == list(node.inputs) and shuffled._node not in node.inputs


def test_a_copy_shares_what_does_not_draw():
    dataset = Dataset.range(3).map(lambda x: x)
    assert copy.copy(dataset)._node is dataset._node
