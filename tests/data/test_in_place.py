"""Arrays that can be seen again: read-only, out of reach of the source, and functions may work in place."""

import collections

import numpy as np
import pytest

import tfrecord_fast as tf

Dataset = tf.data.Dataset


def values(element):
    if isinstance(element, dict):
        return {key: values(item) for key, item in element.items()}
    if isinstance(element, tuple):
        return tuple(map(values, element))
    if hasattr(element, "dense_shape"):
        return [values(element.indices), values(element.values), values(element.dense_shape)]
    return element.to_list() if hasattr(element, "to_list") else np.asarray(element).tolist()


def all_of(dataset):
    return [values(element) for element in dataset]


def arrays(rows=4):
    return np.arange(2 * rows, dtype=np.float32).reshape(rows, 2)


def add(x):
    x += 1
    return x


def sparse():
    return tf.sparse.SparseTensor([[0, 0], [1, 1]], np.array([1.0, 2.0]), [2, 2])


def ragged():
    return tf.RaggedTensor.from_row_splits(np.array([1.0, 2.0, 3.0]), [0, 2, 3])


SEEN_AGAIN = {
    "from_tensor_slices": lambda: Dataset.from_tensor_slices(arrays()),
    "from_tensor_slices of strings": lambda: Dataset.from_tensor_slices([["a", "b"], ["c", "d"]]),
    "from_tensors": lambda: Dataset.from_tensors(arrays()),
    "repeat": lambda: Dataset.from_tensors(arrays()).repeat(3),
    "cache": lambda: Dataset.range(3).map(lambda x: np.array([x, x])).cache(),
    "cache of batches": lambda: Dataset.range(4).batch(2).cache(),
    "unbatch": lambda: Dataset.range(4).map(lambda x: np.zeros((2, 2))).batch(2).cache().unbatch(),
    "shuffle": lambda: Dataset.from_tensor_slices(arrays()).shuffle(1),
    "take.skip.shard": lambda: Dataset.from_tensor_slices(arrays()).take(3).skip(1).shard(1, 0),
    "filter": lambda: Dataset.from_tensor_slices(arrays()).filter(lambda x: True),
    "take_while": lambda: Dataset.from_tensor_slices(arrays()).take_while(lambda x: True),
    "concatenate": lambda: Dataset.from_tensor_slices(arrays()).concatenate(Dataset.from_tensors(arrays(1)[0])),
    "prefetch": lambda: Dataset.from_tensor_slices(arrays()).prefetch(1),
    "flat_map": lambda: Dataset.from_tensor_slices(arrays()).flat_map(lambda x: Dataset.from_tensors(x).repeat(2)),
    "interleave": lambda: Dataset.range(2).interleave(lambda x: Dataset.from_tensor_slices(arrays()), 2),
    "window": lambda: Dataset.range(4).map(lambda x: np.array([x, x])).window(2, 1).flat_map(lambda w: w),
    "sample": lambda: Dataset.sample_from_datasets([Dataset.from_tensor_slices(arrays())]),
    "choose": lambda: Dataset.choose_from_datasets([Dataset.from_tensor_slices(arrays())], Dataset.from_tensors(0)),
    "ignore_errors": lambda: Dataset.from_tensor_slices(arrays()).ignore_errors(),
    "with_options": lambda: Dataset.from_tensor_slices(arrays()).with_options(tf.data.Options()),
}


@pytest.mark.parametrize("make", SEEN_AGAIN.values(), ids=SEEN_AGAIN)
def test_what_can_be_seen_again_is_read_only(make):
    for element in make():
        assert not element.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            element[...] = element


def erase(x):
    x[...] = b"" if x.dtype == object else 9
    return x


FUNCTIONS = {
    "map": lambda data: data.map(erase),
    "map on threads": lambda data: data.map(erase, num_parallel_calls=2),
    "map.prefetch": lambda data: data.map(erase).prefetch(2),
    "map twice": lambda data: Dataset.zip(data.map(erase), data.map(erase)),
    "filter": lambda data: data.filter(lambda x: erase(x) is not None),
    "take_while": lambda data: data.take_while(lambda x: erase(x) is not None),
    "flat_map": lambda data: data.flat_map(lambda x: Dataset.from_tensors(erase(x))),
    "interleave": lambda data: data.interleave(lambda x: Dataset.from_tensors(erase(x)).repeat(2), 2),
    "scan": lambda data: data.scan(0, lambda state, x: (state, erase(x))),
    "reduce": lambda data: Dataset.from_tensors(data.reduce(0, lambda state, x: erase(x))),
    "enumerate.map": lambda data: data.enumerate().map(lambda number, x: erase(x)),
    "batch.map": lambda data: data.batch(1).map(erase),
}


@pytest.mark.parametrize("make", SEEN_AGAIN.values(), ids=SEEN_AGAIN)
def test_a_function_that_works_in_place_changes_nothing_that_is_seen_again(make):
    for function in FUNCTIONS.values():
        data = make()
        before = all_of(data)
        worked = function(data)
        first = all_of(worked)
        assert all_of(worked) == first
        assert all_of(data) == before


def test_the_array_of_the_user_is_not_changed():
    mine = arrays()
    assert all_of(Dataset.from_tensor_slices(mine).map(add)) == (arrays() + 1).tolist()
    assert mine.tolist() == arrays().tolist() and mine.flags.writeable


@pytest.mark.parametrize(
    "make",
    [
        Dataset.from_tensor_slices,
        Dataset.from_tensors,
        lambda mine: Dataset.from_tensor_slices({"a": mine, "b": (mine, mine)}),
        lambda mine: Dataset.from_tensors(mine[::2]),
        lambda mine: Dataset.from_tensors(memory_of(mine)),
    ],
    ids=["slices", "tensors", "structure", "view", "read-only view"],
)
def test_a_later_change_of_the_source_does_not_show(make):
    mine = arrays()
    data = make(mine)
    before = all_of(data)
    iterator = iter(data)
    mine[...] = -1
    assert all_of(data) == before == all_of(iterator)


def memory_of(array):
    view = array.view()
    view.flags.writeable = False
    return view


@pytest.mark.parametrize("make", [sparse, ragged])
def test_the_parts_of_composites_are_copied_too(make):
    mine = make()
    data = Dataset.from_tensors(mine).repeat(2)
    before = all_of(data)

    def work(tensor):
        tensor.values[...] = 0
        return tensor

    worked = all_of(data.map(work))
    mine.values[...] = 7
    assert all_of(data) == before and worked[0] == worked[1] != before[0]


def test_what_nobody_can_write_to_is_not_copied(tmp_path):
    np.save(tmp_path / "a.npy", arrays())
    for fixed in (np.load(tmp_path / "a.npy", mmap_mode="r"), np.frombuffer(bytes(8), np.int8)):
        [row] = Dataset.from_tensors(fixed)
        assert np.shares_memory(row, fixed)


def test_cached_arrays_are_not_copied():
    made = []
    data = Dataset.range(1).map(lambda x: made.append(np.zeros(3)) or made[-1]).cache()
    assert all(np.shares_memory(next(iter(data)), made[0]) for _ in range(2))


KINDS = [dict, collections.OrderedDict]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "make",
    [
        lambda element: Dataset.from_tensors(element).repeat(3),
        lambda element: Dataset.from_tensors(element).repeat(3).cache(),
        lambda element: Dataset.range(3).map(lambda _: element).cache().repeat(2),
        lambda element: Dataset.from_tensors((element, 1)).repeat(2).map(lambda e, _: e),
    ],
    ids=["repeat", "cache", "cache.repeat", "nested"],
)
def test_what_is_taken_out_of_a_dict_is_there_the_next_time(kind, make):
    data = make(kind(x=1, y=2))

    def label(element):
        return element, element.pop("y")

    first = all_of(data.map(label))
    assert first == all_of(data.map(label)) and all(element == ({"x": 1}, 2) for element in first)
    for element in data:
        element.clear()
    assert all_of(data.map(label)) == first


@pytest.mark.parametrize("method", ["filter", "take_while"])
def test_what_a_predicate_takes_out_of_a_dict_stays_there(method):
    data = getattr(Dataset.range(2).map(lambda x: {"a": x}), method)(lambda element: element.pop("a") < 5)
    assert all_of(data) == [{"a": 0}, {"a": 1}]


def test_a_scan_may_give_its_state_as_its_result():
    def both(state, x):
        state += x
        return state, state

    data = Dataset.range(4).scan(np.zeros(1, np.int64), both)
    assert all_of(data) == all_of(data) == [[0], [1], [3], [6]]


def test_the_initial_state_is_not_changed():
    mine = np.zeros(1, np.int64)
    assert Dataset.range(4).reduce(mine, lambda state, x: np.add(state, x, out=state)).tolist() == [6]
    scanned = Dataset.range(2).scan(mine, lambda state, x: (add(state), x))
    assert all_of(scanned) == [0, 1] and mine.tolist() == [0]


@pytest.mark.parametrize(
    "types", [{}, {"output_types": tf.float64}, {"output_signature": tf.TensorSpec(2, tf.float64)}]
)
def test_a_generator_may_use_its_array_again(types):
    def generate():
        array = np.zeros(2)
        for number in range(3):
            array[:] = number
            yield array

    data = Dataset.from_generator(generate, **types)
    assert all_of(data.batch(3)) == [[[0, 0], [1, 1], [2, 2]]]


def test_a_class_of_ones_own_may_use_its_array_again():
    class Own(Dataset):
        def __iter__(self):
            array = np.zeros(2)
            for number in range(3):
                array[:] = number
                yield array

    assert all_of(Own().batch(3)) == [[[0, 0], [1, 1], [2, 2]]]


def test_windows_share_nothing_that_can_be_written():
    windows = Dataset.range(4).map(lambda x: np.array([x])).window(2, 1)
    worked = all_of(windows.flat_map(lambda window: window.map(add).batch(2)))
    assert worked == [[[1], [2]], [[2], [3]], [[3], [4]], [[4]]]


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
