"""Dask reads features of each kind in any number of partitions, and says which file is wrong."""

import os

import dask
import pytest

import tfrecord_fast as tf
from tests.integrations.engine_cases import KINDS, PARTS, SEQUENCES, WRONG, write_kinds, write_sequences
from tests.support.engine_rows import rows_of
from tfrecord_fast.integrations.dask import read_tfrecords

from .test_dask import table_of


@pytest.fixture(autouse=True)
def scheduler():
    with dask.config.set(scheduler="threads", num_workers=2):
        yield


@pytest.fixture(scope="module")
def kinds(tmp_path_factory):
    return write_kinds(tmp_path_factory.mktemp("kinds"))


@pytest.fixture(scope="module")
def sequences(tmp_path_factory):
    return write_sequences(tmp_path_factory.mktemp("sequences"))


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_feature(kinds, kind):
    expected = rows_of(tf.read_table(f"{kinds}/*", KINDS[kind]))
    assert rows_of(table_of(read_tfrecords(kinds, KINDS[kind], split_bytes=20_000))) == expected


@pytest.mark.parametrize("parts", PARTS)
def test_any_number_of_partitions(kinds, parts):
    size = sum(os.path.getsize(f"{kinds}/{name}") for name in os.listdir(kinds))
    frame = read_tfrecords(kinds, split_bytes=-(-size // parts) + 1000 * (parts < 4))
    assert abs(frame.npartitions - parts) <= 3
    assert rows_of(table_of(frame)) == rows_of(tf.read_table(f"{kinds}/*"))


@pytest.mark.parametrize("features", ["infer", SEQUENCES], ids=["inferred", "given"])
@pytest.mark.parametrize("split_bytes", [1000, 5000, 1 << 30])
def test_sequence_examples(sequences, features, split_bytes):
    expected = tf.read_table(f"{sequences}/*", features)
    assert rows_of(table_of(read_tfrecords(sequences, features, split_bytes=split_bytes))) == rows_of(expected)


@pytest.mark.parametrize("make", WRONG)
@pytest.mark.parametrize("given", [True, False], ids=["given", "inferred"])
def test_a_wrong_file_is_named(tmp_path, make, given):
    for name in ("a", "c"):
        with tf.ExampleWriter(tmp_path / name) as writer:
            writer.write({"a": [1] * 50})
    make(tmp_path / "bad")
    features = {"a": tf.io.FixedLenFeature([], tf.int64)} if given else "infer"
    if make.__name__ in ("_absent", "_shape") and not given:  # then it is right
        assert len(read_tfrecords(tmp_path, features).compute()) == 150
        return
    with pytest.raises(Exception, match=str(tmp_path / "bad")):
        read_tfrecords(tmp_path, features).compute()
