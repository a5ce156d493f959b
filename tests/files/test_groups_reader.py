"""ShardReader(groups=…) and IndexedReader(groups=…): features that are one column, however they are read."""

import json
import pickle
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tfrecord_fast as tf
from tests.support import wire_writer as wire
from tests.support.grouped import assert_grouped, random_case
from tfrecord_fast.errors import DataLossError, InvalidArgumentError

FEATURES = {
    "d0": tf.FixedLenFeature([], tf.float32),
    "d1": tf.FixedLenFeature([], tf.float32, 0.5),
    "c0": tf.FixedLenFeature([], tf.int64),
    "c1": tf.FixedLenFeature([], tf.int64),
    "y": tf.FixedLenFeature([], tf.int64),
    "tags": tf.VarLenFeature(tf.int64),
}
GROUPS = {"dense": ["d1", "d0"], "cat": ["c0", "c1"]}
N = 500
PLAIN = {key: value for key, value in FEATURES.items() if key != "tags"}


def columns_of(i):
    return {"d0": i / 2, "d1": i / 4, "c0": i, "c1": -i, "y": i % 7, "tags": [i] * (i % 3)}


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups")
    for file, compression in enumerate(("", "GZIP", "ZSTD")):
        rows = [columns_of(i) for i in range(N * file, N * (file + 1))]
        table = {key: [row[key] for row in rows] for key in FEATURES}
        table["d0"], table["d1"] = (np.array(table[key], np.float32) for key in ("d0", "d1"))
        with tf.ExampleWriter(folder / f"{file}.tfrecord", options=compression) as writer:
            writer.write(table)
    return [str(folder / f"{file}.tfrecord") for file in range(3)]


# ---- The same values ----


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_size": 7, "drop_remainder": True},
        {"shuffle_buffer": 300, "shuffle_files": True, "seed": 4, "num_epochs": 2},
        {"cycle_length": 3, "block_length": 2},
        {"shard": (1, 3)},
        {"batch_size": 100_000},
    ],
    ids=str,
)
def test_batches_are_those_without_groups(paths, threads, options):
    options = {"batch_size": 64, "num_threads": threads, **options}
    single = list(tf.ShardReader(paths, FEATURES, **options))
    grouped = list(tf.ShardReader(paths, FEATURES, groups=GROUPS, **options))
    assert len(grouped) == len(single) > 0
    for pair in zip(grouped, single, strict=True):
        assert_grouped(*pair, GROUPS)


def test_a_global_shuffle(paths):
    options = {"global_shuffle": True, "seed": 1, "batch_size": 50}
    single, grouped = (list(tf.ShardReader(paths[0], FEATURES, groups=g, **options)) for g in (None, GROUPS))
    for pair in zip(grouped, single, strict=True):
        assert_grouped(*pair, GROUPS)


@given(st.integers(0, 1 << 32))
@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_features(tmp_path, seed):
    rng = random.Random(seed)
    features, groups, records = random_case(rng, rng.randrange(1, 300))
    path = tmp_path / f"{seed}.tfrecord"
    compression = rng.choice(["", "GZIP", "SNAPPY"])
    with tf.io.TFRecordWriter(path, compression) as writer:
        writer.write_batch(records)
    options = {
        "batch_size": rng.randint(1, 200),
        "num_threads": rng.choice([1, 2, 4]),
        "shuffle_buffer": rng.choice([0, 50]),
        "seed": 1,
    }
    single, grouped = (list(tf.ShardReader(path, features, groups=one, **options)) for one in (None, groups))
    for pair in zip(grouped, single, strict=True):
        assert_grouped(*pair, groups)


def test_an_indexed_reader(paths):
    single, grouped = (tf.IndexedReader(paths[0], FEATURES, groups=groups) for groups in (None, GROUPS))
    assert_grouped(grouped[10:400:7], single[10:400:7], GROUPS)
    assert_grouped(grouped.take([3, 3, 1]), single.take([3, 3, 1]), GROUPS)
    one = grouped[5]
    assert one["dense"].tolist() == [1.25, 2.5] and one["cat"].tolist() == [5, -5] and one["y"] == 5
    assert [row["cat"].tolist() for row in grouped.__getitems__([2, 1])] == [[2, -2], [1, -1]]
    assert_grouped(pickle.loads(pickle.dumps(grouped))[:3], single[:3], GROUPS)


def test_inferred_features(paths):
    [batch] = tf.ShardReader(paths[0], "infer", groups=GROUPS, batch_size=N)
    assert_grouped(batch, next(iter(tf.ShardReader(paths[0], "infer", batch_size=N))), GROUPS)
    assert tf.IndexedReader(paths[0], "infer", groups=GROUPS)[1]["cat"].tolist() == [1, -1]


# ---- Columns and labels ----


@pytest.mark.parametrize("features", [FEATURES, "infer"])
@pytest.mark.parametrize("label", [None, "y"])
def test_columns_are_chosen_by_the_names_of_groups(paths, features, label):
    reader = tf.ShardReader(paths[0], features, groups=GROUPS, columns=["cat", "y"], label_key=label, batch_size=N)
    [batch] = reader
    columns = batch if label is None else batch[0]
    assert set(columns) == ({"cat", "y"} if label is None else {"cat"})
    assert columns["cat"].tolist() == [[i, -i] for i in range(N)]


def test_features_of_groups_that_are_not_chosen_do_not_matter(paths):
    features = {**FEATURES, "none": tf.FixedLenFeature([], tf.int64)}
    reader = tf.ShardReader(paths[0], features, groups={**GROUPS, "g": ["none"]}, columns=["dense"])
    assert list(next(iter(reader))) == ["dense"]


def test_a_group_may_be_the_label(paths):
    columns, label = next(iter(tf.ShardReader(paths[0], FEATURES, groups=GROUPS, label_key="cat", batch_size=2)))
    assert label.tolist() == [[0, 0], [1, -1]] and "cat" not in columns and "dense" in columns
    reader = tf.ShardReader(paths[0], FEATURES, groups=GROUPS, label_key="cat", columns=["y"], batch_size=2)
    columns, label = next(iter(reader))
    assert list(columns) == ["y"] and label.shape == (2, 2)


@pytest.mark.parametrize("features", [FEATURES, "infer"])
@pytest.mark.parametrize(
    "options, error",
    [
        ({"label_key": "c0"}, "label_key 'c0' is in group 'cat', whose column replaces it"),
        (
            {"label_key": "no"},
            r"label_key 'no' is not among the (inferred )?features,? \['c0', 'c1', 'cat', 'd0', 'd1', ",
        ),
        ({"columns": ["c0", "y"]}, "column 'c0' is in group 'cat', whose column replaces it; name the group"),
        ({"columns": ["dense", "no"]}, r"columns \['no'\] are not among the features \['cat', 'dense', 'tags', 'y'\]"),
        ({"columns": ["cat", "cat"]}, "columns must be one or more names, each once"),
        ({"groups": {"g": ["c0", "no"]}}, "group 'g': 'no' is not among the features"),
        ({"groups": {"g": ["c0", "no"]}, "columns": ["y"]}, "group 'g': 'no' is not among the features"),
        ({"groups": {"g": ["c0", "d0"]}}, "group 'g': feature 'd0' has dtype float32, but 'c0' has int64"),
        ({"groups": {"y": ["c0", "c1"]}}, "group 'y' has the name of feature 'y'"),
        ({"groups": {"g": ["tags"]}}, "group 'g': feature 'tags' is a VarLenFeature"),
        ({"groups": {"g": []}}, "group 'g' is empty"),
    ],
)
def test_what_makes_no_columns_is_refused(paths, features, options, error):
    with pytest.raises(InvalidArgumentError, match=error):
        iter(tf.ShardReader(paths[0], features, **{"groups": GROUPS, **options}))


@pytest.mark.parametrize("features", [FEATURES, "infer"])
def test_an_indexed_reader_refuses_them_too(paths, features):
    for _ in range(2):
        with pytest.raises(InvalidArgumentError, match="group 'g': feature 'tags' is a VarLenFeature"):
            tf.IndexedReader(paths[0], features, groups={"g": ["tags"]})[0]


def test_columns_are_no_string(paths):
    with pytest.raises(TypeError, match="columns must be a list of names, got 'cat'"):
        tf.ShardReader(paths[0], FEATURES, groups=GROUPS, columns="cat", label_key="y")


@pytest.mark.parametrize("make", [tf.ShardReader, tf.IndexedReader])
def test_groups_need_features(paths, make):
    with pytest.raises(InvalidArgumentError, match="groups needs features"):
        make(paths[0], groups=GROUPS)


def test_sequence_examples_have_none(paths):
    features = ({"c0": FEATURES["c0"]}, {"s": tf.VarLenFeature(tf.int64)})
    with pytest.raises(InvalidArgumentError, match="`groups` is supported for Examples only"):
        tf.ShardReader(paths[0], features, groups={"g": ["c0"]})


@pytest.mark.parametrize("read", [tf.read_table, tf.read_batches])
def test_tables_have_none(paths, read):
    with pytest.raises(TypeError, match="groups is not supported for tables: each feature is a column"):
        read(paths[0], groups=GROUPS)


# ---- Damage ----


def errors_of(path, features, groups, **options):
    """The batches up to an error, and what it says."""
    batches = iter(tf.ShardReader(path, features, groups=groups, **options))
    given, said = [], None
    while said is None:
        try:
            given.append(next(batches))
        except StopIteration:
            break
        except (DataLossError, InvalidArgumentError) as error:
            said = type(error), str(error)
    return given, said


@pytest.mark.parametrize("threads", [1, 2, 4])
@pytest.mark.parametrize("how", ["crc", "skip", "kind", "missing"])
def test_damage_is_told_as_without_groups(tmp_path, threads, how):
    path = tmp_path / "a.tfrecord"
    rows = [{"c0": [i], "c1": [-i]} for i in range(300)]
    if how == "missing":
        del rows[200]["c1"]
    records = [
        wire.example([(key.encode(), wire.feature("int64", values)) for key, values in row.items()]) for row in rows
    ]
    if how == "kind":
        records[200] = wire.example([(key, wire.feature("float", [1.0])) for key in (b"c0", b"c1")])
    with tf.io.TFRecordWriter(path) as writer:
        writer.write_batch(records)
    if how in ("crc", "skip"):
        data = bytearray(path.read_bytes())
        data[sum(len(one) + 16 for one in records[:200]) + 14] ^= 1
        path.write_bytes(data)
    features = {"c0": FEATURES["c0"], "c1": FEATURES["c1"]}
    options = {"batch_size": 32, "num_threads": threads, "on_corrupt": "skip" if how == "skip" else "raise"}
    single, error = errors_of(path, features, None, **options)
    grouped, grouped_error = errors_of(path, features, {"g": ["c1", "c0"]}, **options)
    assert grouped_error == error and (error is None) == (how == "skip")
    assert len(grouped) == len(single) > 5
    for pair in zip(grouped, single, strict=True):
        assert_grouped(*pair, {"g": ["c1", "c0"]})


# ---- States, copies, and what a reader says ----


@pytest.mark.parametrize("given", [0, 1, 7])
def test_a_position_is_resumed(paths, given):
    def make():
        return tf.ShardReader(paths, FEATURES, groups=GROUPS, batch_size=64, shuffle_buffer=200, seed=2)

    want = [batch["cat"].tolist() for batch in make()]
    reader = make()
    batches = iter(reader)
    begun = [next(batches)["cat"].tolist() for _ in range(given)]
    again = make()
    again.load_state_dict(json.loads(json.dumps(reader.state_dict())))
    assert begun + [batch["cat"].tolist() for batch in again] == want


@pytest.mark.parametrize("features", [FEATURES, "infer"])
def test_a_copy_has_the_same_groups(paths, features):
    reader = tf.ShardReader(paths, features, groups=GROUPS, columns=["cat", "y"], label_key="y", batch_size=64)
    for reader_or_copy in (reader, pickle.loads(pickle.dumps(reader))):
        columns, label = next(iter(reader_or_copy))
        assert list(columns) == ["cat"] and label.shape == (64,)


def test_groups_are_those_that_were_given(paths):
    groups = {"g": ["c0", "c1"]}
    reader = tf.ShardReader(paths[0], PLAIN, groups=groups, batch_size=2)
    groups["g"].reverse()
    assert next(iter(reader))["g"].tolist() == [[0, 0], [1, -1]]
