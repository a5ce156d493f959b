"""BytesArray, SparseTensor, RaggedTensor, to_dense, decode_raw: the columns themselves."""

import gc
import pickle
import sys

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import live_tensorflow
from tests.support import wire_writer as wire
from tfrecord_fast import _core


def record(**features):
    return wire.example([(name.encode(), wire.feature(*value)) for name, value in features.items()])


STRINGS = [b"", b"a", b"bb" * 50, "ж".encode(), b"\x00\x00", b"end"]


def column(strings=STRINGS, shape=()):
    n = int(np.prod(shape)) if shape else 1
    rows = [strings[i : i + n] for i in range(0, len(strings), n)]
    features = {"s": tf.FixedLenFeature(list(shape), tf.string)}
    return tf.parse_example([record(s=("bytes", row)) for row in rows], features)["s"]


def test_elements_are_bytes():
    assert [column()[i] for i in range(6)] == STRINGS == list(column()) == column().tolist()
    assert column()[-1] == b"end" and column()[np.int64(1)] == b"a"
    with pytest.raises(IndexError):
        column()[6]
    array = np.asarray(column(shape=(2,)))
    assert array.dtype == object and array.shape == (3, 2) and array[1, 0] == b"bb" * 50


@pytest.mark.parametrize(
    "key",
    [0, slice(1, None), slice(None, None, -1), (1, 2), (slice(None), 0), [1, 0, 1], np.array([True, False]), ...],
    ids=str,
)
def test_indexing_is_numpys(key):
    expected, got = np.asarray(column(shape=(3,)))[key], column(shape=(3,))[key]
    assert got == expected if isinstance(got, bytes) else np.array_equal(np.asarray(got), expected)


def test_views_are_read_only_and_lie_inside_the_batch():
    batch = _core.record_batch([record(s=("bytes", [b"needle" * 9]))])
    strings = tf.parse_example(batch, {"s": tf.FixedLenFeature([], tf.string)})["s"]
    whole = np.frombuffer(batch.view(0), np.uint8)
    view = np.frombuffer(strings.view(0), np.uint8)
    start = view.ctypes.data - whole.ctypes.data
    assert 0 <= start and start + len(view) <= len(whole) and strings.view(0).readonly


def holders(data):
    """How many refer to the record, its caller aside."""
    gc.collect()
    return sys.getrefcount(data) - 2


def test_a_column_keeps_its_buffers_alive_and_a_copy_does_not():
    data = record(s=("bytes", [b"x" * 100]))
    before = holders(data)
    strings = tf.parse_example([data], {"s": tf.FixedLenFeature([], tf.string)})["s"]
    assert holders(data) > before and strings[0] == b"x" * 100
    copy = strings.copy()
    del strings
    assert holders(data) == before and copy[0] == b"x" * 100


def test_numeric_columns_do_not_keep_the_records():
    data = record(a=("int64", [1]))
    before = holders(data)
    parsed = tf.parse_example([data], {"a": tf.FixedLenFeature([], tf.int64), "v": tf.VarLenFeature(tf.int64)})
    assert holders(data) == before and parsed["a"].tolist() == [1]


def test_column_outlives_its_reader(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tf.TFRecordWriter(path) as writer:
        writer.write_batch([record(s=("bytes", [b"%d" % i * 20])) for i in range(100)])
    strings = [
        tf.parse_example(b, {"s": tf.FixedLenFeature([], tf.string)})["s"] for b in tf.TFRecordDataset(path).batch(30)
    ]
    path.unlink()
    gc.collect()
    assert [s for column in strings for s in column] == [b"%d" % i * 20 for i in range(100)]


def test_a_bytes_array_is_made_of_lists_reshaped_compared_and_pickled():
    strings = column(shape=(2,))
    assert pickle.loads(pickle.dumps(strings)).tolist() == strings.tolist()
    assert strings.reshape(-1).tolist() == STRINGS and strings.reshape(2, 3).shape == (2, 3)
    assert (column() == STRINGS).all() and (column() != [b"x"] * 6).all()
    assert tf.BytesArray([[b"a", "ж"]]).tolist() == [[b"a", "ж".encode()]]


@pytest.mark.parametrize("wrap", [list, tuple, np.array, lambda texts: np.array(texts, object), tf.BytesArray])
def test_a_bytes_array_compared_with_text_compares_utf8(wrap):
    names = tf.BytesArray([b"home", "über".encode(), b"\xff", b"a\0"])
    texts = wrap(["home", "über", "x", "a"])
    assert (names == texts).tolist() == [True, True, False, False]
    assert (names != texts).tolist() == [False, False, True, True]


def test_a_bytes_array_is_compared_with_one_text():
    names = tf.BytesArray([[b"home", "über".encode()], [b"\xff", b""]])
    assert (names == "über").tolist() == [[False, True], [False, False]]
    assert ("home" != names).tolist() == [[False, True], [True, True]]
    assert (names == np.str_("home")).tolist() == (names == b"home").tolist() == [[True, False], [False, False]]
    assert not (names == None).any() and not (names == 3).any()  # noqa: E711
    assert "über" in names and b"\xff" in names and "hom" not in names and None not in names


ROWS = np.arange(12, dtype=np.int16).reshape(3, 4)


def test_a_column_of_bytes_is_decoded():
    raw = column([row.tobytes() for row in ROWS])
    assert np.array_equal(raw.decode_raw(tf.int16), ROWS)
    assert raw.decode_raw("int16", [2, 2]).shape == (3, 2, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 0 has 8 bytes, expected 10"):
        raw.decode_raw(tf.int16, [5])


LITTLE = np.array([1, 256], "<i4").tobytes()


def test_decode_raw_reads_both_byte_orders_and_fixed_lengths():
    assert tf.io.decode_raw(LITTLE, tf.int32).tolist() == [1, 256]
    assert tf.io.decode_raw([LITTLE] * 2, tf.int32, little_endian=False)[0].tolist() == [1 << 24, 65536]
    strings = np.array([b"abc", b"d"], object)
    assert tf.io.decode_raw(strings, tf.uint8, fixed_length=2).tolist() == [[97, 98], [100, 0]]


@pytest.mark.parametrize(("given", "dtype"), [([b"abc", b"d"], tf.uint8), (b"abc", tf.int16)], ids=["unequal", "odd"])
def test_decode_raw_refuses_bytes_that_do_not_fit(given, dtype):
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.io.decode_raw(given, dtype)


def test_varlen_is_sparse():
    records = [record(a=("int64", v)) for v in ([1, 2], [], [3])]
    varlen = tf.parse_example(records, {"a": tf.VarLenFeature(tf.int64)})["a"]
    assert varlen.indices.tolist() == [[0, 0], [0, 1], [2, 0]] and varlen.indices.dtype == np.int64
    assert varlen.dense_shape.tolist() == [3, 2] and varlen.values.tolist() == [1, 2, 3]
    assert varlen.row_splits.tolist() == [0, 2, 2, 3]
    assert tf.sparse.to_dense(varlen, -1).tolist() == [[1, 2], [-1, -1], [3, -1]]
    assert pickle.loads(pickle.dumps(varlen)).values.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("indices", "shape", "splits"),
    [
        ([[0], [3], [4]], [6], [0, 3]),
        ([], [6], [0, 0]),
        ([[1, 0], [1, 4], [3, 2], [3, 3], [3, 4]], [6, 5], [0, 0, 2, 2, 5, 5, 5]),
        ([[0, 7], [1, 0], [1, 1]], [2, 8], [0, 1, 3]),
        ([[0, 1, 0], [0, 2, 1], [2, 0, 0]], [3, 4, 2], [0, 2, 2, 3]),
        ([], [0, 5], [0]),
    ],
)
def test_a_sparse_tensor_of_indices_has_row_splits(indices, shape, splits):
    made = tf.SparseTensor(np.array(indices, np.int64).reshape(-1, len(shape)), np.arange(len(indices)), shape)
    assert made.row_splits.tolist() == splits and made.row_splits.dtype == np.int64


def test_sparse_and_ragged_strings_become_dense():
    records = [record(a=("bytes", v)) for v in ([b"x", b"y"], [b"z"])]
    sparse = tf.parse_example(records, {"a": tf.VarLenFeature(tf.string)})["a"]
    ragged = tf.parse_example(records, {"a": tf.RaggedFeature(tf.string)})["a"]
    assert tf.sparse.to_dense(sparse).tolist() == [[b"x", b"y"], [b"z", b""]]
    assert tf.sparse.to_dense(ragged, b"?").tolist() == [[b"x", b"y"], [b"z", b"?"]]


@pytest.mark.parametrize(
    ("indices", "what"), [([[0], [0]], "repeated"), ([[1], [0]], "out of order"), ([[5], [6]], "out of bounds")]
)
def test_to_dense_refuses_what_tensorflow_refuses(indices, what):
    with pytest.raises(tf.errors.InvalidArgumentError, match=what):
        tf.sparse.to_dense(tf.SparseTensor(indices, np.array([1, 2]), [3]))


def sparse_feature(*rows, size=10, **kwargs):
    records = [record(i=("int64", ids), v=("float", values)) for ids, values in rows]
    return tf.parse_example(records, {"s": tf.SparseFeature("i", "v", tf.float32, size, **kwargs)})["s"]


def test_sparse_feature_sorts_and_keeps_duplicates():
    sparse = sparse_feature(([5, 2, 5], [1.0, 2.0, 3.0]), ([0], [4.0]))
    assert sparse.indices.tolist() == [[0, 2], [0, 5], [0, 5], [1, 0]]
    assert sparse.values.tolist() == [2.0, 1.0, 3.0, 4.0] and sparse.shape == (2, 10)
    assert sparse_feature(([5, 2], [1.0, 2.0]), already_sorted=True).indices.tolist() == [[0, 5], [0, 2]]


@pytest.mark.parametrize("bad", [-1, 10])
def test_sparse_feature_index_out_of_range_raises(bad):
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"in 'i', got {bad} \(record 1\)"):
        sparse_feature(([5], [1.0]), ([bad], [1.0]))


def test_sparse_feature_lengths_must_match():
    with pytest.raises(ValueError, match=r"\(record 0\)"):
        sparse_feature(([5], [1.0, 2.0]), ([1, 2], [1.0]))


@pytest.fixture
def ragged():
    records = [record(a=("int64", [1, 2])), record(a=("int64", [3]))]
    return tf.parse_example(records, {"a": tf.RaggedFeature(tf.int64)})["a"]


def test_ragged_rows_are_views_that_are_indexed_and_sliced(ragged):
    assert ragged.row_splits.dtype == np.int32 and ragged.to_list() == [[1, 2], [3]]
    assert np.shares_memory(ragged[0], ragged.values)
    assert [row.tolist() for row in ragged] == [[1, 2], [3]]
    assert ragged[1:].to_list() == [[3]] and ragged[-1].tolist() == [3]


@pytest.mark.parametrize("rows", [slice(0, 0), slice(1, 0), slice(2, None), slice(9, 12), slice(2, 1), slice(-1, -2)])
def test_a_slice_without_rows_has_no_values(ragged, rows):
    assert ragged[rows].to_list() == [] and ragged[rows].row_splits.tolist() == [0]
    assert ragged[rows].row_splits.dtype == ragged.row_splits.dtype and len(ragged[rows].values) == 0


def test_ragged_partitions_of_the_documentation():
    """The example of tf.io.RaggedFeature."""
    batch = [
        record(v=("int64", [3, 1, 4, 1, 5, 9]), s1=("int64", [0, 2, 3, 3, 6]), s2=("int64", [0, 2, 3, 4])),
        record(v=("int64", [2, 7, 1, 8, 2, 8, 1]), s1=("int64", [0, 3, 4, 5, 7]), s2=("int64", [0, 1, 1, 4])),
    ]
    splits = tf.RaggedFeature.RowSplits
    features = {
        "f2": tf.RaggedFeature(tf.int64, "v", [splits("s1")]),
        "f3": tf.RaggedFeature(tf.int64, "v", [splits("s2"), splits("s1")]),
    }
    parsed = tf.parse_example(batch, features)
    assert parsed["f2"].to_list() == [[[3, 1], [4], [], [1, 5, 9]], [[2, 7, 1], [8], [2], [8, 1]]]
    assert parsed["f3"].to_list() == [[[[3, 1], [4]], [[]], [[1, 5, 9]]], [[[2, 7, 1]], [], [[8], [2], [8, 1]]]]
    assert tf.parse_single_example(batch[0], features)["f2"].to_list() == [[3, 1], [4], [], [1, 5, 9]]


def test_dtypes_are_equal_to_numpys():
    assert np.dtype(tf.int64) == np.int64 and tf.int64 == np.dtype("int64") and tf.float32 == np.float32
    assert tf.int64 != tf.int32 and tf.string == "string" and hash(tf.int64) == hash(np.dtype("int64"))
    assert tf.as_dtype(bytes) is tf.string and tf.as_dtype(float) is tf.float32
    assert pickle.loads(pickle.dumps(tf.bfloat16)) == tf.bfloat16


@pytest.mark.parametrize(
    "feature",
    [
        tf.FixedLenFeature([2], tf.int64, [1, 2]),
        tf.RaggedFeature(tf.int64, "v", [tf.RaggedFeature.RowSplits("s")]),
    ],
    ids=["FixedLenFeature", "RaggedFeature"],
)
def test_features_pickle(feature):
    assert pickle.loads(pickle.dumps(feature)) == feature


RAGGED = [  # values, row splits of each ragged dimension, the outermost first; arguments
    ([1, 2, 3, 4], [[0, 3, 4, 4]], {}),
    *(
        ([1, 2, 3, 4], [[0, 3, 4, 4]], {"shape": shape, "default_value": 9})
        for shape in ([None, 5], [5, 2], (2, None), [None, None], [0, 2], [3], 4, [3, 2, 1])
    ),
    ([1, 2, 3, 4, 5, 6], [[0, 2, 2, 3], [0, 2, 3, 6]], {"shape": [None, None, 2]}),
    ([1, 2, 3, 4, 5, 6], [[0, 2, 2, 3], [0, 2, 3, 6]], {"shape": [4, 1, 4]}),
    *(([[1, 2], [3, 4], [5, 6]], [[0, 2, 3]], {"shape": [None, 1, n]}) for n in (2, 3, None)),
    ([b"a", b"bc"], [[0, 0, 2]], {"shape": [3, 1]}),
]


def to_tensors(cases):
    made = []
    for values, splits, arguments in cases:
        for one in reversed(splits):
            values = tf.RaggedTensor.from_row_splits(np.array(values) if isinstance(values, list) else values, one)
        try:
            made.append(np.asarray(values.to_tensor(**arguments)).tolist())
        except ValueError:
            made.append(None)
        except Exception as error:
            assert type(error).__name__ == "InvalidArgumentError"
            made.append(None)
    return made


@pytest.mark.skipif(not live_tensorflow.INSTALLED, reason="TensorFlow is not installed")
def test_to_tensor_is_tensorflows():
    assert to_tensors(RAGGED) == live_tensorflow.call(to_tensors, RAGGED)


def test_the_shape_of_a_ragged_tensor_has_none_for_ragged_dimensions():
    plain = tf.RaggedTensor(np.arange(3), np.array([0, 1, 3]))
    uniform = tf.RaggedTensor(np.zeros((3, 4, 5)), np.array([0, 1, 3]))
    nested = tf.RaggedTensor(uniform, np.array([0, 0, 2, 2]))
    assert (plain.shape, uniform.shape, nested.shape) == ((2, None), (2, None, 4, 5), (3, None, None, 4, 5))
