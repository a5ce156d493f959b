"""Folders, braces and numbers of shards stand for files wherever files are taken."""

import os

import pytest

import tfrecord_fast as tf
from tests.support.frames import frames
from tfrecord_fast.files.naming.patterns import expanded
from tfrecord_fast.files.stores import StoreSettings
from tfrecord_fast.files.streams.listing import listed_parts

READERS = {
    "ShardReader": lambda files: [record for batch in tf.ShardReader(files) for record in batch],
    "num_records": lambda files: [b""] * tf.ShardReader(files).num_records,
    "TFRecordDataset": lambda files: list(tf.TFRecordDataset(files)),
    "IndexedReader": lambda files: list(tf.IndexedReader(files)),
    "read_table": lambda files: tf.read_table(files, {"id": tf.FixedLenFeature([], tf.int64)})["id"].to_pylist(),
    "infer_features": lambda files: [b""] * bool(tf.infer_features(files)),
}


def put(folder, *names):
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(frames([tf.train.example({"id": [7]}).SerializeToString()]))


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("slash", ["", os.sep])
def test_a_folder_stands_for_its_record_files(tmp_path, reader, slash):
    read = READERS[reader]
    put(
        tmp_path,
        "a.tfrecord",
        "sub/b.tfrecords",
        "train-00000-of-00002",
        "train-00001-of-00002",
        "c.tfrecord-00000-of-9",
    )
    put(tmp_path, ".hidden", "_SUCCESS", "_temporary/d.tfrecord", "sub/.x.tfrecord")
    for name in ("labels.csv", "README.md", "a.tfrecord.idx", "info.json", "x.py.gz", "a.tfrecord.bak", "a.tfrecord~"):
        (tmp_path / name).write_bytes(b"no record")
    assert len(read(f"{tmp_path}{slash}")) == (1 if reader == "infer_features" else 5)
    assert read([tmp_path]) == read(str(tmp_path))
    put(tmp_path, "z.tfrecord")  # a reader looks again
    assert reader == "infer_features" or len(read([tmp_path, tmp_path / "sub"])) == 7


@pytest.mark.parametrize("reader", READERS)
def test_a_folder_without_files_is_an_error_that_names_the_folder(tmp_path, reader):
    (tmp_path / "_only").write_bytes(b"hidden")
    with pytest.raises(FileNotFoundError, match="no files in the folder") as caught:
        READERS[reader](str(tmp_path))
    assert caught.value.filename == str(tmp_path)


def test_no_file_counts_by_its_neighbours(tmp_path):
    put(tmp_path, "a.data", "b.bin", "c.tfrecord", "d", "e.examples", "events.out.tfevents.15.host", "f.rio", "g.ds.gz")
    assert len(READERS["ShardReader"](tmp_path)) == 8
    put(tmp_path, "h.tmp", "i.csv")
    assert len(READERS["ShardReader"](tmp_path)) == 8


def test_a_folder_of_other_formats_alone_has_them_all(tmp_path):
    put(tmp_path, "a.csv", "b.bak")
    assert len(READERS["ShardReader"](tmp_path)) == 2


@pytest.mark.parametrize("reader", ["ShardReader", "TFRecordDataset", "IndexedReader", "read_table", "parts"])
def test_folders_that_a_pattern_matches_stand_for_their_files(tmp_path, reader):
    read = READERS.get(reader, lambda files: listed_parts(files, StoreSettings()))
    put(tmp_path, "x/a.tfrecord", "x/deep/b.tfrecord", "y/c", "z.tfrecord", ".h/d", "_w/e")
    (tmp_path / "x" / "labels.csv").write_bytes(b"no record")
    (tmp_path / "empty").mkdir()
    assert len(read(f"{tmp_path}/*")) == 4
    assert len(read(f"{tmp_path}/[xy]")) == 3
    (tmp_path / "x" / "labels.csv").unlink()
    assert len(read(f"{tmp_path}/[!_]*/**")) == 3  # each once
    with pytest.raises(FileNotFoundError, match="only folders without files match the pattern"):
        read(f"{tmp_path}/em*")


def test_a_folder_may_have_the_name_of_a_file(tmp_path):
    put(tmp_path, "out.tfrecord/part-00000", "out.tfrecord/part-00001")
    state = tf.ShardReader(tmp_path / "out.tfrecord", batch_size=1)
    next(iter(state))
    resumed = tf.ShardReader(tmp_path / "out.tfrecord", batch_size=1)
    resumed.load_state_dict(state.state_dict())
    assert len(list(resumed)) == 1


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("a-{00..03}", ["a-00", "a-01", "a-02", "a-03"]),
        ("{a,b}-{1..2}.x", ["a-1.x", "a-2.x", "b-1.x", "b-2.x"]),
        ("s3://b/{x,y}/*", ["s3://b/x/*", "s3://b/y/*"]),
        ("{3..1}", ["3", "2", "1"]),
        ("{9..11}", ["9", "10", "11"]),
        ("a,{,b}", ["a,", "a,b"]),
        ("a@2", ["a-00000-of-00002", "a-00001-of-00002"]),
        ("s3://me@b/a@1", ["s3://me@b/a-00000-of-00001"]),
        ("a@0", []),
        ("a@b", ["a@b"]),
        ("a@2.tfrecord.gz", ["a-00000-of-00002.tfrecord.gz", "a-00001-of-00002.tfrecord.gz"]),
        ("me@2/a", ["me@2/a"]),
        ("a{b}", ["a{b}"]),
        ("a{", ["a{"]),
        ("https://host/a@2", ["https://host/a@2"]),
    ],
)
def test_braces_and_numbers_of_shards(name, names):
    assert expanded(name) == names


@pytest.mark.parametrize("name", ["a@99999999999", "{0..99999999999}", "{a,b}" * 40])
def test_more_than_a_million_names_are_an_error(name):
    with pytest.raises(ValueError, match="stands for more than 1048576 names"):
        tf.ShardReader(name)


@pytest.mark.parametrize("reader", ["ShardReader", "TFRecordDataset", "IndexedReader", "read_table"])
def test_readers_take_braces_and_numbers_of_shards(tmp_path, reader):
    read = READERS[reader]
    with tf.ExampleWriter(tmp_path / "c", num_shards=3) as writer:
        writer.write({"id": range(9)})
    assert len(read(f"{tmp_path}/c@3")) == len(read(tmp_path / "c-{00000..00002}-of-00003")) == 9
    assert len(read([f"{tmp_path}/c-0000{{0,2}}*"])) == 6
    put(tmp_path, "c@3", "d{1,2}")
    assert len(read(f"{tmp_path}/c@3")) == len(read(f"{tmp_path}/d{{1,2}}")) == 1  # names that exist
    with pytest.raises(FileNotFoundError) as caught:
        read(f"{tmp_path}/c@4")
    assert caught.value.filename == f"{tmp_path}/c-00000-of-00004"
