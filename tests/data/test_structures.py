"""Structures of elements: what differs is refused rather than dropped; kinds of numbers; a type is kept."""

import collections
import types

import numpy as np
import pytest

import tfrecord_fast as tf

Dataset = tf.data.Dataset
FailedPreconditionError = tf.errors.FailedPreconditionError
InvalidArgumentError = tf.errors.InvalidArgumentError

Point = collections.namedtuple("Point", "x y")
Turned = collections.namedtuple("Turned", "y x")


def of(*elements):
    """A dataset of these elements, each as a function would give it."""
    return Dataset.range(len(elements)).map(lambda number: elements[number])


SPARSE = tf.sparse.SparseTensor([[0]], [1], [2])
RAGGED = tf.RaggedTensor.from_row_splits([1], [0, 1])
DIFFERENT = {
    "a key more": ({"a": 1}, {"a": 1, "b": 2}),
    "a key less": ({"a": 1, "b": 2}, {"a": 1}),
    "another key": ({"a": 1, "b": 2}, {"a": 1, "c": 2}),
    "a key more, inside": ((1, {"a": 1}), (1, {"a": 1, "b": 2})),
    "a dict and a number": ({"a": 1}, 1),
    "a number and a dict": (1, {"a": 1}),
    "a longer tuple": ((1, 2), (1, 2, 3)),
    "a shorter tuple": ((1, 2, 3), (1, 2)),
    "a tuple and a number": ((1, 2), 1),
    "None and a number": (None, 1),
    "a string and a number": ("a", 1),
    "a number and a string": (1, "a"),
    "an int and a float": (1, 2.5),
    "a float and an int": (2.5, 1),
    "a bool and an int": (True, 7),
    "int64 and uint64": (np.int64(-1), np.uint64(2**63)),
    "arrays of an int and a float": (np.array([1, 2]), np.array([1.5, 2.5])),
    "arrays of strings and numbers": (np.array([b"a"], object), np.array([1])),
    "sparse and dense": (SPARSE, np.array([1, 2])),
    "dense and sparse": (np.array([1, 2]), SPARSE),
    "sparse and ragged": (SPARSE, RAGGED),
}


@pytest.mark.parametrize("elements", DIFFERENT.values(), ids=DIFFERENT)
def test_elements_that_differ_are_no_batch(elements):
    with pytest.raises(InvalidArgumentError, match="differ"):
        list(of(*elements).batch(2))


PADDED = {name: pair for name, pair in DIFFERENT.items() if "sparse" not in name and "None" not in name}


@pytest.mark.parametrize("elements", PADDED.values(), ids=PADDED)
def test_elements_that_differ_are_no_padded_batch(elements):
    with pytest.raises(InvalidArgumentError):
        list(of(*elements).padded_batch(2))


@pytest.mark.parametrize("name", [name for name in DIFFERENT if "key" in name or "tuple" in name])
def test_elements_that_differ_are_neither_a_ragged_batch_nor_a_window(name):
    with pytest.raises((InvalidArgumentError, TypeError)):
        list(of(*DIFFERENT[name]).ragged_batch(2))
    with pytest.raises((InvalidArgumentError, TypeError)):
        list(of(*DIFFERENT[name]).window(2))


def test_named_tuples_with_other_names_are_no_batch():
    with pytest.raises(InvalidArgumentError, match="differ"):
        list(of(Point(1, 2), Turned(1, 2)).batch(2))


def test_numbers_may_differ_in_their_width():
    [batch] = of(1, 2**40, np.int8(3)).batch(3)
    assert batch.tolist() == [1, 2**40, 3] and batch.dtype == np.int64
    [padded] = of(np.array([1.5], np.float32), np.array([0.1, 0.2])).padded_batch(2)
    assert padded.tolist() == [[1.5, 0.0], [0.1, 0.2]] and padded.dtype == np.float64


def test_arrays_of_different_ranks_are_no_padded_batch():
    with pytest.raises(InvalidArgumentError, match="rank"):
        list(of(np.array([1]), np.array([[1]])).padded_batch(2))


def test_padded_strings_are_bytes():
    [batch] = Dataset.from_tensor_slices({"t": ["a", "bc"], "n": [1, 2]}).padded_batch(2)
    assert batch["t"].tolist() == [b"a", b"bc"] and {type(item) for item in batch["t"]} == {bytes}


@pytest.mark.parametrize(
    ("number", "dtype"),
    [
        (-(2**31), np.int32),
        (2**31 - 1, np.int32),
        (-(2**31) - 1, np.int64),
        (2**31, np.int64),
    ],
)
def test_a_python_int_is_int32_as_far_as_it_fits(number, dtype):
    for data in (Dataset.from_tensors(number), Dataset.range(1).map(lambda _: number)):
        [element] = data
        assert type(element) is dtype and int(element) == number
    for data in (Dataset.from_tensor_slices([number]), Dataset.from_tensors([number]).unbatch()):
        [element] = data
        assert type(element) is dtype and int(element) == number


MAPPINGS = [
    {"b": 1, "a": "s"},
    collections.OrderedDict(b=1, a="s"),
    collections.defaultdict(list, b=1, a="s"),
    collections.UserDict(b=1, a="s"),
    types.MappingProxyType({"b": 1, "a": "s"}),
]


@pytest.mark.parametrize("mapping", MAPPINGS, ids=lambda mapping: type(mapping).__name__)
@pytest.mark.parametrize(
    "make",
    [
        lambda mapping: Dataset.from_tensors(mapping),
        lambda mapping: Dataset.range(1).map(lambda _: mapping),
        lambda mapping: Dataset.from_tensors(mapping).repeat(2).batch(2).unbatch().take(1),
        lambda mapping: Dataset.from_tensors(mapping).cache(),
        lambda mapping: Dataset.from_generator(lambda: [mapping]),
        lambda mapping: Dataset.from_tensors(mapping).padded_batch(1).unbatch(),
    ],
    ids=["from_tensors", "map", "batch", "cache", "from_generator", "padded_batch"],
)
def test_a_mapping_keeps_its_type_and_its_values_are_numpys(mapping, make):
    [element] = make(mapping)
    assert type(element) is type(mapping) and list(element) == ["b", "a"]
    assert type(element["b"]) is np.int32 and element["a"] == b"s"


class Odd(dict):
    """A dict that can't be made of a dict."""

    def __init__(self, one, two):
        super().__init__(one=one, two=two)


def test_a_mapping_that_can_not_be_made_again_is_a_dict():
    [element] = Dataset.from_tensors(Odd(1, 2))
    assert type(element) is dict and element == {"one": 1, "two": 2}


def test_a_zip_keeps_the_type_of_its_structure():
    [element] = Dataset.zip(Point(Dataset.range(1), {"a": Turned(Dataset.range(5, 9), Dataset.range(7, 9))}))
    assert element == Point(0, {"a": Turned(5, 7)})
    assert type(element) is Point and type(element.y["a"]) is Turned


# ---- Datasets side by side, and one after the other ----

ELEMENTS = {
    "float": (1, 2.5),
    "width": (np.int32(1), np.int64(1)),
    "string": (1, "a"),
    "key": ({"a": 1}, {"b": 1}),
    "one key more": ({"a": 1}, {"a": 1, "b": 1}),
    "length": ((1, 2), (1, 2, 3)),
    "type": (Point(1, 2), (1, 2)),
}
JOINED = {
    "concatenate": lambda first, second: first.concatenate(second),
    "choose": lambda first, second: Dataset.choose_from_datasets([first, second], Dataset.range(2)),
    "sample": lambda first, second: Dataset.sample_from_datasets([first, second]),
}


@pytest.mark.parametrize("pair", ELEMENTS.values(), ids=ELEMENTS)
@pytest.mark.parametrize("join", JOINED.values(), ids=JOINED)
def test_datasets_of_different_kinds_are_not_joined(pair, join):
    with pytest.raises(TypeError, match="Incompatible dataset elements"):
        join(*map(Dataset.from_tensors, pair))


@pytest.mark.parametrize("pair", ELEMENTS.values(), ids=ELEMENTS)
def test_functions_whose_results_differ_are_found_out_when_the_second_begins(pair):
    iterator = iter(of(pair[0]).concatenate(of(pair[1])))
    next(iterator)
    with pytest.raises(TypeError, match="Incompatible dataset elements"):
        next(iterator)
    assert next(iterator, None) is None


def test_no_function_is_called_to_compare_kinds():
    called = []
    of(1).map(called.append).concatenate(Dataset.range(1).map(called.append))
    Dataset.from_generator(lambda: called.append(1) or [1]).concatenate(Dataset.from_tensors("a"))
    assert called == []


def test_looking_at_kinds_moves_no_shuffle_on():
    def orders(data):
        return [[int(x) for x in data] for _ in range(2)]

    one, other = (Dataset.range(20).shuffle(20, seed=4) for _ in range(2))
    one.concatenate(one)
    assert orders(one) == orders(other)


def test_a_generator_must_keep_to_the_structure():
    def generate():
        yield {"a": 1}
        yield {"a": 2, "b": 3}
        yield {}
        yield {"a": 4}

    iterator = iter(Dataset.from_generator(generate, output_types={"a": tf.int64}))
    assert next(iterator) == {"a": 1}
    for _ in range(2):
        with pytest.raises(InvalidArgumentError, match="keys"):
            next(iterator)
    assert list(iterator) == [{"a": 4}]


# ---- Choosing ----


def test_a_choice_that_is_no_number_of_a_dataset_is_used_up():
    choices = of(np.int64(0), np.int64(-1), np.int64(2), 0.5, np.int64(1))
    iterator = iter(Dataset.choose_from_datasets([Dataset.range(9), Dataset.range(10, 19)], choices))
    assert next(iterator) == 0
    for error in (InvalidArgumentError, InvalidArgumentError, TypeError):
        with pytest.raises(error, match="choice"):
            next(iterator)
    assert [int(x) for x in iterator] == [10]


def test_choices_without_end_end_when_no_elements_are_left():
    chosen = Dataset.choose_from_datasets(
        [Dataset.range(2), Dataset.range(10, 11)], Dataset.range(2).repeat(), stop_on_empty_dataset=False
    )
    assert [int(x) for x in chosen] == [0, 10, 1]


@pytest.mark.parametrize("seed", [None, 7])
@pytest.mark.parametrize(("again", "same"), [(None, True), (False, True), (True, False)])
def test_a_sample_differs_from_iteration_to_iteration_only_if_that_is_asked_for(seed, again, same):
    def make():
        datasets = [Dataset.from_tensors(number).repeat() for number in range(2)]
        return Dataset.sample_from_datasets(datasets, seed=seed, rerandomize_each_iteration=again).take(64)

    data = make()
    first, second = ([int(x) for x in data] for _ in range(2))
    assert (first == second) is same
    if seed is not None:
        again = make()
        assert [[int(x) for x in again] for _ in range(2)] == [first, second]


def test_a_sample_keeps_to_its_weights():
    datasets = [Dataset.from_tensors(number).repeat() for number in range(3)]
    counts = collections.Counter(int(x) for x in Dataset.sample_from_datasets(datasets, [3, 0, 1], seed=1).take(4000))
    assert counts[1] == 0 and 2800 < counts[0] < 3200


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [1.0, np.nan], [np.inf, 1.0]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(ValueError, match="weights"):
        Dataset.sample_from_datasets([Dataset.range(1), Dataset.range(1)], weights)


# ---- Caches, and what is left out ----


@pytest.mark.parametrize("take", [lambda data: data.take(10), lambda data: data.take(4).concatenate(data.skip(4))])
def test_a_cache_is_full_when_it_has_as_many_elements_as_there_are(take):
    calls = []
    data = take(Dataset.range(10).map(lambda x: calls.append(1) or x).cache())
    first, second = ([int(x) for x in data] for _ in range(2))
    assert first == second == list(range(10))
    assert len(calls) <= 14


def test_a_cache_is_not_full_before():
    calls = []
    data = Dataset.range(10).map(lambda x: calls.append(1) or x).cache()
    assert len(list(data.take(9))) == 9
    assert [int(x) for x in data] == list(range(10)) and len(calls) == 19


@pytest.fixture(params=["memory", "file"])
def cache_of(request, tmp_path):
    """A function that caches elements after `assert_cardinality`."""
    name = tmp_path / "kept" if request.param == "file" else ""
    return lambda data, count: data.apply(tf.data.experimental.assert_cardinality(count)).prefetch(1).cache(name)


@pytest.mark.parametrize("claimed", [0, 1, 3, 6])
def test_a_cache_of_another_number_of_elements_than_asserted_raises(cache_of, claimed):
    elements = []
    with pytest.raises(FailedPreconditionError, match=f"expected to contain {claimed} element"):
        for x in cache_of(Dataset.range(5), claimed):
            elements.append(int(x))
    assert elements == list(range(min(claimed, 5)))


def test_a_cache_is_full_when_it_has_as_many_elements_as_there_should_be(cache_of):
    calls = []
    data = cache_of(Dataset.range(5).map(lambda x: calls.append(1) or x), 5)
    for _ in range(3):
        assert [int(x) for x in data.take(5)] == list(range(5))
    assert len(calls) == 5


def test_skip_and_shard_pass_over_errors_and_lose_nothing_else():
    def fail(x):
        return [][0] if x == 2 else x

    data = Dataset.range(9).map(fail)
    assert [int(x) for x in data.skip(3).ignore_errors()] == [4, 5, 6, 7, 8]
    shards = [[int(x) for x in data.shard(3, number).ignore_errors()] for number in range(3)]
    assert sorted(x for shard in shards for x in shard) == [0, 1, 3, 4, 5, 6, 7, 8]


def test_sparse_tensors_of_different_ranks_make_no_batch():
    matrix = tf.sparse.SparseTensor([[0, 1]], [1], [2, 2])
    with pytest.raises(InvalidArgumentError, match="element 0 has rank 1, element 2 rank 2"):
        list(of(SPARSE, SPARSE, matrix).batch(3))


def test_a_dataset_joined_with_itself_sixty_times_is_made_at_once():
    dataset = tf.data.Dataset.from_tensor_slices([1, 2])
    for _ in range(60):
        dataset = dataset.concatenate(dataset)
    assert dataset.cardinality() == 2**61 and dataset.element_spec.shape == ()
    assert next(iter(dataset)) == 1


@pytest.mark.parametrize("nothing", [{"w": None}, (None,), {}, (), {"w": {"v": None}}])
def test_parts_without_values_have_as_many_rows_as_the_others(nothing):
    numbers = np.arange(3)
    for dataset in (
        tf.data.Dataset.from_tensors((numbers, nothing)).unbatch(),
        tf.data.Dataset.from_tensors({"n": numbers, "x": nothing}).unbatch().map(lambda row: (row["n"], row["x"])),
    ):
        assert [(int(number), rest) for number, rest in dataset] == [(n, nothing) for n in range(3)]
    with pytest.raises(tf.errors.InvalidArgumentError):
        list(tf.data.Dataset.from_tensors(nothing).unbatch())
