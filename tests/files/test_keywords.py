"""Compression has one spelling, in any case; older spellings stay, and other libraries' keywords are named."""

import pickle

import pytest

import tfrecord_fast as tf

RECORDS = [b"one", b"two", b"three"]


def first_bytes(path):
    return path.read_bytes()[:2]


@pytest.mark.parametrize("name", ["gzip", "GZIP", "Gzip"])
@pytest.mark.parametrize("writer", [tf.ExampleWriter, tf.TFRecordWriter])
def test_compression_is_written_and_read_in_any_case(tmp_path, name, writer):
    path = tmp_path / "a"
    with writer(path, compression=name) as file:
        file.write_batch(RECORDS)
    assert first_bytes(path) == b"\x1f\x8b"
    for reader in (
        tf.ShardReader(path, compression=name),
        tf.ShardReader(path, compression_type=name),
        tf.TFRecordDataset(path, compression=name).batch(3),
        tf.TFRecordDataset(path, name).batch(3),
    ):
        assert [list(batch) for batch in reader] == [RECORDS]
    wrong = "none" if name.islower() else "None"
    with pytest.raises(tf.DataLossError):
        list(tf.ShardReader(path, compression=wrong))


def test_the_extension_decides_unless_compression_is_given(tmp_path):
    for name, options, start in [
        ("a.gz", {}, b"\x1f\x8b"),
        ("b.tfrecord.GZ", {}, b"\x1f\x8b"),
        ("c.zst", {}, b"]*"),
        ("d.gz", {"compression": "none"}, b"\x03\x00"),
        ("e.gz", {"options": ""}, b"\x03\x00"),
        ("f.gz", {"compression": "zstd"}, b"]*"),
        ("g", {"compression": tf.TFRecordOptions("ZSTD", compression_level=9)}, b"]*"),
    ]:
        with tf.ExampleWriter(tmp_path / name, **options) as writer:
            writer.write_batch(RECORDS)
        assert first_bytes(tmp_path / name) == start, name
        assert [file.records for file in writer.files] == [3] and writer.files == writer.close()


def test_two_spellings_at_once_are_an_error(tmp_path):
    path = tmp_path / "a"
    for call in (
        lambda: tf.ExampleWriter(path, options="GZIP", compression="GZIP"),
        lambda: tf.TFRecordWriter(path, "GZIP", compression="GZIP"),
        lambda: tf.TFRecordDataset(path, "GZIP", compression="GZIP"),
        lambda: tf.ShardReader(path, compression_type="GZIP", compression="GZIP"),
        lambda: tf.read_table(path, compression_type="GZIP", compression="GZIP"),
    ):
        with pytest.raises(TypeError, match=r"spelling.*pass"):
            call()
    assert not path.exists()


@pytest.mark.parametrize(
    ("keyword", "right"),
    [
        ("shuffle", "shuffle_buffer=N, shuffle_files=True or global_shuffle=True"),
        ("drop_last", "drop_remainder"),
        ("epochs", "num_epochs"),
        ("num_workers", "num_threads"),
        ("num_parallel_calls", "num_threads"),
        ("world_size", r"shard=\(rank, world_size\)"),
        ("batchsize", "batch_size"),
        ("on_corupt", "on_corrupt"),
    ],
)
def test_a_keyword_of_another_library_names_ours(keyword, right):
    with pytest.raises(TypeError, match=rf"ShardReader has no argument '{keyword}'; did you mean {right}\?"):
        tf.ShardReader("a", **{keyword: 3})


def test_a_keyword_that_nothing_resembles_is_an_error():
    with pytest.raises(TypeError, match=r"ExampleWriter has no argument 'zzz'$"):
        tf.ExampleWriter("a", zzz=3)
    with pytest.raises(TypeError, match=r"IndexedReader has no argument 'workers'; did you mean num_threads\?"):
        tf.IndexedReader("a", workers=3)


def test_readers_with_the_older_spelling_pickle(tmp_path):
    path = tmp_path / "a"
    with tf.TFRecordWriter(path) as writer:
        writer.write_batch(RECORDS)
    reader = pickle.loads(pickle.dumps(tf.ShardReader(path, compression_type="")))
    assert [list(batch) for batch in reader] == [RECORDS]
    with pytest.raises(ValueError, match="unknown compression 'bzip2'"):
        tf.ShardReader(path, compression_type="bzip2")


def test_dir_shows_what_reads_and_writes():
    import tfrecord_fast.files.reading  # an internal package, which becomes an attribute

    names = {name for name in dir(tf) if not name.startswith("_")}
    assert {"ShardReader", "ExampleWriter", "io", "data"} <= names
    assert not names & {"base", "files", "values", "examples", "_core", "concat", "cast", "reshape", "tfrecord_fast"}
    assert tf.concat([[1], [2]], 0).tolist() == [1, 2] and tfrecord_fast is tf
