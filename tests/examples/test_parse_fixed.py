"""FixedLenFeature and FixedLenSequenceFeature of Examples."""

import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support import wire_writer as wire


def record(**features):
    """An Example of name=(kind, values)."""
    return wire.example([(name.encode(), wire.feature(*value)) for name, value in features.items()])


def test_values_have_the_shape_and_missing_ones_the_default():
    scalars = [record(a=("int64", [i])) for i in (1, -1, 1 << 62)]
    column = tf.parse_example([*scalars, b""], {"a": tf.FixedLenFeature([], tf.int64, 7)})["a"]
    assert column.dtype == np.int64 and column.tolist() == [1, -1, 1 << 62, 7]
    records = [record(a=("float", [1, 2, 3, 4]))] * 3
    column = tf.parse_example(records, {"a": tf.FixedLenFeature([2, 2], tf.float32)})["a"]
    assert column.shape == (3, 2, 2) and column[2].tolist() == [[1, 2], [3, 4]]
    column = tf.parse_example([b""], {"a": tf.FixedLenFeature([], tf.string, "x" * 100)})["a"]
    assert column.tolist() == [b"x" * 100]


@pytest.mark.parametrize(
    ("value", "feature", "message"),
    [
        (None, tf.FixedLenFeature([], tf.int64), r"'a': not in the record.*\(record 1\)"),
        (("int64", [1, 2, 3]), tf.FixedLenFeature([], tf.int64), r"'a'.*expected 1 value .*, got 3"),
        (("float", [1.0]), tf.FixedLenFeature([], tf.int64), "'a'.*expected int64 values, got float values"),
        (("int64", []), tf.FixedLenFeature([], tf.int64, 9), "got 0"),
        (("int64", [-1]), tf.FixedLenFeature([], tf.uint64), "-1 is out of range for uint64"),
        (("bytes", [bytes(7)]), tf.RawFeature([], tf.int64), "expected 8 bytes, got 7"),
        (("bytes", [bytes(8)]), tf.FixedLenFeature([], tf.int64), "got bytes values; use tf.string, or RawFeature"),
    ],
)
def test_a_record_that_does_not_fit_is_an_error_with_what_was_expected(value, feature, message):
    records = [record(a=("int64", [1])), b"" if value is None else record(a=value)]
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.parse_example(records, {"a": feature})


def test_too_many_unpacked_floats_are_a_shape_error():
    bad = wire.example([(b"a", wire.feature("float", [0.0] * 5000, packed=False))])
    with pytest.raises(tf.errors.InvalidArgumentError, match="got 5000"):
        tf.parse_example([bad], {"a": tf.FixedLenFeature([], tf.float32)})


def test_a_feature_without_a_kind_counts_as_missing():
    features = {"a": tf.FixedLenFeature([], tf.int64, 9)}
    assert tf.parse_example([wire.example([(b"a", b"")])], features)["a"].tolist() == [9]


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "bool"]


def limits(name):
    return (0, 1) if name == "bool" else (int(np.iinfo(name).min), int(np.iinfo(name).max))


@pytest.mark.parametrize("name", INTEGERS)
def test_integers_become_narrow(name):
    features = {"a": tf.FixedLenFeature([2], getattr(tf, name)), "b": tf.VarLenFeature(np.dtype(name))}
    extremes = ("int64", list(limits(name)))
    parsed = tf.parse_example([record(a=extremes, b=extremes)], features)
    assert parsed["a"].dtype == parsed["b"].values.dtype == np.dtype(name)
    assert parsed["a"][0].tolist() == parsed["b"].values.tolist() == list(limits(name))


@pytest.mark.parametrize("name", [name for name in INTEGERS if name != "int64"])
@pytest.mark.parametrize("beyond", ["below", "above"])
def test_an_integer_out_of_range_is_refused(name, beyond):
    low, high = limits(name)
    bad = [low - 1, 0] if beyond == "below" else [0, high + 1]
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"out of range for {name}"):
        tf.parse_example([record(a=("int64", bad))], {"a": tf.FixedLenFeature([2], getattr(tf, name))})


# Where float16 overflows, underflows, becomes subnormal, and is infinite; float32's own smallest, and minus zero.
EDGES = [0x477FEFFF, 0x477FF000, 0x33000000, 0x33000001, 0x387FFFFF, 0x38800000]
EDGES += [0x7F800000, 0xFF800000, 1, 0x80000000]


@pytest.mark.parametrize("name", ["float16", "float64", "bfloat16"])
def test_floats_are_cast_as_numpy_casts(name):
    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")
    dtype = getattr(tf, name)
    bits = np.random.default_rng(0).integers(0, 1 << 32, 20_000, dtype=np.uint32)
    floats = np.concatenate([bits, np.array(EDGES, np.uint32)]).view(np.float32)
    if name == "float16":  # an error
        floats = floats[~((np.abs(floats) >= 65520) & np.isfinite(floats))]
    message = wire.example([(b"a", wire.field(2, wire.field(1, floats.tobytes())))])
    got = tf.parse_example([message], {"a": tf.FixedLenFeature([len(floats)], dtype)})["a"][0]
    with np.errstate(all="ignore"):
        want = floats.astype(np.dtype(dtype))
    same = got.view(f"u{got.itemsize}") == want.view(f"u{got.itemsize}")
    nan = np.isnan(floats)
    assert np.all(same | nan) and np.all(np.isnan(got[nan].astype(np.float32)))


def test_bytes_are_read_as_a_dense_array():
    image = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    features = {"a": tf.FixedLenFeature([2, 2, 3], tf.uint8), "e": tf.RawFeature([2], tf.float32)}
    floats = np.array([1.5, -2.0], np.float32)
    parsed = tf.parse_example([record(a=("bytes", [image.tobytes()]), e=("bytes", [floats.tobytes()]))], features)
    assert np.array_equal(parsed["a"][0], image) and np.array_equal(parsed["e"][0], floats)


def test_sequences_are_padded():
    records = [record(a=("int64", v)) for v in ([1, 2], [], [1, 2, 3, 4])]
    parsed = tf.parse_example(records, {"a": tf.FixedLenSequenceFeature([2], tf.int64, True, default_value=-1)})
    assert parsed["a"].tolist() == [[[1, 2], [-1, -1]], [[-1, -1], [-1, -1]], [[1, 2], [3, 4]]]


@pytest.mark.parametrize(
    "feature, message",
    [
        (tf.FixedLenFeature([None], tf.int64), "First dimension of shape"),
        (tf.FixedLenFeature([1, None], tf.int64), "All dimensions of shape"),
        (tf.FixedLenFeature(None, tf.int64), "Missing shape"),
        (tf.FixedLenFeature([], None), "Missing type"),
        (tf.FixedLenFeature([2], tf.int64, 1), "not broadcast"),
        (tf.FixedLenSequenceFeature([], tf.int64), "allow_missing to be True"),
        (tf.FixedLenSequenceFeature([0], tf.int64, True), "must not contain 0"),
    ],
)
def test_bad_features_are_refused_when_given(feature, message):
    with pytest.raises(ValueError, match=message):
        tf.parse_example([], {"a": feature})


def test_no_features_is_an_error():
    with pytest.raises(ValueError, match="cannot be None or falsy"):
        tf.parse_example([], {})
    with pytest.raises(ValueError, match="cannot be empty"):
        tf.parse_single_example(b"", {})


@pytest.mark.parametrize("default", [1.5, "x"])
def test_default_of_another_kind_is_refused(default):
    with pytest.raises(TypeError):
        tf.parse_example([], {"a": tf.FixedLenFeature([], tf.int64, default)})


def test_batch_of_none_gives_empty_columns():
    parsed = tf.parse_example([], {"a": tf.FixedLenFeature([2], tf.int64), "s": tf.VarLenFeature(tf.string)})
    assert parsed["a"].shape == (0, 2) and parsed["s"].shape == (0, 0)


def test_single_gives_scalars():
    features = {"a": tf.FixedLenFeature([], tf.int64), "s": tf.FixedLenFeature([], tf.string)}
    parsed = tf.parse_single_example(record(a=("int64", [3]), s=("bytes", [b"x"])), features)
    assert parsed == {"a": 3, "s": b"x"} and isinstance(parsed["a"], np.int64)


@pytest.mark.parametrize("make", [bytes, lambda message: np.array(message, object)], ids=["bytes", "array"])
def test_scalar_argument_is_parsed_alone(make):
    message = make(record(a=("int64", [3, 4])))
    assert tf.parse_example(message, {"a": tf.FixedLenFeature([2], tf.int64)})["a"].tolist() == [3, 4]


def test_matrix_of_records_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar or vector"):
        tf.parse_example([[b""]], {"a": tf.VarLenFeature(tf.int64)})


@pytest.fixture(scope="module")
def many_records():
    rng = np.random.default_rng(1)
    return [
        record(
            a=("int64", [i]),
            v=("int64", rng.integers(0, 1 << 40, rng.integers(0, 200)).tolist()),
            s=("bytes", [b"x" * int(n) for n in rng.integers(0, 50, 3)]),
            q=("float", [float(i)] * (i % 5)),
        )
        for i in range(4000)
    ]


FOUR_KINDS = {
    "a": tf.FixedLenFeature([], tf.int64),
    "v": tf.VarLenFeature(tf.int64),
    "s": tf.FixedLenFeature([3], tf.string),
    "q": tf.FixedLenSequenceFeature([], tf.float32, True),
}


@pytest.mark.parametrize("key", FOUR_KINDS)
@pytest.mark.parametrize("threads", [2, 5])
def test_threads_do_not_change_the_result(many_records, key, threads):
    one, many = (tf.parse_example(many_records, FOUR_KINDS, num_threads=n)[key] for n in (1, threads))
    if key == "v":
        assert np.array_equal(one.indices, many.indices)
        one, many = one.values, many.values
    assert np.array_equal(np.asarray(one), np.asarray(many))


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_earliest_bad_record_is_reported_with_any_number_of_threads(threads):
    good, bad = record(a=("int64", [1]), b=("bytes", [bytes(300)])), record(a=("float", [1.0]))
    records = [good] * 5000
    for row in (4990, 1234, 3000):
        records[row] = bad
    with pytest.raises(ValueError, match=r"\(record 1234\)"):
        tf.parse_example(records, {"a": tf.FixedLenFeature([], tf.int64)}, num_threads=threads)


def test_error_names_file_and_record(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tf.TFRecordWriter(path) as writer:
        writer.write_batch([record(a=("int64", [1])), record(a=("int64", [1, 2]))])
    (batch,) = tf.TFRecordDataset(path).batch(10)
    with pytest.raises(ValueError, match=r"a\.tfrecord: feature 'a': .*\(record 1\)"):
        tf.parse_example(batch, {"a": tf.FixedLenFeature([], tf.int64)})


def test_a_feature_that_is_replaced_or_added_in_the_dict_is_seen():
    message = record(a=("int64", [1]), b=("int64", [2]))
    features = {"a": tf.FixedLenFeature([], tf.int64)}
    assert tf.parse_single_example(message, features) == {"a": 1}
    features["a"] = tf.FixedLenFeature([1], tf.int64)
    assert tf.parse_single_example(message, features)["a"].tolist() == [1]
    features["b"] = tf.FixedLenFeature([], tf.int64)
    assert tf.parse_single_example(message, features)["b"] == 2
