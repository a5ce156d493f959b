"""Ray Data reads what the local reader reads, and writes what it is given."""

import glob
import json
import os
import warnings

import numpy as np
import pytest
import ray
import ray.data

import tfrecord_fast as tf
from tests.integrations.ray_kit import local_ray, table_of
from tests.support.engine_rows import FEATURES, rows_of
from tests.support.frames import frames
from tfrecord_fast.integrations.ray import TFRecordDatasource, read_tfrecords, reading, write_tfrecords


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with local_ray():
        yield


@pytest.mark.parametrize("kind", ["", "GZIP", "ZSTD"])
@pytest.mark.parametrize("blocks", [None, 1, 3, 16])
@pytest.mark.parametrize("features", ["infer", FEATURES], ids=["inferred", "given"])
def test_the_rows_are_those_of_the_local_reader(written, kind, blocks, features):
    folder = written(kind)
    expected = tf.read_table(sorted(glob.glob(f"{folder}/*")), features)
    dataset = read_tfrecords(folder, features, override_num_blocks=blocks)
    assert rows_of(table_of(dataset)) == rows_of(expected)
    assert dataset.count() == expected.num_rows


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


def test_ten_thousand_small_files(tmp_path):
    for i in range(10_000):
        (tmp_path / f"{i:05d}").write_bytes(frames(tf.encode_examples({"i": [i]})))
    dataset = read_tfrecords(tmp_path, override_num_blocks=8)
    assert sorted(table_of(dataset).column("i").to_pylist()) == list(range(10_000))


def test_real_files(data_dir):
    compared = 0
    for path in sorted(glob.glob(f"{data_dir}/**", recursive=True)):
        if os.path.isdir(path):
            continue
        try:
            expected = tf.read_table(path)
        except Exception:
            continue
        if expected.num_rows == 0 or os.path.getsize(path) > 4 << 20:
            continue
        found = table_of(read_tfrecords(path, override_num_blocks=3))
        assert rows_of(found) == rows_of(expected), path
        compared += 1
    assert compared >= 15


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


def test_an_error_of_a_task_names_the_file(tmp_path, written):
    with tf.ExampleWriter(tmp_path / "good") as writer:
        writer.write({"a": [1, 2]})
    with tf.ExampleWriter(tmp_path / "wrong") as writer:
        writer.write({"a": [b"x"]})
    given = {"a": tf.io.FixedLenFeature([], tf.int64)}
    with pytest.raises(Exception, match=r"(?s)wrong.*a.*") as caught:
        read_tfrecords(tmp_path, given).materialize()
    assert "int64" in str(caught.value)
    data = bytearray((tmp_path / "good").read_bytes())
    data[15] ^= 1
    (tmp_path / "good").write_bytes(data)
    with pytest.raises(Exception, match="good"):
        read_tfrecords(tmp_path / "good", given).materialize()


def test_a_file_that_changes_after_the_plan_is_an_error(tmp_path):
    for content in ([1, 2], [3, 4, 5]):
        with tf.ExampleWriter(tmp_path / "a") as writer:
            writer.write({"a": content})
        if content == [1, 2]:
            dataset = read_tfrecords(tmp_path / "a")
    with pytest.raises(Exception, match="has changed since it was divided"):
        dataset.materialize()


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
