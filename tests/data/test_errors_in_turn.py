"""What datasets lost or changed without a word until somebody read them, each as TensorFlow answers."""

import collections
import copy
import pickle
import re

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import live_tensorflow

D = tf.data.Dataset


E = tf.data.experimental


live = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="no TensorFlow")


def drained(dataset, most=50):
    """Elements, with "error" in the place of what raised."""
    elements, found = iter(dataset), []
    for _ in range(most):
        try:
            found.append(next(elements))
        except StopIteration:
            return found
        except Exception:
            found.append("error")
    return found


PAIRS = D.range(1, 4).map(lambda n: {"a": np.full(n, 7), "b": np.full(n, 8)})


def rerandomized():
    return D.random(seed=5, rerandomize_each_iteration=True).take(4)


@pytest.mark.parametrize("bad", [0, 1, 2])
def test_parallel_interleave_goes_on_after_a_function_that_raised(bad):
    def opened(number):
        if number == bad:
            raise ValueError("bad")
        return D.from_tensors(number).repeat(2)

    found = drained(D.range(5).apply(E.parallel_interleave(opened, cycle_length=3)))
    assert found.count("error") == 1
    assert sorted(int(x) for x in found if not isinstance(x, str)) == sorted([n for n in range(5) if n != bad] * 2)


def test_parallel_interleave_goes_on_after_an_element_that_raised():
    def failing(number):
        if number == 0:
            raise ValueError("bad")
        return number

    made = D.range(4).map(failing).apply(E.parallel_interleave(lambda n: D.from_tensors(n), cycle_length=2))
    assert sorted(int(x) for x in made.ignore_errors()) == [1, 2, 3]


@pytest.mark.parametrize("values", [{"a": -1}, {"a": -1, "z": -2}, (-1,), (-1, -2)], ids=repr)
def test_padding_values_of_another_structure_are_refused(values):
    with pytest.raises((ValueError, TypeError)):
        list(PAIRS.padded_batch(3, padding_values=values))


@pytest.mark.parametrize("values", [{"a": (0, 5), "b": 7}, {"a": {"c": 0, "d": 5}, "b": 7}], ids=repr)
def test_several_padding_values_for_one_component_do_not_move_the_others(values):
    with pytest.raises((ValueError, TypeError)):
        list(PAIRS.padded_batch(3, padding_values=values))


@pytest.mark.parametrize("shapes", [{"a": [3], "z": [5]}, ([3], [5])], ids=repr)
def test_padded_shapes_of_another_structure_are_refused(shapes):
    with pytest.raises((ValueError, TypeError)):
        list(PAIRS.padded_batch(3, padded_shapes=shapes))


Both = collections.namedtuple("Both", "x y")
NESTED = D.range(1, 4).map(lambda n: {"a": np.full(n, n), "b": {"c": n, "d": (np.zeros((1, n)), Both(b"s", n))}})
SHAPES = {"a": [None], "b": {"c": [], "d": ([None, None], Both([], []))}}
VALUES = {"a": 0, "b": {"c": 0, "d": (0.0, Both(b"", 0))}}


def replaced(structure, value, first, *further):
    """With the value in that place."""
    if isinstance(structure, tuple):
        items = [replaced(one, value, *further) if i == first and further else one for i, one in enumerate(structure)]
        items[first] = items[first] if further else value
        return type(structure)(*items) if hasattr(structure, "_fields") else tuple(items)
    return {**structure, first: replaced(structure[first], value, *further) if further else value}


@pytest.mark.parametrize(
    ("place", "shape", "said"),
    [
        (["a"], 3, "padded_shapes: expected a shape for component ['a'], got 3"),
        (["a"], ["x"], "padded_shapes: expected a shape for component ['a'], got ['x']"),
        (["b"], 5, "padded_shapes: component ['b'] is a dict with the keys ['c', 'd'], got 5"),
        (["b"], {"c": []}, "padded_shapes: component ['b'] is a dict with the keys ['c', 'd'], got {'c': []}"),
        (["b", "d"], [[None, None]], "padded_shapes: component ['b']['d'] has 2 items, got [[None, None]]"),
        (["b", "d", 1], [], "padded_shapes: component ['b']['d'][1] has 2 items, got []"),
        (["b", "d", 1, 0], None, "padded_shapes: expected a shape for component ['b']['d'][1].x, got None"),
        (["b", "d", 0], [None], "padded_shapes: [None] does not fit component ['b']['d'][0], which has 2 dimensions"),
        (["b", "d", 0], [2, 1], "smaller size than the input element: [1, 3] to [2, 1], in component ['b']['d'][0]"),
    ],
    ids=repr,
)
def test_what_padded_shapes_do_not_fit_is_named(place, shape, said):
    with pytest.raises((tf.errors.InvalidArgumentError, tf.errors.DataLossError), match=re.escape(said)):
        list(NESTED.padded_batch(3, padded_shapes=replaced(SHAPES, shape, *place)))


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (["b"], 5, "padding_values: component ['b'] is a dict with the keys ['c', 'd'], got 5"),
        (["b", "d"], (0.0, 1, 2), "padding_values: component ['b']['d'] has 2 items, got (0.0, 1, 2)"),
        (["b", "c"], "x", "padding_values for component ['b']['c']: 'x' cannot be converted to int64"),
        (["b", "d", 1, 1], 1.5, "padding_values for component ['b']['d'][1].y: 1.5 cannot be converted to int64"),
        (["a"], [1, 2], "padding_values for component ['a']: must be a scalar, got [1, 2]"),
    ],
    ids=repr,
)
def test_what_padding_values_do_not_fit_is_named(place, value, said):
    with pytest.raises((ValueError, TypeError), match=re.escape(said)):
        list(NESTED.padded_batch(3, padding_values=replaced(VALUES, value, *place)))


def test_without_a_structure_there_is_no_component_to_name():
    rows = D.range(1, 4).map(lambda n: np.full(n, n))
    with pytest.raises(ValueError, match=re.escape("padded_shapes: expected a shape for an element, got ([3], [5])")):
        list(rows.padded_batch(3, padded_shapes=([3], [5])))
    with pytest.raises(TypeError, match=re.escape("padding_values 'x' cannot be converted to int64")):
        list(rows.padded_batch(3, padding_values="x"))
    with pytest.raises(ValueError, match=re.escape("padding_values: an element has 2 items, got (1,)")):
        list(D.from_tensors((1, 2)).padded_batch(3, padding_values=(1,)))


def test_components_that_differ_from_element_to_element_are_named():
    def changing(number, one, other):
        return {"a": number, "b": other if number else one}

    for one, other, said in [(1, [1], "in rank"), (1, "x", "in their dtypes")]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=rf"{said}: .*, in component \['b'\]"):
            list(D.range(2).map(lambda n: changing(n, one, other)).padded_batch(2))  # noqa: B023 - called here
    with pytest.raises(TypeError, match=r"can't pad None, in component \['b'\]"):
        list(D.range(2).map(lambda n: changing(n, None, None)).padded_batch(2))


def test_more_padded_shapes_than_components_are_refused():
    with pytest.raises((ValueError, TypeError)):
        list(D.range(1, 4).map(lambda n: np.full(n, 7)).padded_batch(3, padded_shapes=([3], [5])))


@pytest.mark.parametrize(
    "look",
    [lambda d: d.element_spec, lambda d: d.concatenate(D.range(3)), lambda d: d.batch(2).element_spec],
    ids=["element_spec", "concatenate", "batch"],
)
def test_a_look_at_random_numbers_does_not_change_them(look):
    numbers = rerandomized()
    look(numbers)
    assert list(numbers) == list(rerandomized())


def test_iterations_of_a_copy_of_random_numbers_are_counted_by_themselves():
    numbers = rerandomized()
    other = copy.copy(numbers)
    first = list(numbers)
    assert list(other) == first


def test_random_numbers_go_to_other_processes():
    assert list(pickle.loads(pickle.dumps(rerandomized()))) == list(rerandomized())


@live
def test_random_numbers_without_a_seed_in_a_repeat():
    def is_same():
        found = [int(x) for x in tf.data.Dataset.random().take(3).repeat(2)]
        return found[:3] == found[3:]

    assert is_same() == live_tensorflow.call(is_same)  # RandomDataset V1 has a FixedSeedGenerator: True


@pytest.fixture
def paths(tmp_path):
    made = []
    for name in "abc":
        made.append(str(tmp_path / name))
        with tf.io.TFRecordWriter(made[-1]) as writer:
            writer.write(name + "0")
            writer.write(name + "1")
    return made


def opener(path):
    if path.endswith(b"b"):
        raise ValueError("bad path")
    return tf.data.TFRecordDataset(path)


@pytest.mark.parametrize("planned", [True, False])
@pytest.mark.parametrize("method", ["interleave", "flat_map"])
def test_a_function_that_raises_for_one_path_raises_in_its_turn(paths, planned, method):
    names = D.from_tensor_slices(paths)
    names = names if planned else names.map(lambda path: path)
    more = {"cycle_length": 1} if method == "interleave" else {}
    assert drained(getattr(names, method)(opener, **more)) == [b"a0", b"a1", "error", b"c0", b"c1"]


def test_repr_does_not_raise_what_the_function_raises(paths):
    assert "interleave" in repr(D.from_tensor_slices(paths).interleave(opener, cycle_length=1))


def test_ignore_errors_passes_over_a_function_that_raises_for_one_path(paths):
    made = D.from_tensor_slices(paths).interleave(opener, cycle_length=1).ignore_errors()
    assert list(made) == [b"a0", b"a1", b"c0", b"c1"]


@pytest.mark.parametrize(
    ("function", "error"),
    [
        (lambda x: undefined_name + x, NameError),  # noqa: F821
        (lambda x: x.no_such_attribute, AttributeError),
        (lambda x: tf.no_such_name(x), AttributeError),
        (lambda x: __import__("no_such_module"), ImportError),
    ],
)
@pytest.mark.parametrize("steps", [lambda data: data, lambda data: data.batch(2), lambda data: data.prefetch(1)])
def test_ignore_errors_raises_mistakes_of_the_script(function, error, steps):
    with pytest.raises(error):
        list(steps(D.range(3).map(function)).ignore_errors())


def test_ignore_errors_skips_an_element_without_a_match():
    texts = D.from_tensor_slices([b"a1", b"b", b"c2"]).map(lambda text: re.search(rb"\d", text).group())
    assert list(texts.ignore_errors()) == [b"1", b"2"]


def test_arguments_of_a_generator_are_numpy_values():
    seen = []

    def generator(text, numbers):
        seen.append((text, numbers))
        yield 1

    list(D.from_generator(generator, output_types=tf.int32, args=("abc", [1, 2])))
    [(text, numbers)] = seen
    assert text == b"abc" and isinstance(numbers, np.ndarray) and numbers.dtype == np.int32


def test_arguments_of_a_generator_are_those_of_the_call():
    numbers = np.array([1, 2, 3])
    made = D.from_generator(lambda given: iter(given), output_types=tf.int64, args=(numbers,))
    numbers[:] = 9
    assert [int(x) for x in made] == [1, 2, 3]


def test_arguments_of_a_generator_are_the_same_again_though_it_changed_them():
    def counting(given):
        yield from given
        given += 1

    made = D.from_generator(counting, output_types=tf.int64, args=(np.array([1, 2]),))
    assert [[int(x) for x in made] for _ in range(2)] == [[1, 2], [1, 2]]


def test_arguments_of_a_generator_may_be_an_array():
    made = D.from_generator(lambda a, b: iter([a, b]), output_types=tf.int64, args=np.array([4, 5]))
    assert [int(x) for x in made] == [4, 5]


def test_a_function_that_raises_leaves_the_order_of_paths_as_it_was_drawn(paths):
    def shuffled():
        return D.from_tensor_slices(paths).shuffle(3, seed=5)

    one = shuffled().interleave(opener, cycle_length=1)
    for order in [list(path) for path in zip(*[iter([*shuffled().repeat(2)])] * 3, strict=True)]:
        given = [records for path in order for records in (["error"] if path.endswith(b"b") else [path[-1:]] * 2)]
        found = [record if record == "error" else record[:1] for record in drained(one)]
        assert found == given
