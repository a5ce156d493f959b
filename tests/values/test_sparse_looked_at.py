"""What a SparseTensor becomes does not depend on whether somebody has looked at its indices."""

import copy
import pickle

import numpy as np
import pytest

import tfrecord_fast as tf

INT = tf.VarLenFeature(tf.int64)


def batch():
    return tf.parse_example(tf.encode_examples({"a": [[1, 2], [], [3]]}), {"a": INT})["a"]


def single():
    return tf.io.parse_single_example(tf.encode_examples({"a": [[5, 6]]})[0], {"a": INT})["a"]


def steps():
    records = tf.encode_sequence_examples({}, {"w": [[[1, 2], [3]], [[4]]]})
    return tf.io.parse_sequence_example(records, None, {"w": INT})[1]["w"]


@pytest.mark.parametrize("make", [batch, single, steps])
@pytest.mark.parametrize("again", [lambda x: x, copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_it_is_encoded_alike(make, again):
    looked_at = make()
    assert len(looked_at.indices) == len(looked_at.values)
    rebuilt = tf.SparseTensor(looked_at.indices, looked_at.values, looked_at.dense_shape)
    wanted = tf.encode_examples({"a": rebuilt}).tolist()
    assert len(wanted) == len(rebuilt)
    for one in (make(), again(make()), looked_at, again(looked_at)):
        assert tf.encode_examples({"a": one}).tolist() == wanted


def test_the_rows_of_a_feature_list_are_records_and_not_steps():
    assert tf.encode_examples({"a": steps()}).tolist() == tf.encode_examples({"a": [[1, 2, 3], [4]]}).tolist()


@pytest.mark.parametrize("make", [batch, single, steps])
def test_looking_does_not_make_it_given(make):
    one = make()
    assert not one.has_indices
    assert one.indices is one.indices and not one.has_indices and not pickle.loads(pickle.dumps(one)).has_indices
    assert tf.SparseTensor(one.indices, one.values, one.dense_shape).has_indices


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_indices_that_were_changed_in_place_stay_so(again):
    one = batch()
    one.indices[2] = [1, 0]
    assert one.has_indices and again(one).indices.tolist() == [[0, 0], [0, 1], [1, 0]]
    for changed in (one, again(one)):
        assert tf.encode_examples({"a": changed}).tolist() == tf.encode_examples({"a": [[1, 2], [3], []]}).tolist()


def test_a_function_of_a_dataset_may_change_indices_in_place():
    def moved(columns):
        columns["a"].indices[2] = [1, 0]
        return columns

    records = np.asarray(tf.encode_examples({"a": [[1, 2], [], [3]]}))
    parsed = tf.data.Dataset.from_tensors(records).map(lambda some: tf.parse_example(some, {"a": INT})).map(moved)
    for dataset in (parsed, parsed.cache()):
        assert [columns["a"].indices.tolist() for columns in dataset] == [[[0, 0], [0, 1], [1, 0]]]


def test_a_sparse_feature_of_the_same_values_leaves_the_lists_what_they_are():
    """It looks at the indices of the values that both are made of."""
    torch = pytest.importorskip("torch")
    from tfrecord_fast.integrations.torch.tensors import Choices, tensors_of

    features = {"v": INT, "s": tf.SparseFeature("i", "v", tf.int64, 10)}
    columns = tf.parse_example(tf.encode_examples({"i": [[1], [2, 3]], "v": [[7], [8, 9]]}), features)
    tensors = tensors_of(columns, Choices.checked("list", "jagged"))
    assert tensors["v"].layout == torch.jagged and tensors["s"].layout == torch.sparse_coo


def test_a_single_sparse_feature_of_two_dimensions_has_the_rows_of_its_first():
    features = {"x": tf.SparseFeature(["i", "j"], "v", tf.int64, [2, 3])}
    records = tf.encode_examples({"i": [[0, 1]], "j": [[2, 0]], "v": [[5, 6]]})
    single = tf.io.parse_single_example(records[0], features)["x"]
    assert single.row_splits.tolist() == [0, 1, 2]
    assert tf.encode_examples({"a": single}).tolist() == tf.encode_examples({"a": [[5], [6]]}).tolist()


def test_lengths_of_decoded_bytes_may_be_numpy_integers():
    assert tf.BytesArray([b"abc"]).decode_raw(np.uint8, np.int64(3)).tolist() == [[97, 98, 99]]


def test_specs_of_lists_are_those_of_tuples():
    assert tf.TensorSpec([], tf.string) == tf.TensorSpec((), tf.string)
    assert tf.TensorSpec([None, 2], tf.int32) == tf.TensorSpec((None, 2), tf.int32)
    assert tf.TensorSpec(None).shape is None
    spec = pickle.loads(pickle.dumps(tf.TensorSpec([3], tf.int32, "a")))
    assert (spec.shape, spec.dtype, spec.name) == ((3,), tf.int32, "a")


def unordered():
    return tf.SparseTensor([[1, 0], [0, 0]], [10, 20], [2, 1])


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda: list(tf.data.Dataset.from_tensor_slices(unordered())), id="from_tensor_slices"),
        pytest.param(lambda: list(tf.data.Dataset.from_tensors(unordered()).unbatch()), id="unbatch"),
        pytest.param(lambda: unordered().row_splits, id="row_splits"),
        pytest.param(lambda: pytest.importorskip("pyarrow").array(unordered()), id="Arrow"),
    ],
)
def test_a_sparse_tensor_out_of_order_gives_no_rows(use):
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = \[0, 0\] is out of order"):
        use()


def test_a_sparse_tensor_in_order_has_its_rows():
    rows = tf.data.Dataset.from_tensor_slices(tf.SparseTensor([[0, 1], [2, 0]], [10, 20], [3, 2]))
    assert [row.values.tolist() for row in rows] == [[10], [], [20]]


STEPS = [[[1, 2], [], [3]], [], [[4], [5, 6]]]


def a_feature_list():
    records = tf.encode_sequence_examples({}, {"a": STEPS})
    _, lists, _ = tf.parse_sequence_example(records, {}, {"a": tf.io.VarLenFeature(tf.int64)})
    return lists["a"]


def looked_at():
    tensor = a_feature_list()
    assert tensor.indices.shape == (6, 3)
    return tensor


@pytest.mark.parametrize(
    "made",
    [
        pytest.param(a_feature_list, id="as parsed"),
        pytest.param(looked_at, id="with indices"),
        pytest.param(lambda: pickle.loads(pickle.dumps(looked_at())), id="pickled"),
        pytest.param(lambda: copy.copy(looked_at()), id="copied"),
        pytest.param(lambda: copy.deepcopy(looked_at()), id="copied deeply"),
        pytest.param(
            lambda: tf.SparseTensor(looked_at().indices, looked_at().values, looked_at().dense_shape), id="of its parts"
        ),
    ],
)
def test_a_sparse_feature_list_keeps_its_steps(made, tmp_path):
    expected = tf.encode_sequence_examples({}, {"a": STEPS})
    assert list(tf.encode_sequence_examples({}, {"a": made()})) == list(expected)
    dataset = tf.data.Dataset.from_tensors(made()).cache(str(tmp_path / "kept"))
    for _ in range(2):  # as it is made, and as it is read
        (tensor,) = dataset
        assert list(tf.encode_sequence_examples({}, {"a": tensor})) == list(expected)


@pytest.mark.parametrize("dtype", [tf.int64, tf.string])
def test_dense_arrays_of_the_parsers_tensors_equal_those_of_their_indices(dtype):
    rows = [[1, 2, 3], [], [4], [5, 6]]
    values = rows if dtype == tf.int64 else [[str(item) for item in row] for row in rows]
    records = tf.encode_examples({"a": values})
    features = {"a": tf.VarLenFeature(dtype)}
    parsed = [tf.parse_example(records, features)["a"], *(tf.parse_single_example(r, features)["a"] for r in records)]
    for tensor in parsed:
        dense = tf.sparse.to_dense(tensor)
        given = tf.SparseTensor(tensor.indices, tensor.values, tensor.dense_shape)
        assert dense.tolist() == tf.sparse.to_dense(given).tolist() and dense.dtype == tf.sparse.to_dense(given).dtype
        assert dense.tolist() == tf.sparse.to_dense(tensor).tolist()  # with indices by now
    single = tf.parse_single_example(records[0], features)["a"]
    tf.sparse.to_dense(single)[:] = 0 if dtype == tf.int64 else b""
    assert np.asarray(single.values).tolist() != [0, 0, 0] and all(np.asarray(single.values))


def test_indices_that_were_changed_are_checked():
    tensor = tf.parse_example(tf.encode_examples({"a": [[1, 2]]}), {"a": tf.VarLenFeature(tf.int64)})["a"]
    tensor.indices[1] = [0, 0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="repeated"):
        tf.sparse.to_dense(tensor)


def test_a_tensor_with_an_index_out_of_range_is_only_refused_where_it_is_used():
    tensor = tf.SparseTensor([[0, 9]], [1], [1, 2])
    dataset = tf.data.Dataset.from_tensors(tensor).map(lambda x: x)
    assert next(iter(dataset)).indices.tolist() == [[0, 9]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of bounds"):
        tf.sparse.to_dense(tensor)
