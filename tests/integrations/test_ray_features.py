"""Ray reads features of each kind in any number of blocks, and says which file is wrong."""

import pytest

import tfrecord_fast as tf
from tests.integrations.engine_cases import KINDS, PARTS, SEQUENCES, WRONG, write_kinds, write_sequences
from tests.integrations.ray_kit import local_ray, table_of
from tests.support.engine_rows import rows_of
from tfrecord_fast.integrations.ray import TFRecordDatasource, read_tfrecords


@pytest.fixture(scope="module", autouse=True)
def cluster():
    with local_ray():
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


@pytest.mark.parametrize("blocks", PARTS)
def test_any_number_of_blocks(kinds, blocks):
    dataset = read_tfrecords(kinds, override_num_blocks=blocks).materialize()
    assert rows_of(table_of(dataset)) == rows_of(tf.read_table(f"{kinds}/*"))
    assert dataset.num_blocks() == blocks


@pytest.mark.parametrize("features", ["infer", SEQUENCES], ids=["inferred", "given"])
@pytest.mark.parametrize("blocks", [1, 5, 16])
def test_sequence_examples(sequences, features, blocks):
    expected = tf.read_table(f"{sequences}/*", features)
    assert rows_of(table_of(read_tfrecords(sequences, features, override_num_blocks=blocks))) == rows_of(expected)


@pytest.mark.parametrize("make", WRONG)
@pytest.mark.parametrize("given", [True, False], ids=["given", "inferred"])
def test_a_wrong_file_is_named_at_the_driver(tmp_path, make, given):
    for name in ("a", "c"):
        with tf.ExampleWriter(tmp_path / name) as writer:
            writer.write({"a": [1] * 50})
    make(tmp_path / "bad")
    features = {"a": tf.io.FixedLenFeature([], tf.int64)} if given else "infer"
    if make.__name__ in ("_absent", "_shape") and not given:  # then it is right
        assert read_tfrecords(tmp_path, features).count() == 150
        return
    with pytest.raises(Exception, match=str(tmp_path / "bad")):
        read_tfrecords(tmp_path, features).materialize()


def test_a_task_makes_few_tables(tmp_path):
    with tf.io.TFRecordWriter(tmp_path / "a") as writer:
        writer.write_batch(list(tf.encode_examples({"x": [b"x" * 1000] * 20_000})))
    (task,) = TFRecordDatasource(str(tmp_path / "a")).get_read_tasks(1)
    assert [table.num_rows for table in task()] == [20_000]
