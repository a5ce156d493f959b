"""Ray Data reads and writes files: see tests/contracts/test_engines.py for what all engines promise."""

import glob
import json
import os
import warnings

import numpy as np
import pytest
import ray
import ray.data

import tfrecord_fast as tf
from tests.integrations.ray_kit import table_of
from tests.support.engine_rows import FEATURES, rows_of
from tests.support.frames import frames
from tfrecord_fast.integrations.ray import TFRecordDatasource, read_tfrecords, reading, write_tfrecords

pytestmark = pytest.mark.usefixtures("cluster")


def test_one_large_file_is_read_by_many_tasks(written):
    path = f"{written()}/0.tfrecord"
    dataset = read_tfrecords(path, split_bytes=50_000)
    found = table_of(dataset)
    assert len(list(dataset.to_arrow_refs())) > 5
    assert found.column("id").to_pylist() == tf.read_table(path).column("id").to_pylist()


@pytest.mark.parametrize(
    ("stored", "parallelism", "share"),
    [(8 << 20, 2, 4 << 20), (8 << 20, 100, 1 << 20), (8 << 30, 2, 512 << 20), (8 << 30, 20, (8 << 30) // 20 + 1)],
)
def test_tasks_read_from_1_to_512_mib(tmp_path, monkeypatch, stored, parallelism, share):
    (tmp_path / "a").write_bytes(frames(tf.encode_examples({"i": [1]})))
    source, given = reading.TFRecordDatasource(tmp_path / "a"), []
    source._stored_bytes = stored
    monkeypatch.setattr(reading, "plan_splits", lambda files, *, split_bytes, **_: given.append(split_bytes) or [])
    assert source.get_read_tasks(parallelism) == [] and given == [share]


@pytest.mark.parametrize(
    ("stored", "cores", "share"),
    [(8 << 20, 2, 16 << 20), (1 << 30, 2, 128 << 20), (1 << 30, 64, 16 << 20), (100 << 30, 2, 512 << 20)],
)
def test_by_default_all_cores_have_some_large_tasks(tmp_path, monkeypatch, stored, cores, share):
    (tmp_path / "a").write_bytes(frames(tf.encode_examples({"i": [1]})))
    source, given = reading.TFRecordDatasource(tmp_path / "a"), []
    source._stored_bytes = stored
    monkeypatch.setattr(reading.ray, "cluster_resources", lambda: {"CPU": float(cores)})
    monkeypatch.setattr(reading.ray, "is_initialized", lambda: True)
    monkeypatch.setattr(reading, "plan_splits", lambda files, *, split_bytes, **_: given.append(split_bytes) or [1, 2])
    assert source.number_of_tasks() == 2 and given == [share]


def test_tasks_are_as_many_as_were_chosen(tmp_path):
    (tmp_path / "a").write_bytes(frames(tf.encode_examples({"i": np.arange(1000)})))
    source = reading.TFRecordDatasource(tmp_path / "a", split_bytes=5000)
    assert len(source.get_read_tasks(source.number_of_tasks())) == source.number_of_tasks() > 1


def test_files_that_were_divided_are_not_divided_again(tmp_path, monkeypatch):
    """Another share of the bytes could give fewer tasks than Ray was told, which would then cut what they give."""
    for name in "ab":
        (tmp_path / name).write_bytes(frames(tf.encode_examples({"i": np.arange(1000)})))
    source = reading.TFRecordDatasource(tmp_path)
    chosen = source.number_of_tasks()
    source._planned = None
    monkeypatch.setattr(reading, "plan_splits", lambda *_, **__: pytest.fail("the files are divided again"))
    assert len(source.get_read_tasks(chosen)) == chosen


def test_columns_are_pushed_down(written):
    dataset = read_tfrecords(written(), FEATURES, columns=["vector", "id"])
    assert dataset.schema().names == ["vector", "id"]
    batch = next(iter(dataset.iter_batches(batch_size=100)))
    assert batch["vector"].shape == (100, 2, 3) and batch["vector"].dtype == np.float32


def test_tensors_go_to_torch(written):
    torch = pytest.importorskip("torch")
    dataset = read_tfrecords(written(), FEATURES, columns=["vector", "price"])
    seen = 0
    for batch in dataset.iter_torch_batches(batch_size=64, drop_last=True):
        assert batch["vector"].shape == (64, 2, 3) and batch["vector"].dtype == torch.float32
        seen += 64
    assert seen > 5000


def test_shuffled_files_are_the_same_rows_in_another_order(written):
    read = [
        table_of(read_tfrecords(written(), columns=["id"], shuffle="files", seed=seed, split_bytes=40_000))
        .column("id")
        .to_pylist()
        for seed in (1, 1, 2)
    ]
    assert read[0] == read[1] != read[2] and sorted(read[0]) == sorted(read[2])


def test_a_task_that_runs_again_gives_the_same_blocks(written):
    """Ray takes from it the blocks that it lacks: in another order, rows would be lost and come twice."""
    source = TFRecordDatasource(written(), FEATURES, shuffle_buffer=1000, batch_size=500)
    [task] = source.get_read_tasks(1)
    first, again = list(task()), list(task())
    assert first == again and len(first) > 1
    in_order = tf.read_table(sorted(glob.glob(f"{written()}/*")), FEATURES).column("id").to_pylist()
    ids = [value for table in first for value in table.column("id").to_pylist()]
    assert ids != in_order and sorted(ids) == sorted(in_order)


def test_arguments_of_tasks_that_ray_takes_by_name_are_given_by_name(written):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dataset = read_tfrecords(written(), ray_remote_args={"num_cpus": 0.5, "memory": 1 << 20})
    assert dataset.count() == dataset.materialize().count() > 0


def test_there_are_as_many_blocks_as_are_asked_for(written):
    for blocks in (1, 3, 16):
        dataset = read_tfrecords(written(), override_num_blocks=blocks).materialize()
        assert dataset.num_blocks() == blocks and dataset.count() == 6600


def test_a_task_makes_few_tables(tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "a") as writer:
        writer.write_batch(list(tf.encode_examples({"x": [b"x" * 1000] * 20_000})))
    (task,) = TFRecordDatasource(str(tmp_path / "a")).get_read_tasks(1)
    assert [table.num_rows for table in task()] == [20_000]


def test_rows_are_limited(written):
    assert len(read_tfrecords(written()).take(7)) == 7
    assert read_tfrecords(written()).limit(1000).count() == 1000


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"paths": "none/x"}, FileNotFoundError, "none/x"),
        ({"columns": ["nothing"]}, tf.errors.InvalidArgumentError, "nothing"),
        ({"shard": (0, 2)}, TypeError, "Ray divides the files"),
        ({"drop_remainder": True}, TypeError, "drop rows of each task"),
        ({"shuffle": "rows"}, ValueError, "rows"),
        ({"deterministic": False}, ValueError, "deterministic"),
        ({"nonsense": 1}, TypeError, "nonsense"),
        ({"seed": "x"}, TypeError, "str"),
        ({"num_threads": 0}, ValueError, "num_threads"),
        ({"features": None}, TypeError, "NoneType"),
        ({"features": ["id"]}, TypeError, "list"),
    ],
    ids=str,
)
def test_what_is_wrong_is_told_at_once(written, arguments, error, text):
    with pytest.raises(error, match=text):
        read_tfrecords(**{"paths": written(), **arguments})


@pytest.mark.parametrize("kind", ["", "GZIP"])
def test_what_is_written_is_read_again(tmp_path, written, kind):
    dataset = read_tfrecords(written(), FEATURES, override_num_blocks=5)
    files = write_tfrecords(dataset, tmp_path / "out", options=kind)
    expected = tf.read_table(sorted(glob.glob(f"{written()}/*")), FEATURES)
    assert sum(file.records for file in files) == expected.num_rows
    assert rows_of(tf.read_table([file.path for file in files], FEATURES)) == rows_of(expected)
    assert sorted(os.listdir(tmp_path / "out")) == sorted(
        ["_manifest.json", *(os.path.basename(file.path) for file in files)]
    )
    listed = tf.ShardList(tmp_path / "out" / "_manifest.json")
    assert tf.ShardReader(listed).num_records == expected.num_rows
    assert rows_of(table_of(read_tfrecords(tmp_path / "out", FEATURES))) == rows_of(expected)


def test_modes(tmp_path):
    out = tmp_path / "out"
    rows = ray.data.from_items([{"a": i} for i in range(10)])
    write_tfrecords(rows, out)
    with pytest.raises(Exception, match="not empty"):
        write_tfrecords(rows, out)
    write_tfrecords(rows, out, mode="append")
    assert sorted(table_of(read_tfrecords(out)).column("a").to_pylist()) == sorted([*range(10)] * 2)
    assert tf.ShardReader(tf.ShardList(out / "_manifest.json")).num_records == 20
    write_tfrecords(ray.data.from_items([{"a": 7}]), out, mode="overwrite")
    assert table_of(read_tfrecords(out)).column("a").to_pylist() == [7]
    assert len(json.loads((out / "_manifest.json").read_text())["files"]) == 1


def test_a_write_that_fails_leaves_nothing(tmp_path):
    def fail(batch):
        if 70 in batch["id"]:
            raise RuntimeError("mine")
        return batch

    rows = ray.data.range(100, override_num_blocks=10).map_batches(fail)
    with pytest.raises(Exception, match="mine"):
        write_tfrecords(rows, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "kept").write_text("x")
    with pytest.raises(Exception, match="mine"):
        write_tfrecords(rows, tmp_path / "out", mode="overwrite")
    assert os.listdir(tmp_path / "out") == ["kept"]
