"""Data frames of Dask: see tests/contracts/test_engines.py for what all engines promise."""

import glob
import pickle

import dask
import pyarrow
import pytest

import tfrecord_fast as tf
from tests.support.frames import frames
from tests.support.pages import blocks_of
from tests.support.paths import ROOT
from tfrecord_fast.files.reading.task_splits import plan_splits
from tfrecord_fast.integrations.dask import read_tfrecords


@pytest.fixture(autouse=True)
def scheduler():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


def table_of(frame):
    return pyarrow.Table.from_pandas(frame.compute(), preserve_index=False)


def test_columns_are_pushed_down_and_sums_are_right(written):
    frame = read_tfrecords(written(), split_bytes=50_000)
    expected = tf.read_table(sorted(glob.glob(f"{written()}/*")), columns=["id"])
    assert frame["id"].sum().compute() == sum(expected.column("id").to_pylist())
    assert list(read_tfrecords(written(), columns=["price", "id"]).columns) == ["price", "id"]


def test_columns_that_lack_values_have_one_type(written):
    frame = read_tfrecords(written(), split_bytes=5_000)
    assert {str(part["maybe"].dtype) for part in dask.compute(*frame.to_delayed())} == {str(frame.dtypes["maybe"])}


def test_what_is_wrong_is_told_at_once(written):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_tfrecords("nowhere")
    with pytest.raises(TypeError, match="Dask divides"):
        read_tfrecords(written(), shard=(0, 2))
    with pytest.raises(TypeError, match="no drop_remainder"):  # it would drop rows of each partition
        read_tfrecords(written(), batch_size=300, drop_remainder=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="nothing"):
        read_tfrecords(written(), columns=["nothing"])
    with pytest.raises(TypeError, match="nonsense"):
        read_tfrecords(written(), nonsense=1)
    with pytest.raises(ValueError, match="deterministic"):
        read_tfrecords(written(), deterministic=False)
    with pytest.raises(tf.errors.InvalidArgumentError, match="no files"):
        read_tfrecords([])


def test_a_task_does_not_hold_the_names_of_all_files(tmp_path):
    for i in range(1000):
        (tmp_path / f"{i:05d}").write_bytes(frames(tf.encode_examples({"i": [i]})))
    frame = read_tfrecords(tmp_path, split_bytes=4000)
    largest = max(len(pickle.dumps(task)) for task in dict(frame.optimize().dask).values())
    assert largest < len(pickle.dumps(plan_splits(tmp_path))) / 2


def test_a_partition_that_is_read_twice_has_one_order(written):
    """Dask may read columns of one partition at different times, and put them side by side."""
    frame = read_tfrecords(written(), shuffle_buffer=1000)
    one, again = dask.compute(frame["id"])[0], dask.compute(frame["id"])[0]
    assert list(one) == list(again) != sorted(one)


def test_the_code_on_the_page_runs(tmp_path, monkeypatch):
    """docs/integrations/dask.md"""
    (tmp_path / "train").mkdir()
    with tf.ExampleWriter(tmp_path / "train" / "a.tfrecord", num_shards=2) as writer:
        writer.write({"label": [0, 1, 1], "price": [1.0, 2.0, 4.0]})
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "integrations" / "dask.md").read_text()
    [code] = [block.text for block in blocks_of(page) if block.language == "python"]
    assert run_last(code).to_dict() == {0: 1.0, 1: 3.0}


def run_last(code):
    """The value of the last line."""
    *before, last = code.strip().splitlines()
    names = {}
    exec("\n".join(before), names)
    return eval(last, names)
