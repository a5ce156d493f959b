"""Columns on their way into Examples: how values are cut, what Arrow's forms give, and what is refused how."""

import array
import ctypes
import mmap
import struct
import types

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tfrecord_fast.examples.encoding.arrow_columns import concatenate
from tfrecord_fast.examples.encoding.column import Column, as_key, both, nest, nest_fixed
from tfrecord_fast.examples.encoding.feature_lists import _arrow_list
from tfrecord_fast.examples.encoding.sequences import _check_exact, _is_buffer
from tfrecord_fast.examples.messages import protobuf as messages
from tfrecord_fast.examples.messages.wire import array_of, entries_of, sequence_of, steps_of
from tfrecord_fast.examples.parsing import partitions
from tfrecord_fast.examples.parsing import user_columns as results

pa = pytest.importorskip("pyarrow")
Invalid = tf.errors.InvalidArgumentError


def rows_of(column):
    """The values of each row of one column "a" after it has been written, None where it has none."""
    made = []
    for record in tf.encode_examples({"a": column}):
        found = dict(entries_of(record, 1))
        made.append(list(array_of(found["a"])[1]) if "a" in found else None)
    return made


# ---- How values are cut ----


@pytest.mark.parametrize("splits", [[], [-1, 2], [0, 4], [0, 2, 1]])
def test_splits_ascend_within_the_values(splits):
    child = Column("int64", np.arange(3), 3)
    said = "row splits must ascend from 0 to at most 3, the number of "
    with pytest.raises(Invalid) as error:
        nest(np.array(splits, np.int64), child)
    assert str(error.value) == f"{said}values"
    with pytest.raises(Invalid) as error:
        _arrow_list(child, np.array(splits, np.int64))
    assert str(error.value) == f"{said}steps"


def test_splits_may_leave_values_out():
    child = Column("int64", np.arange(6), 3, per_row=2)
    for splits in ([0, 3], [1, 2, 2], [3], [0, 0]):
        assert nest(np.array(splits), child).splits.tolist() == [2 * one for one in splits]
        assert _arrow_list(child, np.array(splits)).steps.tolist() == splits
    inner = Column("int64", np.arange(9), 4, splits=np.array([1, 3, 5, 7, 9]))
    assert nest(np.array([1, 3]), inner).splits.tolist() == [3, 7]
    assert nest_fixed(2, 2, inner).splits.tolist() == [1, 5, 9]
    assert nest_fixed(3, 1, child)[2:5] == (3, 2, None)


def test_a_null_inside_a_list_is_refused_where_it_is_in_one():
    child = Column("int64", np.arange(4), 4, valid=np.array([0, 1, 1, 0], np.uint8))
    assert nest(np.array([1, 3]), child).rows == 1
    for splits in ([0, 3], [1, 4]):
        with pytest.raises(Invalid, match="a null inside a list; only a whole row can be null"):
            nest(np.array(splits), child)
    with pytest.raises(Invalid, match="a null inside a list"):
        nest_fixed(2, 2, child)


@pytest.mark.parametrize(
    ("splits", "said"),
    [
        ([1, 3], "must ascend from 0 to 3, the number of values, got 1 to 3"),
        ([0, 2], "must ascend from 0 to 3, the number of values, got 0 to 2"),
        ([], "must ascend from 0 to 3, the number of values, got none"),
        ([[0, 3]], "must ascend from 0 to 3, the number of values, got none"),
        ([0, 2, 1, 3], "must ascend from 0 to 3, the number of values"),
        ([0.0, 3.0], "row splits: expected integers, got float64"),
    ],
)
def test_splits_of_others_leave_nothing_out(splits, said):
    class Ragged:
        row_splits = np.array(splits)
        values = np.arange(3)

    with pytest.raises(Invalid) as error:
        tf.encode_examples({"a": Ragged()})
    assert str(error.value).startswith("feature 'a': ") and str(error.value).endswith(said)
    if said.endswith("none"):
        return
    Ragged.row_splits, Ragged.values = np.array(splits), [[1], [2], [3]]
    with pytest.raises(Invalid) as error:
        tf.encode_sequence_examples({}, {"a": Ragged()})
    assert str(error.value).startswith("feature list 'a': ")
    assert str(error.value).endswith(said.replace("number of values", "number of steps"))


def test_both_are_valid():
    one, other = np.array([1, 0, 1], np.uint8), np.array([1, 1, 0], np.uint8)
    assert both(None, None) is None and both(one, None) is one and both(None, other) is other
    assert both(one, other).tolist() == [1, 0, 0]


def test_keys_are_text():
    assert as_key("a") == as_key(b"a") == "a"
    for key, kind, said in (
        (b"\xff", Invalid, r"keys must be UTF-8, got b'\xff'"),
        (5, TypeError, "keys must be strings, got int: 5"),
    ):
        with pytest.raises(kind) as error:
            as_key(key)
        assert str(error.value) == said
    with pytest.raises(Invalid, match="feature 'a' is given twice"):
        tf.encode_examples({"a": [1], b"a": [2]})


# ---- Arrow ----


def test_a_dictionary_may_have_nulls_in_it_and_beside_it():
    words = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2, 1]), pa.array(["x", None, "z"]))
    assert rows_of(words) == [[b"x"], None, None, [b"z"], None]
    numbers = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), pa.array([7.5, 8.5]))
    assert rows_of(numbers) == [[8.5], [7.5]]
    nothing = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), pa.array([], pa.string()))
    assert rows_of(nothing) == [None, None]


def test_a_dictionary_of_lists_is_refused():
    lists = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array([[1, 2]]))
    fixed = pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array([[1, 2]], pa.list_(pa.int64(), 2)))
    for column in (lists, fixed):
        with pytest.raises(TypeError) as error:
            tf.encode_examples({"a": column})
        assert str(error.value) == "feature 'a': an Example cannot hold an Arrow dictionary of lists"


def test_chunks_are_joined_whatever_their_forms():
    one = pa.chunked_array([[["a"], ["b", "c"]], [None, []], [["d"]]])
    assert rows_of(one) == [[b"a"], [b"b", b"c"], None, [], [b"d"]]
    assert rows_of(pa.chunked_array([[None], ["a"]], pa.string())) == [None, [b"a"]]
    assert rows_of(pa.chunked_array([[1.5], [None, 2.5]])) == [[1.5], None, [2.5]]
    assert rows_of(pa.chunked_array([], pa.int64())) == []
    part = pa.array([[1], [2, 3], [4], [5]]).slice(1, 2)
    assert rows_of(pa.chunked_array([part, part])) == [[2, 3], [4]] * 2
    nulls = Column("int64", np.zeros(2, np.int64), 2, valid=np.zeros(2, np.uint8))
    assert concatenate([]).rows == 0 and concatenate([nulls]) is nulls
    both_null = concatenate([nulls, nulls])
    assert (both_null.rows, both_null.type, both_null.valid.tolist()) == (4, "int64", [0, 0, 0, 0])


def test_chunks_of_several_types_are_refused():
    one, other = Column("int64", np.arange(2), 2), Column("float32", np.zeros(2, np.float32), 2)
    with pytest.raises(TypeError) as error:
        concatenate([one, other])
    assert str(error.value) == "the chunks of a column have different types: ['float32', 'int64']"
    missing = other._replace(valid=np.zeros(2, np.uint8))
    made = concatenate([missing, one])  # which says nothing
    assert (made.type, made.values.tolist(), made.valid.tolist()) == ("int64", [0, 0, 0, 1], [0, 0, 1, 1])


def test_an_array_that_is_no_table_is_refused():
    class Numbers:
        def __arrow_c_array__(self, requested_schema=None):
            return pa.array([1, 2]).__arrow_c_array__()

    with pytest.raises(TypeError) as error:
        tf.encode_examples(Numbers())
    assert str(error.value) == "expected an Arrow table: an array of structs, or a stream of them"


def test_names_that_arrow_would_cut_and_names_given_twice():
    with pytest.raises(Invalid) as error:
        tf.encode_examples(pa.table({"a\0b": [1]}))
    assert str(error.value) == r"feature 'a\x00b': Arrow cuts names at a NUL; rename the feature"
    with pytest.raises(Invalid, match="feature 'a' is given twice"):
        tf.encode_examples(pa.Table.from_arrays([pa.array([1]), pa.array([2])], ["a", "a"]))


def test_fields_of_rows_that_are_null_are_missing():
    rows = pa.array([{"a": 1, "b": None}, None, {"a": 3, "b": "x"}])
    batch = type("Rows", (), {"__arrow_c_array__": lambda self, requested_schema=None: rows.__arrow_c_array__()})()
    made = [dict(entries_of(record, 1)) for record in tf.encode_examples(batch)]
    assert [sorted(one) for one in made] == [["a"], [], ["a", "b"]]


def steps(column):
    """The steps of each row of one feature list."""
    made = []
    for record in tf.encode_sequence_examples({}, {"s": column}):
        found = dict(entries_of(record, 2))
        made.append([list(array_of(one)[1]) for one in steps_of(found["s"])] if "s" in found else None)
    return made


def test_fixed_lists_of_arrow_are_feature_lists():
    given = [[1, 2], None, [5, 6]]
    assert steps(pa.array(given, pa.list_(pa.int64(), 2))) == [[[1], [2]], None, [[5], [6]]]
    nested = pa.array([[[1], [2, 3]], [[], [4]]], pa.list_(pa.list_(pa.int64()), 2))
    assert steps(nested) == [[[1], [2, 3]], [[], [4]]]
    assert steps(pa.array(given, pa.list_(pa.int64()))) == [[[1], [2]], None, [[5], [6]]]
    with pytest.raises(TypeError) as error:
        tf.encode_sequence_examples({}, {"s": pa.array([1, 2])})
    assert str(error.value) == (
        "feature list 's': expected rows of steps (a RaggedTensor, nested lists, an array [n, steps, …]), "
        "got Int64Array"
    )


def test_padded_steps_of_anything_that_is_an_array():
    class Steps:
        shape = (2, 2)

        def __array__(self, dtype=None, copy=None):
            return np.array([[1, 2], [3, 4]])

    assert steps(Steps()) == [[[1], [2]], [[3], [4]]]
    objects = np.empty(2, object)
    objects[:] = [[[1], [2, 3]], None]
    assert steps(objects) == [[[1], [2, 3]], None]
    masked = np.ma.array(objects, mask=[False, True])
    assert steps(masked) == [[[1], [2, 3]], None]
    made = tf.encode_sequence_examples({}, {"s": np.arange(4).reshape(2, 2)}, lengths={"s": [1, 2]})
    assert [sequence_of(one)[1]["s"] for one in made] == [[("int64", [0])], [("int64", [2]), ("int64", [3])]]


# ---- Numbers, and sparse ----


def test_integers_beyond_int64_and_beyond_floats():
    for values in ([1 << 63], [[1, -(1 << 63) - 1]], [np.uint64(1 << 63), 1]):
        with pytest.raises(Invalid, match=r"feature 'a'.*int64"):
            tf.encode_examples({"a": values})
    for values in ([0.5, (1 << 24) + 1], [0.5, 10**400]):
        with pytest.raises(Invalid) as error:
            tf.encode_examples({"a": values})
        assert (
            str(error.value)
            == f"feature 'a': the integer {values[1]} among floats does not fit the float32 of a float list"
        )
    assert rows_of([0.5, 1 << 24, -(1 << 30)]) == [[0.5], [2.0**24], [-(2.0**30)]]
    _check_exact([0, -5, np.int64(7), 1 << 127])
    with pytest.raises(Invalid, match="the integer 9007199254740993 among floats"):
        _check_exact([1, (1 << 53) + 1])


def test_rows_of_integers_of_several_kinds():
    both_kinds = [np.array([1], np.int64), np.array([2], np.uint64)]
    assert rows_of(both_kinds) == [[1], [2]]
    with pytest.raises(Invalid, match="feature 'a'"):
        tf.encode_examples({"a": [np.array([1], np.int64), np.array([1 << 63], np.uint64)]})
    assert rows_of([np.array([1], np.int8), np.array([0.5], np.float32)]) == [[1.0], [0.5]]
    assert rows_of([np.array([], np.float32), np.array([3], np.int64)]) == [[], [3]]
    assert rows_of([np.array([], np.int64)] * 2) == [[], []]


def test_a_sparse_tensor_needs_rows():
    class Sparse:
        indices, values, dense_shape = np.zeros((1, 0), int), np.array([1]), np.array([], int)

    with pytest.raises(TypeError) as error:
        tf.encode_examples({"a": Sparse()})
    assert str(error.value) == "feature 'a': a SparseTensor without dimensions has no rows"
    Sparse.indices, Sparse.dense_shape = np.array([[0, 1], [0, 0]]), np.array([1, 2])
    Sparse.values = np.array([1, 2])
    with pytest.raises(Invalid, match="must be unique, in row-major order, and inside dense_shape: "):
        tf.encode_examples({"a": Sparse()})
    Sparse.indices = np.array([[0, 0], [0, 1]])
    Sparse.values = np.array([1, 2, 3])
    with pytest.raises(Invalid, match="a SparseTensor has 2 indices but 3 values"):
        tf.encode_examples({"a": Sparse()})
    Sparse.indices, Sparse.values, Sparse.dense_shape = np.array([[1, 0], [1, 1]]), np.array([5, 6]), [3, 2]
    assert rows_of(Sparse()) == [[], [5, 6], []]


def test_missing_values_among_lists_and_numbers():
    assert rows_of([1, None, 3]) == [[1], None, [3]] and rows_of([[1], None, []]) == [[1], None, []]
    assert rows_of([[], []]) == [None, None]  # nothing tells the kind
    assert rows_of([b"x", None]) == [[b"x"], None]


# ---- What results are cut into ----


def test_row_splits_of_int32_hold_so_many_values():
    most = np.iinfo(np.int32).max
    fine = results._narrow(np.array([0, most]), tf.int32, "a")
    assert (fine.dtype, fine.tolist()) == (np.int32, [0, most])
    wide = np.array([0, most + 1])
    assert results._narrow(wide, tf.int64, "a") is wide
    with pytest.raises(Invalid) as error:
        results._narrow(wide, tf.int32, "a")
    assert str(error.value) == (
        f"feature 'a': {most + 1} values are too many for row splits of int32; "
        "use RaggedFeature(…, row_splits_dtype=int64)"
    )


Ragged = tf.io.RaggedFeature


def parsed(partition, values, cuts=(), single=False, **how):
    record = wire.example(
        [(b"v", wire.feature("int64", list(values))), (b"p", wire.feature("int64", list(cuts)))],
    )
    features = {"r": Ragged(tf.int64, "v", partition if isinstance(partition, list) else [partition], **how)}
    made = tf.io.parse_single_example(record, features) if single else tf.io.parse_example([record], features)
    return made["r"].to_list() if hasattr(made["r"], "to_list") else made["r"].tolist()


@pytest.mark.parametrize("single", [True, False])
def test_uniform_rows_of_what_is_cut_further(single):
    cuts = [Ragged.UniformRowLength(2), Ragged.RowLengths("p")]
    expected = [[[1], [2, 3]], [[], [4]]]
    assert parsed(cuts, [1, 2, 3, 4], [1, 2, 0, 1], single) == (expected if single else [expected])
    with pytest.raises(Invalid, match="feature 'r'"):
        parsed(cuts, [1, 2, 3], [1, 1, 1], single)
    within = [Ragged.RowLengths("p"), Ragged.UniformRowLength(2)]
    expected = [[[1, 2]], [], [[3, 4], [5, 6]]]
    assert parsed(within, range(1, 7), [1, 0, 2], single) == (expected if single else [expected])


@pytest.mark.parametrize(
    ("length", "single", "said"),
    [
        (0, False, "feature 'r': a uniform row length must be positive, got 0"),
        (-1, False, "feature 'r': a uniform row length must be positive, got -1"),
        (2, False, "feature 'r': 3 values cannot be cut into rows of 2"),
        (2, True, "feature 'r': 3 values cannot be cut into rows of 2"),
        (-1, True, "feature 'r': 3 values cannot be cut into rows of -1"),
    ],
)
def test_uniform_rows_that_do_not_come_out(length, single, said):
    with pytest.raises(Invalid) as error:
        parsed(Ragged.UniformRowLength(length), [1, 2, 3], single=single)
    assert said in str(error.value)


def test_what_fails_only_together_is_told_of_the_feature():
    """An error that no row alone has names the feature only."""
    feature = Ragged(tf.int64, "v", [Ragged.RowLengths("p")])
    values = tf.RaggedTensor.from_row_lengths(np.arange(2), [1, 1])
    cuts = tf.RaggedTensor.from_row_lengths(np.array([1]), [1])
    with pytest.raises(Invalid) as error:
        partitions.partition_batch("r", feature, values[:0], {"p": cuts}, "record")
    assert str(error.value) == "feature 'r': expected a partition of 0 rows, got 1"
    with pytest.raises(partitions.RowError) as error:
        partitions.partition_batch("r", feature, values, {"p": cuts}, "record")
    assert error.value.row == 1 and "expected a partition of 1 rows, got 0" in error.value.text
    with pytest.raises(partitions.RowError) as error:
        partitions.partition_batch("r", feature, values, {"p": cuts}, "step")
    assert error.value.row == 0 and error.value.text.startswith("feature 'r': step 1: ")


def test_floats_are_written_as_they_are():
    record = tf.encode_examples({"a": np.array([0.1, -2.5], np.float64).reshape(1, 2)})[0]
    assert struct.pack("<2f", 0.1, -2.5) in record


def test_chunks_without_values_among_words():
    empty = pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), pa.array([], pa.string()))
    words = pa.DictionaryArray.from_arrays(pa.array([1, 0], pa.int8()), pa.array(["x", "y"]))
    assert rows_of(pa.chunked_array([empty, words])) == [None, None, [b"y"], [b"x"]]


def test_what_is_a_buffer():
    for value in (b"a", bytearray(b"a"), memoryview(b"a"), mmap.mmap(-1, 4)):
        assert _is_buffer(value)
    for value in (np.zeros(1), array.array("b", [1]), (ctypes.c_char * 2)(), "a", 5, [1], None):
        assert not _is_buffer(value)


def test_messages_are_made_by_old_versions_of_protobuf_too(monkeypatch):
    pytest.importorskip("google.protobuf")
    imported = messages.optional

    def old(name, need):
        found = imported(name, need)
        if not name.endswith("message_factory"):
            return found
        return types.SimpleNamespace(
            MessageFactory=lambda pool: types.SimpleNamespace(GetPrototype=found.GetMessageClass)
        )

    monkeypatch.setattr(messages, "optional", old)
    made = messages._make()
    record = tf.encode_examples({"a": [1]})[0]
    parsed = made["Example"].FromString(record)
    assert (
        parsed.features.feature["a"].int64_list.value[:] == [1] and made["Example"].__module__ == "tfrecord_fast.train"
    )
