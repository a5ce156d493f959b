"""What somebody with only the documents found: elements that vanish, copies that share, what may be written to."""

import copy

import numpy as np
import pytest

import tfrecord_fast as tf
from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.values.elements.nests import leaves

Dataset = tf.data.Dataset
STOPS = "raised StopIteration"


def stop(*those):
    raise StopIteration


def numbers(dataset):
    return [np.asarray(one).tolist() for one in dataset]


def drained(dataset):
    """All elements, and the errors in their places."""
    found, elements = [], iter(dataset)
    while len(found) < 20:
        try:
            found.append(int(next(elements)))
        except InvalidArgumentError as error:
            found.append(str(error))
        except StopIteration:
            break
    return found


def test_the_function_of_a_group_that_raises_stop_iteration():
    grouped = Dataset.range(6).group_by_window(lambda x: x, lambda key, group: stop() if key == 3 else group, 1)
    for dataset in (grouped, grouped.prefetch(2)):
        assert drained(dataset) == [0, 1, 2, "the function <lambda> raised StopIteration", 4, 5]


def generated(x):
    return stop() if x == 1 else iter([x, x])


BAD = Dataset.from_generator(stop, output_types=np.int64)
AROUND = {
    "alone": lambda: BAD,
    "flat_map": lambda: Dataset.range(3).flat_map(lambda x: Dataset.from_generator(generated, np.int64, args=(x,))),
    "interleave": lambda: Dataset.range(3).interleave(
        lambda x: Dataset.from_generator(generated, np.int64, args=(x,)), cycle_length=2
    ),
    "concatenate": lambda: Dataset.range(2).concatenate(BAD).concatenate(Dataset.range(2)),
    "repeat": lambda: BAD.repeat(2),
    "prefetch": lambda: BAD.prefetch(2),
    "zip": lambda: Dataset.zip(BAD, Dataset.range(2)),
    "batch": lambda: BAD.batch(2),
    "cache": lambda: BAD.cache(),
    "shuffle": lambda: BAD.shuffle(2),
}


@pytest.mark.parametrize("make", AROUND.values(), ids=AROUND)
def test_a_generator_function_that_raises_stop_iteration(make):
    with pytest.raises(InvalidArgumentError, match=STOPS):
        list(make())


class Stops:
    def __array__(self, *those, **more):
        raise StopIteration


def test_a_generated_value_that_raises_stop_iteration():
    with pytest.raises(InvalidArgumentError, match=STOPS):
        list(Dataset.from_generator(lambda: iter([1, Stops(), 2])))


def in_place(x):
    for leaf in x.values() if isinstance(x, dict) else [getattr(x, "values", x)]:
        leaf += 1
    return x


SHAPES = {
    "array": lambda x: np.full(2, x),
    "large": lambda x: np.full(20_000, x),
    "dict": lambda x: {"a": np.full(2, x)},
    "ragged": lambda x: tf.RaggedTensor.from_row_splits(np.full(2, x), [0, 1, 2]),
    "sparse": lambda x: tf.SparseTensor([[0], [1]], np.full(2, x), [2]),
}


def flat(element):
    element = element["a"] if isinstance(element, dict) else getattr(element, "values", element)
    return np.asarray(element).tolist()


@pytest.mark.parametrize("threads", [None, 2])
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("kind", ["cache", "snapshot", "load"])
def test_functions_may_work_in_place_on_what_a_file_kept(tmp_path, kind, shape, threads):
    dataset = Dataset.range(2).map(shape)
    if kind == "load":
        dataset.save(str(tmp_path / "kept"))
        kept = Dataset.load(str(tmp_path / "kept"))
    else:
        kept = getattr(dataset, kind)(str(tmp_path / "kept"))
    want = [[value + 1 for value in flat(element)] for element in dataset]
    changed = kept.map(in_place, num_parallel_calls=threads)
    for _ in range(3):
        assert [flat(element) for element in changed] == want


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


@pytest.mark.parametrize("nothing", [{}, (), {"a": ()}], ids=repr)
def test_zip_takes_a_dataset_at_least(nothing):
    with pytest.raises(InvalidArgumentError, match="at least one dataset"):
        Dataset.zip(nothing)


def test_equal_parts_of_a_file_of_which_a_reader_of_all_would_see_nothing(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch([b"%d" % i for i in range(6)])
    data = bytearray(path.read_bytes())
    data[12] ^= 1  # of the first record
    path.write_bytes(data)
    options = {"shard_by": "record", "equal_shards": "pad", "on_corrupt": "skip_file", "index_cache": False}
    readers = [tf.ShardReader(path, batch_size=1, shard=(part, 3), **options) for part in range(3)]
    for call in (len, list):
        with pytest.raises(InvalidArgumentError, match="part 0 of 3 has no records, and one reader"):
            call(readers[0])
    assert [[one.tolist() for one in reader] for reader in readers[1:]] == [[[b"1"], [b"4"]], [[b"2"], [b"5"]]]
