"""Functions of map and filter give the same on blocks of any size as record by record: elements, order and errors."""

import contextlib

import pytest

import tfrecord_fast.tensorflow as tf
from tests.tensorflow.blocks.records import FEATURES, outcomes, write
from tfrecord_fast.data.nodes.blocks.sizes import fixed

SIZES = (1, 2, 3, 1000, None)


def parse(record):
    return tf.io.parse_single_example(record, FEATURES)


def with_new_features(record):
    row = tf.io.parse_single_example(record, {"a": tf.io.FixedLenFeature([3], tf.int64)})
    return row["a"] + 1, row["a"].shape[0]


def arithmetic(record):
    row = parse(record)
    mean = tf.reduce_mean(tf.cast(row["a"], tf.float32))
    return 2 * row["a"] - 1, row["x"] / 3.0, tf.cast(row["x"] * 100, tf.uint8), mean, -(row["a"] ** 2), 1 - row["label"]


def aligned(record):
    row = parse(record)
    return row["a"] * row["label"], row["a"][:, tf.newaxis] + row["a"], row["a"] + [[1], [2]], tf.maximum(row["x"], 3.0)


def uneven(record):
    row = parse(record)
    values = tf.sparse.to_dense(row["v"])
    joined = tf.concat([[7], tf.cast(values, tf.int32), [8]], 0)
    return values[1:], values[:-1], values * row["label"], tf.size(values), tf.shape(values), joined, row["q"] + 1


def uneven_shapes(record):
    row = parse(record)
    flat = tf.reshape(row["pairs"], [-1])
    return row["pairs"], flat, tf.reshape(flat, [-1, 2]), tf.expand_dims(row["q"], 1), tf.rank(row["pairs"]), row["r"]


def padded_to_a_length(record):
    row = parse(record)
    values = tf.cast(tf.sparse.to_dense(row["v"]), tf.int32)
    length = tf.size(values)
    fitted = tf.cond(length > 2, lambda: values[:2], lambda: tf.pad(values, [[0, 2 - length]]))
    shifted = tf.pad(row["a"], [[row["label"] % 3, 1]])
    return tf.reshape(fitted, [2]), shifted, tf.pad(row["q"], [[1, 0]]), tf.pad(values, [[length, length]])


def composites(record):
    row = parse(record)
    words = tf.strings.split(row["s"], "r")
    return row["v"], row["t"], row["v"].values, row["v"].dense_shape, words, tf.sparse.to_dense(row["t"], "none")


def axes(record):
    row = parse(record)
    a, x = row["a"], row["x"]
    return (
        tf.stack([x, x * 2, 1.0]), tf.stack([a, a], axis=-1), tf.concat([a, a], 0), tf.one_hot(row["label"], 10),
        tf.reshape(a, [3, 1]), tf.transpose(tf.reshape(a, [1, 3])), tf.expand_dims(a, -1), tf.squeeze(a[None], 0),
        tf.argmax(a), tf.cumsum(a), tf.reverse(a, [0]), tf.tile(a, [2]), tf.pad(a, [[1, 2]]), tf.gather(a, [2, 0]),
        tf.gather([5, 6, 7, 8, 9, 5, 6, 7, 8, 9], row["label"]), tf.unstack(a)[1], tf.split(a, [1, 2])[1], tf.sort(-a),
        tf.where(a > 3, a, 0), tf.boolean_mask(a, a > 3), a[1], a[-1], a[::-1], a[1:], a[..., :2], a[row["label"] % 3],
        a[: row["label"] % 4], tf.reduce_max(a), tf.reduce_sum(a, axis=0, keepdims=True), tf.zeros_like(a),
    )  # fmt: skip


def strings(record):
    row = parse(record)
    number = tf.strings.to_number(tf.strings.substr(row["s"], 3, 5), tf.int64)
    return tf.strings.length(row["s"]), tf.strings.join([row["s"], "x"]), number, row["s"] + "!", row["s"] == "str3"


def python_if(record):
    row = parse(record)
    if row["label"] > 5:
        return row["x"], tf.constant(1)
    if row["label"] == 2:
        return row["x"] * 2, tf.constant(2)
    return row["x"] - 1, tf.constant(0)


def python_loop(record):
    row = parse(record)
    i = 0
    while row["a"][i] < 20 and i < 2:
        i += 1
    return row["a"][i], i, tf.reduce_sum(row["a"][: int(row["label"] % 3)])


def if_that_is_caught(record):
    row = parse(record)
    try:
        if row["label"] > 5:
            return row["x"] * 10
    except:  # noqa: E722 - as scripts write it
        pass
    return row["x"]


def caught(record):
    row = parse(record)
    try:
        quotient = 100 // (row["label"] - 4)
    except tf.errors.InvalidArgumentError:
        quotient = tf.constant(-99, tf.int64)
    with contextlib.suppress(Exception):
        return quotient, tf.strings.to_number(tf.strings.substr(row["s"], 3, row["label"] - 2))
    return quotient, row["x"]


def shapes_that_fit(record):
    row = parse(record)
    values = tf.sparse.to_dense(row["v"])
    try:
        values.set_shape([2])
    except ValueError:
        return tf.constant(0), row["a"]
    return tf.constant(1), row["a"]


def many_values(record):
    row = parse(record)
    return tf.range(int(row["a"][0]))


def conditions(record):
    row = parse(record)
    twice = tf.cond(row["label"] > 5, lambda: row["x"] * 2, lambda: row["x"] - 1)
    nested = tf.cond(
        row["label"] > 2, lambda: tf.cond(row["x"] > 9, lambda: row["a"], lambda: row["a"] + 1), lambda: row["q"]
    )
    chosen = tf.case(
        [(row["label"] < 3, lambda: tf.constant(1)), (row["label"] < 6, lambda: tf.constant(2))],
        default=lambda: tf.constant(3),
    )
    return twice, nested, chosen


def split_in_a_condition(record):
    row = parse(record)

    def branch():
        return row["x"] if row["label"] > 7 else row["x"] * 3

    return tf.cond(row["label"] > 4, branch, lambda: row["x"] - 1)


def structures(record):
    row = parse(record)
    return {"z": row["x"], "list": [row["label"], row["label"] + 1], "deep": (row["s"], {"one": 1, "none": None})}


def mapped(record):
    row = parse(record)
    return tf.map_fn(lambda value: value * row["label"], row["a"])


def needs_records(record):
    row = parse(record)
    return row["x"].numpy() * 2


def effects(record):
    row = parse(record)
    return tf.py_function(lambda x: x + 1, [row["x"]], tf.float32)


def text(record):
    return f"{parse(record)['label']}"


def fails_for_some(record):
    row = parse(record)
    return row["a"][0] // row["label"], tf.strings.to_number(row["s"])


def fails_always(record):
    raise ValueError("never")


def stops(record):
    row = parse(record)
    if row["label"] == 4:
        raise StopIteration
    return row["label"]


FUNCTIONS = (
    with_new_features, arithmetic, aligned, uneven, uneven_shapes, composites, axes, strings, python_if, python_loop,
    if_that_is_caught, caught, shapes_that_fit, many_values, conditions, split_in_a_condition, structures, mapped,
    padded_to_a_length, needs_records, effects, text, fails_for_some, fails_always, stops,
)  # fmt: skip


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return write(tmp_path_factory.mktemp("blocks") / "rows.tfrecord", 120)


@pytest.fixture(scope="module")
def damaged(tmp_path_factory):
    return write(tmp_path_factory.mktemp("blocks") / "bad.tfrecord", 120, bad=(0, 17, 18, 60, 119))


def same_for_all_sizes(dataset):
    with fixed(0):
        expected = outcomes(dataset())
    for size in SIZES:
        with fixed(size):
            assert outcomes(dataset()) == expected, f"blocks of {size}"


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_elements_are_the_same(function, path):
    same_for_all_sizes(lambda: tf.data.TFRecordDataset(path).map(function))


@pytest.mark.parametrize("function", (arithmetic, uneven, python_if, structures, fails_for_some))
def test_a_record_with_an_error_does_not_affect_its_neighbours(function, damaged):
    same_for_all_sizes(lambda: tf.data.TFRecordDataset(damaged).map(function))


def _label(*row):
    return row[-1] if not isinstance(row[-1], dict) else row[-1]["label"]


CHAINS = {
    "batch": lambda rows: rows.batch(7),
    "batch, drop_remainder": lambda rows: rows.batch(7, drop_remainder=True),
    "shuffle": lambda rows: rows.shuffle(50, seed=2).batch(7),
    "shuffle of all": lambda rows: rows.shuffle(1000, seed=1),
    "shuffle, repeat": lambda rows: rows.shuffle(20, seed=3).repeat(3).batch(16),
    "repeat, shuffle": lambda rows: rows.repeat(2).shuffle(13, seed=3, reshuffle_each_iteration=False),
    "padded_batch": lambda rows: rows.padded_batch(7),
    "filter": lambda rows: rows.filter(lambda *row: tf.reduce_sum(tf.cast(_first(row), tf.int64)) % 3 == 0).batch(9),
    "filter of none": lambda rows: rows.filter(lambda *row: False).batch(9),
    "take, skip, shard": lambda rows: rows.skip(3).shard(2, 1).take(40),
    "enumerate": lambda rows: rows.enumerate(5).batch(4),
    "cache": lambda rows: rows.cache().repeat(2).batch(11),
    "prefetch": lambda rows: rows.prefetch(3).batch(4).prefetch(2),
    "concatenate": lambda rows: rows.concatenate(rows.take(5)).batch(8),
    "zip": lambda rows: tf.data.Dataset.zip((rows, rows.skip(2))).batch(6),
    "ignore_errors": lambda rows: rows.ignore_errors().batch(6),
    "map": lambda rows: rows.map(lambda *row: (row, tf.constant(1)), num_parallel_calls=2).batch(6),
    "map of batches": lambda rows: rows.batch(6).map(lambda *row: tf.shape(_first(row))),
    "unbatch": lambda rows: rows.batch(6).unbatch(),
    "window": lambda rows: rows.take(9).window(2).flat_map(lambda *row: _first(row).batch(2)),
    "options": lambda rows: rows.with_options(tf.data.Options()).batch(5),
    "ragged_batch": lambda rows: rows.ragged_batch(5),
}


def _first(row):
    while isinstance(row, (tuple, dict)):
        row = next(iter(row.values())) if isinstance(row, dict) else row[0]
    return row


@pytest.mark.parametrize("chain", CHAINS, ids=str)
@pytest.mark.parametrize("function", (arithmetic, uneven, python_if, needs_records), ids=lambda f: f.__name__)
def test_chains_are_the_same(function, chain, path, damaged):
    same_for_all_sizes(lambda: CHAINS[chain](tf.data.TFRecordDataset(path).map(function)))
    same_for_all_sizes(lambda: CHAINS[chain](tf.data.TFRecordDataset(damaged).map(function)))


def test_filters_before_functions_are_the_same(path):
    same_for_all_sizes(
        lambda: tf.data.TFRecordDataset(path).filter(lambda record: tf.strings.length(record) % 3 == 0).map(parse)
    )
