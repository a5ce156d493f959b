"""integrations.jax: columns onto devices, with no value changed on the way."""

import socket
import subprocess
import sys
import threading
import warnings

import attrs
import jax
import ml_dtypes
import numpy as np
import pytest

import tfrecord_fast as tf
from tests.support.grain_records import FEATURES, write_files
from tests.support.paths import ROOT
from tfrecord_fast.errors import InvalidArgumentError
from tfrecord_fast.integrations import jax as integration
from tfrecord_fast.integrations.jax import device_put


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    (path,) = write_files(tmp_path_factory.mktemp("jax"), [8])
    (batch,) = tf.ShardReader(path, FEATURES, batch_size=8)
    (ragged,) = tf.ShardReader(path, {"ragged": tf.RaggedFeature(tf.int64, value_key="x")}, batch_size=8)
    return batch | ragged


@pytest.fixture(autouse=True)
def _as_if_new(monkeypatch):
    monkeypatch.setattr(integration, "_warned", set())


def silently(*arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return device_put(*arguments, **options)


def test_columns_are_arrays_of_jax():
    made = silently({"f": np.float32([[1, 2]]), "i": np.int32([3]), "b": np.array([True]), "u": np.uint8([255])})
    assert all(isinstance(array, jax.Array) for array in made.values())
    assert {key: (array.dtype.name, array.tolist()) for key, array in made.items()} == {
        "f": ("float32", [[1, 2]]),
        "i": ("int32", [3]),
        "b": ("bool", [True]),
        "u": ("uint8", [255]),
    }


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
def test_short_floats_stay_what_they_are(dtype):
    assert silently({"x": np.array([1.5], dtype)})["x"].dtype == dtype


def test_an_attrs_class_stays_one():
    made = device_put(attrs.make_class("Pair", ["b", "a"])(np.int32([1]), {"x": np.float32([2])}))
    assert type(made).__name__ == "Pair" and isinstance(made.b, jax.Array) and made.a["x"].tolist() == [2]


def test_the_structure_is_kept(batch):
    columns, label = device_put(({"v": batch["v"]}, np.int32([1])))
    assert list(columns) == ["v"] and label.tolist() == [1]
    context, sequences, lengths = device_put(({}, {"a": np.int8([1])}, {}))
    assert (context, lengths) == ({}, {}) and sequences["a"].dtype == np.int8


def test_a_device_may_be_said():
    device = jax.devices()[0]
    assert device_put({"x": np.float32([1])}, device)["x"].devices() == {device}


def test_bytes_in_another_order_are_swapped():
    assert silently({"x": np.array([1, 256], ">i4")})["x"].tolist() == [1, 256]


# ---- 64 bits ----


def test_a_cut_that_changes_nothing_is_said_once():
    with pytest.warns(UserWarning, match=r"'x' \(int64 to int32\), 'y' \(uint64 to uint32\)") as said:
        made = device_put({"x": np.array([-(2**31), 2**31 - 1]), "y": np.array([2**32 - 1], np.uint64)})
    assert len(said) == 1 and said[0].filename == __file__
    assert made["x"].dtype == np.int32 and made["x"].tolist() == [-(2**31), 2**31 - 1]
    assert made["y"].tolist() == [2**32 - 1]
    silently({"x": np.array([5]), "y": np.array([6], np.uint64)})
    with pytest.warns(UserWarning, match="'z'"):
        device_put({"x": np.array([5]), "z": np.array([6])})


@pytest.mark.parametrize(
    "values",
    [
        np.array([0, 2**31]),
        np.array([0, -(2**31) - 1]),
        np.array([0, 2**32], np.uint64),
        np.array([0, 2**63], np.uint64),
        np.array([0.5, 0.1]),
        np.array([0, 1e300]),
        np.array([0, 1e-300]),
        np.array([np.nan, 0.1]),
        np.array([0, 0.1j]),
    ],
    ids=repr,
)
def test_a_value_that_would_change_is_an_error(values):
    with pytest.raises(InvalidArgumentError, match=r"feature 'x': the value at \[1\] is .*jax_enable_x64"):
        device_put({"x": values})


@pytest.mark.filterwarnings("ignore:JAX truncates")
def test_floats_without_a_value_fit():
    made = device_put({"x": np.array([0.5, np.nan, np.inf, -0.0])})["x"]
    assert np.array_equal(made, [0.5, np.nan, np.inf, -0.0], equal_nan=True) and np.signbit(made[3])


def test_each_batch_is_looked_at():
    with pytest.warns(UserWarning):
        device_put({"x": np.array([1])})
    with pytest.raises(InvalidArgumentError, match="'x'"):
        device_put({"x": np.array([2**40])})


def test_with_x64_all_bits_stay():
    with jax.enable_x64(True):
        made = silently({"x": np.array([2**40]), "y": np.array([0.1])})
        assert made["x"].tolist() == [2**40] and made["y"].tolist() == [0.1]


# ---- What devices can't hold ----


@pytest.mark.parametrize("key", ["s", "list", "words", "ragged"])
def test_strings_and_ragged_columns_are_refused_by_name(batch, key):
    with pytest.raises(InvalidArgumentError, match=f"feature '{key}': devices can't hold"):
        device_put({"v": batch["v"], key: batch[key]})


@pytest.mark.parametrize(
    "value",
    [
        np.array(["2020-01-01"], "M8[D]"),
        np.zeros(1, np.longdouble),
        np.zeros(1, [("a", int)]),
        np.array(["a"]),
        np.array([b"a"]),
        np.array([None]),
        [[1], [1, 2]],
        [b"a"],
        "a",
        None,
    ],
    ids=repr,
)
def test_what_is_no_number_is_refused_by_name(value):
    with pytest.raises(InvalidArgumentError, match="feature 'x': devices can't hold"):
        device_put({"x": value})


def test_others_may_be_dropped_or_kept(batch):
    columns = {key: batch[key] for key in ("v", "s", "list")}
    assert list(silently(columns, others="drop")) == ["v"]
    kept = silently(columns, others="keep")
    assert list(kept) == ["v", "s", "list"] and kept["s"] is batch["s"] and kept["list"] is batch["list"]
    with pytest.raises(InvalidArgumentError, match="others"):
        device_put(columns, others="ignore")


@pytest.mark.filterwarnings("ignore:JAX truncates")
def test_others_may_be_padded(batch):
    made = device_put({key: batch[key] for key in ("s", "list", "ragged")}, pad={"s": 3, "list": 4, "ragged": 2})
    assert made["s"].dtype == np.uint8
    assert made["s"].tolist() == [[ord(str(i)), 0, 0] for i in range(8)]
    assert made["list"].tolist() == [[*range(i % 4), *[0] * (4 - i % 4)] for i in range(8)]
    assert made["ragged"].tolist() == [[i, 0] for i in range(8)]


def test_parts_of_a_tuple_go_by_their_number_and_those_of_a_feature_by_its_name(batch):
    assert device_put((np.int32([1]), batch["s"]), pad={1: 3})[1].shape == (8, 3)
    with pytest.raises(InvalidArgumentError, match="feature 1: devices can't hold"):
        device_put((np.int32([1]), batch["s"]))
    with pytest.raises(InvalidArgumentError, match="feature 'pair': devices can't hold"):
        device_put({"pair": (np.int32([1]), batch["s"])})


@pytest.mark.parametrize("key, width", [("s", 1), ("list", 2), ("ragged", 0)])
def test_a_row_longer_than_its_padding_is_an_error(batch, key, width):
    with pytest.raises(InvalidArgumentError, match=f"feature '{key}': a row has {width + 1} values"):
        device_put({key: batch[key]}, pad={key: width})


def test_padding_of_what_has_none_is_refused(batch):
    for key in ("words", "v"):
        with pytest.raises(InvalidArgumentError, match=f"feature '{key}': pad takes"):
            device_put({key: batch[key]}, pad={key: 9})
    with pytest.raises(InvalidArgumentError, match="'y'"):
        device_put({"v": batch["v"]}, pad={"y": 3})


def test_threads_may_share_it():
    made = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        threads = [
            threading.Thread(target=lambda i=i: made.append(device_put({"x": np.array([i])})["x"].item()))
            for i in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(made) == list(range(8))


# ---- Several devices, several processes ----

ON_FOUR_DEVICES = """
import sys
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import tfrecord_fast as tf
from tfrecord_fast.integrations.jax import device_put

mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("data", "model"))
rows = NamedSharding(mesh, P("data"))
whole = np.arange(48, dtype=np.float32).reshape(12, 4)
made = device_put({"x": whole, "y": np.int32(range(12))}, rows)
assert made["x"].sharding == rows and (np.asarray(made["x"]) == whole).all()
assert [shard.data.shape for shard in made["x"].addressable_shards] == [(6, 4)] * 4
both = device_put({"x": whole, "y": np.int32([1])}, {"x": NamedSharding(mesh, P("data", "model")), "y": None})
assert [shard.data.shape for shard in both["x"].addressable_shards] == [(6, 2)] * 4
for columns, sharding, what in [
    ({"x": whole, "y": np.int32(range(11))}, rows, "feature 'y': an array of shape [11] can't be laid out"),
    ({"x": whole, "y": np.int32(3)}, rows, "feature 'y': an array of shape [] can't be laid out"),
    ({"x": whole, "y": np.int32([3])}, {"x": rows}, "feature 'y': the shardings are for"),
]:
    try:
        device_put(columns, sharding)
    except tf.errors.InvalidArgumentError as error:
        assert what in str(error), error
    else:
        raise AssertionError(what)
print("done")
"""

OF_TWO_PROCESSES = """
import sys
import jax, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
import tfrecord_fast as tf
from tfrecord_fast.integrations.jax import device_put

port, rank, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
jax.distributed.initialize(f"localhost:{port}", 2, rank, local_device_ids=[0, 1])
rows = NamedSharding(Mesh(np.array(jax.devices()), ("data",)), P("data"))
reader = tf.ShardReader(
    path,
    {"x": tf.FixedLenFeature([], tf.int32)},
    batch_size=4,
    drop_remainder=True,
    shard="auto",
    shard_by="record",
    equal_shards="drop",
)
for step, batch in enumerate(reader):
    made = device_put(batch, rows)["x"]
    assert made.shape == (8,) and not made.is_fully_addressable
    mine = np.concatenate([shard.data for shard in made.addressable_shards])
    assert (mine == batch["x"]).all() and (mine % 2 == rank).all(), mine
    here = jax.local_devices()[1]
    both = device_put({"x": batch["x"], "own": batch["x"]}, {"x": rows, "own": here})
    assert both["own"].devices() == {here} and (np.asarray(both["own"]) == batch["x"]).all()
print("steps", step + 1)
"""


def start(script, *arguments, devices):
    environment = {
        "PYTHONPATH": str(ROOT),
        "PATH": "/usr/bin:/bin",
        "JAX_PLATFORMS": "cpu",
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}",
    }
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_rows_are_divided_among_devices():
    process = start(ON_FOUR_DEVICES, devices=4)
    out, errors = process.communicate(timeout=300)
    assert out.splitlines()[-1:] == ["done"], errors  # after lines that some versions of JAX print about errors


def test_each_process_gives_its_own_rows(tmp_path):
    (path,) = write_files(tmp_path, [35])
    port = free_port()
    processes = [start(OF_TWO_PROCESSES, port, rank, path, devices=2) for rank in range(2)]
    try:
        for process in processes:
            out, errors = process.communicate(timeout=300)
            assert out == "steps 4\n", errors
    finally:
        for process in processes:
            process.kill()


def free_port():
    with socket.socket() as one:
        one.bind(("localhost", 0))
        return one.getsockname()[1]


# ---- Into records ----


@pytest.mark.parametrize(
    ("column", "dtype", "expected"),
    [
        ([jax.numpy.int32(2**24 + 1), jax.numpy.int32(6)], tf.int64, [[2**24 + 1], [6]]),
        ([jax.numpy.float32(0.5), None], tf.float32, [[0.5], []]),
        ([jax.numpy.bool_(True), 3], tf.int64, [[1], [3]]),
        ([jax.numpy.arange(3), None, jax.numpy.arange(0)], tf.int64, [[0, 1, 2], [], []]),
        ([[jax.numpy.int32(5)], [jax.numpy.int32(6), 7]], tf.int64, [[5], [6, 7]]),
        ([jax.numpy.ones((2, 2)), jax.numpy.zeros(1)], tf.float32, [[1, 1, 1, 1], [0]]),
        ([jax.numpy.bfloat16(0.5)], tf.float32, [[0.5]]),
        ([jax.numpy.full(2, 0.5, jax.numpy.bfloat16)], tf.float32, [[0.5, 0.5]]),
    ],
    ids=["scalars", "a missing one", "bool", "rows", "lists of scalars", "two dimensions", "bfloat16", "bfloat16 rows"],
)
def test_lists_of_arrays_are_written_as_their_numbers(column, dtype, expected):
    records = tf.encode_examples({"c": column})
    assert tf.parse_example(records, {"c": tf.RaggedFeature(dtype)})["c"].to_list() == expected
