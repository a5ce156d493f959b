"""Batches of several sizes and of sparse rows, elements drawn by a dataset of weights, classes made even, and how many
elements all that has."""

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import live_tensorflow

D = tf.data.Dataset
needs_tensorflow = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")


def rebatched(sizes, drop, rows, batch):
    dataset = tf.data.Dataset.range(rows).batch(batch).rebatch(sizes, drop_remainder=drop)
    return [np.asarray(one).tolist() for one in dataset]


@needs_tensorflow
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("sizes", [[1], [2, 1, 3], [5, 5], [100, 1]])
@pytest.mark.parametrize("rows", [0, 1, 6, 11, 12])
def test_sizes_of_batches_take_turns_as_in_tensorflow(sizes, drop, rows):
    assert rebatched(sizes, drop, rows, 4) == live_tensorflow.call(rebatched, sizes, drop, rows, 4)


@pytest.mark.parametrize(
    "sizes",
    [0, -1, 2**63, None, [], [2, 0], [2, -1], [2.5], [2**63], [[1, 2]], [[1]], "12", b"12", np.ones((2, 1), int)],
)
def test_wrong_sizes_are_refused(sizes):
    with pytest.raises((ValueError, TypeError)):
        D.range(5).batch(2).rebatch(sizes)


def with_an_error(sizes, drop, bad, batch):
    def failing(number):
        if number == bad:
            raise ValueError("bad")
        return number

    numbers = tf.data.Dataset.range(12)
    if hasattr(tf, "py_function") and not hasattr(tf, "ShardReader"):  # TensorFlow
        numbers = numbers.map(lambda n: tf.py_function(failing, [n], tf.int64)).map(lambda n: tf.reshape(n, []))
    else:
        numbers = numbers.map(failing)
    elements = iter(numbers.batch(batch).rebatch(sizes, drop_remainder=drop))
    found = []
    for _ in range(20):
        try:
            found.append(np.asarray(next(elements)).tolist())
        except StopIteration:
            break
        except Exception:
            found.append("error")
    return found


@needs_tensorflow
@pytest.mark.parametrize("batch", [1, 2])
@pytest.mark.parametrize("bad", [0, 3, 4, 11])
@pytest.mark.parametrize(("sizes", "drop"), [([2, 1], False), ([2, 1], True), ([4, 2], True), ([3], False), (3, False)])
def test_after_an_error_batches_go_on_as_in_tensorflow(sizes, drop, bad, batch):
    theirs = live_tensorflow.call(with_an_error, sizes, drop, bad, batch)
    assert with_an_error(sizes, drop, bad, batch) == theirs and "error" in theirs


@pytest.mark.parametrize("method", ["unbatch", "rebatch"])
def test_scalars_have_no_rows_which_is_said_at_once(method):
    with pytest.raises(ValueError, match=f"Cannot {method} an input with scalar components"):
        getattr(D.range(3), method)(*([2] if method == "rebatch" else []))


def test_sparse_rows_have_all_values():
    (first, second) = D.range(0, 3).map(lambda n: np.full(int(n), n - 1)).sparse_batch(2, [4])
    assert first.indices.tolist() == [[1, 0]] and first.values.tolist() == [0]  # a zero is a value
    assert first.dense_shape.tolist() == [2, 4] and second.dense_shape.tolist() == [1, 4]
    (whole,) = D.range(1, 3).map(lambda n: np.full((int(n), 2), n)).sparse_batch(2, [None, 2])
    assert whole.dense_shape.tolist() == [2, 2, 2]
    assert tf.sparse.to_dense(whole).tolist() == [[[1, 1], [0, 0]], [[2, 2], [2, 2]]]


def test_rows_that_do_not_fit_are_errors():
    rows = D.range(1, 4).map(lambda n: np.full(int(n), n))
    with pytest.raises(tf.errors.DataLossError, match=r"\[2\]\) that is larger than the row shape \(\[1\]"):
        list(rows.sparse_batch(2, [1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="incompatible with the row shape"):
        list(rows.sparse_batch(2, [3, 1]))
    with pytest.raises(TypeError, match="strings and numbers"):
        list(D.range(2).map(lambda n: np.array([b"x"], object) if n else np.array([1])).sparse_batch(2, [None]))
    with pytest.raises(TypeError, match="got tuple"):
        list(D.from_tensors((1, 2)).sparse_batch(2, []))


def sparse_batches(lengths, size, shape):
    """The values of each batch, and where an error is; a row of no values can't be made."""
    rows = [tf.io.serialize_tensor(np.full(length, place)) if length else b"?" for place, length in enumerate(lengths)]
    made = tf.data.Dataset.from_tensor_slices(rows).map(lambda row: tf.io.parse_tensor(row, tf.int64))
    batches, told = iter(made.sparse_batch(size, shape)), []
    for _ in range(9):
        try:
            told.append(np.asarray(next(batches).values).tolist())
        except StopIteration:
            break
        except Exception:
            told.append("error")
    return told


@needs_tensorflow
@pytest.mark.parametrize("lengths", [[3, 1, 2, 1, 3], [1, 3, 2, 1], [3, 3, 1], [1, 0, 2, 1], [0, 3, 1, 2, 2], [1, 2]])
def test_what_follows_a_row_that_does_not_fit_is_in_the_next_batch_as_in_tensorflow(lengths):
    theirs = live_tensorflow.call(sparse_batches, lengths, 3, [2])
    assert sparse_batches(lengths, 3, [2]) == theirs


def test_what_follows_a_row_that_does_not_fit_is_in_the_next_batch():
    assert sparse_batches([1, 3, 1, 0, 2, 1, 3, 1, 1], 3, [2]) == ["error", "error", "error", [7, 8]]
    assert sparse_batches([3, 3, 1, 1, 1, 1], 3, [2]) == ["error", "error", [2, 3, 4], [5]]


@needs_tensorflow
@pytest.mark.parametrize("stop", [False, True])
@pytest.mark.parametrize("times", [1, 2, None])
def test_weights_of_a_dataset_are_taken_one_by_one(stop, times):
    def drawn(stop, times):
        weights = tf.data.Dataset.from_tensor_slices([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]]).repeat(times)
        datasets = [tf.data.Dataset.range(5), tf.data.Dataset.range(100, 105)]
        made = tf.data.Dataset.sample_from_datasets(datasets, weights=weights, stop_on_empty_dataset=stop)
        return [int(one) for one in made]

    assert drawn(stop, times) == live_tensorflow.call(drawn, stop, times)


@pytest.mark.parametrize("weights", [[1.0, 0.0, 0.0], [0.0, 0.0], [-1.0, 2.0], [np.nan, 1.0], 1.0])
def test_weights_that_say_nothing_are_errors(weights):
    made = D.sample_from_datasets([D.range(5), D.range(5)], weights=D.from_tensors(weights))
    with pytest.raises(tf.errors.InvalidArgumentError, match="weights"):
        list(made)


def shares(dataset, classes):
    found = [int(number) for number, _ in dataset]
    return len(found), [found.count(number) / len(found) for number in range(classes)]


@pytest.mark.parametrize("initial", [None, [0.9, 0.1]])
@pytest.mark.parametrize("target", [[0.5, 0.5], [0.1, 0.9], [0.9, 0.1], [1.0, 0.0], [2.0, 2.0]])
def test_classes_get_the_shares_that_are_wanted(initial, target):
    tenths = D.range(20_000).map(lambda n: np.int32(n % 10 == 0))
    count, found = shares(tenths.rejection_resample(lambda x: x, target, initial, seed=3), 2)
    assert count > 1500
    assert found == pytest.approx([one / sum(target) for one in target], abs=0.05)


def test_the_choice_repeats_with_a_seed_only():
    numbers = D.range(1000)

    def chosen(seed):
        made = numbers.rejection_resample(lambda n: n % 2, [0.2, 0.8], [0.5, 0.5], seed=seed)
        return [[int(x) for _, x in made] for _ in range(2)]

    assert chosen(1)[0] == chosen(1)[1] == chosen(1)[0] != chosen(2)[0]
    assert chosen(None)[0] != chosen(None)[1]
    assert all(sorted(set(run)) == run for run in chosen(1))  # in order, none twice


def test_elements_stay_as_they_are_beside_their_class():
    (made, *_) = D.from_tensor_slices(({"a": [1, 2]}, [b"x", b"y"])).rejection_resample(lambda a, b: 0, [1.0])
    assert made[0] == 0 and made[1][0]["a"] == 1 and made[1][1] == b"x"


@pytest.mark.parametrize(
    ("target", "initial"), [([], None), ([0.0, 0.0], None), ([1.0, -1.0], None), ([np.nan], None), ([1.0], [0.5, 0.5])]
)
def test_shares_that_say_nothing_are_refused(target, initial):
    with pytest.raises(tf.errors.InvalidArgumentError):
        D.range(3).rejection_resample(lambda x: 0, target, initial)


@pytest.mark.parametrize("number", [2, -1, 0.5, b"0"])
def test_a_class_that_is_none_is_an_error_of_its_element(number):
    elements = iter(D.range(2).rejection_resample(lambda x: number if x == 0 else 0, [1.0, 1.0], [0.5, 0.5]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="class"):
        next(elements)
    assert int(next(elements)[1]) == 1


NUMBERS = {
    "D.range(8).batch(4, True).unbatch()": 8,
    "D.range(8).batch(4).unbatch()": -2,
    "D.range(8).batch(4, True).repeat().unbatch()": -1,
    "D.range(8).batch(4, True).filter(lambda x: True).unbatch()": -2,
    "D.range(8).batch(2, True).batch(2, True).unbatch().unbatch()": 8,
    "D.range(0).batch(4, True).unbatch()": 0,
    "D.from_tensor_slices([[1, 2], [3, 4], [5, 6]]).unbatch()": 6,
    "D.from_tensor_slices([[1, 2], [3, 4], [5, 6]]).repeat(2).skip(1).cache().prefetch(1).unbatch()": 10,
    "D.from_tensor_slices(([[1, 2], [3, 4]], [['a', 'b'], ['c', 'd']])).unbatch()": 4,
    "D.from_tensor_slices(np.zeros((3, 0))).unbatch()": -2,
    "D.from_tensors([1, 2, 3]).unbatch()": 3,
    "D.zip((D.range(4).batch(2), D.range(4).batch(2, True))).unbatch()": 4,
    "D.range(8).batch(4, True).concatenate(D.range(6).batch(3, True)).unbatch()": -2,
    "D.range(8).batch(4, True).rebatch(2)": -2,
    "D.choose_from_datasets([D.range(2), D.range(2).repeat()], D.range(2))": -1,
    "D.choose_from_datasets([D.range(2), D.range(2)], D.range(2).repeat())": -2,
    "D.sample_from_datasets([D.range(2), D.range(2).repeat()])": -1,
    "D.sample_from_datasets([D.range(2), D.range(2)])": -2,
    "D.sample_from_datasets([D.range(2)])": 2,
    "D.sample_from_datasets([D.range(2), D.range(2).repeat()], [0.5, 0.0])": 2,
    "D.sample_from_datasets([D.range(2), D.range(2).repeat()], [0.0, 0.0])": 0,
    "D.sample_from_datasets([D.range(2)], D.from_tensors([1.0]))": -2,
    "D.range(2).repeat().rejection_resample(lambda x: x, [0.5, 0.5])": -1,
    "D.range(2).rejection_resample(lambda x: x, [0.5, 0.5])": -2,
    "D.range(2).rejection_resample(lambda x: x, [0.5, 0.5], [0.5, 0.5])": 2,
    "D.range(2).repeat().rejection_resample(lambda x: x, [0.9, 0.1], [0.5, 0.5])": -1,
    "D.range(2).repeat().rejection_resample(lambda x: x, [1.0, 0.0], [0.5, 0.5])": -2,
    "D.range(2).repeat().group_by_window(lambda x: x, lambda k, g: g, 2)": -1,
    "D.range(2).group_by_window(lambda x: x, lambda k, g: g, 2)": -2,
    "D.load(FOLDER)": 7,
    "D.load(FOLDER, tf.TensorSpec([], tf.int64)).repeat(2)": 14,
}


def numbers_of(sources, folder):
    names = {"D": tf.data.Dataset, "np": np, "tf": tf, "FOLDER": folder}
    names["D"].range(7).save(folder)
    return [int(eval(source, names).cardinality()) for source in sources]


@pytest.mark.parametrize("source", NUMBERS)
def test_as_many_elements_are_known_as_to_tensorflow(source, tmp_path):
    assert numbers_of([source], str(tmp_path)) == [NUMBERS[source]]


@needs_tensorflow
def test_tensorflow_knows_these_numbers_of_elements(tmp_path):
    assert live_tensorflow.call(numbers_of, list(NUMBERS), str(tmp_path)) == list(NUMBERS.values())


@pytest.mark.parametrize(
    "change", [lambda data: data[:-1], lambda data: data + b"x", lambda data: data[:-20], lambda data: b""]
)
def test_a_saved_dataset_that_was_damaged_has_no_known_number_of_elements(change, tmp_path):
    D.range(7).save(tmp_path)
    numbers = D.load(tmp_path)
    assert len(numbers) == 7
    (file,) = tmp_path.iterdir()
    file.write_bytes(change(file.read_bytes()))
    assert numbers.cardinality() == tf.data.UNKNOWN_CARDINALITY


def test_a_compressed_dataset_has_no_known_number_of_elements(tmp_path):
    """It would be read through."""
    D.range(7).save(tmp_path, compression="GZIP")
    assert D.load(tmp_path, compression="GZIP").cardinality() == tf.data.UNKNOWN_CARDINALITY
