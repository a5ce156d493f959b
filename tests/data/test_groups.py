"""Groups by key, elements that come once, endless random numbers, and datasets that are kept in a folder."""

import gc
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import tfrecord_fast as tf
import tfrecord_fast.tensorflow as tf_compat
from tests.support import live_tensorflow
from tfrecord_fast.data.saving.saved import Saving

Dataset = tf.data.Dataset


def same(first, second):
    """Whether two elements are alike in structure, types and values."""
    assert type(first) is type(second)
    if isinstance(first, dict):
        return first.keys() == second.keys() and all(same(first[key], second[key]) for key in first)
    if isinstance(first, tuple):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, tf.SparseTensor):
        return all(same(getattr(first, name), getattr(second, name)) for name in ("indices", "values", "dense_shape"))
    if isinstance(first, tf.RaggedTensor):
        return first.dtype == second.dtype and first.to_list() == second.to_list()
    if isinstance(first, bytes):
        return first == second
    return first.dtype == second.dtype and first.shape == second.shape and first.tolist() == second.tolist()


def test_an_element_longer_than_the_last_bucket_is_an_error():
    rows = (
        Dataset.from_tensor_slices([1, 7])
        .map(lambda n: np.zeros(n))
        .bucket_by_sequence_length(len, [3], [1, 1], pad_to_bucket_boundary=True)
    )
    elements = iter(rows)
    assert next(elements).shape == (1, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="length < max"):
        next(elements)


def test_a_group_has_to_become_a_dataset():
    with pytest.raises(TypeError, match="must return a Dataset, got int64"):
        next(iter(Dataset.range(3).group_by_window(lambda x: x, lambda key, group: key, 1)))


def test_numbers_of_any_dtype_are_told_apart():
    values = np.array([1.5, 0.0, 1.5, np.nan, np.nan])
    assert [str(x) for x in Dataset.from_tensor_slices(values).unique()] == ["1.5", "0.0", "nan"]


def test_a_group_is_what_its_elements_were():
    """Functions above and below may work in place."""
    buffer = np.zeros(2, np.int64)

    def elements():
        for number in range(4):
            buffer[:] = number
            yield buffer

    def double(rows):
        rows *= 2
        return rows

    grouped = Dataset.from_generator(elements, output_types="int64").group_by_window(
        lambda x: 0, lambda key, group: group.map(double).repeat(2), 4
    )
    assert [x.tolist() for x in grouped] == [[0, 0], [2, 2], [4, 4], [6, 6]] * 2


def test_threads_that_share_an_iterator_get_each_group_once():
    elements = iter(Dataset.range(3000).group_by_window(lambda x: x % 7, lambda key, group: group.batch(5), 5))
    found = []

    def take():
        for batch in elements:
            found.extend(batch.tolist())

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(3000))


def test_random_numbers_are_repeatable_with_a_seed():
    first = [int(x) for x in Dataset.random(seed=5).take(20)]
    assert first == [int(x) for x in Dataset.random(seed=5).take(20)]
    assert first != [int(x) for x in Dataset.random(seed=6).take(20)]
    assert 0 <= min(first) and max(first) < 1 << 32 and max(first) > 1 << 30
    assert Dataset.random().cardinality() == tf.data.INFINITE_CARDINALITY


def test_random_numbers_differ_from_epoch_to_epoch_if_asked_for():
    kept, drawn = Dataset.random(seed=5).take(5), Dataset.random(seed=5, rerandomize_each_iteration=True).take(5)
    assert list(kept) == list(kept)
    assert list(drawn) != list(drawn)


SAVED = {
    "numbers": Dataset.range(5),
    "nothing": Dataset.range(0),
    "strings": Dataset.from_tensor_slices([b"a\0\0", b"", b"\xff"]),
    "arrays of strings": Dataset.from_tensors(np.array([[b"a\0", b""]], object)),
    "a structure": Dataset.from_tensor_slices(
        {"b": (np.arange(3, dtype=np.uint8), np.array([True, False, True])), "a": np.zeros((3, 2, 0), np.float16)}
    ),
    "shapes that differ": Dataset.range(4).map(lambda n: np.full((n, 2), n, np.float32)),
    "sparse": Dataset.from_tensors(tf.SparseTensor([[0, 1], [2, 0]], [b"x\0", b"y"], [3, 2])),
    "ragged": Dataset.from_tensors(tf.RaggedTensor.from_row_splits(np.arange(3), [0, 2, 2, 3])),
    "ragged twice": Dataset.from_tensors(
        tf.RaggedTensor.from_row_splits(tf.RaggedTensor.from_row_splits(np.arange(3), [0, 2, 3]), [0, 0, 2])
    ),
}


@pytest.mark.parametrize("compression", [None, "GZIP"])
@pytest.mark.parametrize("case", SAVED)
def test_what_is_saved_is_loaded(case, compression, tmp_path):
    SAVED[case].save(tmp_path / "kept", compression)
    loaded = Dataset.load(tmp_path / "kept", compression=compression)
    for _ in range(2):
        assert same(tuple(loaded), tuple(SAVED[case]))


def test_what_is_saved_again_replaces_what_was_there(tmp_path):
    Dataset.range(5).save(tmp_path)
    Dataset.from_tensor_slices(["a"]).save(str(tmp_path), "GZIP")
    assert list(Dataset.load(tmp_path, compression="GZIP")) == [b"a"]
    with pytest.raises(tf.errors.TFRecordError):
        Dataset.load(tmp_path)


def failing(element):
    if element == 3:
        raise ValueError("three")
    return element


def test_a_save_that_fails_leaves_what_was_there(tmp_path):
    with pytest.raises(Exception, match="three"):
        Dataset.range(5).map(failing).save(tmp_path / "new")
    assert os.listdir(tmp_path / "new") == []
    with pytest.raises(FileNotFoundError):
        Dataset.load(tmp_path / "new")
    Dataset.range(3).save(tmp_path)
    with pytest.raises(Exception, match="three"):
        Dataset.range(5).map(failing).save(tmp_path)
    assert len(list(Dataset.load(tmp_path))) == 3


@pytest.mark.parametrize("second", [b"x", np.int32(1), (np.int64(1),), {"a": np.int64(1)}, np.float64(1)])
def test_elements_of_another_structure_than_the_first_are_an_error(tmp_path, second):
    saving = Saving(str(tmp_path / "a"), "")
    saving.add(np.int64(1))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"element 1 differs from the first: .* instead of"):
        saving.add(second)
    saving.discard()
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("element", [None, object(), {1: np.int64(1)}, Dataset.range(2)])
def test_elements_that_no_file_can_keep(tmp_path, element):
    saving = Saving(str(tmp_path / "a"), "")
    with pytest.raises((tf.errors.InvalidArgumentError, TypeError), match=r"can't be saved|keys are str"):
        saving.add(element)
    saving.discard()


def test_a_file_that_was_cut_is_an_error(tmp_path):
    Dataset.range(5).save(tmp_path)
    records = list(tf.compat.v1.io.tf_record_iterator(str(tmp_path / "elements.tfrecord")))
    for count in range(1, len(records)):
        with tf.io.TFRecordWriter(str(tmp_path / "elements.tfrecord")) as writer:
            writer.write_batch(records[:count])
        with pytest.raises(tf.errors.DataLossError, match=f"after {count - 1} elements"):
            list(Dataset.load(tmp_path))


@pytest.mark.parametrize("records", [[], [b""], [b"{}"], [b"\xff"], [b"[1]"], [b"3"]])
def test_another_file_is_an_error(tmp_path, records):
    with tf.io.TFRecordWriter(str(tmp_path / "elements.tfrecord")) as writer:
        writer.write_batch(records)
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not a saved dataset"):
        Dataset.load(tmp_path)


KEPT = {
    "cache": lambda dataset, folder: dataset.cache(str(folder / "kept")),
    "path": lambda dataset, folder: dataset.cache(folder / "kept"),
    "snapshot": lambda dataset, folder: dataset.snapshot(str(folder)),
    "GZIP": lambda dataset, folder: dataset.snapshot(folder, compression="GZIP"),
}


@pytest.mark.parametrize("kept", KEPT)
def test_elements_are_made_once_and_then_read(tmp_path, kept):
    calls = iter(range(4))  # none are left for another iteration

    def dataset():
        return KEPT[kept](Dataset.range(4).map(lambda x: next(calls) < 0 or {"a": x, "b": b"x\0"}), tmp_path)

    expected = [{"a": np.int64(x), "b": b"x\0"} for x in range(4)]
    for _ in range(3):
        assert same(tuple(dataset()), tuple(expected))
    once = dataset()
    assert same(tuple(once.repeat(2)), tuple(expected * 2))
    assert next(calls, None) is None
    assert len([name for name in os.listdir(tmp_path) if not name.startswith(".")]) == 1


@pytest.mark.parametrize("kept", KEPT)
def test_an_iteration_that_does_not_end_keeps_nothing(tmp_path, kept):
    numbers = KEPT[kept](Dataset.range(4).map(lambda x: x), tmp_path)
    elements = iter(numbers)
    assert next(elements) == 0
    del elements
    gc.collect()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [int(x) for x in numbers.take(4)] == [0, 1, 2, 3]  # all of them: it is complete
    assert len(os.listdir(tmp_path)) == 1


def test_an_error_takes_the_place_of_its_element_and_is_not_kept(tmp_path):
    numbers = Dataset.range(5).map(failing).cache(tmp_path / "kept").ignore_errors()
    assert [int(x) for x in numbers] == [0, 1, 2, 4]
    assert [int(x) for x in numbers] == [0, 1, 2, 4]


def test_a_killed_process_leaves_no_cache(tmp_path):
    script = (
        "import os, sys, tfrecord_fast as tf\n"
        "numbers = tf.data.Dataset.range(100).map(lambda x: x if x < 50 else os._exit(3)).cache(sys.argv[1])\n"
        "list(numbers)\n"
    )
    assert subprocess.run([sys.executable, "-c", script, tmp_path / "kept"]).returncode == 3
    assert all(name.startswith(".") for name in os.listdir(tmp_path))
    assert len(list(Dataset.range(100).cache(tmp_path / "kept"))) == 100
    assert os.listdir(tmp_path) == ["kept.tfrecord"]


@pytest.mark.parametrize("name", ["shard_func", "checkpoint_args"])
def test_options_of_save_that_are_refused(name, tmp_path):
    with pytest.raises(NotImplementedError, match="one shard"):
        Dataset.range(3).save(tmp_path, **{name: lambda x: x})


@pytest.mark.parametrize(
    "grouped",
    [
        lambda numbers: numbers.group_by_window(lambda x: x / 2, lambda key, group: group.batch(9), 9),
        lambda numbers: numbers.group_by_window(lambda x: 0, lambda key, group: group.batch(9), 2.5),
        lambda numbers: numbers.bucket_by_sequence_length(lambda x: 1.9, [2], [1, 1]),
        lambda numbers: numbers.bucket_by_sequence_length(lambda x: 1, [1.5], [1, 1]),
        lambda numbers: numbers.bucket_by_sequence_length(lambda x: 1, [2], [1, 1.5]),
    ],
    ids=["key", "size", "length", "boundary", "batch size"],
)
def test_numbers_that_are_not_whole_are_not_cut(grouped):
    with pytest.raises(TypeError, match="integer"):
        list(grouped(Dataset.range(4)))


def test_a_cache_without_an_element_is_not_kept(tmp_path):
    """An element that can't be saved would be missing in all later epochs."""
    mixed = Dataset.from_generator(lambda: iter([np.int64(1), np.int64(2), np.float64(3), np.int64(4)]))
    numbers = mixed.cache(tmp_path / "kept").ignore_errors()
    for _ in range(2):
        assert [int(x) for x in numbers] == [1, 2, 4]
        assert os.listdir(tmp_path) == []


def test_a_forked_process_leaves_the_draft_alone(tmp_path):
    holder = [iter(Dataset.range(4).map(lambda x: x).cache(tmp_path / "kept"))]
    assert next(holder[0]) == 0
    child = os.fork()
    if child == 0:
        holder.clear()
        gc.collect()
        os._exit(0)
    os.waitpid(child, 0)
    assert [int(x) for x in holder[0]] == [1, 2, 3]
    with pytest.warns(UserWarning, match="another dataset"):
        assert [int(x) for x in Dataset.range(0).cache(tmp_path / "kept")] == [0, 1, 2, 3]  # what is there counts


SUMS = """
def sums():
    import numpy as np

    experimental = tf.data.experimental
    reducer = experimental.Reducer(lambda key: np.int64(0), lambda state, x: state + x, lambda state: state)
    numbers = tf.data.Dataset.from_tensor_slices(np.array([5, -3, 5, 2, -7, 2]))
    return [int(total) for total in numbers.apply(experimental.group_by_reducer(lambda x: x, reducer))]
"""


def test_reduced_groups_come_sorted_by_their_numbers():
    space = {"tf": tf}
    exec(SUMS, space)
    assert space["sums"]() == [-7, -3, 4, 10]
    if live_tensorflow.INSTALLED:
        assert live_tensorflow.call(SUMS.strip() + "\n") == [-7, -3, 4, 10]


@pytest.mark.parametrize(
    "read",
    [
        lambda shards: shards.flat_map(lambda shard: shard),
        lambda shards: shards.shuffle(4).interleave(lambda shard: shard, num_parallel_calls=tf.data.AUTOTUNE),
    ],
)
def test_a_reader_function_gets_the_shard_of_a_saved_dataset(tmp_path, read):
    Dataset.range(5).save(tmp_path)
    assert [int(x) for x in Dataset.load(tmp_path, reader_func=read)] == [0, 1, 2, 3, 4]
    assert [int(x) for x in tf_compat.data.Dataset.load(str(tmp_path), reader_func=read).take(2)] == [0, 1]


def test_two_iterations_fill_one_cache(tmp_path):
    first, second = (iter(Dataset.range(start, 4).cache(tmp_path / "kept")) for start in (0, 1))
    assert [int(next(first)), *map(int, second), *map(int, first)] == [0, 1, 2, 3, 1, 2, 3]
    with pytest.warns(UserWarning, match="another dataset"):
        assert [int(x) for x in Dataset.range(9).cache(tmp_path / "kept")] == [0, 1, 2, 3]
