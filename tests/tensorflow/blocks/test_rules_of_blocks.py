"""How functions run on blocks: how often they are called, where blocks split, and what random numbers they draw."""

import contextlib
import logging
import threading

import numpy as np
import pytest

import tfrecord_fast.tensorflow as tf
from tests.tensorflow.blocks.records import FEATURES, write
from tfrecord_fast.data.nodes.blocks.sizes import fixed


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write(tmp_path_factory.mktemp("blocks") / "rows.tfrecord", 100)


def calls_of(function, count=100, size=100):
    calls = []

    def counted(value):
        calls.append(value)
        return function(value)

    with fixed(size):
        dataset = tf.data.Dataset.range(count).map(counted)
        results = list(dataset.as_numpy_iterator())
    return len(calls), results, dataset


def test_a_function_is_called_once_per_block():
    calls, results, _ = calls_of(lambda x: x * 2 + 1)
    assert (calls, results) == (1, list(range(1, 201, 2)))


def test_a_condition_of_python_splits_the_block_once():
    calls, results, _ = calls_of(lambda x: x if x > 50 else -x)
    assert calls == 3  # all, then each group
    assert results == [x if x > 50 else -x for x in range(100)]


def test_a_condition_on_which_all_agree_does_not_split():
    assert calls_of(lambda x: x if x < 100 else -x)[0] == 1


def test_tf_cond_calls_each_branch_once():
    branches = []

    def branch(value):
        branches.append(1)
        return value

    calls, results, _ = calls_of(lambda x: tf.cond(x > 50, lambda: branch(x), lambda: branch(-x)))
    assert (calls, len(branches)) == (1, 2)
    assert results == [x if x > 50 else -x for x in range(100)]


def test_after_too_many_splits_a_function_runs_record_by_record_and_repr_says_so(caplog):
    with caplog.at_level(logging.DEBUG, "tfrecord_fast"):
        calls, results, dataset = calls_of(lambda x: tf.range(int(x)))
    assert calls == 101
    assert [len(row) for row in results] == list(range(100))
    assert "record by record because of line" in repr(dataset)
    assert [record.message for record in caplog.records if "record by record" in record.message]
    assert len(caplog.records) == 1


def test_the_line_that_needs_records_is_named():
    def function(x):
        y = x + 1
        return y.numpy()

    *_, dataset = calls_of(function)
    line = function.__code__.co_firstlineno + 2
    assert f"line {line} of {__file__}" in repr(dataset)


def test_a_function_that_needs_records_stays_record_by_record():
    calls = []

    def function(x):
        calls.append(1)
        return x.numpy()

    dataset = tf.data.Dataset.range(10).map(function)
    for epoch in (1, 2):
        assert list(dataset.as_numpy_iterator()) == list(range(10))
        assert len(calls) == 1 + 10 * epoch


def test_a_function_that_fails_on_blocks_only_stays_record_by_record():
    calls = []

    def function(x):
        calls.append(1)
        return np.log1p(x)

    with fixed(10):
        dataset = tf.data.Dataset.range(30).map(function)
        assert [round(float(x), 3) for x in dataset][:3] == [0.0, 0.693, 1.099]
    assert len(calls) == 1 + 30
    assert "record by record" in repr(dataset)


def test_one_error_does_not_end_blocks():
    calls, shown = [], []

    def function(x):
        calls.append(1)
        return 100 // (x - 150)

    with fixed(100):
        iterator = iter(tf.data.Dataset.range(1000).map(function))
        while True:
            try:
                shown.append(int(next(iterator)))
            except StopIteration:
                break
            except tf.errors.InvalidArgumentError:
                shown.append(None)
    assert shown.index(None) == 150
    assert len(shown) == 1000
    assert len(calls) == 10 + 100


def test_the_first_element_comes_after_few_calls():
    dataset = tf.data.Dataset.range(10**9).map(lambda x: x + 1)
    assert int(next(iter(dataset))) == 1


def test_each_record_has_its_own_random_numbers():
    for draw in (
        lambda: tf.random.uniform([]),
        lambda: tf.random.normal([3])[0],
        lambda: tf.random.uniform([], seed=5),
        lambda: tf.random.shuffle(tf.range(1000))[0],
        lambda: tf.image.random_brightness(tf.zeros([1, 1, 1]), 0.5)[0, 0, 0],
    ):
        values = [float(x) for x in tf.data.Dataset.range(64).map(lambda x, draw=draw: draw())]
        assert len(set(values)) > 50


def test_functions_of_one_chain_draw_different_numbers():
    pairs = tf.data.Dataset.range(50).map(lambda x: (x, tf.random.uniform([])))
    pairs = pairs.map(lambda x, first: (first, tf.random.uniform([])))
    assert not [first for first, second in pairs if float(first) == float(second)]


def test_functions_without_tensors_are_called_for_each_record():
    for draw in (
        lambda x: tf.numpy_function(np.random.rand, [], tf.float64),
        lambda x: tf.py_function(np.random.rand, [], tf.float32),
    ):
        assert len({float(number) for number in tf.data.Dataset.range(50).map(draw)}) == 50


def test_operations_with_one_seed_draw_the_same_numbers():
    pairs = tf.data.Dataset.range(100).map(
        lambda x: (
            tf.image.random_flip_left_right(tf.reshape([x, -x], [1, 2, 1]), seed=1),
            tf.image.random_flip_left_right(tf.reshape([x, -x], [1, 2, 1]), 1),
        )
    )
    flipped = [bool(first[0, 0, 0] < 0) for first, second in pairs if (first.numpy() == second.numpy()).all()]
    assert len(flipped) == 100
    assert 25 < sum(flipped) < 75
    numbers = tf.data.Dataset.range(50).map(lambda x: tf.random.uniform([], seed=3))
    assert list(numbers.as_numpy_iterator()) == list(numbers.as_numpy_iterator())


def test_seeds_give_the_same_numbers_on_threads():
    def drawn():
        tf.random.set_seed(5)
        dataset = tf.data.Dataset.range(3000)
        return list(dataset.map(lambda x: tf.random.normal([]), num_parallel_calls=3).as_numpy_iterator())

    assert drawn() == drawn()


def test_blocks_of_large_results_are_small():
    rows = []

    def function(x):
        value = tf.zeros([200, 1000]) + tf.cast(x, tf.float32)
        rows.append(len(value.selected()) if hasattr(value, "selected") else 1)
        return value

    with fixed(None):
        assert int(next(iter(tf.data.Dataset.range(1000).map(function)))[0, 0]) == 0
        first = len(rows)
        for _ in tf.data.Dataset.range(1000).map(function).take(50):
            pass
    assert first < 10
    assert 1 < max(rows[first:]) < 6


def test_functions_keep_the_variables_that_they_were_made_with():
    datasets = []
    for label in range(3):
        datasets.append(tf.data.Dataset.range(2).map(lambda x: x + 10 * label))  # noqa: B023 - as in scripts
    label = 9
    assert [[int(x) for x in dataset] for dataset in datasets] == [[0, 1], [10, 11], [20, 21]]


def test_functions_keep_the_global_variables_that_they_were_made_with():
    variables = {"tf": tf, "chain": tf.data.Dataset.range(2)}
    exec("for k in (2, 3, 5):\n    chain = chain.map(lambda x: x + k)\nk = 100", variables)
    exec("later = chain.map(lambda x: x * added)\nadded = 2", variables)
    exec("calls = 0\ndef count(x):\n    global calls\n    calls += 1\n    return x", variables)
    assert [int(x) for x in variables["later"]] == [20, 22]
    list(variables["chain"].map(variables["count"]))
    assert variables["calls"] >= 1


def test_functions_may_assign_the_variables_around_them():
    calls = 0

    def function(x):
        nonlocal calls
        calls += 1
        return x

    list(tf.data.Dataset.range(3).map(function))
    assert calls >= 1


def test_random_numbers_follow_the_seed_and_differ_between_epochs():
    def drawn():
        tf.random.set_seed(7)
        dataset = tf.data.Dataset.range(50).map(lambda x: (tf.random.uniform([2]), tf.random.normal([])))
        return [[np.array(row[0]).tolist(), float(row[1])] for _ in range(2) for row in dataset]

    first, second = drawn(), drawn()
    assert first == second
    assert first[:50] != first[50:]


def test_a_split_sees_the_same_draws_as_the_whole_block():
    def function(x):
        number = tf.random.uniform([])
        if number < 0.5:
            return number, tf.constant(True)
        return number, tf.constant(False)

    with fixed(1000):
        rows = [(float(number), bool(flag)) for number, flag in tf.data.Dataset.range(1000).map(function)]
    assert all((number < 0.5) == flag for number, flag in rows)
    assert len({number for number, _ in rows}) > 990
    assert 350 < sum(flag for _, flag in rows) < 650


def test_uniform_numbers_fill_the_range():
    numbers = [int(x) for x in tf.data.Dataset.range(3000).map(lambda x: tf.random.uniform([], 0, 10, tf.int64))]
    counts = np.bincount(numbers, minlength=10)
    assert len(counts) == 10
    assert counts.min() > 200


def test_records_do_not_share_constants():
    for element in tf.data.Dataset.range(40).map(lambda x: (tf.zeros(3), x)):
        array = element[0].numpy()
        assert array.tolist() == [0, 0, 0]
        array[:] = 1


def test_tensors_that_other_threads_use_are_single():
    def function(x):
        results = {}

        def work():
            with contextlib.suppress(BaseException):
                results["value"] = x * 2

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        return results.get("value", -1)

    assert list(tf.data.Dataset.range(40).map(function).as_numpy_iterator()) == [2 * x for x in range(40)]


def test_text_of_tensors_is_that_of_single_ones():
    texts = tf.data.Dataset.range(3).map(lambda x: str([x]))
    assert [bytes(text.numpy()) for text in texts] == [
        b"[<tf.Tensor: shape=(), dtype=int64, numpy=%d>]" % x for x in range(3)
    ]


def test_tensors_of_a_call_can_not_be_used_after_it(path):
    kept = []

    def function(record):
        row = tf.io.parse_single_example(record, FEATURES)
        kept.append(row["x"])
        return row["x"]

    list(tf.data.TFRecordDataset(path).map(function))
    with pytest.raises(TypeError, match="outside of"):
        kept[0] + 1
    with pytest.raises(TypeError, match="outside of"):
        kept[0].numpy()


def test_datasets_are_made_for_each_record():
    windows = tf.data.Dataset.range(3).map(lambda i: tf.data.Dataset.range(3).map(lambda x: x + i))
    assert [[int(x) for x in window] for window in windows] == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    flat = windows.flat_map(lambda window: window)
    assert [int(x) for x in flat] == [0, 1, 2, 1, 2, 3, 2, 3, 4]


def test_shapes_are_those_of_a_record(path):
    seen = []

    def function(record):
        row = tf.io.parse_single_example(record, FEATURES)
        values = tf.sparse.to_dense(row["v"])
        seen.append((row["a"].shape.as_list(), row["s"].shape.rank, values.shape.rank, len(row["a"]), row["a"].dtype))
        assert isinstance(row["v"], tf.SparseTensor)
        assert not isinstance(row["v"], tf.Tensor)
        assert isinstance(values, tf.Tensor)
        values.set_shape([None])
        return values

    list(tf.data.TFRecordDataset(path).map(function))
    assert seen[0] == ([3], 0, 1, 3, tf.int64)


def test_functions_run_on_blocks_in_threads(path):
    def function(record):
        return tf.io.parse_single_example(record, FEATURES)["a"]

    dataset = tf.data.TFRecordDataset(path).map(function, num_parallel_calls=4).batch(10).prefetch(2)
    assert [batch[0, 0].numpy() for batch in dataset] == list(range(0, 100, 10))


def test_elements_of_a_cache_are_not_changed_by_what_scripts_do(path):
    dataset = tf.data.Dataset.range(6).map(lambda x: tf.stack([x, x])).cache()
    for element in dataset:
        element.numpy()[0] = 99
    for batch in dataset.batch(6):
        batch.numpy()[:] = 99
    assert [element.numpy().tolist() for element in dataset] == [[x, x] for x in range(6)]
