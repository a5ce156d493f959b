"""Attributes, `repr` and HTML of readers, writers and columns."""

import pytest

import tfrecord_fast as tf

FEATURES = {"score": tf.FixedLenFeature([], tf.float32), "id": tf.FixedLenFeature([], tf.int64)}


@pytest.fixture
def folder(tmp_path):
    for name in ("a.tfrecord.gz", "b.tfrecord"):
        with tf.ExampleWriter(tmp_path / name) as writer:
            writer.write({"id": [1, 2], "score": [0.5, 1.5], "tags": [["<x>"], []]})
    with tf.io.TFRecordWriter(tmp_path / "sequences") as writer:
        writer.write_batch(tf.encode_sequence_examples({"id": [1]}, {"steps": [[[1.0], [2.0, 3.0]]], "words": [["a"]]}))
    return tmp_path


def test_a_reader_has_its_arguments(folder):
    reader = tf.ShardReader(folder / "*.tfrecord*", FEATURES, batch_size=3, compression="gzip")
    assert reader.files == [str(folder / "a.tfrecord.gz"), str(folder / "b.tfrecord")]
    assert (reader.features, reader.batch_size, reader.compression) == (FEATURES, 3, "GZIP")
    reader = tf.ShardReader(folder / "b.tfrecord")
    assert (reader.features, reader.batch_size, reader.compression) == (None, 1024, None)
    with open(folder / "b.tfrecord", "rb") as file:
        assert tf.ShardReader([file, bytearray()]).files == [str(folder / "b.tfrecord"), "<memory>"]


def test_a_change_of_the_features_reaches_no_reader(folder):
    for reader in (tf.ShardReader(folder / "b.tfrecord", FEATURES), tf.IndexedReader(folder / "b.tfrecord", FEATURES)):
        reader.features.clear()
        assert reader.features == FEATURES


def test_features_are_inferred_when_they_are_asked_for(folder):
    reader = tf.ShardReader(folder / "b.tfrecord", "infer", columns=["id", "tags"])
    assert reader.features == {"id": tf.FixedLenFeature([], tf.int64), "tags": tf.VarLenFeature(tf.string)}
    assert list(tf.IndexedReader(folder / "b.tfrecord", "infer").features) == ["id", "score", "tags"]
    assert tf.IndexedReader(folder / "b.tfrecord").features is None


def test_features_of_sequence_examples_are_inferred(folder):
    reader = tf.ShardReader(folder / "sequences", "infer")
    context, sequence = reader.features
    assert context == {"id": tf.FixedLenFeature([], tf.int64)}
    words = tf.FixedLenSequenceFeature([], tf.string, allow_missing=True)
    assert sequence == {"steps": tf.VarLenFeature(tf.float32), "words": words}
    (columns, lists, lengths) = reader.peek()
    assert columns["id"].tolist() == [1] and lists["words"].tolist() == [[b"a"]] and lengths["words"].tolist() == [1]
    (columns, lists, _) = tf.ShardReader(folder / "sequences", "infer", columns=["words"]).peek()
    assert (list(columns), list(lists)) == ([], ["words"])
    assert tf.read_table(folder / "sequences").column_names == ["id", "steps", "words"]


def test_a_table_has_the_order_of_the_features_and_text(folder):
    features = {**FEATURES, "tags": tf.RaggedFeature(tf.string)}
    table = tf.read_table(folder / "b.tfrecord", features, strings="text")
    assert table.column_names == ["score", "id", "tags"]
    assert table["tags"].to_pylist() == [["<x>"], []]
    assert [str(field.type) for field in table.schema] == ["float", "int64", "list<item: string>"]


def test_text_of_rows_without_a_value_is_null(tmp_path):
    with tf.ExampleWriter(tmp_path / "a") as writer:
        writer.write({"a": ["é", None, ""], "b": [1, 2, 3]})
    (batch,) = tf.read_batches(tmp_path / "a", strings="text")
    assert batch.column("a").to_pylist() == ["é", None, ""]


def test_a_writer_shows_where_how_and_how_much(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with tf.io.TFRecordWriter("a", "ZSTD") as writer:
        assert repr(writer) == "<TFRecordWriter of 'a', ZSTD, 0 records, open>"
        writer.write(b"")
    assert repr(writer) == "<TFRecordWriter of 'a', ZSTD, 1 records, closed>"
    with tf.ExampleWriter("a.tfrecord", num_shards=3) as writer:
        writer.write({"id": [1, 2]})
        name = "'a-00000-of-00003.tfrecord' and 2 more files"
        assert repr(writer) == f"<ExampleWriter of {name}, uncompressed, 2 records, open>"
    assert repr(writer).endswith("closed>")


def test_notebooks_get_tables_without_markup_of_the_data(folder):
    reader = tf.ShardReader(folder / "b.tfrecord", {"<b>": tf.VarLenFeature(tf.int64), **FEATURES})
    html = reader._repr_html_()
    assert "<td>&lt;b&gt;</td><td>VarLenFeature(" in html and "<b>" not in html
    assert tf.IndexedReader(folder / "b.tfrecord", FEATURES)._repr_html_().count("<tr>") == 2
    tags = tf.ShardReader(folder / "b.tfrecord", {"tags": tf.RaggedFeature(tf.string)}).peek()["tags"]
    assert "&lt;x&gt;" in tags._repr_html_() and "<x>" not in tags._repr_html_()
    strings = tf.BytesArray([b"<x>", *[b"long" * 1000] * 20])
    assert "<x>" not in strings._repr_html_() and "…" in strings._repr_html_() and len(strings._repr_html_()) < 3000
    assert "<table>" not in tf.ShardReader(folder / "b.tfrecord", "infer")._repr_html_()  # which reads nothing
    assert "<table>" not in tf.BytesArray([])._repr_html_()
