"""The results that functions of datasets may return: those of TensorFlow, or an error."""

import numpy as np
import pytest

import tfrecord_fast.tensorflow as tf_compat
from tests.support import live_tensorflow
from tests.tensorflow.side_by_side import differences, of_both

needs_tensorflow = pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
D = tf_compat.data.Dataset


@pytest.mark.parametrize("value", [None, 1, [True], (True,), 1.0, np.array([True]), "yes"])
def test_a_predicate_returns_one_bool(value):
    for result in (D.range(3).filter(lambda x: value), D.range(3).take_while(predicate=lambda x: value)):
        with pytest.raises(ValueError, match="`predicate` must return"):
            list(result)


def test_predicates_of_any_kind_of_bool():
    for yes in (True, np.bool_(True), np.array(True), tf_compat.constant(True)):
        assert len(list(D.range(3).filter(lambda x, yes=yes: yes))) == 3


@pytest.mark.parametrize("state", [1.0, np.float64(1), np.int64(1), True, "a", (1,), {"a": 1}])
def test_a_state_stays_of_its_dtype_and_structure(state):
    with pytest.raises(TypeError, match="state must keep"):
        list(D.range(3).scan(0, lambda s, x: (state, x)))
    with pytest.raises(TypeError, match="state must keep"):
        D.range(3).reduce(0, lambda s, x: state)


def states():
    D = tf.data.Dataset  # noqa: F821
    words = list(D.range(3).scan("", lambda s, x: (tf.strings.join([s, "a"]), s)).as_numpy_iterator())  # noqa: F821
    grown = D.range(3).reduce(np.zeros(0, np.int64), lambda s, x: tf.concat([s, [x]], 0))  # noqa: F821
    pairs = D.range(3).reduce((0, {"b": 1.0}), lambda n, x: (n[0] + 1, {"b": n[1]["b"] * 2}))
    return words, grown.numpy().tolist(), pairs[0].numpy(), pairs[1]["b"].numpy()


@needs_tensorflow
def test_states_of_strings_of_growing_shapes_and_of_structures():
    ours, theirs = of_both(states)
    assert ours == theirs


@needs_tensorflow
def test_shapes_are_tensors():
    ones = "list(tf.data.Dataset.range(2).map(lambda x: {}))"
    kinds = ["tf.ones([2, 3]).shape", "(x, tf.ones([2, 3]).shape)", "{'a': tf.ones([2, 3]).shape[1]}", "x.shape"]
    expressions = [ones.format(form) for form in kinds]
    expressions.append("tf.data.Dataset.range(2).map(lambda x: tf.ones([2, 3]).shape).element_spec")
    assert not differences(expressions)


@needs_tensorflow
def test_py_function_converts_what_numpy_has():
    arguments = [
        "np.zeros(2)",
        "np.float64(1.5)",
        "np.ones(1, np.int64)",
        "np.array([True])",
        "np.array(['a'])",
        "tf.zeros(2, tf.float64)",
        "'a'",
        "2.5",
    ]
    kinds = ["tf.float32", "tf.int32", "tf.float16", "tf.string", "[tf.float32]"]
    assert not differences([f"tf.py_function(lambda: {value}, [], {form})" for value in arguments for form in kinds])


@needs_tensorflow
def test_generators_get_their_arguments_as_numpy_values():
    function = "lambda *given: iter([(type(one).__name__, str(one)) for one in given])"
    expression = f"list(tf.data.Dataset.from_generator({function}, tf.string, args=(3, 'q', 1.5, [1, 2])))"
    assert not differences([expression])


def test_none_is_not_padded():
    with pytest.raises(TypeError, match="None"):
        list(D.range(2).map(lambda x: {"a": x, "n": None}).padded_batch(2))


def test_numpy_takes_no_scalar_string_for_a_number():
    for arguments in (tf_compat.constant("3"), [tf_compat.constant("3"), tf_compat.constant("12")]):
        with pytest.raises(TypeError, match="numpy"):
            np.array(arguments)
    assert np.array([tf_compat.constant("3").numpy()]).tolist() == [b"3"]
    assert int(tf_compat.constant("3").numpy()) == 3


def test_numpy_testing_compares_tensors():
    x = tf_compat.constant([1.0, np.nan])
    np.testing.assert_array_equal(x, x)
    np.testing.assert_allclose(x, [1.0, np.nan])
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(x, x + 1.0)


@needs_tensorflow
def test_signs_and_truth_of_ragged_tensors():
    rows = "tf.ragged.constant([[1, -2], [], [3]])"
    assert not differences(
        [item.format(rows) for item in ("-{}", "abs({})", "~({} > 1)", "bool({})", "not {}", "-{} + 1")]
    )
